//! Saved responses of a server: the output of `kubectl get -o json` and `-o yaml`.

use serde_json::Value;

use super::{InputError, Texts};
use crdproof_schema::document::{Sources, parse};

/// All objects of these sources, including the items of lists.
pub fn read_dump(sources: &[String]) -> Result<Vec<Value>, InputError> {
    let mut found = Vec::new();
    for text in sources.iter().map(|source| Texts::relative_to("").read(source)) {
        for text in text? {
            // The JSON of a whole cluster is long, and its locations are never shown.
            if let Ok(value) = serde_json::from_str(&text.text) {
                flatten(value, &mut found);
                continue;
            }
            let mut all = Sources::default();
            let id = all.add(text.name, text.text);
            let documents = parse(&all, id).map_err(|error| InputError::parse(&all, &error))?;
            for node in &documents {
                flatten(node.to_value(), &mut found);
            }
        }
    }
    Ok(found)
}

/// Flattens lists. Items of a typed list may lack their kind, which the list implies.
fn flatten(mut value: Value, found: &mut Vec<Value>) {
    let kind = value["kind"].as_str().and_then(|kind| kind.strip_suffix("List")).map(str::to_owned);
    let (Some(kind), Value::Array(items)) = (kind, value.get_mut("items").map(Value::take).unwrap_or_default()) else {
        if value.is_object() {
            found.push(value);
        }
        return;
    };
    for mut item in items.into_iter().filter(Value::is_object) {
        if item["kind"].is_null() && !kind.is_empty() {
            item["kind"] = kind.clone().into();
            item["apiVersion"] = value["apiVersion"].clone();
        }
        flatten(item, found);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lists_are_flattened_and_their_items_get_a_kind() {
        let mut found = Vec::new();
        flatten(
            json!({"kind": "List", "items": [{"kind": "A"}, {"kind": "BList", "apiVersion": "g/v1", "items": [{"x": 1}]}, 3]}),
            &mut found,
        );
        flatten(json!(["no", "object"]), &mut found);
        assert_eq!(found, [json!({"kind": "A"}), json!({"kind": "B", "apiVersion": "g/v1", "x": 1})]);
    }
}
