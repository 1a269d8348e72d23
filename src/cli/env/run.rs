//! `env run`: runs a command with its own API server. `env sweep`: removes leftovers of killed runs.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Instant;

use crate::subject::load::{InputError, Trouble, from_paths};
use anyhow::Result;
use crdproof_envtest::binaries::Store;
use crdproof_envtest::existing::Access;
use crdproof_envtest::{ClusterError, Server, ServerSpec, Sweep, kind, runtime};
use serde_json::Value;

use super::with_progress;
use crate::cli::args::env::{ClusterArgs, EnvRunArgs, EnvSweepArgs, Provider, ServerArgs};
use crate::cli::console::Console;
use crate::cli::exit::Exit;
use crate::cli::servers::{cluster_error, describe, options};

/// Runs a command with a server.
pub(super) fn run(store: &Store, args: &EnvRunArgs, console: Console) -> Result<Exit> {
    let crds = match args.crds.as_slice() {
        [] => Vec::new(),
        paths => from_paths(paths.to_vec())?.crds.iter().map(|crd| crd.node.to_value()).collect(),
    };
    if args.dry_run && args.server.provider() != Provider::Kubeconfig {
        let error = InputError::new(Trouble::Wrong, "--dry-run needs an existing cluster");
        return Err(error.help("add --provider kubeconfig, or remove --dry-run").into());
    }
    let spec = spec(store, &args.selector, &args.server, args.dry_run, console)?;
    runtime::block_on(async {
        let started = Instant::now();
        let Some(server) = runtime::unless_interrupted(spec.start()).await else {
            return Ok(interrupted(console));
        };
        let server = server.map_err(cluster_error)?;
        console.say(&format!("✔ {} after {:.1} s", describe(&server), started.elapsed().as_secs_f64()));
        let done = runtime::unless_interrupted(work(&server, &crds, args)).await;
        if let Server::Existing(cluster) = &server
            && !cluster.made().is_empty()
            && !args.dry_run
        {
            console.say("► removing what was created");
        }
        match server.stop_after(done.transpose()).await.map_err(cluster_error)? {
            None => Ok(interrupted(console)),
            Some(Done::Exited(code)) => Ok(Exit::Command(code)),
            Some(Done::Listed { title, paths }) => {
                console.say(&title);
                console.print(&paths)?;
                Ok(Exit::Success)
            }
        }
    })
    .map_err(cluster_error)?
}

/// Returns the server that flags name, after installing its binaries.
pub(crate) fn spec(
    store: &Store,
    release: &str,
    args: &ServerArgs,
    dry_run: bool,
    console: Console,
) -> Result<ServerSpec> {
    let options = options(args, dry_run)?;
    with_progress(store, &args.sources, console, |installer| options.spec(release, installer))
}

pub(crate) fn interrupted(console: Console) -> Exit {
    console.say("○ interrupted; nothing is left behind");
    Exit::Incomplete
}

/// The outcome of the work beside a server.
enum Done {
    /// The command ended, with this code.
    Exited(u8),
    /// A dry run lists the paths of what it would create, below a title.
    Listed { title: String, paths: String },
}

async fn work(server: &Server, crds: &[Value], args: &EnvRunArgs) -> Result<Done, ClusterError> {
    if !args.dry_run {
        let names: Vec<&str> = crds.iter().filter_map(|crd| crd["metadata"]["name"].as_str()).collect();
        server.check(&names, &[]).await?;
    }
    server.install_crds(crds).await?;
    let mut namespace = "default".to_owned();
    let mut environment: Vec<(&str, OsString)> = Vec::new();
    if let Server::Existing(cluster) = server {
        namespace = cluster.create_namespace().await?;
        if args.dry_run {
            let paths = cluster.made().iter().map(|path| format!("{path}\n")).collect();
            let title = format!("► would be created in {}, labelled {}:", cluster.shown(), cluster.run());
            return Ok(Done::Listed { title, paths });
        }
    }
    if let Some(kubeconfig) = server.kubeconfig() {
        environment.push(("KUBECONFIG", kubeconfig.into()));
    } else if let Some(kubeconfig) = &args.server.cluster.kubeconfig {
        environment.push(("KUBECONFIG", kubeconfig.into()));
    }
    if let Server::Kind(kind) = server {
        environment.push(("CRDPROOF_KIND_CLUSTER", kind.name().into()));
    }
    environment.push(("CRDPROOF_NAMESPACE", namespace.into()));
    environment.push(("CRDPROOF_KUBERNETES", server.version().to_string().into()));
    Ok(Done::Exited(runtime::command(&args.command, &environment).await?))
}

pub(crate) fn kind_config(path: &std::path::Path) -> Result<Value> {
    let wrong = |why: String| InputError::new(Trouble::Wrong, format!("{}: {why}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    Ok(kind::read_config(&text).map_err(|error| wrong(error.to_string()))?)
}

/// Removes leftovers.
pub(super) fn sweep(args: &EnvSweepArgs, console: Console) -> Result<Exit> {
    let named = args.cluster.kubeconfig.is_some() || args.cluster.context.is_some();
    let cluster = if named { Some(access(&args.cluster, args.dry_run)?) } else { None };
    let sweep = Sweep { all: args.all, dry_run: args.dry_run, cluster };
    let swept = runtime::block_on(sweep.run()).map_err(cluster_error)?.map_err(cluster_error)?;
    let did = if args.dry_run { "would remove" } else { "removed" };
    for what in &swept {
        console.print(&format!("{did} {what}\n"))?;
    }
    if swept.is_empty() {
        console.say("✔ nothing is left of runs that have ended");
    }
    Ok(Exit::Success)
}

/// The kubeconfig files that `kubectl` uses by default.
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
        let error = InputError::new(Trouble::Environment, "no home folder to search for a kubeconfig");
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
