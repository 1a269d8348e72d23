//! kind, through its command.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::api::Api;
use super::guard::{Guard, Guarded, Output, Spec};
use super::run_id::RunId;
use super::{ClusterError, HostAccess, docker, kubeconfig, start};
use crdproof_schema::document::{Sources, parse};
use crdproof_schema::kubernetes::KubeVersion;

/// The environment variable that gives kind a separate network, which can be removed with it.
const NETWORK: &str = "KIND_EXPERIMENTAL_DOCKER_NETWORK";

/// The configuration of the repository, written for 1.35 and 1.36.
const CONFIG: &str = include_str!("../kind-config.yaml");

/// Our configuration for a release: the feature gates and API groups of storage migration depend on the release, and an
/// unknown one keeps servers from starting.
fn config_for(version: KubeVersion) -> Value {
    // The file is our own, and a test reads it.
    let mut config = read_config(CONFIG).unwrap_or_default();
    let (gates, served) = match version.minor {
        30..=34 => (
            json!({"StorageVersionMigrator": true, "InformerResourceVersion": true}),
            json!({"storagemigration.k8s.io/v1alpha1": "true"}),
        ),
        35 | 36 => (json!({"StorageVersionMigrator": true}), json!({"storagemigration.k8s.io/v1beta1": "true"})),
        // Earlier releases have none, later ones need no switch.
        _ => (json!({}), json!({})),
    };
    let in_namespace = config["featureGates"]["KubeletInUserNamespace"].take();
    config["featureGates"] = gates;
    config["featureGates"]["KubeletInUserNamespace"] = in_namespace;
    config["runtimeConfig"] = served;
    // Releases before 1.31 refuse the setting.
    if version.minor < 31 {
        config["kubeadmConfigPatches"] = json!([]);
    }
    config
}

/// Deletes the cluster and its network. Containers may still appear after kind was killed, so this is repeated until
/// nothing is left.
const CLEANUP: &str = r#"
kind=$1 name=$2 config=$3
export KIND_EXPERIMENTAL_DOCKER_NETWORK="$name"
tries=0
while [ $tries -lt 20 ]; do
  "$kind" delete cluster --name "$name" --kubeconfig "$config" >/dev/null 2>&1
  docker network rm "$name" >/dev/null 2>&1
  sleep 0.3
  left=$(docker ps --all --quiet --filter "label=io.x-k8s.kind.cluster=$name")$(docker network ls --quiet --filter "name=$name")
  [ -n "$left" ] || break
  tries=$((tries + 1))
done
"#;

/// An error in a cluster's configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(String);

/// Reads a cluster's configuration, which is YAML.
pub fn read_config(text: &str) -> Result<Value, ConfigError> {
    let mut texts = Sources::default();
    let id = texts.add("kind-config.yaml", text);
    let documents = parse(&texts, id).map_err(|error| ConfigError(error.message))?;
    let [document] = documents.as_slice() else { return Err(ConfigError("it must hold one document".into())) };
    let config = document.to_value();
    if config["kind"] == "Cluster" { Ok(config) } else { Err(ConfigError("it is not of kind Cluster".into())) }
}

/// The settings of a cluster.
#[derive(Debug, Clone)]
pub struct Builder {
    program: PathBuf,
    image: String,
    config: Value,
    logs: Option<PathBuf>,
    deadline: Duration,
}

impl Builder {
    /// The `kind` program; the one in `PATH` by default.
    pub fn program(mut self, program: impl Into<PathBuf>) -> Self {
        self.program = program.into();
        self
    }

    /// The node image; by default `kindest/node` at the tag of the release.
    pub fn image(mut self, image: impl Into<String>) -> Self {
        self.image = image.into();
        self
    }

    /// A configuration of kind `Cluster`, instead of our own.
    pub fn config(mut self, config: Value) -> Self {
        self.config = config;
        self
    }

    /// Sets the folder for logs, which are exported when the start fails.
    pub fn logs(mut self, folder: impl Into<PathBuf>) -> Self {
        self.logs = Some(folder.into());
        self
    }

    /// Sets the timeout of the creation; five minutes by default.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// The node image with its tag.
    pub fn image_name(&self) -> &str {
        &self.image
    }

    /// Checks that this machine can create it now: kind is installed, an engine answers and has the image.
    pub fn check(&self) -> Result<(), ClusterError> {
        let said = std::process::Command::new(&self.program).arg("version").output();
        if let Err(error) = said {
            return Err(ClusterError::Missing {
                what: format!("the program {}", self.program.display()),
                why: error.to_string(),
                help: "install kind, or pass its path with --kind (`scripts/airgapped/kind` builds kind)".into(),
            });
        }
        if docker::has_image(&self.image)? {
            return Ok(());
        }
        let tag = self.image.rsplit(":v").next().unwrap_or_default();
        Err(ClusterError::Missing {
            what: format!("the image {}", self.image),
            why: "the Docker engine does not have it".into(),
            help: format!("`docker pull {}`, or make it with `scripts/airgapped/kind-node-image {tag}`", self.image),
        })
    }

