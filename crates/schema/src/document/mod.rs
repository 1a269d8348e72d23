//! YAML and JSON as Kubernetes reads them, every node with its source span.
//!
//! Text becomes a [`Node`] tree through [`parse`]; typed configuration is decoded from a node with
//! [`decode`], so that an error always knows its place.

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
