//! The declared relation of versions, as data and as a function.
//!
//! [`FieldMap`] is what the author wrote; [`Relation`] is all maps of a CRD, compiled, with the versions that they reach
//! through others. A conversion goes from one version of a map to the other in these steps:
//!
//! 1. defaults of the source version are left off;
//! 2. every operator takes its fields out of the object, those with the deepest paths first;
//! 3. what they made of them is put into the object, shallow paths first;
//! 4. constants and defaults of the target version are set;
//! 5. what the target version does not know is pruned, and the whole difference, where one is declared, is put
//!    aside or brought back.
//!
//! So each direction undoes the other in reverse order, whatever the order in the file. Taking before putting also lets
//! two fields change places. A value that would not come back the same is refused, unless the operator says otherwise.

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
pub use relation::{Misrelated, Relation, expected};

/// A conversion that cannot be made without changing what the object says.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {message}")]
pub struct Refusal {
    /// The field that stands in the way.
    pub path: String,
    /// Why.
    pub message: String,
}

impl Refusal {
    fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into() }
    }
}

impl FieldMap {
    /// Returns whether the map relates these two versions, in either direction.
    pub fn relates(&self, from: &str, to: &str) -> bool {
        let [left, right] = &self.between;
        (left == from && right == to) || (left == to && right == from)
    }
}

#[cfg(test)]
mod tests;
