//! Kubernetes structural schemas, without a cluster: pruning, defaulting and validation as an API server does it.
//!
//! - [`document`]: YAML and JSON as Kubernetes reads them, every node with its source position;
//! - [`kubernetes`]: versions, and the tables of features and known defects by release;
//! - [`structural`]: schemas that prune, default, validate and compare, with their CEL rules;
//! - [`generate`]: objects generated from schemas, and shrinking them;
//! - [`names`] and [`text`]: similar names, and texts for messages.
//!
//! Pure: no I/O, no clock, no async.

pub mod document;
pub mod generate;
pub mod kubernetes;
pub mod names;
pub mod structural;
pub mod text;
