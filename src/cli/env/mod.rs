//! `env`: the binaries of API servers, and servers.

mod rbac;
pub(crate) mod run;

use std::collections::BTreeMap;
use std::io::IsTerminal as _;

use crate::converter::ConverterResources;
use crate::subject::Subject;
use crate::subject::load::{InputError, Trouble};
use anyhow::Result;
use crdproof_envtest::binaries::{
    Assets, BinariesError, Care, Entry, Kind, Origin, Sources, Store, buildable_releases, given, lock, sideload,
};
use crdproof_envtest::{Installer, exact};
use crdproof_schema::kubernetes::{Selector, SelectorError};
use serde_json::json;

use super::args::TextFormat;
use super::args::env::{DEFAULT_RELEASE, EnvAction, EnvArgs, EnvListArgs, EnvLockArgs, EnvSourceArgs, EnvUseArgs};
use super::console::Console;
use super::exit::Exit;
use super::progress::Installing;
use super::servers::install_error;

/// Runs one of the actions.
pub(crate) fn env(args: &EnvArgs, console: Console) -> Result<Exit> {
    let store = store()?;
    match &args.action {
        EnvAction::Use(args) => use_release(&store, args, console),
        EnvAction::Path(args) => path(&store, args, console),
        EnvAction::List(args) => list(&store, args, console),
        EnvAction::Remove(args) => remove(&store, &args.selector, console),
        EnvAction::Sideload(args) => load(&store, &args.version, console),
        EnvAction::Run(args) => run::run(&store, args, console),
        EnvAction::Rbac(args) => rbac::rbac(args, console),
        EnvAction::Sweep(args) => run::sweep(args, console),
        EnvAction::Lock(args) => make_lock(&store, args, console),
    }
}

pub(crate) fn store() -> Result<Store> {
    let store = Store::from_environment().ok_or_else(|| {
        InputError::new(Trouble::Environment, "no home folder to save binaries in")
            .help("set CRDPROOF_CACHE to a folder")
    })?;
    Ok(store.map_err(install_error)?)
}

/// The binaries in the folder that the environment names. A folder that cannot be used is an error, as for every
/// command.
pub(super) fn assets() -> Result<Option<Assets>> {
    Ok(Sources::from_environment().assets.map(|folder| given(&folder).map_err(install_error)).transpose()?)
}

/// Returns the sources from the flags and the environment.
pub(crate) fn sources(args: &EnvSourceArgs) -> Sources {
    Sources {
        assets: args.assets.clone().or_else(|| Sources::from_environment().assets),
        offline: args.offline,
        index: args.index.clone(),
        mirror: args.mirror.clone(),
        go: args.go.clone(),
        locks: args.locks.clone(),
        care: if args.verify { Care::Thorough } else { Care::Quick },
    }
}

fn selector(text: &str) -> Result<Selector> {
    Ok(text.parse().map_err(|error: SelectorError| install_error(error.into()))?)
}

/// Installs the releases that a selector names.
fn install(store: &Store, text: &str, args: &EnvSourceArgs, console: Console) -> Result<Vec<Assets>> {
    with_progress(store, args, console, |installer| installer.install(text.parse()?))
}

