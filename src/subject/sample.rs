//! Sample objects of the author.

use serde_json::Value;

use super::Crd;
use crdproof_schema::document::Node;

/// One object of some version of a CRD.
#[derive(Debug, Clone)]
pub struct Sample {
    /// The document, for locations.
    pub node: Node,
    /// The object.
    pub object: Value,
}

impl Sample {
    /// Uses a document as a sample.
    pub fn new(node: Node) -> Self {
        let object = node.to_value();
        Self { node, object }
    }

    /// The API group and version it states.
    pub fn group_version(&self) -> (&str, &str) {
        let api_version = self.object["apiVersion"].as_str().unwrap_or_default();
        api_version.split_once('/').unwrap_or(("", api_version))
    }

    /// The kind it states.
    pub fn kind(&self) -> &str {
        self.object["kind"].as_str().unwrap_or_default()
    }

    /// Its name, for messages.
    pub fn name(&self) -> &str {
        let metadata = &self.object["metadata"];
        metadata["name"].as_str().or_else(|| metadata["generateName"].as_str()).unwrap_or("(unnamed)")
    }

    /// Returns true if it is an object of this CRD, at any version.
    pub fn is_of(&self, crd: &Crd) -> bool {
        self.group_version().0 == crd.group && self.kind() == crd.names.kind
    }
}
