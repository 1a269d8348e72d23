//! Results of probes of a server.

use serde::Serialize;

/// The result of a probe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "result", content = "observed")]
pub enum ProbeResult {
    /// The server behaves correctly. Describes the observation.
    Good(String),
    /// The server has the defect. Describes the observation.
    Bad(String),
    /// The probe cannot decide on this server, and why.
    Unclear(String),
}

impl ProbeResult {
    /// Returns `Good` or `Bad` with the observation.
    pub fn of(good: bool, observed: impl Into<String>) -> Self {
        if good { Self::Good(observed.into()) } else { Self::Bad(observed.into()) }
    }
}
