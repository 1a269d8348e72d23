//! Server-side apply and ownership.

pub(super) mod conflict_crosses_versions;
pub(super) mod drift_corrected;
pub(super) mod drift_detected;
pub(super) mod dry_run_changes_nothing;
pub(super) mod entries_follow_versions;
pub(super) mod kinds_and_their_objects_apply_together;
pub(super) mod owned_paths_exist_in_their_version;
pub(super) mod ownership_survives_flip;
pub(super) mod ownership_survives_migration;
pub(super) mod ownership_survives_retirement;
pub(super) mod pruned_objects_convert;
pub(super) mod reapply_is_no_op;
pub(super) mod retired_entries_cleaned;
pub(super) mod retired_version_blocks_nobody;
pub(super) mod scale_ownership_moves;
mod shared_deliver;
pub(super) mod status_writes_keep_spec_owners;
pub(super) mod withdrawal_crosses_versions;
pub(super) mod withdrawn_objects_pruned;
