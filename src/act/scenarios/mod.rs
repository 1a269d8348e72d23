//! Journeys: sequences of steps on a real API server. They act and record; what it means is for the checks to say.

mod admission;
mod apply;
mod command;
mod drivers;
pub mod deliver;
mod deliveries;
mod publish;
mod retire;
mod rules;
mod serve;
pub mod source;
mod stage;
mod storage;

pub use stage::Stage;

use std::sync::Arc;

use crate::converter::endpoint::Endpoint;
use crate::evidence::Trace;
use crate::subject::{Crd, Subject};
use crdproof_envtest::{ClusterError, Server};

/// Which journeys to make.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Journey {
    /// Reads and writes at every version.
    Serve,
    /// The storage version is flipped, objects are migrated, the old version is retired.
    Storage,
    /// Several managers apply at several versions.
    Apply,
    /// A version is retired, as `crdproof retire` does it.
    Retire,
}

impl Journey {
    /// All of them, in the order in which they are made.
    pub const ALL: [Self; 4] = [Self::Serve, Self::Storage, Self::Apply, Self::Retire];

    /// The first part of its steps' names.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Serve => "serve",
            Self::Storage => "storage",
            Self::Apply => "apply",
            Self::Retire => "retire",
        }
    }
}

/// Who migrates in the storage journey, beside the built-in migration and the command that the subject declares.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Migrators {
    /// The control plane itself, where the server offers that. It takes its time.
    pub in_tree: bool,
}

/// Makes journeys with a CRD on a server, one after the other, and gives what was seen. The CRD is removed in the end.
pub async fn travel(
    server: &Server,
    subject: &Subject,
    crd: &Crd,
    converter: Option<Arc<dyn Endpoint>>,
    journeys: &[Journey],
    seed: u64,
    migrators: Migrators,
) -> Result<Trace, ClusterError> {
    let mut stage = Stage::open(server, subject, crd, converter, seed).await?;
    stage.in_tree = migrators.in_tree;
    let mut result = Ok(());
    for journey in journeys {
        stage.begin(*journey);
        let made = match journey {
            Journey::Serve => serve::travel(&mut stage).await,
            Journey::Storage => storage::travel(&mut stage).await,
            Journey::Apply => apply::travel(&mut stage).await,
            Journey::Retire => retire::travel(&mut stage).await,
        };
        let cleaned = stage.clear().await;
        // That a server refuses the CRD is something that was seen, and no trouble of ours.
        let made = if stage.refused { Ok(()) } else { made };
        result = result.and(made).and(cleaned);
        if result.is_err() {
            break;
        }
    }
    let trace = stage.close().await;
    result.map(|()| trace)
}
