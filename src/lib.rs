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

pub use facade::{Checker, Error, check};

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
