//! The endpoints of a subject, opened once and kept.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use super::endpoint::Endpoint;
use crate::subject::Subject;
use crdproof_envtest::binaries::Assets;

/// Resources of the machine that a converter may need.
#[derive(Debug, Clone, Default)]
pub struct ConverterResources {
    /// The binaries of an API server, for a process that needs one.
    pub server: Option<Assets>,
    /// The kubeconfig files that `kubectl` would use, for a Service in a cluster.
    pub kubeconfig: Vec<PathBuf>,
}

type Kept = OnceLock<Result<Option<Box<dyn Endpoint>>, String>>;

/// The endpoints of a subject's converters. Each is opened on first use; a process behind it ends with the last clone.
#[derive(Clone, Default)]
pub struct SubjectEndpoints {
    means: ConverterResources,
    endpoint: Arc<Kept>,
    baseline: Arc<Kept>,
}

impl SubjectEndpoints {
    /// Uses these resources of the machine.
    pub fn with(means: ConverterResources) -> Self {
        Self { means, ..Self::default() }
    }

    /// Opens another endpoint, which the caller keeps.
    pub(crate) fn open(&self, subject: &Subject) -> Result<Option<Box<dyn Endpoint>>, String> {
        super::open(subject, &self.means)
    }

    /// Returns the endpoint that answers, if any. `Err` says why it cannot be called, also the next time.
    pub fn endpoint(&self, subject: &Subject) -> Result<Option<&dyn Endpoint>, String> {
        kept(self.endpoint.get_or_init(|| super::open(subject, &self.means)))
    }

    /// Returns the endpoint of the previous release's converter, if the subject names one.
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

impl fmt::Debug for SubjectEndpoints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opened").field("means", &self.means).finish_non_exhaustive()
    }
}
