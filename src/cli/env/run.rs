//! `env run`: a command with an API server of its own. `env sweep`: what killed runs left.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Instant;

use crate::operate::in_tree;
use crate::subject::load::{InputError, Trouble, from_paths};
use anyhow::Result;
use crdproof_envtest::binaries::{Assets, Store};
use crdproof_envtest::existing::{Access, Existing};
use crdproof_envtest::k3s::K3s;
use crdproof_envtest::kind::{self, Kind};
use crdproof_envtest::local::{Binaries, Local};
use crdproof_envtest::{ClusterError, Server, Sweep, runtime};
use crdproof_schema::kubernetes::KubeVersion;
use serde_json::Value;

use super::{exact, first_of};
use crate::cli::args::env::{ClusterArgs, EnvRunArgs, EnvSweepArgs, Provider, ServerArgs};
use crate::cli::console::Console;
use crate::cli::exit::Exit;

/// Runs a command beside a server.
pub(super) fn run(store: &Store, args: &EnvRunArgs, console: Console) -> Result<Exit> {
    let crds = match args.crds.as_slice() {
        [] => Vec::new(),
        paths => from_paths(paths.to_vec())?.crds.iter().map(|crd| crd.node.to_value()).collect(),
    };
    if args.dry_run && args.server.provider() != Provider::Kubeconfig {
        let error = InputError::new(Trouble::Wrong, "--dry-run is about a cluster that is there already");
        return Err(error.help("add --provider kubeconfig, or leave --dry-run out").into());
    }
    let wanted = Wanted::of(store, &args.selector, &args.server, args.dry_run, console)?;
    runtime::block_on(async {
        let started = Instant::now();
        let Some(server) = runtime::unless_interrupted(wanted.start()).await else {
            return Ok(interrupted(console));
        };
        let server = server.map_err(told)?;
        console.say(&format!("✔ {} after {:.1} s", shown(&server), started.elapsed().as_secs_f64()));
        let done = runtime::unless_interrupted(work(&server, &crds, args, console)).await;
        if let (Server::Existing(_), false) = (&server, args.dry_run) {
            console.say("► removing what was made");
        }
        let stopped = server.stop().await.map_err(told);
        match done {
            None => {
                stopped?;
                Ok(interrupted(console))
            }
            Some(done) => {
                let exit = done?;
                stopped?;
                Ok(exit)
            }
        }
    })
    .map_err(told)?
}

pub(crate) fn interrupted(console: Console) -> Exit {
    console.say("○ interrupted; nothing is left behind");
    Exit::Incomplete
}

pub(crate) fn shown(server: &Server) -> String {
    let version = server.version();
    match server {
        Server::Local(_) => format!("Kubernetes {version} runs"),
        Server::K3s(_) => format!("Kubernetes {version} runs in k3s"),
        Server::Kind(kind) => format!("Kubernetes {version} runs in the kind cluster {}", kind.name()),
        Server::Existing(cluster) => format!("context {} is Kubernetes {version}", cluster.shown()),
    }
}

async fn work(server: &Server, crds: &[Value], args: &EnvRunArgs, console: Console) -> Result<Exit> {
    server.install_crds(crds).await.map_err(told)?;
    let mut namespace = "default".to_owned();
    let mut environment: Vec<(&str, OsString)> = Vec::new();
    if let Server::Existing(cluster) = server {
        namespace = cluster.create_namespace().await.map_err(told)?;
        if args.dry_run {
            let made: String = cluster.made().iter().map(|path| format!("{path}\n")).collect();
            console.say(&format!("► would be created in {}, labelled {}:", cluster.shown(), cluster.run()));
            console.print(&made)?;
            return Ok(Exit::Success);
        }
    }
    if let Some(kubeconfig) = server.kubeconfig() {
        environment.push(("KUBECONFIG", kubeconfig.into()));
    } else if let Some(kubeconfig) = &args.server.cluster.kubeconfig {
        environment.push(("KUBECONFIG", kubeconfig.into()));
    }
    environment.push(("CRDPROOF_NAMESPACE", namespace.into()));
    environment.push(("CRDPROOF_KUBERNETES", server.version().to_string().into()));
    Ok(Exit::Command(runtime::command(&args.command, &environment).await.map_err(told)?))
}

/// A server that is wanted, with everything that can be known before it is started.
pub(crate) enum Wanted {
    Local(Box<crdproof_envtest::local::Builder>),
    K3s(crdproof_envtest::k3s::Builder),
    Kind(kind::Builder),
    Existing(Access),
}

