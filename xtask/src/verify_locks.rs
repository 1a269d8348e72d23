//! `cargo xtask verify-locks`: compares the digests of the release locks with Go's checksum database.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, bail};
use ureq::Agent;

use crate::http::{self, Trust};
use crate::repository;

/// Lookups that run at the same time.
const THREADS: usize = 8;

/// Compare the digests in crates/envtest/releases/*/go.sum with Go's checksum database
///
/// Lists the modules that the database does not know: their digests were pinned when the lock was made. Uses the module
/// proxy and the checksum database that `go env` names, so it needs a network. Exits with 1 when a digest differs.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Releases to verify, such as 1.36.5 (default: all)
    #[arg(value_name = "RELEASE")]
    releases: Vec<String>,
}

/// A module at a version, such as `golang.org/x/net` and `v0.40.0`.
type Module = (String, String);

/// Lines of `go.sum`, with the releases whose lock contains them.
type Lines = BTreeMap<String, BTreeSet<String>>;

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let folder = repository().join("crates/envtest/releases");
    let releases = if args.releases.is_empty() { locked_releases(&folder)? } else { args.releases.clone() };
    let mut modules: BTreeMap<Module, Lines> = BTreeMap::new();
    for release in &releases {
        let path = folder.join(release).join("go.sum");
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        add_lock(&mut modules, release, &text).with_context(|| format!("cannot parse {}", path.display()))?;
    }
    let database = database_url(&go_env("GOPROXY")?, &go_env("GOSUMDB")?)?;
    let names: Vec<&Module> = modules.keys().collect();
    let answers = look_up_all(&database, &names)?;
    let mut differing = 0;
    for (((path, version), lines), answer) in modules.iter().zip(answers) {
        let holders: BTreeSet<&str> = lines.values().flatten().map(String::as_str).collect();
        let holders = holders.into_iter().collect::<Vec<_>>().join(", ");
        let Some(known) = answer else {
            println!("unknown  {path} {version} ({holders})");
            continue;
        };
        for line in lines.keys().filter(|line| !known.contains(*line)) {
            differing += 1;
            println!("differs  {line} ({holders})");
        }
    }
    println!("{} modules of {} locks, {differing} digests differ", modules.len(), releases.len());
    Ok(if differing == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn locked_releases(folder: &Path) -> anyhow::Result<Vec<String>> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut names: Vec<String> = entries
        .flatten()
        .filter(|entry| entry.path().join("go.sum").exists())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    Ok(names)
}

/// Adds the lines of one `go.sum`. The digests of a module and of its `go.mod` belong to the same module.
fn add_lock(modules: &mut BTreeMap<Module, Lines>, release: &str, text: &str) -> anyhow::Result<()> {
    for line in text.lines() {
        let [path, version, _digest] = line.split_whitespace().collect::<Vec<_>>()[..] else {
            bail!("not a module, a version and a digest: {line}");
        };
        let version = version.strip_suffix("/go.mod").unwrap_or(version);
        let lines = modules.entry((path.to_owned(), version.to_owned())).or_default();
        lines.entry(line.to_owned()).or_default().insert(release.to_owned());
    }
    Ok(())
}

fn go_env(name: &str) -> anyhow::Result<String> {
    let output = Command::new("go").args(["env", name]).output().context("cannot run go")?;
    if !output.status.success() {
        bail!("go env {name} failed: {}", output.status);
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Returns the address of the checksum database, through the module proxy if there is one.
fn database_url(goproxy: &str, gosumdb: &str) -> anyhow::Result<String> {
    let proxy = goproxy.split([',', '|']).next().unwrap_or_default();
    let name = gosumdb.split(|c: char| c == '+' || c.is_whitespace()).next().unwrap_or_default();
    if name == "off" {
        bail!("GOSUMDB is off, so there is no database to compare with");
    }
    Ok(if proxy.starts_with("http") { format!("{proxy}/sumdb/{name}") } else { format!("https://{name}") })
}

/// Looks up all modules, several at a time. The answers are in the order of the modules.
fn look_up_all(database: &str, modules: &[&Module]) -> anyhow::Result<Vec<Option<HashSet<String>>>> {
    let agent = http::agent(Trust::Machine, Duration::from_secs(60));
    let next = AtomicUsize::new(0);
    let work = || -> anyhow::Result<Vec<_>> {
        let mut answers = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(module) = modules.get(index) else { return Ok(answers) };
            answers.push((index, look_up(&agent, database, module)?));
        }
    };
    let mut answers: Vec<_> = thread::scope(|scope| {
        let workers: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
        let results = workers.into_iter().map(|worker| worker.join().expect("a worker does not panic"));
        results.collect::<anyhow::Result<Vec<_>>>()
    })?
    .concat();
    answers.sort_by_key(|(index, _)| *index);
    Ok(answers.into_iter().map(|(_, answer)| answer).collect())
}

/// Returns the lines that the database has for a module, or nothing if it does not know the module.
fn look_up(agent: &Agent, database: &str, (path, version): &Module) -> anyhow::Result<Option<HashSet<String>>> {
    let url = format!("{database}/lookup/{}@{}", escape(path), escape(version));
    let mut response = agent.get(&url).call().with_context(|| format!("cannot fetch {url}"))?;
    match response.status().as_u16() {
        200 => {
            let text = response.body_mut().read_to_string().with_context(|| format!("cannot fetch {url}"))?;
            Ok(Some(text.lines().map(str::to_owned).collect()))
        }
        // 403 is the answer for paths whose owner no longer exists.
        403 | 404 | 410 => Ok(None),
        status => bail!("cannot fetch {url}: status {status}"),
    }
}

/// Escapes capital letters as the module proxy protocol demands: `github.com/Azure` is `github.com/!azure`.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii_uppercase() {
            escaped.push('!');
        }
        escaped.push(c.to_ascii_lowercase());
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capital_letters_are_escaped() {
        assert_eq!(escape("github.com/Azure/go-NTLM"), "github.com/!azure/go-!n!t!l!m");
    }

    #[test]
    fn the_database_is_reached_through_the_first_proxy() {
        let default = database_url("https://proxy.example.com,direct", "sum.example.com").unwrap();
        assert_eq!(default, "https://proxy.example.com/sumdb/sum.example.com");
        assert_eq!(database_url("direct", "sum.example.com+abc").unwrap(), "https://sum.example.com");
        assert!(database_url("direct", "off").is_err());
    }

    #[test]
    fn a_module_and_its_go_mod_are_one_lookup() {
        let mut modules = BTreeMap::new();
        add_lock(&mut modules, "1.36.4", "example.com/a v1.0.0 h1:x=\nexample.com/a v1.0.0/go.mod h1:y=\n").unwrap();
        add_lock(&mut modules, "1.36.5", "example.com/a v1.0.0 h1:x=\n").unwrap();
        assert_eq!(modules.len(), 1);
        let lines = &modules[&("example.com/a".into(), "v1.0.0".into())];
        assert_eq!(lines.len(), 2);
        assert_eq!(lines["example.com/a v1.0.0 h1:x="].len(), 2);
        assert!(add_lock(&mut modules, "1.36.5", "example.com/a v1.0.0").is_err());
    }
}
