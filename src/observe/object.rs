//! An object of a trial.

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

/// An object that several legs of a trial may have: converters that are right give the same ones again and again. Clones
/// share the value and its text.
#[derive(Clone)]
pub struct Object(Arc<Inner>);

struct Inner {
    value: Value,
    text: OnceLock<Text>,
}

/// An object as JSON.
#[derive(Default)]
struct Text {
    whole: Vec<u8>,
    /// Where its metadata is, if that is a map.
    metadata: Range<usize>,
    /// Where the annotations are in there; an empty place where it has none.
    annotations: Range<usize>,
}

/// Most objects fit, so that their texts need not grow.
const USUAL_LENGTH: usize = 1024;

impl Text {
    fn of(object: &Value) -> Self {
        let mut text = Self { whole: Vec::with_capacity(USUAL_LENGTH), ..Self::default() };
        match object {
            Value::Object(fields) => text.write_map(fields, |text, name, value| match value {
                Value::Object(metadata) if name == "metadata" => text.write_metadata(metadata),
                _ => text.write(value),
            }),
            _ => text.write(object),
        }
        text
    }

    fn write_metadata(&mut self, metadata: &Map<String, Value>) {
        let start = self.whole.len();
        self.annotations = start..start;
        self.write_map(metadata, |text, name, value| {
            let start = text.whole.len();
            text.write(value);
            if name == "annotations" {
                text.annotations = start..text.whole.len();
            }
        });
        self.metadata = start..self.whole.len();
    }

    fn write_map(&mut self, map: &Map<String, Value>, write_value: impl Fn(&mut Self, &str, &Value)) {
        self.whole.push(b'{');
        for (index, (name, value)) in map.iter().enumerate() {
            if index > 0 {
                self.whole.push(b',');
            }
            self.write(name);
            self.whole.push(b':');
            write_value(self, name, value);
        }
        self.whole.push(b'}');
    }

    fn write<T: Serialize>(&mut self, part: &T) {
        // A value has texts for keys, and writing to memory cannot fail.
        let _ = serde_json::to_writer(&mut self.whole, part);
    }

    /// What is before and after the annotations.
    fn other_metadata(&self) -> [&[u8]; 2] {
        let (metadata, annotations) = (&self.metadata, &self.annotations);
        [metadata.start..annotations.start, annotations.end..metadata.end].map(|part| &self.whole[part])
    }
}

impl Object {
    /// The object as JSON, written when it is first asked for.
    pub fn text(&self) -> &[u8] {
        &self.0.text.get_or_init(|| Text::of(&self.0.value)).whole
    }

    /// The text, where somebody has asked for it.
    pub fn written(&self) -> Option<&[u8]> {
        self.0.text.get().map(|text| text.whole.as_slice())
    }

    /// Whether both surely have the same metadata, annotations aside. Texts tell sooner than maps; where they are not
    /// written, or differ, a closer look may find the same nevertheless.
    pub fn surely_shares_metadata(&self, other: &Self) -> bool {
        let texts = self.0.text.get().zip(other.0.text.get());
        texts.is_some_and(|(own, theirs)| {
            !own.metadata.is_empty() && own.other_metadata() == theirs.other_metadata()
        })
    }

    /// The same for annotations.
    pub fn surely_shares_annotations(&self, other: &Self) -> bool {
        let texts = self.0.text.get().zip(other.0.text.get());
        texts.is_some_and(|(own, theirs)| {
            !own.annotations.is_empty()
                && own.whole[own.annotations.clone()] == theirs.whole[theirs.annotations.clone()]
        })
    }

    /// Whether this is that very object, and not one that is equal to it.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl From<Value> for Object {
    fn from(value: Value) -> Self {
        Self(Arc::new(Inner { value, text: OnceLock::new() }))
    }
}

impl Deref for Object {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.0.value
    }
}

impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        self.is(other) || **self == **other
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.value.fmt(f)
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.value.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case(json!({}))]
    #[case(json!(null))]
    #[case(json!([{"metadata": {}}]))]
    #[case(json!({"metadata": {"name": "\"ä\""}}))]
    #[case(json!({"apiVersion": "g/v1", "metadata": {}, "spec": {"metadata": {"name": "x"}, "at": [0.5, null]}}))]
    fn a_text_is_the_value_as_json(#[case] value: Value) {
        assert_eq!(String::from_utf8_lossy(Object::from(value.clone()).text()), value.to_string());
    }

    fn written(value: &Value) -> Object {
        let object = Object::from(value.clone());
        object.text();
        object
    }

    #[rstest]
    #[case(json!({"kind": "Longer", "metadata": {"annotations": {"a": "1"}, "name": "x"}}), true, true)]
    #[case(json!({"kind": "A", "metadata": {"annotations": {"b": "2"}, "name": "x"}}), true, false)]
    #[case(json!({"kind": "A", "metadata": {"annotations": {"a": "1"}, "name": "y"}}), false, true)]
    #[case(json!({"kind": "A", "metadata": {"name": "x"}}), false, false)]
    #[case(json!({"kind": "A", "spec": {"metadata": {"annotations": {"a": "1"}, "name": "x"}}}), false, false)]
    #[case(json!({}), false, false)]
    fn metadata_is_compared_by_texts(#[case] other: Value, #[case] metadata: bool, #[case] annotations: bool) {
        let own = written(&json!({"kind": "A", "metadata": {"annotations": {"a": "1"}, "name": "x"}, "spec": {}}));
        let theirs = written(&other);
        assert_eq!(own.surely_shares_metadata(&theirs), metadata);
        assert_eq!(theirs.surely_shares_metadata(&own), metadata);
        assert_eq!(own.surely_shares_annotations(&theirs), annotations);
        assert_eq!(theirs.surely_shares_annotations(&own), annotations);
        let unwritten = Object::from(other);
        assert!(!own.surely_shares_metadata(&unwritten) && !own.surely_shares_annotations(&unwritten));
    }

    #[rstest]
    #[case(json!({}))]
    #[case(json!({"metadata": null}))]
    #[case(json!({"metadata": "x"}))]
    fn what_is_not_there_is_not_shared(#[case] none: Value) {
        assert!(!written(&none).surely_shares_metadata(&written(&none)));
        assert!(!written(&none).surely_shares_annotations(&written(&none)));
    }
}