    /// Creates the cluster and returns when its API server answers real requests.
    pub async fn start(self) -> Result<Kind, ClusterError> {
        self.check()?;
        let program = start::program(&self.program)?;
        let run = RunId::new();
        let name = run.name();
        let kubeconfig_in = |folder: &Path| folder.join("admin.kubeconfig");
        let cleanup = |folder: &Path| {
            let words: [OsString; 4] = ["sh".into(), "-c".into(), CLEANUP.into(), "cleanup".into()];
            let named = [program.clone().into(), name.clone().into(), kubeconfig_in(folder).into()];
            words.into_iter().chain(named).collect()
        };
        let (folder, guard) = start::guarded_folder(None, &run, cleanup)?;
        let path = kubeconfig_in(&folder);
        let config = folder.join("config.json");
        start::write_private(&config, &self.config.to_string())
            .map_err(|source| ClusterError::File { path: config.clone(), source })?;

        let log = folder.join("kind.log");
        let spec = Spec::new(&program).env(NETWORK, &name).output(Output::File(log.clone()));
        let spec =
            spec.args(["create", "cluster", "--retain", "--wait", "0s", "--name", &name, "--image", &self.image]);
        let spec = spec.arg("--config").arg(&config).arg("--kubeconfig").arg(&path);
        let mut creation = guard.spawn(&spec).map_err(ClusterError::Guard)?;
        let failed = |why: String| {
            let said = std::fs::read_to_string(&log).unwrap_or_default();
            let exported = self.export(&guard, &name);
            let log = format!("{}{exported}", tail(&said));
            ClusterError::Provider { provider: "kind", why, log }
        };
        match wait_for_exit(&mut creation, self.deadline).await {
            Ok(true) => {}
            Ok(false) => return Err(failed("could not create the cluster".into())),
            Err(why) => return Err(failed(why)),
        }
        let client = kubeconfig::client(kubeconfig::read(std::slice::from_ref(&path))?, None).await?;
        let api = Api::new(client, Duration::from_secs(30));
        if let Err(error) = start::until_answers(&api, Duration::from_secs(60)).await {
            return Err(failed(error.to_string()));
        }
        let version = api.identity().await?.version;
        let gateway = docker::gateway(&name)?;
        let access = HostAccess { listen: gateway.clone(), name: gateway };
        Ok(Kind { api, name, version, access, kubeconfig: path, guard })
    }

    /// Exports logs, if a folder for them was given, and returns a message with their path.
    fn export(&self, guard: &Guard, name: &str) -> String {
        let Some(folder) = &self.logs else { return String::new() };
        let spec = Spec::new(&self.program).args(["export", "logs", "--name", name]).arg(folder);
        match guard.spawn(&spec).and_then(|mut export| export.wait()) {
            Ok(status) if status.success() => format!("\nall logs are in {}", folder.display()),
            Ok(status) => format!("\nlogs could not be exported ({status})"),
            Err(error) => format!("\nlogs could not be exported ({error})"),
        }
    }
}

/// Waits for a command's end without blocking other tasks. `false` is a failure.
async fn wait_for_exit(command: &mut Guarded, deadline: Duration) -> Result<bool, String> {
    let end = Instant::now() + deadline;
    loop {
        match command.try_wait() {
            Ok(Some(status)) => return Ok(status.success()),
            Ok(None) if Instant::now() < end => tokio::time::sleep(Duration::from_millis(100)).await,
            Ok(None) => return Err(format!("did not create the cluster within {} s", deadline.as_secs())),
            Err(error) => return Err(error.to_string()),
        }
    }
}

fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(15)..].join("\n")
}

/// A running cluster.
pub struct Kind {
    api: Api,
    name: String,
    version: KubeVersion,
    access: HostAccess,
    kubeconfig: PathBuf,
    guard: Guard,
}

impl Kind {
    /// A cluster of a release.
    pub fn builder(version: KubeVersion) -> Builder {
        Builder {
            program: "kind".into(),
            image: format!("kindest/node:v{version}"),
            config: config_for(version),
            logs: None,
            deadline: Duration::from_secs(300),
        }
    }

    /// The cluster's name, as `kind get clusters` shows it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Raw verbs with all rights.
    pub fn api(&self) -> &Api {
        &self.api
    }

    /// The release that the server reports.
    pub fn version(&self) -> KubeVersion {
        self.version
    }

    /// A kubeconfig with all rights. It is removed with the cluster.
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// Returns the address under which the server reaches a webhook on this machine.
    pub fn host_access(&self) -> &HostAccess {
        &self.access
    }

    /// Deletes it; the error says if something is left.
    pub fn stop(self) -> Result<(), ClusterError> {
        let Self { name, guard, .. } = self;
        drop(guard);
        let left =
            docker::query(&["ps", "--all", "--quiet", "--filter", &format!("label=io.x-k8s.kind.cluster={name}")])?;
        if left.is_empty() {
            return Ok(());
        }
        let why = format!("the cluster {name} could not be deleted; `kind delete cluster --name {name}` does it");
        Err(ClusterError::Provider { provider: "kind", why, log: String::new() })
    }
}

impl std::fmt::Debug for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kind").field("name", &self.name).field("version", &self.version).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_suits_the_release() {
        let of = |text: &str| config_for(text.parse().unwrap());
        let file = read_config(CONFIG).unwrap();
        assert_eq!(of("1.36.4"), file, "the file is the configuration of 1.36");
        assert_eq!(of("1.31.4")["runtimeConfig"], json!({"storagemigration.k8s.io/v1alpha1": "true"}));
        assert_eq!(of("1.31.4")["featureGates"]["InformerResourceVersion"], true);
        assert_eq!(of("1.37.1")["runtimeConfig"], json!({}));
        assert_eq!(of("1.24.17")["featureGates"], json!({"KubeletInUserNamespace": true}));
        assert_eq!(of("1.24.17")["networking"], file["networking"]);
    }

    #[test]
    fn another_document_is_not_a_configuration() {
        assert_eq!(read_config("kind: Pod\n").unwrap_err().to_string(), "it is not of kind Cluster");
        assert_eq!(read_config("").unwrap_err().to_string(), "it must hold one document");
    }
}
