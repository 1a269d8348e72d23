//! The view of clients of every version on an API server.

pub(super) mod admission_sees_its_version;
pub(super) mod cached_and_fresh_agree;
pub(super) mod crd_accepted;
pub(super) mod crud_at_every_version;
pub(super) mod deprecation_warned;
pub(super) mod discovery_truthful;
pub(super) mod identity_shared;
pub(super) mod lists_complete;
pub(super) mod locks_cross_versions;
pub(super) mod pages_cross_versions;
pub(super) mod partial_metadata_served;
pub(super) mod rules_see_converted_old_self;
pub(super) mod scale_works;
pub(super) mod schema_published;
pub(super) mod selectors_hold;
pub(super) mod status_isolated;
pub(super) mod strict_writes_judged_by_own_schema;
pub(super) mod tables_render;
pub(super) mod unserved_is_gone;
pub(super) mod versions_agree;
pub(super) mod watches_complete;
pub(super) mod writes_lose_nothing;
