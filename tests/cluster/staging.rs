//! A cluster with CRDs of others, which convert by a webhook that runs beside it. A local API server is prepared as a stranger
//! would prepare it: the CRD names the webhook by its address, and `crdproof serve` runs in a process of its own.

use std::io::{BufRead as _, BufReader};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crdproof_envtest::LABEL;
use crdproof_envtest::api::{Api, PatchKind, Query, Resource, definitions};
use crdproof_envtest::existing::Existing;
use crdproof_envtest::local::{Binaries, Local};
use crdproof_schema::document::{Sources, parse};
use libtest_mimic::{Completion, Failed};
use serde_json::{Value, json};

use crate::existing::access;
use crate::support::{check, describe, said};

pub(crate) const NAME: &str = "databases.example.com";

/// A cluster with a CRD and its webhook, and a user who has the printed role only.
pub(crate) struct Cluster {
    server: Local,
    pub(crate) api: Api,
    pub(crate) webhook: Child,
    pub(crate) folder: tempfile::TempDir,
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let _ = self.webhook.kill();
        let _ = self.webhook.wait();
    }
}

/// A defect of a deployed webhook.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Defect {
    None,
    /// It forgets the password at v1.
    Loss,
    /// It renames a field at v2, and does not rename it back.
    OneWayRename,
}

impl Defect {
    /// Changes the subject, and returns the subject file that the webhook is made of.
    fn plant(self, folder: &Path) -> Result<String, Failed> {
        let map = std::fs::read_to_string(folder.join("crdproof.yaml"))?;
        match self {
            Self::None => Ok(map),
            Self::Loss => Ok(map.split("  stash:").next().unwrap_or_default().to_owned()),
            Self::OneWayRename => {
                for (file, second) in [("crds/databases.yaml", "- name: v2"), ("samples/databases.yaml", "---")] {
                    let text = std::fs::read_to_string(folder.join(file))?;
                    let (first, rest) = text.split_once(second).ok_or("no second part")?;
                    let renamed = format!("{first}{second}{}", rest.replace("username:", "user:"));
                    std::fs::write(folder.join(file), renamed)?;
                }
                let right = "  rename:\n  - {v1: .spec.username, v2: .spec.user}\n  stash:";
                std::fs::write(folder.join("crdproof.yaml"), map.replace("  stash:", right))?;
                // Both ways read the name that only v1 has.
                let name = r#"expression: "has(self.spec.username) ? self.spec.username : null""#;
                let wrong = format!(
                    "  compute:\n  - v1: {{path: .spec.username, {name}}}\n    v2: {{path: .spec.user, {name}}}\n  stash:"
                );
                Ok(map.replace("  stash:", &wrong))
            }
        }
    }
}

/// Copies the example subject; its CRD has this scope.
pub(crate) fn subject(folder: &Path, scope: &str) -> Result<(), Failed> {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/crds/databases");
    for name in ["crds/databases.yaml", "samples/databases.yaml", "crdproof.yaml"] {
        let to = folder.join(name);
        std::fs::create_dir_all(to.parent().unwrap_or(folder))?;
        let text = std::fs::read_to_string(from.join(name))?;
        std::fs::write(to, text.replace("scope: Namespaced", &format!("scope: {scope}")))?;
    }
    Ok(())
}

/// The name of the webhook behind a Service.
const SERVICE: &str = "hook.system.svc";

/// An address of this machine that API servers allow as the endpoint of a Service: none on loopback. Sends nothing.
pub(crate) fn own_address() -> Option<IpAddr> {
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    socket.connect("192.0.2.254:9").ok()?;
    let address = socket.local_addr().ok()?.ip();
    (!address.is_loopback() && !address.is_unspecified()).then_some(address)
}

