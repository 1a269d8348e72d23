//! k3s in a container.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use testcontainers::core::{ContainerPort, Host, IntoContainerPort as _, WaitFor};
use testcontainers::runners::AsyncRunner as _;
use testcontainers::{ContainerAsync, Image, ImageExt as _};

use super::api::Api;
use super::guard::Guard;
use super::run_id::{LABEL, RunId};
use super::{ClusterError, HostAccess, docker, kubeconfig, start};
use crdproof_schema::kubernetes::KubeVersion;

/// The default image.
pub const DEFAULT_IMAGE: &str = "rancher/k3s";

/// The port of k3s.
const PORT: u16 = 6443;

/// The path of the administrator's kubeconfig in k3s.
const KUBECONFIG: &str = "/etc/rancher/k3s/k3s.yaml";

/// The name of this machine inside a container.
const HOST_NAME: &str = "host.docker.internal";

/// Components of k3s that no scenario needs, and that need further images.
const DISABLED: [&str; 5] = ["coredns", "local-storage", "metrics-server", "servicelb", "traefik"];

/// The datastore of k3s.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Datastore {
    /// `SQLite`, through kine, the default of k3s.
    #[default]
    Sqlite,
    /// The etcd inside k3s.
    Etcd,
}

/// The settings of a k3s server.
#[derive(Debug, Clone)]
pub struct Builder {
    image: K3sImage,
    datastore: Datastore,
    apiserver_args: Vec<String>,
    deadline: Duration,
}

/// The image, with the arguments of k3s.
#[derive(Debug, Clone)]
struct K3sImage {
    name: String,
    tag: String,
    arguments: Vec<String>,
}

const PORTS: [ContainerPort; 1] = [ContainerPort::Tcp(PORT)];

impl Image for K3sImage {
    fn name(&self) -> &str {
        &self.name
    }

    fn tag(&self) -> &str {
        &self.tag
    }

    fn ready_conditions(&self) -> Vec<WaitFor> {
        vec![WaitFor::message_on_either_std("k3s is up and running")]
    }

    fn cmd(&self) -> impl IntoIterator<Item = impl Into<Cow<'_, str>>> {
        &self.arguments
    }

    fn expose_ports(&self) -> &[ContainerPort] {
        &PORTS
    }
}

impl Builder {
    /// Uses this image, with its tag, instead of `rancher/k3s` at the tag of the release.
    pub fn image(mut self, image: &str) -> Self {
        // A colon before the last slash belongs to a registry's port.
        match image.rsplit_once(':').filter(|(_, tag)| !tag.contains('/')) {
            Some((name, tag)) => (self.image.name, self.image.tag) = (name.into(), tag.into()),
            None => self.image.name = image.into(),
        }
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
        format!("{}:{}", self.image.name, self.image.tag)
    }

    /// Checks that this machine can start it now: an engine answers and has the image.
    pub fn check(&self) -> Result<(), ClusterError> {
        let image = self.image_name();
        if docker::has_image(&image)? {
            return Ok(());
        }
        Err(ClusterError::Missing {
            what: format!("the image {image}"),
            why: "the Docker engine does not have it".into(),
            help: format!("`docker pull {image}`, or name another with --image"),
        })
    }

    fn arguments(&self) -> Vec<String> {
        let mut arguments = vec!["server".to_owned(), format!("--tls-san={HOST_NAME}")];
        arguments.extend(DISABLED.map(|part| format!("--disable={part}")));
        if self.datastore == Datastore::Etcd {
            arguments.push("--cluster-init".into());
        }
        arguments.extend(self.apiserver_args.iter().map(|flag| format!("--kube-apiserver-arg={flag}")));
        arguments
    }

