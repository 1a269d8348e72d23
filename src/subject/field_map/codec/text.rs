//! A structure in one version, its serialised form in the other.

use serde_json::{Map, Value};

use super::super::model::Format;
use super::super::path::kind;
use super::{Said, Side};
use crdproof_schema::document::{Sources, parse};

/// A structure that is a string in the other version.
#[derive(Debug)]
pub(in crate::subject::field_map) struct Text {
    /// The side that has the string.
    pub(in crate::subject::field_map) text: Side,
    pub(in crate::subject::field_map) format: Format,
}

impl Text {
    pub(super) fn say(&self, from: Side, value: &Value) -> Said {
        if from != self.text {
            let text = write(value);
            return match self.read(&text) {
                Ok(back) if back == *value => Said::exactly(Value::String(text)),
                _ => Said::not_quite(Some(Value::String(text)), "a text of it reads differently"),
            };
        }
        let Value::String(text) = value else {
            return Said::not_quite(None, format!("a text is expected, and there is {}", kind(value)));
        };
        match self.read(text) {
            Err(why) => Said::not_quite(None, format!("the text cannot be read: {why}")),
            Ok(Value::Null) => Said::not_quite(None, "the text says nothing but null"),
            Ok(read) if write(&read) == *text => Said::exactly(read),
            Ok(read) => Said::respelled(Some(read), "the text would come back with other spaces or another order"),
        }
    }

    fn read(&self, text: &str) -> Result<Value, String> {
        match self.format {
            Format::Json => serde_json::from_str(text).map_err(|error| error.to_string()),
            Format::Yaml => {
                let mut sources = Sources::default();
                let id = sources.add("text", text);
                let documents = parse(&sources, id).map_err(|error| error.message)?;
                match documents.as_slice() {
                    [document] => Ok(document.to_value()),
                    documents => Err(format!("it has {} documents", documents.len())),
                }
            }
        }
    }
}

/// A structure as JSON on one line, with sorted keys, so that equal structures give equal strings.
pub(in crate::subject::field_map) fn write(value: &Value) -> String {
    sorted(value).to_string()
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().map(|(name, value)| (name.clone(), sorted(value))).collect();
            entries.sort_by(|left, right| left.0.cmp(&right.0));
            Value::Object(entries.into_iter().collect::<Map<_, _>>())
        }
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}
