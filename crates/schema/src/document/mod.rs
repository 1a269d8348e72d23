//! YAML and JSON as Kubernetes reads them, every node with its source span.
//!
//! [`parse`] turns a text into a [`Node`] tree; [`decode`] turns a node into typed configuration. Errors always have a
//! location.

mod decode;
mod json;
mod node;
pub mod pointer;
mod scalar;
mod source;
mod yaml;

pub use decode::{DecodeError, decode};
pub use node::{Entry, Kind, Node};
pub use source::{Place, Source, SourceId, Sources, Span};
pub use yaml::{ParseError, parse};
