//! A control plane of local processes: etcd and kube-apiserver, on loopback, with generated certificates. It ends when
//! the handle is dropped or our process dies.
//!
//! ```no_run
//! use crdproof_envtest::local::{Binaries, Local};
//!
//! # async fn example() -> Result<(), crdproof_envtest::ClusterError> {
//! let server = Local::builder(Binaries::in_folder("/usr/local/kubebuilder/bin")).start().await?;
//! let version = server.api().get("/version").await?.ok()?.json();
//! println!("{}", version["gitVersion"]);
//! # Ok(())
//! # }
//! ```

mod component;
mod flags;
mod start;
mod stored;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use super::api::Api;
use super::binaries::Assets;
use super::certificates::Authority;
use super::guard::Guard;
use super::process::Process;
use super::start::READY_PATHS;
use super::{ClusterError, wait};
use crdproof_schema::kubernetes::KubeVersion;

pub use component::Component;
use component::absent;

/// The binaries of one release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binaries {
    /// etcd.
    pub etcd: PathBuf,
    /// kube-apiserver.
    pub apiserver: PathBuf,
    /// kube-controller-manager, if available.
    pub controller_manager: Option<PathBuf>,
}

impl Binaries {
    /// The binaries in one folder, by their usual names.
    pub fn in_folder(folder: impl AsRef<Path>) -> Self {
        let folder = folder.as_ref();
        let manager = folder.join("kube-controller-manager");
        Self {
            etcd: folder.join("etcd"),
            apiserver: folder.join("kube-apiserver"),
            controller_manager: manager.exists().then_some(manager),
        }
    }
}

impl From<Assets> for Binaries {
    fn from(assets: Assets) -> Self {
        Self { etcd: assets.etcd, apiserver: assets.apiserver, controller_manager: assets.controller_manager }
    }
}

/// The settings of a control plane.
#[derive(Debug, Clone)]
pub struct Builder {
    binaries: Binaries,
    folder: Option<PathBuf>,
    feature_gates: BTreeMap<String, bool>,
    runtime_config: BTreeMap<String, bool>,
    controllers: Vec<String>,
    apiserver_flags: Vec<String>,
    audit_policy: Option<Value>,
    second: Option<PathBuf>,
    deadline: Duration,
}

impl Builder {
    /// Keeps data and logs below this folder instead of in memory or the temporary folder.
    pub fn below(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// Switches a feature gate on all components.
    pub fn feature_gate(mut self, name: &str, enabled: bool) -> Self {
        self.feature_gates.insert(name.to_owned(), enabled);
        self
    }

    /// Serves an API that is off by default, such as `storagemigration.k8s.io/v1beta1`, or the reverse.
    pub fn runtime_config(mut self, api: &str, enabled: bool) -> Self {
        self.runtime_config.insert(api.to_owned(), enabled);
        self
    }

    /// Starts the controller manager, too, with only these controllers.
    pub fn controllers<T: Into<String>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        self.controllers.extend(names.into_iter().map(Into::into));
        self
    }

    /// Starts a second API server on the same etcd, of the same release or of another.
    pub fn second_apiserver(mut self, program: impl Into<PathBuf>) -> Self {
        self.second = Some(program.into());
        self
    }

    /// Audits calls by this policy, an `audit.k8s.io/v1` `Policy`; [`Local::audit_log`] returns the events.
    pub fn audit(mut self, policy: Value) -> Self {
        self.audit_policy = Some(policy);
        self
    }

    /// Adds a flag to kube-apiserver, such as `--goaway-chance=0.1`.
    pub fn apiserver_flag(mut self, flag: impl Into<String>) -> Self {
        self.apiserver_flags.push(flag.into());
        self
    }

    /// Sets the timeout of the start; one minute by default.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }
}

/// One API server of a control plane.
struct Endpoint {
    version: KubeVersion,
    url: String,
    client: kube::Client,
}

impl Endpoint {
    fn api(&self) -> Api {
        Api::new(self.client.clone(), Duration::from_secs(30))
    }
}

/// A running control plane.
pub struct Local {
    processes: BTreeMap<Component, Process>,
    authority: Authority,
    first: Endpoint,
    etcd: kube::Client,
    second: Option<Endpoint>,
    folder: PathBuf,
    kubeconfig: PathBuf,
    // Dropped last: it kills remaining processes and removes the folder.
    guard: Guard,
}

