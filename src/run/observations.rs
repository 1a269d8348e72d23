//! The observations of acting, as plain data.

use std::collections::{BTreeMap, BTreeSet};

use super::shard::Timings;
use super::{Absent, ServerMatrix};
use crate::act::conversions::Recorded;
use crate::evidence::{Exchange, Trace};
use crdproof_envtest::{ClusterError, error_chain};

/// The observations of a run. A recording is a complete one.
#[derive(Debug, Clone, Default)]
pub struct Observations {
    /// Scenarios on API servers, by CRD and server.
    pub traces: Vec<Trace>,
    /// Releases that scenarios could not run on.
    pub absent: Vec<Absent>,
    /// Conversions by CRD.
    pub conversions: BTreeMap<String, Recorded>,
    /// Requests to the converter's endpoint by CRD.
    pub exchanges: BTreeMap<String, Vec<Exchange>>,
    /// Clean-ups of servers that failed after the scenarios had come to their end. The verdict is not affected.
    pub failed_clean_ups: Vec<FailedCleanUp>,
    /// The durations of scenarios and of the starts of servers.
    pub timings: Timings,
    /// True if acting was interrupted, so that scenarios may be missing.
    pub is_interrupted: bool,
    /// True if these are all observations: no converter is called for more.
    pub is_complete: bool,
}

/// A clean-up of a server that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedCleanUp {
    /// Names what is left, and why.
    pub message: String,
    /// The remedy.
    pub help: String,
}

impl FailedCleanUp {
    pub(super) fn new(error: &ClusterError) -> Self {
        Self { message: error_chain(error), help: error.help().to_owned() }
    }
}

impl Observations {
    /// Returns the servers of the scenarios.
    pub fn matrix(&self) -> ServerMatrix {
        let versions: BTreeSet<_> = self.traces.iter().map(|trace| trace.kubernetes).collect();
        ServerMatrix {
            servers: versions.iter().map(ToString::to_string).collect(),
            ranges: BTreeMap::new(),
            in_tree_migration: self.traces.iter().any(Trace::has_in_tree_migration),
            // Judging a recording needs no server.
            arguments: Vec::new(),
            deployed: false,
        }
    }
}
