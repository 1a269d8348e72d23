//! Where two objects differ, told without telling secrets.

use serde_json::Value;

use crate::schema::{Schema, is_secret};

/// One place where an object changed.
pub(super) struct Change {
    /// JSON pointer.
    pub(super) pointer: String,
    /// What became of it.
    pub(super) what: String,
}

/// The topmost places where two objects differ.
pub(super) fn changes(schema: Option<&Schema>, input: &Value, output: &Value) -> Vec<Change> {
    let mut found = Vec::new();
    compare(schema, input, output, "", false, &mut found);
    found
}

fn compare(schema: Option<&Schema>, input: &Value, output: &Value, at: &str, secret: bool, found: &mut Vec<Change>) {
    let mut tell = |pointer: String, what: String| found.push(Change { pointer, what });
    match (input, output) {
        (Value::Object(left), Value::Object(right)) => {
            for (name, value) in left {
                let pointer = format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
                let child = schema.and_then(|schema| schema.child(name));
                let secret = secret || is_secret(name, child);
                match right.get(name) {
                    Some(other) => compare(child, value, other, &pointer, secret, found),
                    None => found.push(Change { pointer, what: format!("({}) is lost", brief(value, secret)) }),
                }
            }
            for (name, value) in right.iter().filter(|(name, _)| !left.contains_key(*name)) {
                let secret = secret || is_secret(name, None);
                found.push(Change {
                    pointer: format!("{at}/{name}"),
                    what: format!("({}) is invented", brief(value, secret)),
                });
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            let child = schema.and_then(|schema| schema.items.as_deref());
            for (index, (left, right)) in left.iter().zip(right).enumerate() {
                compare(child, left, right, &format!("{at}/{index}"), secret, found);
            }
        }
        (left, right) if left == right => {}
        (left, right) => {
            tell(at.to_owned(), format!("changes from {} to {}", brief(left, secret), brief(right, secret)));
        }
    }
}

fn brief(value: &Value, secret: bool) -> String {
    if secret {
        return "•••".into();
    }
    let text = value.to_string();
    if text.chars().count() <= 60 { text } else { text.chars().take(57).collect::<String>() + "…" }
}

/// A JSON pointer as a field path.
pub(super) fn field(pointer: &str) -> String {
    let parts = pointer.split('/').skip(1).map(|part| part.replace("~1", "/").replace("~0", "~"));
    parts.map(|part| if part.parse::<usize>().is_ok() { format!("[{part}]") } else { format!(".{part}") }).collect()
}
