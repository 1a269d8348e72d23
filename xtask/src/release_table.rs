//! `cargo xtask release-table`: measures releases of Kubernetes and writes `docs/control-planes.md`.

mod measure;
mod page;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context as _, bail};
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use self::measure::Measured;
use crate::interrupt::Interrupt;
use crate::{crdproof, repository};

/// Start releases of Kubernetes once each, measure them, and write docs/control-planes.md
///
/// Without releases it only writes the page again from docs/control-planes.json. Everything runs on loopback in a temporary
/// folder, and is stopped and removed afterwards. CRDPROOF=FILE names the crdproof binary to use.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Releases to install, start and measure, such as 1.36.4
    #[arg(value_name = "RELEASE")]
    releases: Vec<String>,
    /// Build the releases with empty caches first, to measure the builds
    #[arg(long)]
    cold: bool,
    /// Record the duration of a build on another machine
    #[arg(long, value_name = "RELEASE=SECONDS", value_parser = parse_build)]
    build: Vec<(String, u64)>,
}

fn parse_build(text: &str) -> Result<(String, u64), String> {
    let parsed = text.split_once('=').and_then(|(release, seconds)| Some((release.to_owned(), seconds.parse().ok()?)));
    parsed.ok_or_else(|| "expected RELEASE=SECONDS, such as 1.36.4=341".to_owned())
}

/// The measurements of one release. Fields are in the order of the file, which is alphabetical.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    apiserver_rss_mb: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    build_seconds: Option<u64>,
    controller_manager: bool,
    etcd_rss_mb: u64,
    go: String,
    ready_seconds: f64,
    size_mb: u64,
}

type Rows = BTreeMap<String, Row>;

/// The output of `crdproof env path --format json`.
#[derive(Deserialize)]
struct Paths {
    releases: Vec<Assets>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Assets {
    folder: PathBuf,
    controller_manager: bool,
}

/// The output of `crdproof env list --format json`.
#[derive(Deserialize)]
struct Listing {
    installed: Vec<Installed>,
}

#[derive(Deserialize)]
struct Installed {
    folder: PathBuf,
    origin: Origin,
    files: BTreeMap<String, File>,
    seconds: f64,
}

#[derive(Deserialize)]
struct Origin {
    go: Option<String>,
}

#[derive(Deserialize)]
struct File {
    size: u64,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let interrupt = Interrupt::listen()?;
    let root = repository();
    let data = root.join("docs/control-planes.json");
    let mut rows = load(&data)?;
    for release in &args.releases {
        let elsewhere = args.build.iter().rev().find(|(name, _)| name == release).map(|(_, seconds)| *seconds);
        let mut row = measure_release(release, args.cold, elsewhere, &interrupt)?;
        row.build_seconds = row.build_seconds.or_else(|| rows.get(release)?.build_seconds);
        eprintln!("✔ {release}: {}", serde_json::to_string(&row)?);
        rows.insert(release.clone(), row);
        write(&data, &(serde_json::to_string_pretty(&rows)? + "\n"))?;
    }
    write(
        &root.join("docs/control-planes.md"),
        &page::render(&rows, &locked_releases(&root.join("crates/envtest/releases"))?)?,
    )?;
    Ok(ExitCode::SUCCESS)
}

fn load(path: &Path) -> anyhow::Result<Rows> {
    if !path.exists() {
        return Ok(Rows::new());
    }
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("cannot parse {}", path.display()))
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// Returns the releases of Kubernetes that have a lock.
fn locked_releases(folder: &Path) -> anyhow::Result<Vec<String>> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    Ok(names.filter(|name| !name.starts_with("etcd-")).collect())
}

/// Installs a release, or builds it with empty caches, and measures it.
fn measure_release(
    release: &str,
    cold: bool,
    build_elsewhere: Option<u64>,
    interrupt: &Interrupt,
) -> anyhow::Result<Row> {
    let scratch = if cold { Some(tempfile::Builder::new().prefix("release-table.").tempdir()?) } else { None };
    let paths: Paths = crdproof::json(command(scratch.as_ref()).args(["env", "path", release, "--format", "json"]))?;
    let Some(assets) = paths.releases.into_iter().next() else { bail!("crdproof env path {release} names no folder") };
    let listing: Listing = crdproof::json(command(scratch.as_ref()).args(["env", "list", "--format", "json"]))?;
    let Some(entry) = listing.installed.into_iter().find(|entry| entry.folder == assets.folder) else {
        bail!("crdproof env list does not contain {}", assets.folder.display());
    };
    let Some(apiserver) = entry.files.get("kube-apiserver") else { bail!("{release} has no kube-apiserver") };
    let Measured { ready_seconds, apiserver_rss_mb, etcd_rss_mb } = measure::start(release, &assets.folder, interrupt)?;
    Ok(Row {
        apiserver_rss_mb,
        build_seconds: build_elsewhere.or_else(|| cold.then(|| whole(entry.seconds))),
        controller_manager: assets.controller_manager,
        etcd_rss_mb,
        go: entry.origin.go.unwrap_or_else(|| "–".to_owned()),
        ready_seconds,
        size_mb: (apiserver.size + 500_000) / 1_000_000,
    })
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "durations of builds are small and positive"
)]
fn whole(seconds: f64) -> u64 {
    seconds.round() as u64
}

/// Returns the crdproof command. A scratch folder gives it empty caches.
fn command(scratch: Option<&TempDir>) -> Command {
    let program = std::env::var_os("CRDPROOF").map_or_else(|| repository().join("scripts/crdproof"), PathBuf::from);
    let mut command = Command::new(program);
    command.env_remove("KUBEBUILDER_ASSETS");
    if let Some(scratch) = scratch {
        command.env("CRDPROOF_CACHE", scratch.path().join("crdproof")).env("GOCACHE", scratch.path().join("go"));
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_measurements_are_written_as_they_were_read() {
        let path = repository().join("docs/control-planes.json");
        let rows = load(&path).unwrap();
        assert_eq!(serde_json::to_string_pretty(&rows).unwrap() + "\n", fs::read_to_string(path).unwrap());
    }

    #[test]
    fn the_page_is_current() {
        let root = repository();
        let rows = load(&root.join("docs/control-planes.json")).unwrap();
        let page = page::render(&rows, &locked_releases(&root.join("crates/envtest/releases")).unwrap()).unwrap();
        let written = fs::read_to_string(root.join("docs/control-planes.md")).unwrap();
        assert!(page == written, "docs/control-planes.md is stale: run cargo xtask release-table");
    }

    #[test]
    fn builds_are_parsed() {
        assert_eq!(parse_build("1.36.4=341"), Ok(("1.36.4".to_owned(), 341)));
        assert!(parse_build("1.36.4").is_err());
        assert!(parse_build("1.36.4=x").is_err());
    }
}