impl Local {
    /// A control plane of these binaries.
    pub fn builder(binaries: Binaries) -> Builder {
        Builder {
            binaries,
            folder: None,
            feature_gates: BTreeMap::new(),
            runtime_config: BTreeMap::new(),
            controllers: Vec::new(),
            apiserver_flags: Vec::new(),
            audit_policy: None,
            second: None,
            deadline: Duration::from_secs(60),
        }
    }

    /// The release that the server reports.
    pub fn version(&self) -> KubeVersion {
        self.first.version
    }

    /// Returns the address of the server.
    pub fn url(&self) -> &str {
        &self.first.url
    }

    /// A kubeconfig with all rights. It is removed with the control plane.
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// A client with all rights, which does not retry.
    pub fn client(&self) -> kube::Client {
        self.first.client.clone()
    }

    /// Raw verbs with all rights.
    pub fn api(&self) -> Api {
        self.first.api()
    }

    /// Raw verbs with all rights at the second API server, if there is one.
    pub fn second_api(&self) -> Option<Api> {
        self.second.as_ref().map(Endpoint::api)
    }

    /// The release of the second API server, if there is one.
    pub fn second_version(&self) -> Option<KubeVersion> {
        self.second.as_ref().map(|endpoint| endpoint.version)
    }

    /// The folder with logs and certificates. It is removed with the control plane.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The audit events so far, in the order in which they were written.
    pub fn audit_log(&self) -> Result<Vec<Value>, ClusterError> {
        let path = self.folder.join(flags::AUDIT_LOG);
        let text = std::fs::read_to_string(&path).map_err(|source| ClusterError::File { path, source })?;
        // The last line may be incomplete.
        Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
    }

    /// A client of another user, authenticated by a certificate; its rights come from RBAC objects.
    pub async fn user(&self, name: &str, groups: &[&str]) -> Result<kube::Client, ClusterError> {
        let pair = self.authority.client(name, groups)?;
        start::client(&self.first.url, &self.authority.certificate, &pair).await
    }

    /// The last lines of a component's log.
    pub fn log_tail(&self, component: Component) -> String {
        self.processes.get(&component).map(Process::log_tail).unwrap_or_default()
    }

    /// Pauses a component, like a node that hangs, until it is resumed.
    pub async fn pause(&self, component: Component) -> Result<(), ClusterError> {
        let process = self.process(component)?;
        process.signal("STOP")?;
        // `kill` only sends the signal; wait until the kernel reports the process as stopped.
        let stopped = wait::until(Duration::from_secs(5), Duration::from_millis(20), || async {
            process.is_stopped().then_some(())
        });
        stopped.await.ok_or_else(|| process.failed("could not be paused".into()))
    }

    /// Resumes a paused component.
    pub fn resume(&self, component: Component) -> Result<(), ClusterError> {
        self.process(component)?.signal("CONT")
    }

    /// Kills a component, like a node that loses power. It stays down until it is restarted.
    pub fn kill(&mut self, component: Component) -> Result<(), ClusterError> {
        self.processes.get_mut(&component).ok_or_else(|| absent(component))?.kill()
    }

    /// Starts a component again on the same data and port; kills it first if it runs.
    pub async fn restart(&mut self, component: Component) -> Result<(), ClusterError> {
        let Some(process) = self.processes.get_mut(&component) else { return Err(absent(component)) };
        process.restart(&self.guard)?;
        let endpoints = [(Component::ApiServer, Some(&self.first)), (Component::SecondApiServer, self.second.as_ref())];
        let mut asked = Vec::new();
        for (component, endpoint) in endpoints {
            let runs = self.processes.get(&component).is_some_and(|process| !process.is_killed());
            asked.extend(endpoint.filter(|_| runs).map(Endpoint::api));
        }
        // A restarted server must serve existing custom resources, which `/readyz` waits for.
        let paths = [&["/readyz"][..], &READY_PATHS].concat();
        start::until_ready(&asked, &mut self.processes, &paths, Duration::from_secs(60)).await
    }

    fn process(&self, component: Component) -> Result<&Process, ClusterError> {
        self.processes.get(&component).ok_or_else(|| absent(component))
    }

    /// Installs CRDs and returns when every served version of each has answered a real request, at
    /// every API server.
    pub async fn install_crds(&self, crds: &[Value]) -> Result<(), ClusterError> {
        self.api().install_crds(crds).await?;
        if let Some(second) = self.second_api() {
            second.until_served(crds).await?;
        }
        Ok(())
    }
}

impl std::fmt::Debug for Local {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Local")
            .field("url", &self.first.url)
            .field("version", &self.first.version)
            .finish_non_exhaustive()
    }
}
