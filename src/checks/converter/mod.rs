//! The converter as a function.

pub(super) mod round_trip_lossless;
mod shared_changes;
pub(super) mod stored_version_keeps_all;
