//! Events of a run, for progress.

use std::sync::Arc;
use std::time::Duration;

use super::Recorded;
use super::engine::PlannedCheck;
use super::shard::Work;
use crate::checks::Verdict;
use crate::evidence::{ConversionRun, Exchange, ScenarioStep, Trace};
use crate::report::Conversions;
use crate::subject::Crd;
use crdproof_envtest::Server;
use crdproof_envtest::binaries::Progress;

/// An event of a run, in order.
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
        /// The number of servers that run at once.
        at_once: usize,
    },
    /// A release is left out.
    ServerSkipped {
        /// The requested name.
        release: &'a str,
        /// The reason.
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
        /// The requested name of the server.
        release: &'a str,
        /// The CRD.
        crd: &'a str,
        /// The step.
        step: ScenarioStep,
        /// The number of requests for this CRD so far.
        requests: u64,
    },
    /// All scenarios ran on a server.
    ScenariosFinished {
        /// The requested name.
        release: &'a str,
        /// The traces, by CRD.
        traces: &'a [Trace],
        /// The duration, including the start.
        elapsed: Duration,
    },
    /// Judging begins.
    Started {
        /// The number of checks to judge, each on one CRD and server.
        checks: usize,
    },
    /// A batch of objects of a CRD was tried on its converter.
    Tried {
        /// The CRD.
        crd: &'a str,
        /// The number of objects that were tried so far.
        objects: usize,
        /// The total number of objects.
        of: usize,
    },
    /// Objects of a CRD were tried on its converter.
    Searched {
        /// The counts of conversions.
        conversions: Conversions,
        /// The reason why the converter could not be called to the end.
        stopped: Option<String>,
        /// Every conversion, if the settings request a recording.
        recorded: Option<Box<Recorded>>,
    },
    /// Work on a CRD without an API server ended.
    Worked {
        /// The CRD.
        crd: &'a str,
        /// The work.
        work: Work,
        /// Its duration.
        elapsed: Duration,
    },
    /// An endpoint was called for a CRD; only if the settings request a recording.
    Asked {
        /// The CRD.
        crd: &'a Crd,
        /// Requests and responses.
        exchanges: Vec<Exchange>,
    },
    /// A check was judged.
    Judged {
        /// Its index in the plan.
        index: usize,
        /// The check, its CRD and its server.
        planned: PlannedCheck<'a>,
        /// The verdict.
        verdict: Verdict,
        /// The conversions of the findings.
        shown: Arc<Vec<ConversionRun>>,
    },
}
