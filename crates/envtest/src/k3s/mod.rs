//! k3s, in a container or as a process.

#[cfg(feature = "containers")]
mod container;
mod process;

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::api::Api;
use super::guard::Guard;
use super::{ClusterError, HostAccess};
use crdproof_schema::kubernetes::KubeVersion;

/// The default image.
pub const DEFAULT_IMAGE: &str = "rancher/k3s";

/// Components of k3s that no scenario needs, and that need further images.
const DISABLED: [&str; 5] = ["coredns", "local-storage", "metrics-server", "servicelb", "traefik"];

/// The datastore of k3s.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Datastore {
    /// `SQLite`, through kine, the default of k3s.
    #[default]
    Sqlite,
    /// The etcd inside k3s. As a process it listens on fixed ports, so one machine can run one of them.
    Etcd,
}

/// The settings of a k3s server.
#[derive(Debug, Clone)]
pub struct Builder {
    image: String,
    tag: String,
    program: Option<PathBuf>,
    datastore: Datastore,
    apiserver_args: Vec<String>,
    deadline: Duration,
}

impl Builder {
    /// Uses this image, with its tag, instead of `rancher/k3s` at the tag of the release.
    pub fn image(mut self, image: &str) -> Self {
        // A colon before the last slash belongs to a registry's port.
        match image.rsplit_once(':').filter(|(_, tag)| !tag.contains('/')) {
            Some((name, tag)) => (self.image, self.tag) = (name.into(), tag.into()),
            None => self.image = image.into(),
        }
        self
    }

    /// Starts this program on this machine, and no container. Its release counts, not the one of the builder.
    pub fn program(mut self, program: impl Into<PathBuf>) -> Self {
        self.program = Some(program.into());
        self
    }

    /// Sets the datastore.
    pub fn datastore(mut self, datastore: Datastore) -> Self {
        self.datastore = datastore;
        self
    }

    /// Adds a flag to the API server, without its dashes, such as `feature-gates=InformerResourceVersion=true`.
    pub fn apiserver_arg(mut self, flag: impl Into<String>) -> Self {
        self.apiserver_args.push(flag.into());
        self
    }

    /// Sets the timeout of the start; three minutes by default.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// The image with its tag.
    pub fn image_name(&self) -> String {
        format!("{}:{}", self.image, self.tag)
    }

    /// The release, if it is known before the start: that of the program.
    pub fn version(&self) -> Result<Option<KubeVersion>, ClusterError> {
        self.program.as_deref().map(process::version).transpose()
    }

    /// Checks that this machine can start it now: the program runs, or an engine answers and has the image.
    pub fn check(&self) -> Result<(), ClusterError> {
        if self.program.is_some() {
            return self.version().map(drop);
        }
        #[cfg(feature = "containers")]
        return container::check(self);
        #[cfg(not(feature = "containers"))]
        return Err(no_containers());
    }

    /// Starts it and returns when it answers real requests.
    pub async fn start(self) -> Result<K3s, ClusterError> {
        if let Some(program) = self.program.clone() {
            return process::start(&self, &program).await;
        }
        #[cfg(feature = "containers")]
        return container::start(self).await;
        #[cfg(not(feature = "containers"))]
        return Err(no_containers());
    }

    /// The arguments of `k3s`, wherever it runs: these, and those of the place.
    fn arguments<'a>(&'a self, of_place: impl IntoIterator<Item = String> + 'a) -> impl Iterator<Item = String> + 'a {
        let disabled = DISABLED.iter().map(|part| format!("--disable={part}"));
        let datastore = (self.datastore == Datastore::Etcd).then(|| "--cluster-init".to_owned());
        let flags = self.apiserver_args.iter().map(|flag| format!("--kube-apiserver-arg={flag}"));
        std::iter::once("server".to_owned()).chain(of_place).chain(disabled).chain(datastore).chain(flags)
    }
}

#[cfg(not(feature = "containers"))]
fn no_containers() -> ClusterError {
    ClusterError::Missing {
        what: "the way to start containers".into(),
        why: "crdproof-envtest was compiled without it".into(),
        help: "turn on its feature `containers`, or name a k3s program".into(),
    }
}

/// A running k3s.
pub struct K3s {
    api: Api,
    version: KubeVersion,
    access: HostAccess,
    kubeconfig: PathBuf,
    place: Place,
    // Dropped last: it ends what is left, and removes the folder.
    guard: Guard,
}

/// The place where it runs.
enum Place {
    #[cfg(feature = "containers")]
    Container(Box<container::Container>),
    Process(Box<super::process::Process>),
}

impl K3s {
    /// A k3s of a release; uses the tag of the first k3s with that release.
    pub fn builder(version: KubeVersion) -> Builder {
        Builder {
            image: DEFAULT_IMAGE.into(),
            tag: format!("v{version}-k3s1"),
            program: None,
            datastore: Datastore::default(),
            apiserver_args: Vec::new(),
            deadline: Duration::from_secs(180),
        }
    }

    /// Raw verbs with all rights.
    pub fn api(&self) -> &Api {
        &self.api
    }

    /// The release that the server reports.
    pub fn version(&self) -> KubeVersion {
        self.version
    }

    /// A kubeconfig with all rights. It is removed with the server.
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// Returns the address under which the server reaches a webhook on this machine.
    pub fn host_access(&self) -> &HostAccess {
        &self.access
    }

    /// Stops it; the error says if something is left.
    pub async fn stop(self) -> Result<(), ClusterError> {
        let stopped = match self.place {
            #[cfg(feature = "containers")]
            Place::Container(container) => container::stop(*container).await,
            Place::Process(mut process) => process.kill(),
        };
        drop(self.guard);
        stopped
    }
}

impl std::fmt::Debug for K3s {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("K3s").field("version", &self.version).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_named_with_or_without_tag_and_registry() {
        let builder = || K3s::builder("1.36.4".parse().unwrap());
        assert_eq!(builder().image_name(), "rancher/k3s:v1.36.4-k3s1");
        assert_eq!(builder().image("mirror:5000/k3s").image_name(), "mirror:5000/k3s:v1.36.4-k3s1");
        assert_eq!(builder().image("mirror:5000/k3s:x").image_name(), "mirror:5000/k3s:x");
    }

    #[test]
    fn k3s_gets_disabled_components_and_server_flags() {
        let builder = K3s::builder("1.36.4".parse().unwrap()).datastore(Datastore::Etcd).apiserver_arg("v=2");
        let arguments: Vec<String> = builder.arguments(["--tls-san=host.docker.internal".to_owned()]).collect();
        let arguments = arguments.join(" ");
        assert!(arguments.starts_with("server --tls-san=host.docker.internal --disable=coredns"), "{arguments}");
        assert!(arguments.ends_with("--cluster-init --kube-apiserver-arg=v=2"), "{arguments}");
    }
}
