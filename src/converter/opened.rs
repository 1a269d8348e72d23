//! What answers a subject's reviews, opened once and kept.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use super::endpoint::Endpoint;
use crate::subject::Subject;
use crdproof_envtest::binaries::Assets;

/// The parts of the machine that a converter may need.
#[derive(Debug, Clone, Default)]
pub struct Means {
    /// The programs of an API server, for a process that needs one.
    pub server: Option<Assets>,
    /// The kubeconfig files that `kubectl` would take, for a service in a cluster.
    pub kubeconfig: Vec<PathBuf>,
}

type Kept = OnceLock<Result<Option<Box<dyn Endpoint>>, String>>;

/// The endpoint that answers a subject's reviews. It is opened when it is first used, and a process of ours that
/// it stands for ends with the last clone.
#[derive(Clone, Default)]
pub struct Opened {
    means: Means,
    endpoint: Arc<Kept>,
    baseline: Arc<Kept>,
}

impl Opened {
    /// With what of the machine it may need.
    pub fn with(means: Means) -> Self {
        Self { means, ..Self::default() }
    }

    /// Opens another one, for whoever keeps it.
    pub(crate) fn open(&self, subject: &Subject) -> Result<Option<Box<dyn Endpoint>>, String> {
        super::open(subject, &self.means)
    }

    /// Returns what answers, where something does. `Err` says why it cannot be asked, also the next time.
    pub fn endpoint(&self, subject: &Subject) -> Result<Option<&dyn Endpoint>, String> {
        kept(self.endpoint.get_or_init(|| super::open(subject, &self.means)))
    }

    /// Returns what answers as the previous release does, where the subject names it.
    pub fn baseline(&self, subject: &Subject) -> Result<Option<&dyn Endpoint>, String> {
        kept(self.baseline.get_or_init(|| super::open_baseline(subject, &self.means)))
    }
}

fn kept(opened: &Result<Option<Box<dyn Endpoint>>, String>) -> Result<Option<&dyn Endpoint>, String> {
    match opened {
        Ok(endpoint) => Ok(endpoint.as_deref()),
        Err(why) => Err(why.clone()),
    }
}

impl fmt::Debug for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opened").field("means", &self.means).finish_non_exhaustive()
    }
}
