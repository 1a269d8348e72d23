//! What answers a subject's reviews, opened once and kept.

use std::fmt;
use std::sync::{Arc, OnceLock};

use super::endpoint::Endpoint;
use crate::cluster::binaries::Assets;
use crate::subject::Subject;

type Kept = OnceLock<Result<Option<Box<dyn Endpoint>>, String>>;

/// What answers a subject's reviews. It is opened when it is first asked for, and a process of ours that
/// it stands for ends with the last clone.
#[derive(Clone, Default)]
pub struct Opened {
    server: Option<Assets>,
    endpoint: Arc<Kept>,
}

impl Opened {
    /// With the programs of an API server, for a converter that needs one.
    pub fn with_server(server: Assets) -> Self {
        Self { server: Some(server), endpoint: Arc::default() }
    }

    /// What answers, where something does. `Err` says why it cannot be asked, also the next time.
    pub fn endpoint(&self, subject: &Subject) -> Result<Option<&dyn Endpoint>, String> {
        match self.endpoint.get_or_init(|| super::open(subject, self.server.as_ref())) {
            Ok(endpoint) => Ok(endpoint.as_deref()),
            Err(why) => Err(why.clone()),
        }
    }
}

impl fmt::Debug for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opened").field("server", &self.server).finish_non_exhaustive()
    }
}
