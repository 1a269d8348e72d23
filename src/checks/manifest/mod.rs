//! The CRD documents alone.

pub(super) mod one_storage_version;
