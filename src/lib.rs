//! A conformance harness for Kubernetes CRD versioning.
//!
//! A *subject* (CRDs, their converter, samples) is tested and gets a verdict with evidence. In a test of your own:
//!
//! ```
//! crdproof::check("fixtures/crds/three-versions/crds")?.suite("quick").run()?.assert_passed();
//! # Ok::<(), crdproof::Error>(())
//! ```
//!
//! The same with a conversion in Rust, and on a real API server:
//!
//! ```no_run
//! # fn convert(object: &serde_json::Value, to: &str) -> Result<serde_json::Value, String> { Ok(object.clone()) }
//! crdproof::check("config/crd")?.converter(|object, to| convert(object, to)).objects(1_000).run()?.assert_passed();
//! crdproof::check("config/crd")?.suite("storage").kubernetes("1.36").run()?.assert_passed();
//! # Ok::<(), crdproof::Error>(())
//! ```
//!
//! What happens is a pipeline. Acting touches the world and records evidence; every check is a pure function of that
//! evidence; everything after that is rendering:
//!
//! ```text
//! subject ─► plan ─► act ─► evidence ─► judge ─► findings ─► report
//! ```

mod facade;

pub use checks::Severity;
pub use facade::{Checker, Error, check};
pub use report::{Finding, Outcome, Report};

// The rooms of the house, from the ground up. They are reachable for our own tests, benchmarks and examples, and change
// without notice.
#[doc(hidden)]
pub mod subject;
#[doc(hidden)]
pub mod evidence;
#[doc(hidden)]
pub mod converter;
#[doc(hidden)]
pub mod checks;
#[doc(hidden)]
pub mod report;
#[doc(hidden)]
pub mod operate;
#[doc(hidden)]
pub mod act;
#[doc(hidden)]
pub mod run;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
