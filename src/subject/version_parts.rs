//! Parts of a version that name fields by path: its scale subresource and its printer columns.

use super::crd::{owned, spanned};
use crdproof_schema::document::{Entry, Node, Span};
use crdproof_schema::structural::ScalePaths;

/// `subresources.scale`.
#[derive(Debug, Clone)]
pub struct Scale {
    /// Its position in the source.
    pub span: Span,
    /// `specReplicasPath`.
    pub spec_replicas: Option<(String, Span)>,
    /// `statusReplicasPath`.
    pub status_replicas: Option<(String, Span)>,
    /// `labelSelectorPath`.
    pub label_selector: Option<(String, Span)>,
}

/// One of `additionalPrinterColumns`.
#[derive(Debug, Clone)]
pub struct Column {
    /// Its position in the source.
    pub span: Span,
    /// `name`.
    pub name: String,
    /// `type`.
    pub ty: String,
    /// `format`.
    pub format: Option<(String, Span)>,
    /// `jsonPath`.
    pub path: Option<(String, Span)>,
}

impl Scale {
    pub(super) fn read(entry: &Entry) -> Self {
        let node = &entry.value;
        Self {
            span: entry.key_span.to(node.span),
            spec_replicas: spanned(node, "specReplicasPath"),
            status_replicas: spanned(node, "statusReplicasPath"),
            label_selector: spanned(node, "labelSelectorPath"),
        }
    }

    /// The paths, if both required ones are present.
    pub fn paths(&self) -> Option<ScalePaths<'_>> {
        Some(ScalePaths {
            spec_replicas: &self.spec_replicas.as_ref()?.0,
            status_replicas: &self.status_replicas.as_ref()?.0,
            label_selector: self.label_selector.as_ref().map(|(path, _)| path.as_str()),
        })
    }
}

impl Column {
    pub(super) fn read(node: &Node) -> Self {
        Self {
            span: node.span,
            name: owned(node, "name"),
            ty: owned(node, "type"),
            format: spanned(node, "format"),
            path: spanned(node, "jsonPath"),
        }
    }
}
