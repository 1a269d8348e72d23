//! What happens during a run, for whoever shows progress.

use std::sync::Arc;
use std::time::Duration;

use super::Recorded;
use super::engine::Case;
use crate::checks::Verdict;
use crate::evidence::{ConversionRun, Exchange, ScenarioStep, Trace};
use crate::report::Conversions;
use crate::subject::Crd;
use crdproof_envtest::Server;
use crdproof_envtest::binaries::Progress;

/// An event of a run, in the order in which it happens.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The binaries of an API server are being installed.
    Installing(Progress),
    /// All binaries are installed.
    Installed,
    /// Servers are about to start.
    Servers {
        /// The number of them.
        count: usize,
        /// How many run at once.
        at_once: usize,
    },
    /// A release is left out.
    ServerSkipped {
        /// The name under which it was asked for.
        release: &'a str,
        /// Why.
        reason: &'a str,
    },
    /// A server is ready.
    ServerStarted {
        /// The server.
        server: &'a Server,
        /// Its duration.
        elapsed: Duration,
    },
    /// A step of a scenario begins.
    Step {
        /// The name under which the server was asked for.
        release: &'a str,
        /// The CRD.
        crd: &'a str,
        /// The step.
        step: ScenarioStep,
        /// The number of requests that were made for this CRD until now.
        requests: u64,
    },
    /// All scenarios ran on a server.
    ScenariosFinished {
        /// The name under which it was asked for.
        release: &'a str,
        /// What was recorded, by CRD.
        traces: &'a [Trace],
        /// How long it took, with its start.
        elapsed: Duration,
    },
    /// Judging begins.
    Started {
        /// The number of checks that are judged, each on one CRD and server.
        checks: usize,
    },
    /// A batch of objects of a CRD was tried on its converter.
    Tried {
        /// The CRD.
        crd: &'a str,
        /// The number of objects that were tried until now.
        objects: usize,
        /// How many are to be tried.
        of: usize,
    },
    /// Objects of a CRD were tried on its converter.
    Searched {
        /// The action.
        conversions: Conversions,
        /// Why the converter could not be asked to the end.
        stopped: Option<String>,
        /// Every conversion, where the settings ask to record.
        recorded: Option<Box<Recorded>>,
    },
    /// An endpoint was asked about a CRD; only where the settings ask to record.
    Asked {
        /// The CRD.
        crd: &'a Crd,
        /// Requests and answers.
        exchanges: Vec<Exchange>,
    },
    /// A check was judged.
    Judged {
        /// Its index in the plan.
        index: usize,
        /// The check, its CRD and its server.
        case: Case<'a>,
        /// The verdict.
        verdict: Verdict,
        /// The conversions that findings point to.
        shown: Arc<Vec<ConversionRun>>,
    },
}