/// Starts a webhook for a subject at this address, and returns it with its own address and its CA.
fn serve(folder: &Path, file: &str, address: IpAddr) -> Result<(Child, SocketAddr, String), Failed> {
    let listen = std::net::TcpListener::bind((address, 0))?.local_addr()?;
    let mut webhook = Command::new(env!("CARGO_BIN_EXE_crdproof"))
        .args(["serve", "-f", file, "--listen", &listen.to_string(), "--name", SERVICE])
        .current_dir(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut line = String::new();
    BufReader::new(webhook.stdout.take().ok_or("no output")?).read_line(&mut line)?;
    let authority = line.trim().strip_prefix("caBundle: ").ok_or_else(|| line.clone())?.to_owned();
    Ok((webhook, listen, authority))
}

/// Reads a document of a YAML text.
pub(crate) fn document(text: &str, number: usize) -> Result<Value, Failed> {
    let mut sources = Sources::default();
    let id = sources.add("text", text);
    let documents = parse(&sources, id).map_err(|error| error.message)?;
    Ok(documents.get(number).ok_or("too few documents")?.to_value())
}

impl Cluster {
    /// Prepares a cluster whose webhook has this defect, and is reached by its address.
    pub(crate) async fn prepare(binaries: &Binaries, scope: &str, defect: Defect) -> Result<Self, Failed> {
        Self::prepare_at(binaries, scope, defect, None).await
    }

    /// The same with a webhook behind a Service, if this is an address for it.
    pub(crate) async fn prepare_at(
        binaries: &Binaries,
        scope: &str,
        defect: Defect,
        endpoint: Option<IpAddr>,
    ) -> Result<Self, Failed> {
        // Nothing here routes the addresses of Services, so the API server itself looks for their endpoints.
        let builder = Local::builder(binaries.clone()).apiserver_flag("--enable-aggregator-routing=true");
        let server = builder.controllers(["namespace"]).start().await;
        let server = server.map_err(|error| describe(&error))?;
        let (api, folder) = (server.api(), tempfile::tempdir()?);
        subject(folder.path(), scope)?;
        let webhook = defect.plant(folder.path())?;
        std::fs::write(folder.path().join("webhook.yaml"), webhook)?;
        let (webhook, listen, authority) =
            serve(folder.path(), "webhook.yaml", endpoint.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST)))?;
        let cluster = Self { server, api, webhook, folder };
        let mut crd = document(&std::fs::read_to_string(cluster.folder.path().join("crds/databases.yaml"))?, 0)?;
        let client = &mut crd["spec"]["conversion"]["webhook"]["clientConfig"];
        if endpoint.is_some() {
            cluster.create_service(listen).await?;
            let service = json!({"name": "hook", "namespace": "system", "path": "/convert"});
            *client = json!({"service": service, "caBundle": authority});
        } else {
            *client = json!({"url": format!("https://{listen}/convert"), "caBundle": authority});
        }
        cluster.api.install_crds(&[crd]).await?;
        cluster.grant().await?;
        Ok(cluster)
    }

    /// Creates a Service whose only endpoint is this address. API servers forward requests to pods only, so there is a pod of
    /// that address. Older API servers read Endpoints, newer ones slices.
    async fn create_service(&self, listen: SocketAddr) -> Result<(), Failed> {
        let (ip, system) = (listen.ip().to_string(), "/api/v1/namespaces/system");
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "system"}});
        self.api.post("/api/v1/namespaces", &namespace).await?.ok()?;
        let metadata = json!({"name": "hook", "labels": {"kubernetes.io/service-name": "hook"}});
        let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata,
            "spec": {"containers": [{"name": "hook", "image": "hook"}]}});
        self.api.post(&format!("{system}/pods"), &pod).await?.ok()?;
        let status = json!({"status": {"phase": "Running", "podIP": ip, "podIPs": [{"ip": ip}]}});
        self.api.patch(&format!("{system}/pods/hook/status"), PatchKind::Merge, &status).await?.ok()?;
        let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": metadata,
            "spec": {"ports": [{"name": "https", "port": 443, "targetPort": listen.port()}]}});
        let port = json!({"name": "https", "port": listen.port()});
        let target = json!({"kind": "Pod", "name": "hook", "namespace": "system"});
        let endpoints = json!({"apiVersion": "v1", "kind": "Endpoints", "metadata": metadata,
            "subsets": [{"addresses": [{"ip": ip, "targetRef": target}], "ports": [port]}]});
        let slice = json!({"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "metadata": metadata,
            "addressType": "IPv4", "ports": [port],
            "endpoints": [{"addresses": [ip], "conditions": {"ready": true}, "targetRef": target}]});
        let slices = "/apis/discovery.k8s.io/v1/namespaces/system/endpointslices".to_owned();
        let objects =
            [(format!("{system}/services"), service), (format!("{system}/endpoints"), endpoints), (slices, slice)];
        for (path, object) in objects {
            self.api.post(&path, &object).await?.ok()?;
        }
        Ok(())
    }

    /// Creates the printed role, and a kubeconfig of a user who has it and nothing else.
    async fn grant(&self) -> Result<(), Failed> {
        let printed = self.tool(&["env", "rbac", "-f", "crdproof.yaml"])?;
        check(printed.status.success(), said(&printed))?;
        let role = document(&String::from_utf8_lossy(&printed.stdout), 0)?;
        let base = "/apis/rbac.authorization.k8s.io/v1";
        self.api.post(&format!("{base}/clusterroles"), &role).await?.ok()?;
        let binding = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
            "metadata": {"name": "tester"}, "subjects": [{"kind": "User", "name": "tester", "apiGroup": "rbac.authorization.k8s.io"}],
            "roleRef": {"kind": "ClusterRole", "name": "crdproof", "apiGroup": "rbac.authorization.k8s.io"}});
        self.api.post(&format!("{base}/clusterrolebindings"), &binding).await?.ok()?;
        let mut config: Value = serde_json::from_slice(&std::fs::read(self.server.kubeconfig())?)?;
        for user in ["tester", "nobody"] {
            config["users"][0]["user"]["as"] = user.into();
            std::fs::write(self.folder.path().join(user), config.to_string())?;
        }
        config["contexts"][0]["name"] = "eu-prod".into();
        config["current-context"] = "eu-prod".into();
        config["users"][0]["user"]["as"] = "tester".into();
        std::fs::write(self.folder.path().join("production"), config.to_string())?;
        // The server gives everybody the right to ask for its version soon after it has started.
        let end = Instant::now() + Duration::from_secs(30);
        while let Err(error) = Existing::connect(&access(self.folder.path().join("tester"))).await {
            check(Instant::now() < end, error.to_string())?;
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        Ok(())
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_crdproof"));
        command.args(arguments).current_dir(self.folder.path());
        command
    }

    pub(crate) fn tool(&self, arguments: &[&str]) -> Result<Output, Failed> {
        Ok(self.command(arguments).output()?)
    }

    /// The command that tests the CRD where it is, as a user.
    pub(crate) fn run(&self, user: &str, more: &[&str]) -> Command {
        let mut command =
            self.command(&["run", "--suite", "serving", "--suite", "apply", "--deployed", "--no-counterexamples"]);
        command.args(["--provider", "kubeconfig", "--kubeconfig", user]).args(more);
        command
    }

    pub(crate) async fn definition(&self) -> Result<Value, Failed> {
        Ok(self.api.get(&definitions().path_of(NAME)).await?.ok()?.json())
    }

    /// Everything that carries the label of a run.
    pub(crate) async fn left(&self) -> Result<Vec<Value>, Failed> {
        let kind = Resource::cluster_wide("example.com", "v1", "databases");
        let mut left = Vec::new();
        for path in [definitions().path(), "/api/v1/namespaces".into(), kind.path()] {
            let listed = self.api.get(&Query::new().labels(LABEL).on(path)).await?.ok()?.json();
            let items = listed["items"].as_array().cloned().unwrap_or_default();
            left.extend(items.into_iter().map(|item| item["metadata"]["name"].clone()));
        }
        Ok(left)
    }

    /// Checks that nothing is left of a run, and that the CRD is what it was.
    pub(crate) async fn is_as_it_was(&self, before: &Value) -> Result<(), Failed> {
        let left = self.left().await?;
        check(left.is_empty(), format!("left: {left:?}"))?;
        let after = self.definition().await?;
        let version = |crd: &Value| crd["metadata"]["resourceVersion"].clone();
        check(version(before) == version(&after), format!("the CRD was changed: {after}"))
    }
}

pub(crate) fn without_controllers(binaries: &Binaries) -> Option<Completion> {
    let why = "only a controller lets a namespace go, and this release has none";
    binaries.controller_manager.is_none().then(|| Completion::ignored_with(why))
}

/// Waits until this many objects of runs are there.
pub(crate) async fn until(cluster: &Cluster, objects: usize) -> Result<bool, Failed> {
    let end = Instant::now() + Duration::from_secs(60);
    while Instant::now() < end {
        if cluster.left().await.is_ok_and(|left| left.len() >= objects) {
            return Ok(true);
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    Ok(false)
}
