//! Planning and running: which checks are judged on which CRDs, and what came of it.

pub mod bisect;
mod budget;
mod compare;
mod engine;
mod error;
mod events;
mod execute;
mod fold;
mod group;
mod observations;
mod plan;
mod recording;
mod reproduce;
mod select;
mod servers;
mod suite;
mod redact;
mod waive;

pub use crate::act::conversions::{Recorded, ShownRun};
pub use compare::{Comparison, compare};
pub use engine::{Options, needs_converter, reach};
pub use error::RunError;
pub use events::Event;
pub use execute::{execute, run_scenarios};
pub use fold::{Ran, judge};
pub use observations::Observations;
pub use plan::{Absent, Plan, PlannedCheck, ServerMatrix, Settings, plan, plan_recorded};
pub use recording::{HEADER, Header, RecordedCrd, Recording, RecordingError};
pub use redact::Redactor;
pub use reproduce::{command, quoted};
pub use select::Selection;
pub use servers::Servers;
pub use suite::{SUITES, Suite, SuiteError, SuiteFile, load_suite};
pub use waive::waiver_check;
