//! An object as JSON, and where its metadata stands in there.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Serialize;
use serde_json::{Map, Value, json};

/// What anybody may add to the metadata of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decoration {
    /// Labels.
    Labels,
    /// Annotations.
    Annotations,
}

impl Decoration {
    /// The field of the metadata.
    pub fn name(self) -> &'static str {
        match self {
            Self::Labels => "labels",
            Self::Annotations => "annotations",
        }
    }
}

/// An object as JSON, to the letter as `serde_json` writes it.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Text {
    whole: Vec<u8>,
    /// Where its apiVersion is.
    version: Range<usize>,
    /// Where its kind is.
    kind: Range<usize>,
    /// Where its metadata is, if that is a map.
    metadata: Range<usize>,
    /// Where the labels are in there; an empty place where it has none.
    labels: Range<usize>,
    /// The same for annotations.
    annotations: Range<usize>,
    /// Whether labels and annotations are maps of texts, where they are.
    is_regular: bool,
}

/// Most objects fit, so that their texts need not grow.
const USUAL_LENGTH: usize = 1024;

/// A label needs about as much room.
const USUAL_LABEL: usize = 64;

impl Text {
    /// Writes an object.
    pub(super) fn of(object: &Value) -> Self {
        let mut text = Self { whole: Vec::with_capacity(USUAL_LENGTH), ..Self::default() };
        match object {
            Value::Object(fields) => text.map(entries(fields), |text, name, value| match (name, value) {
                ("apiVersion", _) => text.version = text.range(value),
                ("kind", _) => text.kind = text.range(value),
                ("metadata", Value::Object(metadata)) => text.metadata(entries(metadata)),
                _ => text.value(value),
            }),
            _ => text.value(object),
        }
        text
    }

    /// The same object with one label more. `None` where it has no metadata to put a label into, or labels that are
    /// none. What stays as it is, is copied.
    pub(super) fn labelled(&self, object: &Value, label: &str, value: &str) -> Option<Self> {
        let metadata = object.get("metadata")?.as_object()?;
        let value = Value::String(value.to_owned());
        let mut text = Self { whole: Vec::with_capacity(self.whole.len() + USUAL_LABEL), ..Self::default() };
        // These stand before the labels, by the order of their names.
        (text.version, text.kind) = (self.version.clone(), self.kind.clone());
        match metadata.get("labels") {
            Some(Value::Object(labels)) => {
                let mut labels: BTreeMap<&str, &Value> = entries(labels).collect();
                labels.insert(label, &value);
                text.whole.extend_from_slice(&self.whole[..self.labels.start]);
                text.map(labels.into_iter(), |text, _, value| text.value(value));
                text.labels = self.labels.start..text.whole.len();
                text.whole.extend_from_slice(&self.whole[self.labels.end..self.metadata.end]);
                text.metadata = self.metadata.start..text.whole.len();
                (text.annotations, text.is_regular) = (self.annotations.clone(), self.is_regular);
            }
            Some(Value::Null) | None => {
                let labels = json!({ label: value });
                let mut metadata: BTreeMap<&str, &Value> = entries(metadata).collect();
                metadata.insert("labels", &labels);
                text.whole.extend_from_slice(&self.whole[..self.metadata.start]);
                text.metadata(metadata.into_iter());
            }
            Some(_) => return None,
        }
        text.whole.extend_from_slice(&self.whole[self.metadata.end..]);
        Some(text)
    }

    /// All of it.
    pub(super) fn whole(&self) -> &[u8] {
        &self.whole
    }

    /// Whether API servers take this for the other object converted to `group/version`, without having to put anything
    /// back: it is of that version, all else that makes up its identity is the other's, and what it may change is regular.
    pub(super) fn is_orderly_answer_to(&self, sent: &Self, group: &str, version: &str) -> bool {
        let own = &self.whole[self.version.clone()];
        let own = own.strip_prefix(b"\"").and_then(|own| own.strip_prefix(group.as_bytes()));
        let own = own.and_then(|own| own.strip_prefix(b"/")).and_then(|own| own.strip_prefix(version.as_bytes()));
        own == Some(b"\"")
            && self.whole[self.kind.clone()] == sent.whole[sent.kind.clone()]
            && self.is_regular
            && self.shares_metadata(sent)
    }

    /// Whether both have metadata, and the same, annotations aside.
    pub(super) fn shares_metadata(&self, other: &Self) -> bool {
        !self.metadata.is_empty() && self.around_annotations() == other.around_annotations()
    }

