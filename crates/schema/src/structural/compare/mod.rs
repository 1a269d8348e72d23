//! Two states of one schema, node by node: what changed, where, and which way.
//!
//! Every difference becomes one [`Delta`] with a [`Direction`], so that a reader decides by
//! direction and does not have to know each keyword. A keyword that nobody taught us about becomes
//! [`What::NotUnderstood`]: silence must mean that nothing changed.

mod facts;
mod junctor;
mod known;
mod language;
mod node;
mod presence;
mod rule_logic;
mod rule_terms;
mod rules;
mod trail;
mod trees;
mod value;
mod what;
mod words;

#[cfg(test)]
mod tests;

use super::{Path, Schema};
use crate::document::Span;

pub(super) use trees::children;
pub use what::{Shape, Values, What};

/// The direction of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// The meaning for an API server is the same.
    Harmless,
    /// More values are valid; no valid value is refused or changed.
    Wider,
    /// Values stay valid, but change their meaning.
    Meaning,
    /// Some valid value may be refused; this cannot be decided.
    Unknown,
    /// Some valid value is refused.
    Narrower,
    /// Data that was kept is dropped.
    Lossy,
}

/// One difference between two states of a schema.
#[derive(Debug, Clone, PartialEq)]
pub struct Delta {
    /// The field concerned.
    pub path: Path,
    /// The old location.
    pub old: Span,
    /// The new location, or the nearest existing node.
    pub new: Span,
    /// The direction.
    pub direction: Direction,
    /// True if an API server with validation ratcheting accepts an old value here in most updates, because it accepts a
    /// value that an update does not change in any part. True for scalars outside of lists whose items have no
    /// identity; such a list counts as one value.
    pub ratchets: bool,
    /// The change.
    pub what: What,
}

impl Delta {
    /// Returns true if valid objects may now be refused or lose something.
    pub fn is_breaking(&self) -> bool {
        match self.direction {
            Direction::Harmless | Direction::Wider => false,
            Direction::Meaning | Direction::Unknown | Direction::Narrower | Direction::Lossy => true,
        }
    }
}

/// Compares two states of a schema. Does not list children of added or removed nodes.
///
/// ```
/// use crdproof_schema::document::{Sources, parse};
/// use crdproof_schema::structural::{Schema, compare::compare};
///
/// let mut sources = Sources::default();
/// let mut schema = |text: &str| {
///     let id = sources.add("schema.yaml", text);
///     Schema::read(&parse(&sources, id).unwrap()[0])
/// };
/// let deltas = compare(
///     &schema("{type: integer, maximum: 10}"),
///     &schema("{type: integer, maximum: 5}"),
/// );
/// assert_eq!(deltas[0].to_string(), "maximum lowered from 10 to 5");
/// ```
pub fn compare(old: &Schema, new: &Schema) -> Vec<Delta> {
    let mut out = Vec::new();
    node::Scene { old, new, at: &trail::Trail::root(), above: None, out: &mut out }.compare();
    out
}
