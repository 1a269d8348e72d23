//! The form in which an API server holds an object.

use serde_json::Value;

use super::print::print;
use super::{Schema, drop_nulls, prune};

/// Brings an object into the form in which an API server goes on with it after reading or converting it: without what the
/// schema does not know, without nulls that it does not allow, numbers as they are printed. Defaults are another matter.
pub fn as_held(schema: Option<&Schema>, object: &mut Value) {
    if let Some(schema) = schema {
        prune(schema, object);
        drop_nulls(schema, object);
    }
    print(object);
}