    /// Whether both have annotations, and the same.
    pub(super) fn shares_annotations(&self, other: &Self) -> bool {
        !self.annotations.is_empty() && self.whole[self.annotations.clone()] == other.whole[other.annotations.clone()]
    }

    /// The labels, the annotations; empty where there are none.
    pub(super) fn decoration(&self, kind: Decoration) -> &[u8] {
        let place = match kind {
            Decoration::Labels => &self.labels,
            Decoration::Annotations => &self.annotations,
        };
        &self.whole[place.clone()]
    }

    /// The metadata before and after the annotations.
    fn around_annotations(&self) -> [&[u8]; 2] {
        let (metadata, annotations) = (&self.metadata, &self.annotations);
        [metadata.start..annotations.start, annotations.end..metadata.end].map(|part| &self.whole[part])
    }

    fn metadata<'v>(&mut self, metadata: impl Iterator<Item = (&'v str, &'v Value)>) {
        let start = self.whole.len();
        (self.labels, self.annotations) = (start..start, start..start);
        self.is_regular = true;
        self.map(metadata, |text, name, value| {
            let place = text.range(value);
            if matches!(name, "labels" | "annotations") {
                text.is_regular &= value.as_object().is_some_and(|map| map.values().all(Value::is_string));
            }
            match name {
                "labels" => text.labels = place,
                "annotations" => text.annotations = place,
                _ => {}
            }
        });
        self.metadata = start..self.whole.len();
    }

    fn map<'v>(
        &mut self,
        map: impl Iterator<Item = (&'v str, &'v Value)>,
        write_value: impl Fn(&mut Self, &str, &Value),
    ) {
        let mut before = b'{';
        for (name, value) in map {
            self.whole.push(before);
            self.string(name);
            self.whole.push(b':');
            write_value(self, name, value);
            before = b',';
        }
        self.whole.extend_from_slice(if before == b'{' { b"{}" } else { b"}" });
    }

    /// Writes a value, and says where.
    fn range(&mut self, value: &Value) -> Range<usize> {
        let start = self.whole.len();
        self.value(value);
        start..self.whole.len()
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.string(text),
            Value::Object(map) => self.map(entries(map), |text, _, value| text.value(value)),
            Value::Array(items) if !items.is_empty() => {
                let mut before = b'[';
                for item in items {
                    self.whole.push(before);
                    self.value(item);
                    before = b',';
                }
                self.whole.push(b']');
            }
            Value::Array(_) | Value::Null | Value::Bool(_) | Value::Number(_) => self.serialize(value),
        }
    }

    fn string(&mut self, text: &str) {
        // Looking at all bytes at once is faster than stopping at the first.
        let is_special = |byte: u8| matches!(byte, ..0x20 | b'"' | b'\\');
        if text.bytes().fold(false, |found, byte| found | is_special(byte)) {
            return self.serialize(text);
        }
        self.whole.reserve(text.len() + 2);
        self.whole.push(b'"');
        self.whole.extend_from_slice(text.as_bytes());
        self.whole.push(b'"');
    }

    fn serialize<T: Serialize + ?Sized>(&mut self, part: &T) {
        // A value has texts for keys, and writing to memory cannot fail.
        let _ = serde_json::to_writer(&mut self.whole, part);
    }
}

