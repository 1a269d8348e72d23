//! Starting a control plane.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kube::config::Kubeconfig;
use serde_json::json;

use super::component::absent;
use super::flags::{self, Ports};
use super::{Builder, ClusterError, Component, Endpoint, Local};
use crate::api::Api;
use crate::certificates::{Authority, Pair, token_keys};
use crate::guard::Spec;
use crate::kubeconfig;
use crate::process::{self, Failure, Process};
use crate::run_id::RunId;
use crate::start::{self, READY_PATHS, guarded_folder, write_private};
use crdproof_schema::kubernetes::KubeVersion;

impl Builder {
    /// The release that the program prints.
    pub fn version(&self) -> Result<KubeVersion, ClusterError> {
        version_of(&self.binaries.apiserver)
    }

    /// Starts the control plane and returns when it answers real requests.
    pub async fn start(self) -> Result<Local, ClusterError> {
        process::on_free_ports(|| self.start_once()).await
    }

    async fn start_once(&self) -> Result<Local, Failure> {
        let version = version_of(&self.binaries.apiserver)?;
        let second_version = self.second.as_deref().map(version_of).transpose()?;
        let (folder, guard) = guarded_folder(self.folder.as_deref(), &RunId::new(), |_| Vec::new())?;
        let authority = Authority::new().map_err(ClusterError::from)?;
        let ports = free_ports()?;
        let url = format!("https://127.0.0.1:{}", ports.apiserver);
        let admin = authority.client("crdproof", &["system:masters"]).map_err(ClusterError::from)?;
        write_files(&folder, &authority, &url, &admin)?;
        let etcd = etcd_client(&folder, ports.etcd_client).await?;
        if let Some(policy) = &self.audit_policy {
            write_file(&folder, flags::AUDIT_POLICY, &policy.to_string())?;
        }

        let mut processes = BTreeMap::new();
        let mut run = |component: Component, program: &Path, flags: Vec<String>| {
            let log = folder.join(format!("{}.log", component.as_str()));
            let spec = Spec::new(start::program(program)?).args(flags).folder(&folder);
            let process = Process::start(&guard, component.as_str(), spec, log)?;
            processes.insert(component, process);
            Ok::<(), ClusterError>(())
        };
        run(Component::Etcd, &self.binaries.etcd, flags::etcd(&folder, ports))?;
        // API servers wait for etcd by themselves, so start all at once.
        let of_server = |port, version| flags::apiserver(self, &folder, ports.etcd_client, port, version);
        run(Component::ApiServer, &self.binaries.apiserver, of_server(ports.apiserver, version))?;
        let first = Endpoint { version, client: client(&url, &authority.certificate, &admin).await?, url };
        let mut second = None;
        if let (Some(program), Some(version)) = (&self.second, second_version) {
            run(Component::SecondApiServer, program, of_server(ports.second, version))?;
            let url = format!("https://127.0.0.1:{}", ports.second);
            second = Some(Endpoint { version, client: client(&url, &authority.certificate, &admin).await?, url });
        }

        let timeout = Duration::from_secs(5);
        let apis: Vec<Api> =
            std::iter::once(&first).chain(&second).map(|each| Api::new(each.client.clone(), timeout)).collect();
        if let Err(error) = until_ready(&apis, &mut processes, &READY_PATHS, self.deadline).await {
            let port_lost = processes.values_mut().any(Process::has_lost_its_port);
            return Err(if port_lost { Failure::Port(error) } else { Failure::Other(error) });
        }
        if !self.controllers.is_empty() {
            let Some(program) = &self.binaries.controller_manager else {
                return Err(absent(Component::ControllerManager).into());
            };
            let log = folder.join("kube-controller-manager.log");
            let spec = Spec::new(start::program(program)?)
                .args(flags::controller_manager(self, &folder, ports))
                .folder(&folder);
            let component = Component::ControllerManager;
            processes.insert(component, Process::start(&guard, component.as_str(), spec, log)?);
        }
        let kubeconfig = folder.join("admin.kubeconfig");
        Ok(Local { processes, authority, first, etcd, second, folder, kubeconfig, guard })
    }
}