/// Calls a function with an installer, and shows its progress.
pub(crate) fn with_progress<T>(
    store: &Store,
    args: &EnvSourceArgs,
    console: Console,
    act: impl FnOnce(Installer<'_>) -> Result<T, BinariesError>,
) -> Result<T> {
    let installing = Installing::new(console);
    let (sources, progress) = (sources(args), |progress| installing.show(&progress));
    let result = act(Installer { store, sources: &sources, progress: &progress });
    drop(installing);
    Ok(result.map_err(install_error)?)
}

/// Returns the resources of this machine for a subject's converter. Installs an API server only if the converter needs
/// one.
pub(super) fn converter_resources(subject: &Subject, is_needed: bool, console: Console) -> Result<ConverterResources> {
    let process = subject.file.converter.as_ref().and_then(|converter| converter.process.as_ref());
    let mut means = ConverterResources { server: None, kubeconfig: run::kubeconfigs() };
    if is_needed && process.is_some_and(|process| process.needs_cluster) {
        let wanted = subject.file.kubernetes.lowest();
        let wanted = wanted.map_or_else(|| DEFAULT_RELEASE.to_owned(), |version| version.to_string());
        let args = EnvSourceArgs::default();
        means.server = Some(with_progress(&store()?, &args, console, |installer| installer.install_one(&wanted))?);
    }
    Ok(means)
}

fn use_release(store: &Store, args: &EnvUseArgs, console: Console) -> Result<Exit> {
    let all = install(store, &args.selector, &args.sources, console)?;
    match args.format {
        TextFormat::Json => {
            let all: Vec<_> = all.iter().map(of_assets).collect();
            console.print(&format!("{:#}\n", json!({ "releases": all })))?;
        }
        TextFormat::Text => {
            for assets in &all {
                console.say(&format!("✔ Kubernetes {} ({})", assets.version, from(&assets.origin)));
                console.print(&format!("export KUBEBUILDER_ASSETS='{}'\n", assets.folder.display()))?;
            }
        }
    }
    Ok(Exit::Success)
}

fn path(store: &Store, args: &EnvUseArgs, console: Console) -> Result<Exit> {
    let all = install(store, &args.selector, &args.sources, console)?;
    let text = match args.format {
        TextFormat::Json => format!("{:#}\n", json!({"releases": all.iter().map(of_assets).collect::<Vec<_>>()})),
        TextFormat::Text => all.iter().map(|assets| format!("{}\n", assets.folder.display())).collect(),
    };
    console.print(&text)?;
    Ok(Exit::Success)
}

fn of_assets(assets: &Assets) -> serde_json::Value {
    json!({
        "version": assets.version,
        "folder": assets.folder,
        "origin": assets.origin,
        "controllerManager": assets.controller_manager.is_some(),
    })
}

fn from(origin: &Origin) -> String {
    match origin {
        Origin::Folder => "the folder given".into(),
        Origin::Archive { url, .. } => format!("from {url}"),
        Origin::Built { go, .. } => format!("built with Go {go}"),
        Origin::Sideloaded { .. } => "sideloaded".into(),
    }
}

fn list(store: &Store, args: &EnvListArgs, console: Console) -> Result<Exit> {
    let entries = store.entries();
    let buildable = buildable_releases(args.locks.as_deref()).map_err(install_error)?;
    let text = match args.format {
        TextFormat::Json => {
            let installed: Vec<_> = entries
                .iter()
                .map(|entry| {
                    let manifest = &entry.manifest;
                    json!({"version": manifest.kubernetes, "folder": entry.folder, "origin": manifest.origin,
                           "seconds": manifest.seconds, "files": manifest.files, "fault": entry.fault(Care::Quick)})
                })
                .collect();
            format!("{:#}\n", json!({"cache": store.root(), "installed": installed, "buildable": buildable}))
        }
        TextFormat::Text => {
            let mut text = format!("installed in {}:\n", store.root().display());
            text.push_str(&entries.iter().map(line_of).collect::<String>());
            if entries.is_empty() {
                text.push_str("  none\n");
            }
            text.push_str("\ncan be built from Go modules:\n");
            for release in buildable {
                let kind = match release.kind {
                    Kind::Wrapper => format!("Go {} or later", release.go),
                    Kind::Generated => format!("Go {}, which is fetched", release.go),
                };
                text.push_str(&format!("  {:<8}  {kind}\n", release.kubernetes.to_string()));
            }
            text.push_str(
                "\nothers: `crdproof env lock VERSION --out DIR`, then `crdproof env use VERSION --locks DIR`\n",
            );
            text
        }
    };
    console.print(&text)?;
    Ok(Exit::Success)
}

fn line_of(entry: &Entry) -> String {
    let version = entry.manifest.kubernetes.map(|version| version.to_string()).unwrap_or_default();
    let size: u64 = entry.manifest.files.values().map(|file| file.size).sum();
    let fault = entry.fault(Care::Quick).map(|fault| format!("; damaged: {fault}")).unwrap_or_default();
    format!("  {version:<8}  {:>4} MB  {}{fault}\n", size / 1_000_000, from(&entry.manifest.origin))
}

fn remove(store: &Store, text: &str, console: Console) -> Result<Exit> {
    let selector = selector(text)?;
    let mut entries = store.entries();
    entries.retain(|entry| entry.manifest.kubernetes.is_some_and(|version| selector.matches(version)));
    if selector == Selector::Latest {
        entries.drain(..entries.len().saturating_sub(1));
    }
    if entries.is_empty() {
        let error = InputError::new(Trouble::Nothing, format!("the cache has no Kubernetes {selector}"));
        return Err(error.help("`crdproof env list` shows what it has").into());
    }
    let installing = Installing::new(console);
    for entry in entries {
        store.remove(&entry, &|progress| installing.show(&progress)).map_err(install_error)?;
        console.say(&format!("✔ removed {}", entry.key));
    }
    Ok(Exit::Success)
}

fn load(store: &Store, version: &str, console: Console) -> Result<Exit> {
    let version = exact(version).map_err(install_error)?;
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        let error = InputError::new(Trouble::Wrong, "no archive on standard input");
        return Err(error.help(format!("crdproof env sideload {version} < archive.tar.gz")).into());
    }
    let installing = Installing::new(console);
    let entry =
        sideload(store, version, &mut stdin.lock(), &|progress| installing.show(&progress)).map_err(install_error)?;
    drop(installing);
    console.say(&format!("✔ Kubernetes {version} is in the cache"));
    console.print(&format!("{}\n", entry.folder.display()))?;
    Ok(Exit::Success)
}

fn make_lock(store: &Store, args: &EnvLockArgs, console: Console) -> Result<Exit> {
    let version = exact(&args.version).map_err(install_error)?;
    let sources = Sources { go: args.go.clone(), offline: args.offline, ..Sources::default() };
    let mut modules = BTreeMap::new();
    for text in &args.modules {
        let Some((path, module)) =
            text.split_once('@').filter(|(path, module)| !path.is_empty() && module.starts_with('v'))
        else {
            let error = InputError::new(Trouble::Wrong, format!("{text:?} is not a module version"));
            return Err(error.help("write it like k8s.io/cri-api@v0.31.5").into());
        };
        modules.insert(path.to_owned(), module.to_owned());
    }
    let installing = Installing::new(console);
    let folder = lock(store, version, &args.out, &modules, &sources, &|progress| installing.show(&progress))
        .map_err(install_error)?;
    drop(installing);
    console.say(&format!("► next: crdproof env use {version} --locks {}", args.out.display()));
    console.print(&format!("{}\n", folder.display()))?;
    Ok(Exit::Success)
}