fn entries(map: &Map<String, Value>) -> impl Iterator<Item = (&str, &Value)> {
    map.iter().map(|(name, value)| (name.as_str(), value))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn any_value() -> impl Strategy<Value = Value> {
        let name = prop_oneof!["metadata", "annotations", "[a-c\"\\\\\u{0}-\u{20}\u{7f}ä🦀]{0,4}"];
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 4, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(name.clone(), inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_text_is_what_the_library_writes(value in any_value()) {
            prop_assert_eq!(String::from_utf8(Text::of(&value).whole).unwrap(), value.to_string());
        }
    }

    /// A shorter way to what writing the whole object gives.
    #[rstest]
    #[case(json!({"a": 1}), json!({"z": "1", "a": "2"}))]
    #[case(json!({"zone": {"a": [1.5, "ä\""]}}), json!({"l": "v"}))]
    #[case(json!({}), json!({}))]
    #[case(json!({}), Value::Null)]
    fn a_label_is_added_to_the_text(#[case] content: Value, #[case] labels: Value) {
        let metadata = json!({"annotations": {"b": "1"}, "labels": labels, "name": "x"});
        let mut object = json!({"apiVersion": "g/v1", "kind": "A", "metadata": metadata, "spec": content});
        let labelled = Text::of(&object).labelled(&object, "l", "w").unwrap();
        object["metadata"]["labels"]["l"] = json!("w");
        assert_eq!(labelled, Text::of(&object));
    }

    #[test]
    fn a_label_needs_a_place() {
        let labelled = |object: Value| Text::of(&object).labelled(&object, "l", "w").map(|text| text.whole);
        assert_eq!(labelled(json!({"kind": "A"})), None);
        assert_eq!(labelled(json!({"metadata": "x"})), None);
        assert_eq!(labelled(json!({"metadata": {"labels": "x"}})), None);
        let whole = labelled(json!({"metadata": {"name": "x"}})).unwrap();
        assert_eq!(String::from_utf8(whole).unwrap(), r#"{"metadata":{"labels":{"l":"w"},"name":"x"}}"#);
    }

    #[rstest]
    #[case(json!({"apiVersion": "g/v2", "kind": "A", "metadata": {"name": "x", "labels": {"a": "1"}}}), true)]
    #[case(json!({"apiVersion": "g/v2beta1", "kind": "A", "metadata": {"name": "x", "labels": {"a": "1"}}}), false)]
    #[case(json!({"apiVersion": "g/v1", "kind": "A", "metadata": {"name": "x", "labels": {"a": "1"}}}), false)]
    #[case(json!({"kind": "A", "metadata": {"name": "x", "labels": {"a": "1"}}}), false)]
    #[case(json!({"apiVersion": "g/v2", "kind": "B", "metadata": {"name": "x", "labels": {"a": "1"}}}), false)]
    #[case(json!({"apiVersion": "g/v2", "kind": "A", "metadata": {"name": "y", "labels": {"a": "1"}}}), false)]
    #[case(json!({"apiVersion": "g/v2", "kind": "A"}), false)]
    fn an_answer_is_orderly_if_only_its_version_is_new(#[case] answer: Value, #[case] orderly: bool) {
        let sent = json!({"apiVersion": "g/v1", "kind": "A", "metadata": {"name": "x", "labels": {"a": "1"}}});
        assert_eq!(Text::of(&answer).is_orderly_answer_to(&Text::of(&sent), "g", "v2"), orderly);
    }

    /// API servers refuse these, also where they were sent so.
    #[rstest]
    #[case(json!({"name": "x", "labels": {"a": 1}}))]
    #[case(json!({"name": "x", "labels": null}))]
    #[case(json!({"name": "x", "annotations": {"a": ["b"]}}))]
    #[case(json!({"name": "x", "annotations": "a"}))]
    fn an_answer_with_irregular_metadata_is_not_orderly(#[case] metadata: Value) {
        let text = |version| Text::of(&json!({"apiVersion": version, "kind": "A", "metadata": metadata}));
        assert!(!text("g/v2").is_orderly_answer_to(&text("g/v1"), "g", "v2"));
    }

    #[rstest]
    #[case(json!({"kind": "Longer", "metadata": {"annotations": {"a": "1"}, "name": "x"}}), true, true)]
    #[case(json!({"kind": "A", "metadata": {"annotations": {"b": "2"}, "name": "x"}}), true, false)]
    #[case(json!({"kind": "A", "metadata": {"annotations": {"a": "1"}, "name": "y"}}), false, true)]
    #[case(json!({"kind": "A", "metadata": {"name": "x"}}), false, false)]
    #[case(json!({"kind": "A", "spec": {"metadata": {"annotations": {"a": "1"}, "name": "x"}}}), false, false)]
    #[case(json!({}), false, false)]
    fn metadata_and_annotations_are_compared(#[case] other: Value, #[case] metadata: bool, #[case] annotations: bool) {
        let own = json!({"kind": "A", "metadata": {"annotations": {"a": "1"}, "name": "x"}, "spec": {}});
        let (own, other) = (Text::of(&own), Text::of(&other));
        assert_eq!([own.shares_metadata(&other), other.shares_metadata(&own)], [metadata; 2]);
        assert_eq!([own.shares_annotations(&other), other.shares_annotations(&own)], [annotations; 2]);
    }

    #[rstest]
    #[case(json!({}))]
    #[case(json!({"metadata": null}))]
    #[case(json!({"metadata": "x"}))]
    fn what_is_not_there_is_not_shared(#[case] none: Value) {
        let text = Text::of(&none);
        assert!(!text.shares_metadata(&text) && !text.shares_annotations(&text));
    }
}
