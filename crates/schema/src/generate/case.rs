//! Generated objects and their phases.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::structural::Path;

/// The phase of a generated object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Samples, and examples in the schema.
    Examples,
    /// Each constraint at its boundary, each part absent and present, each leaf set.
    Boundary,
    /// Random valid objects.
    Random,
    /// Objects as server-side apply sends them to a converter: parts of objects, not valid by themselves.
    Partial,
    /// One violation of one constraint.
    Negative,
    /// Objects near the limit of etcd, and many objects.
    Large,
}

impl Phase {
    /// All phases, in order.
    pub const ALL: [Self; 6] =
        [Self::Examples, Self::Boundary, Self::Random, Self::Partial, Self::Negative, Self::Large];

    /// The name in files and messages.
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

    /// A number for the random numbers of a phase; never reused for another one.
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
    /// The keyword of the constraint, or the action on the field.
    pub keyword: String,
    /// The field as a server writes it in its response; for violations.
    pub field: Option<String>,
    /// The reason in the causes of a server's response; for violations.
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
    /// The version of the CRD.
    pub version: String,
    /// The object.
    pub object: Value,
    /// Its purpose; `None` for random objects.
    pub meant: Option<Meant>,
}

/// A generated object in a file. Replaying it needs no generator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Saved {
    /// The version of the CRD.
    pub version: String,
    /// The seed that generated it.
    pub seed: u64,
    /// Its origin.
    pub phase: Phase,
    /// Its number within the phase.
    pub index: u64,
    /// The object; smaller than the generated one after shrinking.
    pub object: Value,
}

impl Case {
    /// The generated object with this content, which may be smaller, for a file.
    pub fn save(&self, object: Value) -> Saved {
        Saved { version: self.version.clone(), seed: self.seed, phase: self.phase, index: self.index, object }
    }
}
