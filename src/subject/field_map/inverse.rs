//! Objects that do not survive a round trip through a relation.

use serde_json::Value;

use super::difference::places;
use super::lost::declares_lost;
use super::{FieldMap, Relation, expected};

/// A value that does not survive the conversion to another version and back.
#[derive(Debug, Clone, PartialEq)]
pub struct InverseGap {
    /// The index of the object.
    pub object: usize,
    /// The object's version.
    pub version: String,
    /// The other version.
    pub through: String,
    /// JSON pointer to the value; empty if converting back was refused.
    pub pointer: String,
    /// The difference.
    pub what: String,
}

/// Converts objects to every version that the relation reaches and back, and returns the values that change although no
/// map declares their loss. The version of an object is that of its `apiVersion`. A refusal of the first conversion is
/// not a gap: its message says what cannot be converted.
pub fn inverse_gaps(relation: &Relation<'_>, maps: &[&FieldMap], objects: &[Value]) -> Vec<InverseGap> {
    let mut gaps = Vec::new();
    for (index, object) in objects.iter().enumerate() {
        let version = object["apiVersion"].as_str().and_then(|version| version.rsplit('/').next()).unwrap_or_default();
        for through in relation.versions().into_iter().filter(|through| *through != version) {
            let Some(way) = relation.way(version, through) else { continue };
            let Ok(there) = expected(relation, object, version, through) else { continue };
            let gap = |pointer: String, what: String| InverseGap {
                object: index,
                version: version.to_owned(),
                through: through.to_owned(),
                pointer,
                what,
            };
            let back = match expected(relation, &there, through, version) {
                Ok(back) => back,
                Err(refusal) => {
                    gaps.push(gap(String::new(), format!("the way back is refused: {refusal}")));
                    continue;
                }
            };
            for (pointer, values) in places(object, &back) {
                if !declares_lost(maps, &way, &pointer.replace('/', ".")) {
                    let shown = |key: &str| values.get(key).map_or_else(|| "nothing".to_owned(), Value::to_string);
                    gaps.push(gap(pointer, format!("{} comes back as {}", shown("was"), shown("now"))));
                }
            }
        }
    }
    gaps
}
