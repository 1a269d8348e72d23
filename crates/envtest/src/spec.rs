//! API servers before they start: release, provider, options.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::binaries::{Assets, BinariesError, Progress, Sources, Store, expand, k3s_version, resolve};
use crate::existing::{Access, Existing};
use crate::k3s::{self, K3s};
use crate::kind::{self, Kind};
use crate::local::{self, Local};
use crate::{ClusterError, Server};
use crdproof_schema::kubernetes::{KubeVersion, Selector};

/// A provider of API servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Provider {
    /// Processes on this machine: etcd and kube-apiserver.
    #[default]
    Local,
    /// k3s, in a container or as a process.
    K3s,
    /// A kind cluster.
    Kind,
    /// A cluster that exists already, by its kubeconfig.
    Existing,
}

/// Installs the binaries of API servers.
#[derive(Clone, Copy)]
pub struct Installer<'i> {
    /// The cache.
    pub store: &'i Store,
    /// The sources of binaries.
    pub sources: &'i Sources,
    /// Receives progress at least once per second.
    pub progress: &'i dyn Fn(Progress),
}

impl Installer<'_> {
    /// Installs every release that a selector names, oldest first.
    pub fn install(&self, selector: Selector) -> Result<Vec<Assets>, BinariesError> {
        resolve(self.store, &selector, self.sources, self.progress)
    }

    /// Installs the one release that a text such as `1.36` names.
    pub fn install_one(&self, text: &str) -> Result<Assets, BinariesError> {
        let mut all = self.install(text.parse()?)?;
        if all.len() > 1 {
            return Err(BinariesError::Ambiguous { selector: text.to_owned(), releases: all.len() });
        }
        all.pop().ok_or_else(|| BinariesError::NoRelease { selector: text.to_owned() })
    }

    /// Returns the selectors of one release each that a selector stands for. Installs nothing.
    pub fn expand(&self, selector: Selector) -> Result<Vec<Selector>, BinariesError> {
        expand(self.store, &selector, self.sources, self.progress)
    }
}

/// The settings of API servers, whatever their release.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ServerOptions {
    /// The place where they run.
    pub provider: Provider,
    /// Feature gates of local servers.
    pub feature_gates: Vec<(String, bool)>,
    /// APIs that local servers serve or not.
    pub runtime_config: Vec<(String, bool)>,
    /// Controllers that run beside local servers.
    pub controllers: Vec<String>,
    /// The image of k3s or of the kind node.
    pub image: Option<String>,
    /// The `k3s` program; without one k3s runs in a container.
    pub k3s: Option<PathBuf>,
    /// The `kind` program; the one in `PATH` by default.
    pub kind: Option<PathBuf>,
    /// A configuration for kind instead of our own.
    pub kind_config: Option<Value>,
    /// The folder for kind's logs if it fails.
    pub logs: Option<PathBuf>,
    /// The access to an existing cluster.
    pub access: Option<Access>,
}

impl ServerOptions {
    /// Returns a server that can be started, after installing its binaries.
    pub fn spec(&self, release: &str, installer: Installer<'_>) -> Result<ServerSpec, BinariesError> {
        Ok(match self.provider {
            Provider::Local => self.local(installer.install_one(release)?),
            Provider::K3s => ServerSpec::K3s(if let Some(program) = &self.k3s {
                K3s::builder(k3s_of(program, release)?).program(program)
            } else {
                let builder = K3s::builder(exact(release)?);
                self.image.iter().fold(builder, |builder, image| builder.image(image))
            }),
            Provider::Kind => {
                let mut builder = Kind::builder(exact(release)?);
                builder = self.image.iter().fold(builder, kind::Builder::image);
                builder = self.kind.iter().fold(builder, kind::Builder::program);
                builder = self.logs.iter().fold(builder, kind::Builder::logs);
                builder = self.kind_config.iter().cloned().fold(builder, kind::Builder::config);
                ServerSpec::Kind(builder)
            }
            Provider::Existing => ServerSpec::Existing(self.access.clone().unwrap_or_default()),
        })
    }

    /// Returns a local server with these binaries.
    pub fn local(&self, assets: Assets) -> ServerSpec {
        let mut builder = Local::builder(assets.into()).controllers(self.controllers.clone());
        for (name, enabled) in &self.feature_gates {
            builder = builder.feature_gate(name, *enabled);
        }
        for (api, enabled) in &self.runtime_config {
            builder = builder.runtime_config(api, *enabled);
        }
        ServerSpec::Local(Box::new(builder))
    }
}

/// Parses a release with its patch, which images and archives need.
pub fn exact(text: &str) -> Result<KubeVersion, BinariesError> {
    match text.parse()? {
        Selector::Exact(version) => Ok(version),
        _ => Err(BinariesError::Inexact { selector: text.to_owned() }),
    }
}

/// Returns the release of a k3s program, which must be the requested one.
fn k3s_of(program: &Path, release: &str) -> Result<KubeVersion, BinariesError> {
    let (version, selector) = (k3s_version(program)?, release.parse::<Selector>()?);
    if selector.matches(version) {
        return Ok(version);
    }
    let wanted = format!("k3s of Kubernetes {selector}");
    Err(BinariesError::WrongVersion { file: program.to_owned(), wanted, says: version.to_string() })
}

/// A server that can be started.
#[derive(Debug)]
pub enum ServerSpec {
    /// Processes on this machine.
    Local(Box<local::Builder>),
    /// k3s.
    K3s(k3s::Builder),
    /// A kind cluster.
    Kind(kind::Builder),
    /// An existing cluster.
    Existing(Access),
}

impl ServerSpec {
    /// Returns the release, if it is known before the server starts.
    pub fn version(&self) -> Result<Option<KubeVersion>, ClusterError> {
        match self {
            Self::Local(builder) => builder.version().map(Some),
            Self::K3s(builder) => builder.version(),
            Self::Kind(_) | Self::Existing(_) => Ok(None),
        }
    }

    /// Starts the server and waits until it is ready.
    pub async fn start(self) -> Result<Server, ClusterError> {
        Ok(match self {
            Self::Local(builder) => Server::Local(Box::new(builder.start().await?)),
            Self::K3s(builder) => Server::K3s(Box::new(builder.start().await?)),
            Self::Kind(builder) => Server::Kind(Box::new(builder.start().await?)),
            Self::Existing(access) => Server::Existing(Box::new(Existing::connect(&access).await?)),
        })
    }
}
