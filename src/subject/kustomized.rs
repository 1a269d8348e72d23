//! CRDs that controller-gen writes and kustomize completes.

use super::Crd;
use crdproof_schema::document::Span;

/// The part of kustomize in a CRD.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kustomized {
    /// It was read as it stands in its file.
    #[default]
    No,
    /// It was read as its kustomization builds it, so it is what gets installed.
    Yes,
    /// It was read as it stands; the patch at this place would add a conversion webhook, and nothing applies it.
    UnusedPatch(Span),
}

impl Crd {
    /// Returns whether controller-gen wrote it, which leaves the conversion stanza to others, and nobody wrote one.
    pub fn is_generated_without_stanza(&self) -> bool {
        let annotations = self.node.at(&["metadata", "annotations"]);
        let is_generated = annotations.is_some_and(|all| all.get("controller-gen.kubebuilder.io/version").is_some());
        is_generated && !self.conversion.stated
    }
}
