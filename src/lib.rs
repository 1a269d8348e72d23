//! A conformance harness for Kubernetes CRD versioning.
//!
//! A *subject* (CRDs, their converter, samples) is tested and gets a verdict with evidence. Everything that touches the
//! world only acts and records evidence; every check is a pure function of that evidence; everything after that is
//! rendering:
//!
//! ```text
//! subject ─► plan ─► act ─► evidence ─► judge ─► findings ─► report
//! ```

pub mod subject;
pub mod evidence;
pub mod converter;
pub mod checks;
pub mod report;
pub mod operate;
pub mod act;
pub mod run;
#[cfg(feature = "cli")]
pub mod cli;
