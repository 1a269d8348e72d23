//! A conformance harness for Kubernetes CRD versioning.
//!
//! A *subject* (CRDs, their converter, samples) is tested and gets a verdict with evidence. In your own test:
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
//! The implementation is a pipeline. Acting does I/O and records evidence; every check is a pure function of that
//! evidence; everything after that is rendering:
//!
//! ```text
//! subject ─► plan ─► act ─► evidence ─► judge ─► findings ─► report
//! ```

#![cfg_attr(
    not(feature = "internals"),
    allow(dead_code, unreachable_pub, unused_imports, reason = "a few items are there for tests and benchmarks only")
)]

mod facade;

pub use checks::Severity;
pub use facade::{Checker, Error, check};
pub use report::{Finding, Outcome, Report};

// The folders, lowest first. The feature `internals` makes them reachable for our own tests, benchmarks and examples;
// they change without notice.
#[cfg(not(feature = "internals"))]
mod subject;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod subject;
#[cfg(not(feature = "internals"))]
mod evidence;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod evidence;
#[cfg(not(feature = "internals"))]
mod converter;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod converter;
#[cfg(not(feature = "internals"))]
mod checks;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod checks;
#[cfg(not(feature = "internals"))]
mod report;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod report;
#[cfg(not(feature = "internals"))]
mod operate;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod operate;
#[cfg(not(feature = "internals"))]
mod act;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod act;
#[cfg(not(feature = "internals"))]
mod run;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod run;
#[cfg(feature = "cli")]
mod cli;

#[cfg(feature = "cli")]
#[doc(hidden)]
pub use cli::main;
