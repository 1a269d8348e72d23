//! An object of a trial.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// An object that several legs of a trial may have: converters that are right give the same ones again and again. Clones
/// share the value and its text.
#[derive(Clone)]
pub struct Object(Arc<Inner>);

struct Inner {
    value: Value,
    text: OnceLock<Vec<u8>>,
}

/// Most objects fit, so that their texts need not grow.
const USUAL_LENGTH: usize = 1024;

impl Object {
    /// The object as JSON, written when it is first asked for.
    pub fn text(&self) -> &[u8] {
        self.0.text.get_or_init(|| {
            let mut text = Vec::with_capacity(USUAL_LENGTH);
            // A value has texts for keys, and writing to memory cannot fail.
            let _ = serde_json::to_writer(&mut text, &self.0.value);
            text
        })
    }

    /// The text, where somebody has asked for it.
    pub fn written(&self) -> Option<&[u8]> {
        self.0.text.get().map(Vec::as_slice)
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