    /// Starts it and returns when it answers real requests.
    pub async fn start(mut self) -> Result<K3s, ClusterError> {
        self.check()?;
        let run = RunId::new();
        let name = run.name();
        // The library removes the container when it is dropped; the guard, also when we are killed.
        let cleanup = ["docker", "rm", "--force", "--volumes", &name].map(OsString::from);
        let (folder, guard) = start::guarded_folder(None, &run, |_| cleanup.to_vec())?;
        let image = self.image_name();
        let failed = |error: &dyn std::error::Error| ClusterError::Provider {
            provider: "k3s",
            why: format!("{image} did not start: {}", super::api::error_chain(error)),
            log: docker::query(&["logs", "--tail", "15", &name]).unwrap_or_default(),
        };
        self.image.arguments = self.arguments();
        let started = self
            .image
            .with_container_name(&name)
            .with_label(LABEL, run.to_string())
            .with_host(HOST_NAME, Host::HostGateway)
            .with_privileged(true)
            .with_startup_timeout(self.deadline)
            .start();
        let container = started.await.map_err(|error| failed(&error))?;
        let mut text = Vec::new();
        container.copy_file_from(KUBECONFIG, &mut text).await.map_err(|error| failed(&error))?;
        let host = container.get_host().await.map_err(|error| failed(&error))?;
        let port = container.get_host_port_ipv4(PORT.tcp()).await.map_err(|error| failed(&error))?;
        let text = rewritten(&String::from_utf8_lossy(&text), &format!("https://{host}:{port}"));
        let path = folder.join("admin.kubeconfig");
        start::write_private(&path, &text).map_err(|source| ClusterError::File { path: path.clone(), source })?;

        let client = kubeconfig::client(kubeconfig::read(std::slice::from_ref(&path))?, None).await?;
        let api = Api::new(client.clone(), Duration::from_secs(30));
        start::until_answers(&api, Duration::from_secs(30)).await.map_err(|error| failed(&error))?;
        let version = api.identity().await?.version;
        let access = HostAccess { listen: docker::gateway("bridge")?, name: HOST_NAME.into() };
        Ok(K3s { api, version, access, kubeconfig: path, container, guard })
    }
}

/// The kubeconfig for use outside of the container. The address is only known now, too late for the certificate, which
/// always names localhost.
fn rewritten(text: &str, url: &str) -> String {
    let inside = format!("server: https://127.0.0.1:{PORT}");
    let lines = text.lines().map(|line| match line.split_once(&inside) {
        Some((indent, _)) => format!("{indent}server: {url}\n{indent}tls-server-name: localhost\n"),
        None => format!("{line}\n"),
    });
    lines.collect()
}

/// A running k3s.
pub struct K3s {
    api: Api,
    version: KubeVersion,
    access: HostAccess,
    kubeconfig: PathBuf,
    container: ContainerAsync<K3sImage>,
    guard: Guard,
}

impl K3s {
    /// A k3s of a release; uses the tag of the first k3s with that release.
    pub fn builder(version: KubeVersion) -> Builder {
        let image = K3sImage { name: DEFAULT_IMAGE.into(), tag: format!("v{version}-k3s1"), arguments: Vec::new() };
        Builder {
            image,
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
        let failed = |why: String| ClusterError::Provider { provider: "k3s", why, log: String::new() };
        let removed = self.container.rm().await.map_err(|error| failed(super::api::error_chain(&error)));
        drop(self.guard);
        removed
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
        let arguments = builder.arguments().join(" ");
        assert!(arguments.starts_with("server --tls-san=host.docker.internal --disable=coredns"), "{arguments}");
        assert!(arguments.ends_with("--cluster-init --kube-apiserver-arg=v=2"), "{arguments}");
    }

    #[test]
    fn the_kubeconfig_names_the_mapped_port() {
        let text = "clusters:\n- cluster:\n    server: https://127.0.0.1:6443\n  name: default\n";
        assert_eq!(
            rewritten(text, "https://10.0.0.1:32768"),
            "clusters:\n- cluster:\n    server: https://10.0.0.1:32768\n    tls-server-name: localhost\n  name: default\n"
        );
    }
}
