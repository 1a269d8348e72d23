//! A conformance harness for Kubernetes CRD versioning.

pub mod checks;
pub mod convert;
pub mod document;
pub mod field_map;
pub mod input;
pub mod kubernetes;
pub mod names;
pub mod observe;
pub mod report;
pub mod run;
pub mod schema;
pub mod subject;
