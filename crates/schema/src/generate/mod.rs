//! Generating objects from schemas: valid ones that the API server would admit, invalid ones for checks that need them,
//! and shrinking objects that fail a check.
//!
//! A [`Generator`] compiles the schema of one CRD version once. Every object is a function of seed, phase and index, so
//! that objects can be generated in any order, on any thread and any machine.
//!
//! ```
//! use crdproof_schema::document::{Sources, parse};
//! use crdproof_schema::generate::{Context, Generator, Options, Phase};
//! use crdproof_schema::kubernetes::KubeVersion;
//! use crdproof_schema::structural::Schema;
//!
//! let mut sources = Sources::default();
//! let id = sources.add("schema", "type: object\nproperties:\n  spec:\n    type: object\n    properties: {size: {type: integer, minimum: 1}}\n");
//! let schema = Schema::read(&parse(&sources, id).unwrap()[0]);
//! let context = Context::new("example.com", "v1", "Widget").namespaced();
//! let generator = Generator::new(&schema, KubeVersion::minor(36), &context, Options::default())?;
//! for case in generator.cases(Phase::Random, 42).take(3) {
//!     assert_eq!(case.object["kind"], "Widget");
//! }
//! # Ok::<(), crdproof_schema::generate::Unsatisfiable>(())
//! ```

mod boundary;
mod case;
mod coverage;
mod format;
mod generator;
mod large;
mod make;
mod negative;
mod partial;
mod pattern;
mod plan;
mod random;
mod settle;
pub mod shrink;
mod solve;
#[cfg(feature = "proptest")]
mod strategy;
#[cfg(test)]
mod tests;

pub use case::{Case, Meant, Phase, Saved};
pub use coverage::{Coverage, Gap, Missing};
pub use generator::{Context, Generator, Options, Scale};
pub use plan::Unsatisfiable;
#[cfg(feature = "proptest")]
pub use strategy::{Objects, Tree, strategy};
