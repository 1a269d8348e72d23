//! Records of acting: plain data that can be saved, judged again and compared.

mod action;
mod attempt;
mod body;
mod counterexample;
mod delivered;
mod exchange;
pub mod inventory;
mod json;
mod left_out;
mod named;
mod object;
mod probe;
mod step;
mod sample_file;
mod trace;
mod transport;
mod watch;
mod conversion;

pub use action::{Action, Listing};
pub use attempt::{Attempt, AttemptKind, AttemptResponse, ObjectName};
pub use body::{Bodies, Body};
pub use conversion::{Act, Answer, ConversionRun, Edit, Hop, Origin, Reply, Step, Validity, normalised};
pub use counterexample::{Counterexample, CounterexampleError};
pub use delivered::{Delivered, DeliveryOutcome, FieldDifference, Health, State};
pub(crate) use exchange::out_of_proportion;
pub use exchange::{Exchange, NO_ANSWER, NotConverted, OUT_OF_PROPORTION, Outcome, Purpose, redacted_review};
pub(crate) use json::read_json;
pub use left_out::{LeftOut, LeftOutReason};
pub use object::Object;
pub use probe::ProbeResult;
pub use sample_file::SampleFile;
pub use step::{ApplyStep, RetirementStep, Scenario, ServingStep, Step as ScenarioStep, StorageStep};
pub use trace::{
    Call, Cleaned, Driven, MigrationPass, Names, Observation, ObservedAdmission, ObservedReview, PassName, Record,
    Settled, Snapshot, Trace,
};
pub use transport::{Certificate, Transport};
pub use watch::{WatchEvent, WatchLog};
