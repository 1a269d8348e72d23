//! The converter as a function.

pub(super) mod absent_null_empty_distinct;
pub(super) mod birth_version_irrelevant;
pub(super) mod declared_loss_is_real;
pub(super) mod declared_map_holds;
pub(super) mod deterministic;
pub(super) mod edit_survives;
pub(super) mod identity_untouched;
pub(super) mod labels_and_annotations_kept;
pub(super) mod list_keys_kept;
pub(super) mod loss_is_declared;
pub(super) mod metadata_untouched;
pub(super) mod neither_validates_nor_defaults;
pub(super) mod nothing_invented;
pub(super) mod numbers_exact;
pub(super) mod output_valid;
pub(super) mod pairs_complete;
pub(super) mod partial_objects_survive;
pub(super) mod path_independent;
pub(super) mod releases_agree;
pub(super) mod round_trip_lossless;
pub(super) mod samples_convert_as_recorded;
mod shared;
mod shared_invented;
mod shared_keyed;
pub(super) mod stash_bounded;
pub(super) mod stored_version_keeps_all;
pub(super) mod valid_always_converts;
