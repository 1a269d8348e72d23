//! The declared relation of versions, as data and as a function.
//!
//! [`FieldMap`] is the declaration; [`Relation`] is all maps of a CRD, compiled, with the versions that they reach
//! through others. A conversion from one version of a map to the other has these steps:
//!
//! 1. it removes defaults of the source version;
//! 2. every operator takes its fields out of the object, those with the deepest paths first;
//! 3. the operators put their results into the object, shallow paths first;
//! 4. it sets constants and defaults of the target version;
//! 5. it prunes fields that the target version does not have, and stashes or restores the whole difference, if
//!    declared.
//!
//! So each direction undoes the other in reverse order, whatever the order in the file. Taking before putting also
//! allows two fields to swap. A value that would not come back the same is refused, unless the operator says otherwise.

mod codec;
mod compile;
mod difference;
mod inverse;
mod lost;
mod mapping;
mod model;
mod named;
mod operator;
mod path;
mod relation;
mod stash;

pub use compile::Problem;
pub use inverse::{InverseGap, inverse_gaps};
pub use lost::declares_lost;
pub use model::{
    Compute, Computed, FieldMap, Fixed, Format, Gather, GatheredList, Loss, Move, Otherwise, Part, PartType, Split,
    Stash, Stringify, Unit, UnitChange, ValueTable, Wrap,
};
pub use relation::{MapError, Relation, expected};

/// A conversion that is refused, because it would change the meaning of the object.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {message}")]
pub struct Refusal {
    /// The field that cannot be converted.
    pub path: String,
    /// The reason.
    pub message: String,
}

impl Refusal {
    fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into() }
    }
}

impl FieldMap {
    /// Returns true if the map relates these two versions, in either direction.
    pub fn relates(&self, from: &str, to: &str) -> bool {
        let [left, right] = &self.between;
        (left == from && right == to) || (left == to && right == from)
    }
}

#[cfg(test)]
mod tests;