/// Waits until every server answers these paths, and checks that no process ends meanwhile.
pub(super) async fn until_ready(
    apis: &[Api],
    processes: &mut BTreeMap<Component, Process>,
    asked: &[&str],
    deadline: Duration,
) -> Result<(), ClusterError> {
    if process::until_ready(apis, processes.values_mut(), asked, deadline).await? {
        return Ok(());
    }
    let why = format!("was not ready within {} s", deadline.as_secs());
    let server = processes.get(&Component::ApiServer);
    Err(server.map_or_else(|| absent(Component::ApiServer), |process| process.failed(why)))
}

/// Runs the program to read its release.
fn version_of(apiserver: &Path) -> Result<KubeVersion, ClusterError> {
    let failed = |why: String, help: &'static str| ClusterError::Component {
        component: Component::ApiServer.as_str(),
        why,
        log: String::new(),
        help,
    };
    let output = Command::new(apiserver).arg("--version").output().map_err(|error| {
        let help = "the program is missing or is not made for this machine; `crdproof env use` brings one that is";
        failed(format!("cannot be run at {}: {error}", apiserver.display()), help)
    })?;
    let text = String::from_utf8_lossy(&output.stdout);
    let word = text.split_whitespace().last().unwrap_or_default();
    word.parse().map_err(|_| failed(format!("answers {text:?} to --version"), "give a kube-apiserver"))
}

/// Ports that are free now. If another program takes one of them, the start is repeated.
fn free_ports() -> Result<Ports, ClusterError> {
    let listen = || TcpListener::bind(("127.0.0.1", 0)).map_err(ClusterError::Port);
    // All are bound at the same time, so that no two are the same.
    let held = [listen()?, listen()?, listen()?, listen()?, listen()?];
    let port = |index: usize| held[index].local_addr().map(|address| address.port()).map_err(ClusterError::Port);
    Ok(Ports { etcd_client: port(0)?, etcd_peer: port(1)?, apiserver: port(2)?, manager: port(3)?, second: port(4)? })
}

fn write_files(folder: &Path, authority: &Authority, url: &str, admin: &Pair) -> Result<(), ClusterError> {
    let names = ["127.0.0.1", "localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "10.0.0.1"];
    let server = authority.server("kube-apiserver", &names)?;
    let (private, public) = token_keys()?;
    let files = [
        ("ca.crt", authority.certificate.clone()),
        ("server.crt", server.certificate),
        ("server.key", server.key),
        ("tokens.key", private),
        ("tokens.pub", public),
        ("admin.kubeconfig", config(url, &authority.certificate, admin)),
    ];
    for (name, text) in files {
        write_file(folder, name, &text)?;
    }
    Ok(())
}

/// Writes the certificates of etcd, signed by a separate authority, and returns a client with access to etcd.
async fn etcd_client(folder: &Path, port: u16) -> Result<kube::Client, ClusterError> {
    let authority = Authority::new()?;
    let pair = authority.member("etcd")?;
    for (name, text) in [
        (flags::ETCD_AUTHORITY, &authority.certificate),
        (flags::ETCD_CERTIFICATE, &pair.certificate),
        (flags::ETCD_KEY, &pair.key),
    ] {
        write_file(folder, name, text)?;
    }
    client(&format!("https://127.0.0.1:{port}"), &authority.certificate, &pair).await
}

fn write_file(folder: &Path, name: &str, text: &str) -> Result<(), ClusterError> {
    let path = folder.join(name);
    write_private(&path, text).map_err(|source| ClusterError::File { path, source })
}

fn config(url: &str, authority: &str, user: &Pair) -> String {
    let file = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "crdproof",
        "clusters": [{"name": "crdproof", "cluster": {"server": url, "certificate-authority-data": STANDARD.encode(authority)}}],
        "users": [{"name": "crdproof", "user": {
            "client-certificate-data": STANDARD.encode(&user.certificate), "client-key-data": STANDARD.encode(&user.key)}}],
        "contexts": [{"name": "crdproof", "context": {"cluster": "crdproof", "user": "crdproof", "namespace": "default"}}],
    });
    file.to_string()
}

/// A client that trusts only this authority, authenticates as this user, and does not retry.
pub(super) async fn client(url: &str, authority: &str, user: &Pair) -> Result<kube::Client, ClusterError> {
    let parsed = Kubeconfig::from_yaml(&config(url, authority, user));
    kubeconfig::client(parsed.map_err(|error| ClusterError::Client(error.to_string()))?, None).await
}
