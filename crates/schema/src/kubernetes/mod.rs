//! Kubernetes releases with their features and defects, and the names that they accept.

mod features;
mod names;
mod rules;
mod selector;
mod server;
mod version;

pub use features::{Area, FEATURES, Feature, Found, Older, Stages};
pub use names::{
    api_version_order, is_dns_label_1035, is_dns_subdomain_1123, is_kubernetes_version_name, label_value,
    qualified_name,
};
pub use rules::{Fix, RULES, Reads, ServerRule, Standing, Weight, Window};
pub use selector::{Range, SELECTOR_HELP, Selector, SelectorError};
pub use server::ServerVersion;
pub use version::{KubeVersion, VersionError};
