//! Real API servers of any Kubernetes release for tests in Rust: their binaries, local control planes, k3s, kind and
//! existing clusters. Nothing that is started here outlives the process that started it.

pub mod api;
pub mod binaries;
pub mod capture;
mod certificates;
mod docker;
mod easy;
mod error;
pub mod existing;
pub mod guard;
pub mod k3s;
pub mod kind;
mod kubeconfig;
pub mod local;
mod process;
pub mod retry;
mod run_id;
pub mod runtime;
mod server;
mod spec;
mod start;
mod sweep;
mod wait;

pub use api::error_chain;
pub use certificates::{Authority, Pair};
pub use easy::{StartError, start};
pub use error::ClusterError;
pub use run_id::{LABEL, RunId};
pub use server::{HostAccess, Server};
pub use spec::{Installer, Provider, ServerOptions, ServerSpec, exact};
pub use start::{guarded_folder, write_private};
pub use sweep::Sweep;
