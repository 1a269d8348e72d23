//! CRDs that controller-gen writes and kustomize completes.

use super::Crd;
use crdproof_schema::document::Span;

/// The role of kustomize for a CRD.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kustomized {
    /// It was read from its file, unchanged.
    #[default]
    No,
    /// It was read as its kustomization builds it, which is what gets installed.
    Yes,
    /// It was read unchanged; the patch at this location would add a conversion webhook, but no kustomization applies
    /// it.
    UnusedPatch(Span),
}

impl Crd {
    /// Returns true if controller-gen wrote it, without a conversion stanza, and nothing added one.
    pub fn is_generated_without_stanza(&self) -> bool {
        let annotations = self.node.at(&["metadata", "annotations"]);
        let is_generated = annotations.is_some_and(|all| all.get("controller-gen.kubebuilder.io/version").is_some());
        is_generated && !self.conversion.stated
    }

    /// Returns true if a file that was not read may add a conversion webhook before it is installed: controller-gen
    /// writes no conversion stanza.
    pub fn may_get_a_webhook(&self) -> bool {
        self.is_generated_without_stanza() && self.kustomized != Kustomized::Yes
    }
}
