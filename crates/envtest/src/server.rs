//! An API server of any provider.

use std::path::Path;

use serde_json::{Value, json};

use super::ClusterError;
use super::api::{Api, Permission};
use super::existing::Existing;
use super::k3s::K3s;
use super::kind::Kind;
use super::local::Local;
use crdproof_schema::kubernetes::KubeVersion;

/// The address under which an API server reaches a webhook on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostAccess {
    /// The address that the webhook listens on.
    pub listen: String,
    /// The name or address that the server calls; the webhook's certificate must contain it.
    pub name: String,
}

/// An API server of any provider.
#[derive(Debug)]
pub enum Server {
    /// Local processes.
    Local(Box<Local>),
    /// k3s.
    K3s(Box<K3s>),
    /// A kind cluster.
    Kind(Box<Kind>),
    /// An existing cluster.
    Existing(Box<Existing>),
}

impl Server {
    /// Raw verbs.
    pub fn api(&self) -> Api {
        match self {
            Self::Local(server) => server.api(),
            Self::K3s(server) => server.api().clone(),
            Self::Kind(server) => server.api().clone(),
            Self::Existing(server) => server.api().clone(),
        }
    }

    /// Raw verbs at every known API server; the first is that of [`Server::api`].
    pub fn apis(&self) -> Vec<Api> {
        let second = if let Self::Local(server) = self { server.second_api() } else { None };
        std::iter::once(self.api()).chain(second).collect()
    }

    /// The release.
    pub fn version(&self) -> KubeVersion {
        match self {
            Self::Local(server) => server.version(),
            Self::K3s(server) => server.version(),
            Self::Kind(server) => server.version(),
            Self::Existing(server) => server.identity().version,
        }
    }

    /// The kubeconfig that was written for this server; an existing cluster has its own.
    pub fn kubeconfig(&self) -> Option<&Path> {
        match self {
            Self::Local(server) => Some(server.kubeconfig()),
            Self::K3s(server) => Some(server.kubeconfig()),
            Self::Kind(server) => Some(server.kubeconfig()),
            Self::Existing(_) => None,
        }
    }

    /// Returns the address under which it reaches a webhook on this machine; unknown for an existing cluster.
    pub fn host_access(&self) -> Option<HostAccess> {
        match self {
            Self::Local(_) => Some(HostAccess { listen: "127.0.0.1".into(), name: "127.0.0.1".into() }),
            Self::K3s(server) => Some(server.host_access().clone()),
            Self::Kind(server) => Some(server.host_access().clone()),
            Self::Existing(_) => None,
        }
    }

    /// Refuses what could not be done to its end on a cluster that was there before us, before anything is created: see
    /// [`Existing::check`]. On a server of our own everything is allowed.
    pub async fn check(&self, crds: &[&str], more: &[Permission]) -> Result<(), ClusterError> {
        match self {
            Self::Existing(server) => server.check(crds, more).await,
            _ => Ok(()),
        }
    }

    /// Creates the namespace for our objects, and returns its name.
    pub async fn create_namespace(&self) -> Result<String, ClusterError> {
        if let Self::Existing(server) = self {
            return server.create_namespace().await;
        }
        let name = "crdproof";
        let body = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        let created = self.api().post("/api/v1/namespaces", &body).await?;
        if created.status != 409 {
            created.ok()?;
        }
        Ok(name.to_owned())
    }

    /// Installs CRDs and returns when every served version of each has answered a real request.
    pub async fn install_crds(&self, crds: &[Value]) -> Result<(), ClusterError> {
        match self {
            Self::Local(server) => server.install_crds(crds).await,
            Self::Existing(server) => server.install_crds(crds).await,
            _ => self.api().install_crds(crds).await,
        }
    }

    /// Stops the server or, on an existing cluster, removes everything that we created; the error says if something is
    /// left.
    pub async fn stop(self) -> Result<(), ClusterError> {
        match self {
            Self::Local(server) => {
                drop(server);
                Ok(())
            }
            Self::K3s(server) => server.stop().await,
            Self::Kind(server) => server.stop(),
            Self::Existing(server) => server.clean_up().await,
        }
    }

    /// Stops it after some work, and returns the result of the work. Where both fail, the error says why the work failed,
    /// and then what is left.
    pub async fn stop_after<T>(self, done: Result<T, ClusterError>) -> Result<T, ClusterError> {
        match (done, self.stop().await) {
            (done, Ok(())) => done,
            (Ok(_), Err(left)) => Err(left),
            (Err(reason), Err(left)) => {
                Err(ClusterError::FailedAndLeft { reason: Box::new(reason), left: Box::new(left) })
            }
        }
    }
}
