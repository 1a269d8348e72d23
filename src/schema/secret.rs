//! Values that must not reach a report.

use serde_json::Value;

use super::Schema;

/// What stands for a secret.
const MASK: &str = "•••";

/// Words that make a field's name a secret's, in any case and form: `dbPassword`, `api_key`.
const WORDS: [&str; 9] =
    ["password", "passwd", "passphrase", "secret", "token", "apikey", "privatekey", "credential", "clientkey"];

/// Whether a field holds a secret, by its format or by its name.
pub fn is_secret(name: &str, schema: Option<&Schema>) -> bool {
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
    // `secretName` and `tokenRef` only say where a secret is.
    let refers = ["name", "ref", "refs", "namespace", "key"].iter().any(|suffix| plain.ends_with(suffix));
    let named = WORDS.iter().any(|word| plain.contains(word))
        && (!refers || plain.ends_with("apikey") || plain.ends_with("privatekey"));
    schema.is_some_and(|schema| schema.format.as_deref() == Some("password")) || named
}

/// The object with its secrets replaced.
pub fn mask(schema: Option<&Schema>, object: &Value) -> Value {
    match object {
        Value::Object(map) => Value::Object(
            map.iter()
                .map(|(name, value)| {
                    let child = schema.and_then(|schema| schema.child(name));
                    let hidden = is_secret(name, child) && !value.is_object() && !value.is_array();
                    (name.clone(), if hidden { MASK.into() } else { mask(child, value) })
                })
                .collect(),
        ),
        Value::Array(items) => {
            let child = schema.and_then(|schema| schema.items.as_deref());
            Value::Array(items.iter().map(|item| mask(child, item)).collect())
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn secrets_are_hidden_and_references_are_not() {
        let object = json!({"password": "a", "dbPasswd": 1, "secretName": "n", "tokenRef": {"name": "x"}, "api_key": "k",
                            "list": [{"token": "t"}], "size": 1, "annotations": {"example.com/v2-password": "\"p\""}});
        let masked = mask(None, &object);
        assert_eq!(
            masked,
            json!({"password": "•••", "dbPasswd": "•••", "secretName": "n", "tokenRef": {"name": "x"}, "api_key": "•••",
                   "list": [{"token": "•••"}], "size": 1, "annotations": {"example.com/v2-password": "•••"}})
        );
    }
}
