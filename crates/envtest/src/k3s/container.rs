//! k3s in a container.

use std::borrow::Cow;
use std::ffi::OsString;
use std::time::Duration;

use testcontainers::core::{ContainerPort, Host, IntoContainerPort as _, WaitFor};
use testcontainers::runners::AsyncRunner as _;
use testcontainers::{ContainerAsync, Image, ImageExt as _};

use super::{Builder, K3s, Place};
use crate::api::{Api, error_chain};
use crate::run_id::{LABEL, RunId};
use crate::start::{guarded_folder, until_answers, write_private};
use crate::{ClusterError, HostAccess, docker, kubeconfig};

/// The port of k3s.
const PORT: u16 = 6443;

/// The path of the administrator's kubeconfig in k3s.
const KUBECONFIG: &str = "/etc/rancher/k3s/k3s.yaml";

/// The name of this machine inside a container.
const HOST_NAME: &str = "host.docker.internal";

/// A running container.
pub(super) type Container = ContainerAsync<K3sImage>;

/// The image, with the arguments of k3s.
#[derive(Debug, Clone)]
pub(super) struct K3sImage {
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

/// Checks that an engine answers and has the image.
pub(super) fn check(builder: &Builder) -> Result<(), ClusterError> {
    let image = builder.image_name();
    if docker::has_image(&image)? {
        return Ok(());
    }
    Err(ClusterError::Missing {
        what: format!("the image {image}"),
        why: "the Docker engine does not have it".into(),
        help: format!("`docker pull {image}`, name another with --image, or a k3s program with K3S_BIN"),
    })
}

pub(super) async fn start(builder: Builder) -> Result<K3s, ClusterError> {
    check(&builder)?;
    let run = RunId::new();
    let name = run.name();
    // The library removes the container when it is dropped; the guard, also when we are killed.
    let cleanup = ["docker", "rm", "--force", "--volumes", &name].map(OsString::from);
    let (folder, guard) = guarded_folder(None, &run, |_| cleanup.to_vec())?;
    let image_name = builder.image_name();
    let failed = |error: &dyn std::error::Error| ClusterError::Provider {
        provider: "k3s",
        why: format!("{image_name} did not start: {}", error_chain(error)),
        log: docker::query(&["logs", "--tail", "15", &name]).unwrap_or_default(),
    };
    let arguments = builder.arguments([format!("--tls-san={HOST_NAME}")]).collect();
    let started = K3sImage { name: builder.image.clone(), tag: builder.tag.clone(), arguments }
        .with_container_name(&name)
        .with_label(LABEL, run.to_string())
        .with_host(HOST_NAME, Host::HostGateway)
        .with_privileged(true)
        .with_startup_timeout(builder.deadline)
        .start();
    let container = started.await.map_err(|error| failed(&error))?;
    let mut text = Vec::new();
    container.copy_file_from(KUBECONFIG, &mut text).await.map_err(|error| failed(&error))?;
    let host = container.get_host().await.map_err(|error| failed(&error))?;
    let port = container.get_host_port_ipv4(PORT.tcp()).await.map_err(|error| failed(&error))?;
    let text = rewritten(&String::from_utf8_lossy(&text), &format!("https://{host}:{port}"));
    let path = folder.join("admin.kubeconfig");
    write_private(&path, &text).map_err(|source| ClusterError::File { path: path.clone(), source })?;

    let client = kubeconfig::client(kubeconfig::read(std::slice::from_ref(&path))?, None).await?;
    let api = Api::new(client, Duration::from_secs(30));
    until_answers(&api, Duration::from_secs(30)).await.map_err(|error| failed(&error))?;
    let version = api.identity().await?.version;
    let access = HostAccess { listen: docker::gateway("bridge")?, name: HOST_NAME.into() };
    Ok(K3s { api, version, access, kubeconfig: path, place: Place::Container(Box::new(container)), guard })
}

pub(super) async fn stop(container: Container) -> Result<(), ClusterError> {
    container.rm().await.map_err(|error| ClusterError::Provider {
        provider: "k3s",
        why: error_chain(&error),
        log: String::new(),
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kubeconfig_names_the_mapped_port() {
        let text = "clusters:\n- cluster:\n    server: https://127.0.0.1:6443\n  name: default\n";
        assert_eq!(
            rewritten(text, "https://10.0.0.1:32768"),
            "clusters:\n- cluster:\n    server: https://10.0.0.1:32768\n    tls-server-name: localhost\n  name: default\n"
        );
    }
}
