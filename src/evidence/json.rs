//! Reads JSON that is as deeply nested as the objects of a subject may be.

use serde::de::DeserializeOwned;
use serde_json::Deserializer;

/// Maximum depth: documents may have 255 levels, and reviews and recordings add some.
const MAX_LEVELS: usize = 300;

/// Reads a JSON document. `serde_json` by default stops at 127 levels to protect the stack.
pub(crate) fn read_json<T: DeserializeOwned>(text: &[u8]) -> serde_json::Result<T> {
    serde_json::from_slice(text).or_else(|error| if levels(text) > MAX_LEVELS { Err(error) } else { read_deep(text) })
}

fn read_deep<T: DeserializeOwned>(text: &[u8]) -> serde_json::Result<T> {
    let mut reader = Deserializer::from_slice(text);
    reader.disable_recursion_limit();
    let value = T::deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}

/// Returns the maximum depth of brackets.
fn levels(text: &[u8]) -> usize {
    let (mut open, mut deepest) = (0_usize, 0);
    let mut bytes = text.iter();
    let mut in_string = false;
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => in_string = !in_string,
            b'\\' if in_string => drop(bytes.next()),
            b'[' | b'{' if !in_string => open += 1,
            b']' | b'}' if !in_string => open = open.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(open);
    }
    deepest
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn nested(levels: usize) -> String {
        format!("{}{}", "[".repeat(levels), "]".repeat(levels))
    }

    #[test]
    fn deep_documents_are_read_and_endless_ones_are_refused() {
        for levels in [1, 127, 128, MAX_LEVELS] {
            let text = nested(levels);
            assert_eq!(read_json::<Value>(text.as_bytes()).unwrap().to_string(), text);
        }
        for levels in [MAX_LEVELS + 1, 1_000_000] {
            let error = read_json::<Value>(nested(levels).as_bytes()).unwrap_err();
            assert!(error.to_string().contains("recursion limit exceeded"), "{error}");
        }
        assert!(read_json::<Value>(b"{} {}").is_err());
    }

    #[test]
    fn brackets_in_strings_do_not_count() {
        assert_eq!(levels(json!({"a\"[[[": "[[\\\"{{[[", "b": [1]}).to_string().as_bytes()), 2);
    }
}
