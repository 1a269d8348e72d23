//! Clients from kubeconfig files.

use std::path::{Path, PathBuf};

use kube::config::{KubeConfigOptions, Kubeconfig};

use super::ClusterError;

/// One context of a kubeconfig: a cluster and a user.
#[derive(Debug, Clone)]
pub(super) struct Context {
    pub(super) name: String,
    pub(super) cluster: String,
    pub(super) server: String,
    pub(super) config: Kubeconfig,
}

/// Reads files as `kubectl` does: if several define the same entry, the first one counts.
pub(super) fn read(paths: &[PathBuf]) -> Result<Kubeconfig, ClusterError> {
    let shown = || paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ");
    let mut merged: Option<Kubeconfig> = None;
    for path in paths.iter().filter(|path| path.exists()) {
        let config = read_one(path)?;
        merged = Some(match merged {
            None => config,
            Some(first) => first.merge(config).map_err(|error| wrong(path, &error))?,
        });
    }
    merged.ok_or_else(|| ClusterError::Kubeconfig { path: shown(), why: "there is no such file".into() })
}

fn read_one(path: &Path) -> Result<Kubeconfig, ClusterError> {
    Kubeconfig::read_from(path).map_err(|error| wrong(path, &error))
}

fn wrong(path: &Path, error: &dyn std::error::Error) -> ClusterError {
    ClusterError::Kubeconfig { path: path.display().to_string(), why: super::api::error_chain(error) }
}

impl Context {
    /// A context by its name, or the current one.
    pub(super) fn of(config: Kubeconfig, name: Option<&str>) -> Result<Self, ClusterError> {
        let wrong = |why: String| ClusterError::Kubeconfig { path: "the kubeconfig".into(), why };
        let known = || config.contexts.iter().map(|context| context.name.clone()).collect::<Vec<_>>().join(", ");
        let name = name.map(str::to_owned).or_else(|| config.current_context.clone()).filter(|name| !name.is_empty());
        let name = name.ok_or_else(|| wrong(format!("no context is current; there are: {}", known())))?;
        let context = config.contexts.iter().find(|context| context.name == name);
        let context = context.and_then(|context| context.context.as_ref());
        let context = context.ok_or_else(|| wrong(format!("there is no context {name:?}, only: {}", known())))?;
        let cluster = context.cluster.clone();
        let found = config.clusters.iter().find(|each| each.name == cluster).and_then(|each| each.cluster.as_ref());
        let server = found.and_then(|cluster| cluster.server.clone());
        let server =
            server.ok_or_else(|| wrong(format!("the cluster {cluster:?} of context {name:?} has no address")))?;
        Ok(Self { name, cluster, server, config })
    }

    /// A client that does not retry.
    pub(super) async fn client(&self) -> Result<kube::Client, ClusterError> {
        client(self.config.clone(), Some(&self.name)).await
    }

    /// Returns the day on which the client certificate expired, if it has.
    pub(super) fn expired(&self) -> Option<String> {
        let context = self.config.contexts.iter().find(|context| context.name == self.name)?.context.as_ref()?;
        let user = self.config.auth_infos.iter().find(|user| Some(&user.name) == context.user.as_ref())?;
        let user = user.auth_info.as_ref()?;
        let pem = match (&user.client_certificate_data, &user.client_certificate) {
            (Some(data), _) => decoded(data)?,
            (None, Some(path)) => std::fs::read(path).ok()?,
            (None, None) => return None,
        };
        ended(&pem, jiff::Timestamp::now())
    }
}

/// The day on which the first certificate of a PEM file expired, if that is before now.
fn ended(pem: &[u8], now: jiff::Timestamp) -> Option<String> {
    let (_, block) = x509_parser::pem::parse_x509_pem(pem).ok()?;
    let end = block.parse_x509().ok()?.validity().not_after.timestamp();
    let end = jiff::Timestamp::from_second(end).ok()?;
    (end < now).then(|| end.to_zoned(jiff::tz::TimeZone::UTC).date().to_string())
}

fn decoded(data: &str) -> Option<Vec<u8>> {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.decode(data).ok()
}

/// A client of one context, which does not retry.
pub(super) async fn client(config: Kubeconfig, context: Option<&str>) -> Result<kube::Client, ClusterError> {
    let failed = |error: &dyn std::error::Error| ClusterError::Client(super::api::error_chain(error));
    let options = KubeConfigOptions { context: context.map(str::to_owned), ..KubeConfigOptions::default() };
    let config = kube::Config::from_custom_kubeconfig(config, &options).await;
    let mut config = config.map_err(|error| failed(&error))?;
    config.default_retry = false;
    kube::Client::try_from(config).map_err(|error| failed(&error))
}
