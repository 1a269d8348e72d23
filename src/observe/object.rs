//! An object of a trial.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::text::Text;

/// An object that several legs of a trial may have: converters that are right give the same ones again and again. Clones
/// share the value and its text.
#[derive(Clone)]
pub struct Object(Arc<Inner>);

struct Inner {
    value: Value,
    text: OnceLock<Text>,
}

impl Object {
    /// The object as JSON, written when it is first asked for.
    pub fn text(&self) -> &[u8] {
        self.0.text.get_or_init(|| Text::of(&self.0.value)).whole()
    }

    /// The text, where somebody has asked for it.
    pub fn written(&self) -> Option<&[u8]> {
        self.0.text.get().map(Text::whole)
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
