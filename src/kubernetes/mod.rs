//! Kubernetes releases and what they know.

mod version;

pub use version::{KubeVersion, VersionError};
