//! Strategy None, exactly as the API server carries it out.

use serde_json::Value;

use crate::schema;
use crate::subject::Crd;

/// Converts an object: `apiVersion` is rewritten, and what the target version does not know is
/// pruned. `Err` is what a client would be told.
pub fn convert(crd: &Crd, object: &Value, to: &str) -> Result<Value, String> {
    let version = crd.version(to).ok_or_else(|| format!("{} has no version {to}", crd.name))?;
    let mut converted = object.clone();
    converted["apiVersion"] = Value::String(format!("{}/{to}", crd.group));
    if let Some(schema) = &version.schema {
        schema::prune(schema, &mut converted);
    }
    Ok(converted)
}
