//! Planning and running: which checks are judged on which CRDs, and what came of it.

pub mod bisect;
mod compare;
mod engine;
mod fold;
mod plan;
mod recording;
mod select;
mod suite;
mod veil;
mod waive;

pub use crate::act::conversions::{Recorded, ShownTrial};
pub use compare::{Comparison, compare};
pub use engine::{Event, Options, asks, reach, run};
pub use fold::{Ran, conduct, fold, judge};
pub use plan::{Absent, Asking, Case, Plan, Settings, plan};
pub use recording::{HEADER, Header, RecordedCrd, Recording, RecordingError};
pub use select::Selection;
pub use suite::{SUITES, Suite, SuiteError, SuiteFile, load_suite};
pub use veil::Veil;
pub use waive::waiver_check;
