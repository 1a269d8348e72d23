//! The report and its writers. A report is the only input of a writer, so every format says the same, and a saved
//! report can be rendered again later.

mod conformance;
mod conversions;
mod converted;
mod coverage;
mod excerpt;
mod finding;
mod format;
mod github;
mod guide;
mod har;
mod redaction;
mod html;
mod json;
mod junit;
mod markdown;
mod matrix;
mod merge;
mod model;
mod paint;
mod place;
mod releases;
mod sarif;
mod sections;
mod shard;
mod side_by_side;
mod terminal;
mod timeline;
mod uri;
mod visible;

pub use conformance::{Conduct, conformance};
pub use conversions::{Conversions, PairInfo, Reach, Timing};
pub use finding::{Consequence, Field, Finding};
pub use format::{Format, FormatError, render};
pub use github::github;
pub use guide::{Between, guide};
pub use har::{Wire, har};
pub use html::html;
pub use json::{ReadError, json, read, report_schema};
pub use junit::junit;
pub use markdown::markdown;
pub use merge::{MergeError, merge};
pub use model::{
    CheckInfo, Counts, CrdInfo, FailOn, Outcome, Problem, Report, Result, ScenarioInfo, Skipped, Summary, VersionInfo,
    WaiverInfo, WaiverState,
};
pub use place::{Excerpt, Location, Locator, Related};
pub use redaction::Redaction;
pub(crate) use redaction::redact_line;
pub use sarif::sarif;
pub use sections::not_tested;
pub(crate) use sections::plural;
pub use shard::{AcceptedUse, ShardInfo, UngroupedFinding, UnitTime, WaiverUse};
pub(crate) use side_by_side::counterexample;
pub use terminal::{Style, terminal};
pub use timeline::{OwnerInfo, RequestInfo, ReviewInfo, StepInfo};