impl Wanted {
    pub(crate) fn of(
        store: &Store,
        selector: &str,
        args: &ServerArgs,
        dry_run: bool,
        console: Console,
    ) -> Result<Self> {
        match args.provider() {
            Provider::Local => Ok(Self::local(first_of(store, selector, &args.sources, console)?, args)),
            Provider::K3s => {
                let builder = K3s::builder(exact(selector)?);
                Ok(Self::K3s(args.image.iter().fold(builder, |builder, image| builder.image(image))))
            }
            Provider::Kind => {
                let mut builder = Kind::builder(exact(selector)?);
                builder = args.image.iter().fold(builder, kind::Builder::image);
                builder = args.kind.iter().fold(builder, kind::Builder::program);
                builder = args.logs.iter().fold(builder, kind::Builder::logs);
                if let Some(path) = &args.kind_config {
                    builder = builder.config(kind_config(path)?);
                }
                Ok(Self::Kind(builder))
            }
            Provider::Kubeconfig => Ok(Self::Existing(access(&args.cluster, dry_run)?)),
        }
    }

    /// Processes on this machine.
    pub(crate) fn local(assets: Assets, args: &ServerArgs) -> Self {
        let mut builder = Local::builder(Binaries::from(assets)).controllers(args.controllers.clone());
        for (name, enabled) in &args.feature_gates {
            builder = builder.feature_gate(name, *enabled);
        }
        for (api, enabled) in &args.runtime_config {
            builder = builder.runtime_config(api, *enabled);
        }
        Self::Local(Box::new(builder))
    }

    /// The release that it will be, where that can be known.
    pub(crate) fn version(&self) -> Result<Option<KubeVersion>, ClusterError> {
        match self {
            Self::Local(builder) => builder.version().map(Some),
            Self::K3s(_) | Self::Kind(_) | Self::Existing(_) => Ok(None),
        }
    }

    /// The same with a control plane that migrates storage by itself, where we decide about that.
    pub(crate) fn migrating(self) -> Result<Self, ClusterError> {
        let Self::Local(builder) = self else { return Ok(self) };
        let version = builder.version()?;
        // Older controller managers know no such controllers, and would not start.
        if !version.at_least(30) {
            return Ok(Self::Local(builder));
        }
        let (gates, api) = in_tree::switches(version.minor);
        let mut builder = builder.controllers(in_tree::CONTROLLERS);
        for gate in gates {
            builder = builder.feature_gate(gate, true);
        }
        if let Some(api) = api {
            builder = builder.runtime_config(api, true);
        }
        Ok(Self::Local(Box::new(builder)))
    }

    pub(crate) async fn start(self) -> Result<Server, ClusterError> {
        Ok(match self {
            Self::Local(builder) => Server::Local(Box::new(builder.start().await?)),
            Self::K3s(builder) => Server::K3s(Box::new(builder.start().await?)),
            Self::Kind(builder) => Server::Kind(Box::new(builder.start().await?)),
            Self::Existing(access) => Server::Existing(Box::new(Existing::connect(&access).await?)),
        })
    }
}

fn kind_config(path: &std::path::Path) -> Result<Value> {
    let wrong = |why: String| InputError::new(Trouble::Wrong, format!("{}: {why}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    Ok(kind::read_config(&text).map_err(wrong)?)
}

/// Removes what is left.
pub(super) fn sweep(args: &EnvSweepArgs, console: Console) -> Result<Exit> {
    let named = args.cluster.kubeconfig.is_some() || args.cluster.context.is_some();
    let cluster = if named { Some(access(&args.cluster, args.dry_run)?) } else { None };
    let sweep = Sweep { all: args.all, dry_run: args.dry_run, cluster };
    let swept = runtime::block_on(sweep.run()).map_err(told)?.map_err(told)?;
    let did = if args.dry_run { "would remove" } else { "removed" };
    for what in &swept {
        console.print(&format!("{did} {what}\n"))?;
    }
    if swept.is_empty() {
        console.say("✔ nothing is left of runs that have ended");
    }
    Ok(Exit::Success)
}

/// The kubeconfig files that `kubectl` takes where none is named.
pub(super) fn kubeconfigs() -> Vec<PathBuf> {
    let given = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    match (given("KUBECONFIG"), given("HOME")) {
        (Some(paths), _) => std::env::split_paths(&paths).collect(),
        (None, Some(home)) => vec![PathBuf::from(home).join(".kube/config")],
        (None, None) => Vec::new(),
    }
}

/// The cluster that flags and environment name.
pub(crate) fn access(args: &ClusterArgs, dry_run: bool) -> Result<Access> {
    let kubeconfig = args.kubeconfig.as_ref().map_or_else(kubeconfigs, |path| vec![path.clone()]);
    if kubeconfig.is_empty() {
        let error = InputError::new(Trouble::Environment, "there is no home folder to look for a kubeconfig in");
        return Err(error.help("name one with --kubeconfig").into());
    }
    Ok(Access {
        kubeconfig,
        context: args.context.clone(),
        allow_changes: args.allow_changes,
        confirmed: args.confirm.clone(),
        dry_run,
    })
}

/// An error of a server, with the end of its log and the remedy.
pub(crate) fn told(error: ClusterError) -> InputError {
    let help = error.help().to_owned();
    let log = error.log().map(|log| format!("\n{}", indented(log))).unwrap_or_default();
    InputError::new(Trouble::Environment, format!("{:#}{log}", anyhow::Error::from(error))).help(help)
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}
