//! Having an API server: its binaries, and real ones, of any release, that never outlive us.

pub mod binaries;
pub mod guard;

#[cfg(feature = "cluster")]
pub mod api;
#[cfg(feature = "cluster")]
mod certificates;
#[cfg(feature = "cluster")]
mod docker;
#[cfg(feature = "cluster")]
mod error;
#[cfg(feature = "cluster")]
pub mod existing;
#[cfg(feature = "containers")]
pub mod k3s;
#[cfg(feature = "cluster")]
pub mod kind;
#[cfg(feature = "cluster")]
mod kubeconfig;
#[cfg(feature = "cluster")]
pub mod local;
#[cfg(feature = "cluster")]
mod run_id;
#[cfg(feature = "cluster")]
pub mod runtime;
#[cfg(feature = "cluster")]
mod server;
#[cfg(feature = "cluster")]
mod start;
#[cfg(feature = "cluster")]
mod sweep;
#[cfg(feature = "cluster")]
mod wait;

#[cfg(feature = "cluster")]
pub(crate) use api::whole;
#[cfg(feature = "cluster")]
pub(crate) use certificates::{Authority, Pair};
#[cfg(feature = "cluster")]
pub use error::ClusterError;
#[cfg(feature = "cluster")]
pub use run_id::{LABEL, RunId};
#[cfg(feature = "cluster")]
pub use server::{HostAccess, Server};
#[cfg(feature = "cluster")]
pub(crate) use start::{make_folder, write_private};
#[cfg(feature = "cluster")]
pub use sweep::Sweep;
