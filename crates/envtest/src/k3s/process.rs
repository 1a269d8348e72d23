//! k3s as a process on this machine, without its agent: nothing runs in pods, and root is not needed.

use std::net::TcpListener;
use std::path::Path;
use std::time::{Duration, Instant};

use super::{Builder, K3s, Place};
use crate::api::Api;
use crate::binaries::k3s_version;
use crate::guard::Spec;
use crate::process::{self, Failure, Process};
use crate::run_id::RunId;
use crate::start::{self, READY_PATHS};
use crate::{ClusterError, HostAccess, kubeconfig};
use crdproof_schema::kubernetes::KubeVersion;

/// The number of attempts to find two ports side by side.
const PORT_TRIES: usize = 5;

/// The file names in the folder of a server.
const CONFIG: &str = "config.yaml";
const KUBECONFIG: &str = "admin.kubeconfig";
const LOG: &str = "k3s.log";

/// The release that a program prints.
pub(super) fn version(program: &Path) -> Result<KubeVersion, ClusterError> {
    k3s_version(program).map_err(|error| ClusterError::Missing {
        what: "a k3s program".into(),
        why: error.to_string(),
        help: error.help(),
    })
}

/// The variables of k3s for what no flag of ours sets, without their prefix. Those of an installed k3s must not count.
const VARIABLES: [&str; 15] = [
    "AGENT_TOKEN",
    "AGENT_TOKEN_FILE",
    "CLUSTER_INIT",
    "CLUSTER_RESET",
    "CLUSTER_SECRET",
    "CONFIG_FILE",
    "DATASTORE_CAFILE",
    "DATASTORE_CERTFILE",
    "DATASTORE_ENDPOINT",
    "DATASTORE_KEYFILE",
    "KUBECONFIG_GROUP",
    "NODE_NAME",
    "TOKEN",
    "TOKEN_FILE",
    "URL",
];

pub(super) async fn start(builder: &Builder, program: &Path) -> Result<K3s, ClusterError> {
    version(program)?;
    process::on_free_ports(|| start_once(builder, program)).await
}

async fn start_once(builder: &Builder, program: &Path) -> Result<K3s, Failure> {
    let (folder, guard) = start::guarded_folder(None, &RunId::new(), |_| Vec::new())?;
    let ports = Ports::free()?;
    // Without a file of our own it reads the settings of a k3s that is installed on this machine.
    let config = folder.join(CONFIG);
    start::write_private(&config, "").map_err(|source| ClusterError::File { path: config.clone(), source })?;
    let mut spec =
        Spec::new(start::program(program)?).args(builder.arguments(arguments(&folder, &ports))).folder(&folder);
    spec.environment.extend(VARIABLES.map(|name| (format!("K3S_{name}").into(), None)));
    let mut process = Process::start(&guard, "k3s", spec, folder.join(LOG))?;
    match ready(&mut process, &folder, builder.deadline).await {
        Ok((api, version)) => {
            let access = HostAccess { listen: "127.0.0.1".into(), name: "127.0.0.1".into() };
            let place = Place::Process(Box::new(process));
            Ok(K3s { api, version, access, kubeconfig: folder.join(KUBECONFIG), place, guard })
        }
        Err(error) if process.has_lost_its_port() => Err(Failure::Port(error)),
        Err(error) => Err(Failure::Other(error)),
    }
}

/// Waits until it has written its kubeconfig and answers.
async fn ready(process: &mut Process, folder: &Path, deadline: Duration) -> Result<(Api, KubeVersion), ClusterError> {
    let (end, path) = (Instant::now() + deadline, folder.join(KUBECONFIG));
    let late = |process: &Process| process.failed(format!("was not ready within {} s", deadline.as_secs()));
    // It may be read while it is being written.
    let config = loop {
        process.check()?;
        match kubeconfig::read(std::slice::from_ref(&path)) {
            Ok(config) => break config,
            Err(_) if Instant::now() >= end => return Err(late(process)),
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    };
    let client = kubeconfig::client(config, None).await?;
    let api = Api::new(client, Duration::from_secs(30));
    let left = end.saturating_duration_since(Instant::now());
    let apis = std::slice::from_ref(&api);
    if !process::until_ready(apis, std::iter::once(&mut *process), &READY_PATHS, left).await? {
        return Err(late(process));
    }
    let version = api.identity().await?.version;
    Ok((api, version))
}

/// The ports of k3s on loopback. Its API server listens on the port after that for clients.
struct Ports {
    clients: u16,
    controllers: u16,
}

impl Ports {
    /// Ports that are free now. If another program takes one of them, the start is repeated.
    fn free() -> Result<Self, ClusterError> {
        let listen = |port: u16| TcpListener::bind(("127.0.0.1", port)).map_err(ClusterError::Port);
        let mut tries = 0;
        loop {
            tries += 1;
            let (first, controllers) = (listen(0)?, listen(0)?);
            let port = |held: &TcpListener| held.local_addr().map(|address| address.port()).map_err(ClusterError::Port);
            let (clients, controllers) = (port(&first)?, port(&controllers)?);
            let next = clients.checked_add(1).filter(|next| *next != controllers);
            match next.map(listen) {
                Some(Ok(_)) => return Ok(Self { clients, controllers }),
                Some(Err(error)) if tries == PORT_TRIES => return Err(error),
                _ => {}
            }
        }
    }
}

fn arguments(folder: &Path, ports: &Ports) -> Vec<String> {
    let path = |name: &str| folder.join(name).display().to_string();
    vec![
        "--disable-agent".to_owned(),
        format!("--config={}", path(CONFIG)),
        format!("--data-dir={}", path("data")),
        format!("--write-kubeconfig={}", path(KUBECONFIG)),
        "--write-kubeconfig-mode=600".to_owned(),
        "--bind-address=127.0.0.1".to_owned(),
        format!("--https-listen-port={}", ports.clients),
        format!("--kube-controller-manager-arg=secure-port={}", ports.controllers),
        // Webhooks are called directly, and not through agents.
        "--egress-selector-mode=disabled".to_owned(),
        "--flannel-backend=none".to_owned(),
        "--disable-cloud-controller".to_owned(),
        "--disable-helm-controller".to_owned(),
        "--disable-network-policy".to_owned(),
        "--disable-scheduler".to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_stays_in_the_folder_of_the_run() {
        let ports = Ports::free().unwrap();
        assert!(![ports.clients, ports.clients + 1].contains(&ports.controllers));
        let all = arguments(Path::new("/run/x"), &ports).join(" ");
        for path in
            ["--config=/run/x/config.yaml", "--data-dir=/run/x/data", "--write-kubeconfig=/run/x/admin.kubeconfig"]
        {
            assert!(all.contains(path), "{all}");
        }
    }
}
