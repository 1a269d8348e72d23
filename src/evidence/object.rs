//! An object that conversions share.

use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An object that is never changed. Clones share it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Object(Arc<Value>);

impl From<Value> for Object {
    fn from(value: Value) -> Self {
        Self(Arc::new(value))
    }
}

impl Deref for Object {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.0
    }
}
