//! A control plane of local processes: etcd and kube-apiserver, on loopback, with certificates of
//! their own, gone when the handle is dropped or our process dies.
//!
//! ```no_run
//! use crdproof::cluster::local::{Binaries, Local};
//!
//! # async fn example() -> Result<(), crdproof::cluster::ClusterError> {
//! let server = Local::builder(Binaries::in_folder("/usr/local/kubebuilder/bin")).start().await?;
//! let version = server.api().get("/version").await?.ok()?.json();
//! println!("{}", version["gitVersion"]);
//! # Ok(())
//! # }
//! ```

mod flags;
mod process;
mod start;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use super::api::{Api, Resource};
use super::certificates::Authority;
use super::guard::Guard;
use super::{ClusterError, wait};
use crate::kubernetes::KubeVersion;

pub use process::Component;
use process::Process;

/// The programs of one release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binaries {
    /// etcd.
    pub etcd: PathBuf,
    /// kube-apiserver.
    pub apiserver: PathBuf,
    /// kube-controller-manager, where there is one.
    pub controller_manager: Option<PathBuf>,
}

impl Binaries {
    /// The programs in one folder, by their usual names.
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

/// How a control plane is to be started.
#[derive(Debug, Clone)]
pub struct Builder {
    binaries: Binaries,
    folder: Option<PathBuf>,
    feature_gates: BTreeMap<String, bool>,
    runtime_config: BTreeMap<String, bool>,
    controllers: Vec<String>,
    apiserver_flags: Vec<String>,
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

    /// Serves an API that is off by default, or the reverse, such as `storagemigration.k8s.io/v1beta1`.
    pub fn runtime_config(mut self, api: &str, enabled: bool) -> Self {
        self.runtime_config.insert(api.to_owned(), enabled);
        self
    }

    /// Starts the controller manager, too, with just these controllers.
    pub fn controllers<T: Into<String>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        self.controllers.extend(names.into_iter().map(Into::into));
        self
    }

    /// Adds a flag to kube-apiserver, such as `--audit-policy-file=…`.
    pub fn apiserver_flag(mut self, flag: impl Into<String>) -> Self {
        self.apiserver_flags.push(flag.into());
        self
    }

    /// How long the start may take; a minute where it is not said.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }
}

/// A control plane that runs.
pub struct Local {
    processes: BTreeMap<Component, Process>,
    authority: Authority,
    version: KubeVersion,
    url: String,
    folder: PathBuf,
    client: kube::Client,
    // Dropped last: it kills what is left and removes the folder.
    guard: Guard,
}

impl Local {
    /// A control plane of these programs.
    pub fn builder(binaries: Binaries) -> Builder {
        Builder {
            binaries,
            folder: None,
            feature_gates: BTreeMap::new(),
            runtime_config: BTreeMap::new(),
            controllers: Vec::new(),
            apiserver_flags: Vec::new(),
            deadline: Duration::from_secs(60),
        }
    }

    /// The release that the server says it is.
    pub fn version(&self) -> KubeVersion {
        self.version
    }

    /// Where the server is.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// A kubeconfig with all rights. It is gone with the control plane.
    pub fn kubeconfig(&self) -> PathBuf {
        self.folder.join("admin.kubeconfig")
    }

    /// A client with all rights, which does not retry.
    pub fn client(&self) -> kube::Client {
        self.client.clone()
    }

    /// Raw verbs with all rights.
    pub fn api(&self) -> Api {
        Api::new(self.client(), Duration::from_secs(30))
    }

    /// A client of another user, known by a certificate; rights come from RBAC objects.
    pub async fn user(&self, name: &str, groups: &[&str]) -> Result<kube::Client, ClusterError> {
        let pair = self.authority.client(name, groups)?;
        start::client(&self.url, &self.authority.certificate, &pair).await
    }

    /// The last lines of a component's log.
    pub fn log_tail(&self, component: Component) -> String {
        self.processes.get(&component).map(Process::log_tail).unwrap_or_default()
    }

    /// Stops a component in its tracks, as a node that hangs does, until it is resumed.
    pub async fn pause(&self, component: Component) -> Result<(), ClusterError> {
        let process = self.process(component)?;
        process.signal("STOP")?;
        // The signal is on its way when `kill` returns; paused is it when the kernel says so.
        let stopped = wait::until(Duration::from_secs(5), Duration::from_millis(20), || async {
            process.is_stopped().then_some(())
        });
        stopped.await.ok_or_else(|| process.failed("could not be paused".into()))
    }

    /// Lets a paused component go on.
    pub fn resume(&self, component: Component) -> Result<(), ClusterError> {
        self.process(component)?.signal("CONT")
    }

    /// Kills a component and starts it again on the same data and port.
    pub async fn restart(&mut self, component: Component) -> Result<(), ClusterError> {
        let Some(process) = self.processes.get_mut(&component) else { return Err(process::absent(component)) };
        process.restart(&self.guard)?;
        start::until_ready(&self.api(), &mut self.processes, Duration::from_secs(60)).await
    }

    fn process(&self, component: Component) -> Result<&Process, ClusterError> {
        self.processes.get(&component).ok_or_else(|| process::absent(component))
    }

    /// Installs CRDs and returns when every served version of each has answered a real request.
    pub async fn install_crds(&self, crds: &[Value]) -> Result<(), ClusterError> {
        let api = self.api();
        let path = Resource::cluster_wide("apiextensions.k8s.io", "v1", "customresourcedefinitions").path();
        for crd in crds {
            api.post(&path, crd).await?.ok()?;
        }
        for crd in crds {
            for version in crd["spec"]["versions"].as_array().into_iter().flatten() {
                if version["served"] == json!(true) {
                    served(&api, crd, version["name"].as_str().unwrap_or_default()).await?;
                }
            }
        }
        Ok(())
    }
}

/// Waits until a list of this kind at this version is answered.
async fn served(api: &Api, crd: &Value, version: &str) -> Result<(), ClusterError> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let spec = &crd["spec"];
    let resource = Resource::cluster_wide(&text(&spec["group"]), version, &text(&spec["names"]["plural"]));
    let path = format!("{}?limit=1", resource.path());
    let deadline = Duration::from_secs(30);
    let answered = wait::until(deadline, Duration::from_millis(50), || async {
        api.get(&path).await.ok().filter(super::api::Answer::is_success)
    });
    match answered.await {
        Some(_) => Ok(()),
        None => Err(ClusterError::Deadline { call: format!("GET {path}"), seconds: deadline.as_secs() }),
    }
}

impl std::fmt::Debug for Local {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Local").field("url", &self.url).field("version", &self.version).finish_non_exhaustive()
    }
}
