//! An object of a trial.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::Edit;
use super::text::{Decoration, Text};
use crdproof_schema::structural::is_deeper_than;

/// An object that several legs of a trial may have: converters that are right give the same ones again and again. It is a
/// value or a text, and becomes the other when somebody asks. Clones share both.
#[derive(Clone)]
pub struct Object(Arc<Inner>);

/// At least one of value and text is there from the beginning.
#[derive(Default)]
struct Inner {
    value: OnceLock<Value>,
    text: OnceLock<Text>,
    /// Whether it is another one with the label of an edit.
    is_labelled: bool,
    /// The object with that label, if it can have one.
    labelled: OnceLock<Option<Object>>,
}

/// Deeper texts are not read again: the library guards its stack, and refuses them.
const READABLE: usize = 100;

impl Object {
    /// The object as JSON, written when it is first asked for.
    pub fn text(&self) -> &[u8] {
        self.as_text().whole()
    }

    fn as_text(&self) -> &Text {
        self.0.text.get_or_init(|| Text::of(self))
    }

    /// The text, where somebody has asked for it.
    pub fn written(&self) -> Option<&[u8]> {
        self.0.text.get().map(Text::whole)
    }

    /// The same object with [`Edit::LABEL`]. `None` where it has no metadata to put a label into.
    pub fn labelled(&self) -> Option<&Self> {
        let label = || {
            let (name, value) = Edit::LABEL;
            let text = self.as_text().labelled(self, name, value)?;
            let labelled = Inner { text: text.into(), is_labelled: true, ..Inner::default() };
            if is_deeper_than(self, READABLE) {
                let mut object = Value::clone(self);
                object["metadata"]["labels"][name] = value.into();
                let _ = labelled.value.set(object);
            }
            Some(Self(Arc::new(labelled)))
        };
        self.0.labelled.get_or_init(label).as_ref()
    }

    /// Whether it was made of another one in that way.
    pub fn is_labelled(&self) -> bool {
        self.0.is_labelled
    }

    /// Whether API servers surely take this for another object converted to `group/version`, as it is. Texts tell this
    /// sooner than maps; where they are not written, or differ, a closer look may find the same nevertheless.
    pub fn surely_answers(&self, sent: &Self, group: &str, version: &str) -> bool {
        let texts = self.0.text.get().zip(sent.0.text.get());
        texts.is_some_and(|(own, sent)| own.is_orderly_answer_to(sent, group, version))
    }

    /// Whether both surely have the same metadata, annotations aside; told by texts, too.
    pub fn surely_shares_metadata(&self, other: &Self) -> bool {
        let texts = self.0.text.get().zip(other.0.text.get());
        texts.is_some_and(|(own, theirs)| own.shares_metadata(theirs))
    }

    /// The same for annotations.
    pub fn surely_shares_annotations(&self, other: &Self) -> bool {
        let texts = self.0.text.get().zip(other.0.text.get());
        texts.is_some_and(|(own, theirs)| own.shares_annotations(theirs))
    }

    /// Whether it has any labels, any annotations.
    pub fn is_decorated(&self, kind: Decoration) -> bool {
        let text = self.as_text().decoration(kind);
        text.starts_with(b"{") && text != b"{}"
    }

    /// Its labels, its annotations. Where nobody has read the whole object, no more than these are read.
    pub fn decoration(&self, kind: Decoration) -> Cow<'_, Map<String, Value>> {
        if let (None, Some(text)) = (self.0.value.get(), self.0.text.get()) {
            return Cow::Owned(serde_json::from_slice(text.decoration(kind)).unwrap_or_default());
        }
        let own = self.get("metadata").and_then(|metadata| metadata.get(kind.name())).and_then(Value::as_object);
        own.map_or_else(Cow::default, Cow::Borrowed)
    }

    /// Whether this is that very object, and not one that is equal to it.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl From<Value> for Object {
    fn from(value: Value) -> Self {
        Self(Arc::new(Inner { value: value.into(), ..Inner::default() }))
    }
}

impl Deref for Object {
    type Target = Value;

    fn deref(&self) -> &Value {
        self.0.value.get_or_init(|| {
            // We wrote it ourselves, and nothing that is too deep.
            self.written().and_then(|text| serde_json::from_slice(text).ok()).unwrap_or_default()
        })
    }
}

impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        self.is(other) || **self == **other
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_labelled_object_is_read_when_somebody_looks() {
        let object = Object::from(json!({"metadata": {"annotations": {"a": "1"}, "name": "x"}, "spec": {"n": 0.5}}));
        let labelled = object.labelled().unwrap();
        assert!(labelled.is_labelled() && !object.is_labelled());
        assert!(labelled.is(object.labelled().unwrap()), "there is one");
        assert_eq!(*labelled.decoration(Decoration::Annotations), *object.decoration(Decoration::Annotations));
        assert_eq!(
            *labelled.decoration(Decoration::Labels),
            *json!({"crdproof.dev/edited": "yes"}).as_object().unwrap()
        );
        assert_eq!(labelled.0.value.get(), None);
        let mut meant = Value::clone(&object);
        meant["metadata"]["labels"] = json!({"crdproof.dev/edited": "yes"});
        assert_eq!(**labelled, meant);
    }

    #[test]
    fn however_deep_an_object_is_it_can_have_a_label() {
        let deep = (0..300).fold(json!(1), |inner, _| json!([inner]));
        let object = Object::from(json!({"metadata": {"name": "x"}, "spec": deep}));
        let labelled = object.labelled().unwrap();
        assert_eq!(labelled["spec"], object["spec"]);
        assert_eq!(labelled["metadata"]["labels"], json!({"crdproof.dev/edited": "yes"}));
    }

    #[test]
    fn decorations_are_the_same_in_value_and_text() {
        for (metadata, labels) in [
            (json!({"labels": {"a": "1"}}), true),
            (json!({"labels": {}}), false),
            (json!({"labels": null}), false),
            (json!({"labels": "a"}), false),
            (json!({}), false),
        ] {
            let object = Object::from(json!({ "metadata": metadata }));
            assert_eq!(object.is_decorated(Decoration::Labels), labels, "{metadata}");
            assert_eq!(!object.decoration(Decoration::Labels).is_empty(), labels, "{metadata}");
            assert!(
                !object.is_decorated(Decoration::Annotations) && object.decoration(Decoration::Annotations).is_empty()
            );
        }
    }
}
