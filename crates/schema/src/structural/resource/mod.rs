//! Fields of every object, whatever its schema: apiVersion, kind and metadata. They are read as typed values, so that a
//! wrong type makes the whole object unreadable, and unknown fields are dropped.

mod embedded;
mod judge;
mod read;

pub(super) use embedded::{judge_embedded, read_embedded};
pub(super) use judge::{Naming, judge_created, judge_updated};
pub(super) use read::{Strictness, read_metadata};
