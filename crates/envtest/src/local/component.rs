//! The components of a local control plane.

use crate::ClusterError;

/// A part of a control plane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Component {
    /// etcd.
    Etcd,
    /// The API server.
    ApiServer,
    /// A second API server on the same etcd, if requested.
    SecondApiServer,
    /// Garbage collection, namespaces, storage migration.
    ControllerManager,
}

impl Component {
    /// The program's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Etcd => "etcd",
            Self::ApiServer => "kube-apiserver",
            Self::SecondApiServer => "second kube-apiserver",
            Self::ControllerManager => "kube-controller-manager",
        }
    }
}

pub(super) fn absent(component: Component) -> ClusterError {
    ClusterError::Component {
        component: component.as_str(),
        why: "is not part of this control plane".into(),
        log: String::new(),
        help: "ask for it when the control plane is built",
    }
}
