//! The fold of all events, and its writers. A report is the only input of a writer, so every format
//! says the same, and a saved report can be rendered again later.

mod model;
mod place;

pub use model::{
    CheckInfo, Counts, CrdInfo, Finding, Outcome, Problem, Report, Result, Skipped, Summary, VersionInfo, WaiverInfo,
    WaiverState,
};
pub use place::{Excerpt, Location, Related};
