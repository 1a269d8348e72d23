//! The CRD documents alone.

pub(super) mod ca_bundle_usable;
pub(super) mod conversion_needed;
pub(super) mod conversion_stanza_valid;
pub(super) mod defaults_valid;
pub(super) mod deprecation_announced;
pub(super) mod identity_consistent;
pub(super) mod list_keys_declared;
pub(super) mod minimum_kubernetes;
pub(super) mod none_strategy_lossless;
pub(super) mod one_storage_version;
pub(super) mod paths_resolve;
pub(super) mod review_v1_offered;
pub(super) mod review_versions_known;
pub(super) mod rules_affordable;
pub(super) mod samples_namespaced;
pub(super) mod samples_valid;
pub(super) mod schemas_structural;
mod shared_jsonpath;
mod shared_keywords;
mod shared_loss;
mod shared_names;
mod shared_structural;
pub(super) mod size_applicable;
pub(super) mod status_schema_present;
pub(super) mod storage_version_served;
pub(super) mod subresources_agree;
pub(super) mod version_names_ordered;
