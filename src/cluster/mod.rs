//! Having an API server: its binaries, and processes that never outlive us.

pub mod binaries;
pub mod guard;
