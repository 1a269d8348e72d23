//! Errors that prevent judging a run. Defects of the subject are findings, never errors.

use super::Absent;
use crdproof_envtest::ClusterError;
use crdproof_envtest::binaries::BinariesError;

/// An error of a run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The selection leaves nothing to test.
    #[error("the selection leaves nothing to test")]
    Nothing,
    /// The binaries of an API server could not be installed.
    #[error(transparent)]
    Install(#[from] BinariesError),
    /// An API server failed.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// No release of a range is left.
    #[error("no release of {range} can be installed or started{}", list(.reasons))]
    NoRelease {
        /// The range.
        range: String,
        /// Its releases, each with the reason for leaving it out.
        reasons: Vec<Absent>,
    },
    /// The subject's converter cannot be called.
    #[error("the converter cannot be called: {0}")]
    Converter(String),
    /// The converter of a CRD cannot be opened for its scenarios.
    #[error("{crd}: {why}")]
    ConverterOf {
        /// The CRD.
        crd: String,
        /// The cause.
        why: String,
    },
    /// An existing cluster cannot be used in this way.
    #[error("{why}")]
    ExistingCluster {
        /// The cause.
        why: String,
        /// The remedy.
        help: &'static str,
    },
}

fn list(reasons: &[Absent]) -> String {
    reasons.iter().map(|one| format!("\n  ○ {}: {}", one.kubernetes, one.reason)).collect()
}
