//! The observations of a search, as plain data.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::evidence::ConversionRun;
use crate::report::Conversions;

/// The observations of a search on one CRD.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Recorded {
    /// The conversion runs that were judged together, by the number of their batch. Number 0 is the survey.
    pub batches: BTreeMap<usize, Vec<ConversionRun>>,
    /// The shrunk conversion runs of findings.
    pub shown: Vec<CounterexampleRun>,
    /// The counts of conversions.
    pub conversions: Option<Conversions>,
    /// The reason why the converter could not be called to the end.
    pub stopped: Option<String>,
}

/// A conversion run that shows a failure by itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CounterexampleRun {
    /// The check.
    pub check: String,
    /// The key that distinguishes the failure from others of the check.
    pub key: String,
    /// The conversion run.
    pub conversion_run: ConversionRun,
}

impl From<Vec<ConversionRun>> for Recorded {
    fn from(conversion_runs: Vec<ConversionRun>) -> Self {
        Self { batches: BTreeMap::from([(0, conversion_runs)]), ..Self::default() }
    }
}
