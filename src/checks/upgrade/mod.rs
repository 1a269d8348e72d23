//! An old state of the CRDs against a new one.

pub(super) mod change_understood;
pub(super) mod constraint_not_tightened;
pub(super) mod conversion_explicit;
pub(super) mod crd_kept;
pub(super) mod default_kept;
pub(super) mod field_kept;
pub(super) mod identity_kept;
pub(super) mod kubectl_view_kept;
pub(super) mod list_topology_kept;
pub(super) mod required_not_added;
pub(super) mod rules_not_tightened;
pub(super) mod selectable_fields_kept;
pub(super) mod served_before_stored;
pub(super) mod served_version_kept;
mod shared;
pub(super) mod stored_version_kept;
pub(super) mod subresources_kept;
pub(super) mod type_kept;
