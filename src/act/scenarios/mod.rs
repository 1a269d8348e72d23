//! Scenarios: scripted sequences of steps on a real API server. They act and record; checks judge.

mod admission;
mod apply;
mod command;
mod drivers;
pub mod deliver;
mod deliveries;
mod deployed;
mod publish;
mod retirement;
mod rules;
mod serving;
pub mod source;
mod session;
mod storage;
mod usable;

pub use deployed::{check_deployed, deployed_objects, deployed_permissions};
use session::Session;

use std::sync::Arc;

use crate::converter::endpoint::Endpoint;
use crate::evidence::{Observation, Scenario, ScenarioStep, Trace};
use crate::subject::{Crd, Subject};
use crdproof_envtest::{ClusterError, Server};

/// The inputs of scenarios besides a server.
#[derive(Clone)]
pub struct Setup<'a> {
    /// The subject.
    pub subject: &'a Subject,
    /// One of its CRDs.
    pub crd: &'a Crd,
    /// The endpoint that answers the CRD's reviews; `None` if the server converts by itself.
    pub converter: Option<Arc<dyn Endpoint>>,
    /// The seed of generated objects.
    pub seed: u64,
    /// True if the control plane migrates, too, if it can. This takes minutes.
    pub in_tree_migration: bool,
    /// True if the CRD is installed on the server, and must not be changed.
    pub deployed: bool,
    /// Called at the start of each step, with the number of requests so far.
    pub progress: Option<&'a Progress<'a>>,
}

/// Receives the steps of scenarios as they begin.
pub type Progress<'a> = dyn Fn(ScenarioStep, u64) + Sync + 'a;

/// Runs scenarios with a CRD on a server, one after the other, and returns the trace. Removes what it created at the end.
pub async fn run(server: &Server, setup: Setup<'_>, scenarios: &[Scenario]) -> Result<Trace, ClusterError> {
    let mut session = Session::open(server, setup).await?;
    let mut result = Ok(());
    for scenario in scenarios {
        let made = match scenario {
            Scenario::Serving => serving::run(&mut session).await,
            Scenario::Storage => storage::run(&mut session).await,
            Scenario::Apply => apply::run(&mut session).await,
            Scenario::Retirement => retirement::run(&mut session).await,
        };
        let (cleaned, stuck) = match session.clear().await {
            Ok(stuck) => (Ok(()), stuck),
            Err(error) => (Err(error), None),
        };
        // A refusal by the server is an observation, not an error of ours.
        let made = match made {
            Err(_) if session.refused => Ok(()),
            Err(error @ ClusterError::Refused { .. }) => {
                session.see(Observation::Stopped(error.to_string()));
                Ok(())
            }
            made => made,
        };
        result = result.and(made).and(cleaned);
        let is_stuck = stuck.is_some();
        if let Some(why) = stuck {
            session.see(Observation::Stopped(why));
        }
        // The next scenario would see leftover objects of this one.
        if result.is_err() || is_stuck {
            break;
        }
    }
    let trace = session.close().await;
    result.map(|()| trace)
}
