//! What a generator hands out.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::structural::Path;

/// The settings of a generator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Samples, and the examples that stand in the schema.
    Examples,
    /// Each constraint at its edge, each part absent and present, each leaf set.
    Boundary,
    /// Any valid objects.
    Random,
    /// What server-side apply sends to a converter: parts of objects, not valid by themselves.
    Partial,
    /// One violation of one constraint.
    Negative,
    /// Near the limit of etcd, and many objects.
    Large,
}

impl Phase {
    /// All of them, in the order in which they are run.
    pub const ALL: [Self; 6] =
        [Self::Examples, Self::Boundary, Self::Random, Self::Partial, Self::Negative, Self::Large];

    /// The word in files and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Examples => "examples",
            Self::Boundary => "boundary",
            Self::Random => "random",
            Self::Partial => "partial",
            Self::Negative => "negative",
            Self::Large => "large",
        }
    }

    /// The number that tells the random numbers of phases apart; never used again for another one.
    pub(super) fn number(self) -> u64 {
        match self {
            Self::Examples => 1,
            Self::Boundary => 2,
            Self::Random => 3,
            Self::Partial => 4,
            Self::Negative => 5,
            Self::Large => 6,
        }
    }
}

/// The purpose of a generated object.
#[derive(Debug, Clone, PartialEq)]
pub struct Meant {
    /// The field, as a path of the schema.
    pub path: Path,
    /// The keyword of the constraint, or what is done to the field.
    pub keyword: String,
    /// The field as a server writes it in its answer; for violations.
    pub field: Option<String>,
    /// The reason that a server gives, as in the causes of its answer; for violations.
    pub reason: Option<&'static str>,
}

/// One generated object.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// Its origin.
    pub phase: Phase,
    /// Its number within the phase.
    pub index: u64,
    /// The seed.
    pub seed: u64,
    /// The version of the CRD that it is an object of.
    pub version: String,
    /// The object.
    pub object: Value,
    /// What it was made to show; nothing in particular for random objects.
    pub meant: Option<Meant>,
}

/// A case as it is kept in a file. Replaying it takes the object as it is and no generator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Saved {
    /// The version of the CRD that it is an object of.
    pub version: String,
    /// The seed that it came from.
    pub seed: u64,
    /// Its origin.
    pub phase: Phase,
    /// Its number within the phase.
    pub index: u64,
    /// The object; smaller than the generated one after shrinking.
    pub object: Value,
}

impl Case {
    /// The case with this object, which may be a smaller one, to be kept in a file.
    pub fn save(&self, object: Value) -> Saved {
        Saved { version: self.version.clone(), seed: self.seed, phase: self.phase, index: self.index, object }
    }
}
