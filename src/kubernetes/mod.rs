//! Kubernetes releases and what they know.

mod features;
mod version;

pub use features::{FEATURES, Feature, Found, Older};
pub use version::{KubeVersion, VersionError};
