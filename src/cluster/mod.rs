//! Having an API server: its binaries, and real ones, of any release, that never outlive us.

pub mod binaries;
pub mod guard;

#[cfg(feature = "cluster")]
pub mod api;
#[cfg(feature = "cluster")]
mod certificates;
#[cfg(feature = "cluster")]
mod error;
#[cfg(feature = "cluster")]
pub mod local;
#[cfg(feature = "cluster")]
mod wait;

#[cfg(feature = "cluster")]
pub use error::ClusterError;
