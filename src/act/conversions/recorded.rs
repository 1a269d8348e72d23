//! What a search observed, as plain data.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::evidence::Trial;
use crate::report::Conversions;

/// What a search observed of one CRD.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Recorded {
    /// The trials that were judged together, by the number of their batch. Number 0 is the survey.
    pub batches: BTreeMap<usize, Vec<Trial>>,
    /// The trials that findings show, made smaller.
    pub shown: Vec<ShownTrial>,
    /// What was done.
    pub conversions: Option<Conversions>,
    /// Why the converter could not be asked to the end.
    pub stopped: Option<String>,
}

/// A trial that shows a breach by itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ShownTrial {
    /// The check.
    pub check: String,
    /// What tells the breach from others of the check.
    pub key: String,
    /// The trial.
    pub trial: Trial,
}

impl From<Vec<Trial>> for Recorded {
    fn from(trials: Vec<Trial>) -> Self {
        Self { batches: BTreeMap::from([(0, trials)]), ..Self::default() }
    }
}
