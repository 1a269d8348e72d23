//! Changes of the storage version, and migration.

pub(super) mod builtin_and_in_tree_migration_agree;
pub(super) mod failed_migration_does_not_trim;
pub(super) mod flip_back_works;
pub(super) mod flip_keeps_objects;
pub(super) mod flip_recorded;
pub(super) mod flip_takes_effect;
pub(super) mod migration_keeps_content;
pub(super) mod migration_names_what_it_cannot_move;
pub(super) mod migration_repeats_as_no_op;
pub(super) mod migration_resumes;
pub(super) mod migration_rewrites_all;
pub(super) mod migration_survives_writers;
pub(super) mod mixed_storage_reads_alike;
pub(super) mod old_version_removable;
pub(super) mod old_version_retires;
pub(super) mod removal_refused_while_stored;
pub(super) mod retirement_keeps_content;
pub(super) mod stored_versions_trimmed;
