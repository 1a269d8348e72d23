//! What acting recorded: plain data that can be saved, judged again and compared.

mod action;
mod body;
mod counterexample;
mod delivered;
mod exchange;
pub mod inventory;
mod json;
mod named;
mod object;
mod step;
mod taken;
mod trace;
mod transport;
mod conversion;

pub use action::{Action, Listing};
pub use body::{Bodies, Body};
pub use conversion::{Act, Answer, ConversionRun, Edit, Fit, Hop, Origin, Reply, Step, normalised};
pub use counterexample::{Counterexample, CounterexampleError};
pub use delivered::{Became, Delivered, Differs, Health, State};
pub use exchange::{Ask, Exchange, NotConverted, Outcome, redacted_review};
pub(crate) use json::read_json;
pub use object::Object;
pub use step::{ApplyStep, RetirementStep, Scenario, ServingStep, Step as ScenarioStep, StorageStep};
pub use taken::Taken;
pub use trace::{
    AdmissionSeen, Call, Cleaned, Driven, MigrationPass, Names, PassName, Record, ReviewSeen, Seen, Settled, Snapshot,
    Trace, WatchEvent, WatchLog,
};
pub use transport::{Certificate, Transport};
