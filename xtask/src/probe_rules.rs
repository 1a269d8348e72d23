//! `cargo xtask probe-rules`: compares the table of known server issues with probes on real API servers.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context as _, bail};
use serde::Deserialize;

use crate::{crdproof, repository};

/// Maximum length of a printed observation, in characters.
const MAX_OBSERVATION_CHARS: usize = 100;

/// Run the probes of server rules on releases, and compare them with the table
///
/// Prints one line per rule and release: the entry of the table, and the observation of the probe. Exits with 1 when
/// they disagree.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Releases, such as 1.18.3; each must be installed or buildable (default: every installed release)
    #[arg(value_name = "RELEASE")]
    releases: Vec<String>,
}

/// The output of `crdproof env list --format json`.
#[derive(Deserialize)]
struct Listing {
    #[serde(default)]
    installed: Vec<Installed>,
}

#[derive(Deserialize)]
struct Installed {
    version: Option<String>,
    folder: PathBuf,
    fault: Option<String>,
}

/// The output of `crdproof preflight RELEASE --format json`.
#[derive(Deserialize)]
struct Preflight {
    rules: Vec<Rule>,
}

#[derive(Deserialize)]
struct Rule {
    id: String,
    table: Table,
    #[serde(default)]
    probes: Vec<Probe>,
    untested: Option<String>,
}

#[derive(Deserialize)]
struct Table {
    standing: Standing,
}

#[derive(Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Standing {
    Good,
    Bad,
    Unclear,
}

#[derive(Deserialize)]
struct Probe {
    name: String,
    sight: Standing,
    seen: String,
}

impl Standing {
    fn probe_word(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Bad => "bad",
            Self::Unclear => "unclear",
        }
    }

    fn table_word(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Bad => "bad",
            Self::Unclear => "?",
        }
    }

    fn agrees_with(self, other: Self) -> bool {
        self == other || self == Self::Unclear || other == Self::Unclear
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let program = build()?;
    let listing: Listing = crdproof::json(Command::new(&program).args(["env", "list", "--format", "json"]))?;
    let installed: Vec<(String, PathBuf)> = listing
        .installed
        .into_iter()
        .filter(|entry| entry.fault.is_none())
        .filter_map(|entry| Some((entry.version?, entry.folder)))
        .collect();
    let releases = if args.releases.is_empty() {
        installed.iter().map(|(version, _)| version.clone()).collect()
    } else {
        args.releases.clone()
    };
    let mut disagreements = 0;
    for release in &releases {
        // Use an installed release as it is, even if its lock has changed since.
        let assets = installed.iter().find(|(version, _)| version == release).map(|(_, folder)| folder.as_path());
        match preflight(&program, release, assets) {
            Ok(preflight) => disagreements += print_rules(release, &preflight),
            Err(error) => {
                eprintln!("{release}: {error:#}");
                disagreements += 1;
            }
        }
    }
    println!("{disagreements} disagreements on {} releases", releases.len());
    Ok(if disagreements == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Builds crdproof and returns the path of the binary.
fn build() -> anyhow::Result<PathBuf> {
    let root = repository();
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let manifest = root.join("Cargo.toml");
    let status = Command::new(cargo)
        .args(["build", "--quiet", "--bin", "crdproof", "--manifest-path"])
        .arg(manifest)
        .status()
        .context("cannot run cargo")?;
    if !status.success() {
        bail!("cannot build crdproof: {status}");
    }
    Ok(target.join("debug/crdproof"))
}

/// Runs `crdproof preflight`. Ignores its exit code, which depends on the release.
fn preflight(program: &Path, release: &str, assets: Option<&Path>) -> anyhow::Result<Preflight> {
    let mut command = Command::new(program);
    command.args(["preflight", release, "--format", "json"]);
    if let Some(assets) = assets {
        command.env("KUBEBUILDER_ASSETS", assets);
    }
    let output = command.output().with_context(|| format!("cannot run {}", program.display()))?;
    if output.stdout.is_empty() {
        bail!("{}", String::from_utf8_lossy(&output.stderr).trim());
    }
    serde_json::from_slice(&output.stdout).context("cannot parse the output of crdproof preflight")
}

/// Prints the table and the probes, and returns the number of disagreements.
fn print_rules(release: &str, preflight: &Preflight) -> usize {
    let mut disagreements = 0;
    for rule in &preflight.rules {
        let head = format!("{}  {release:<8} table {:<5}", rule.id, rule.table.standing.table_word());
        if rule.probes.is_empty() {
            println!("{head} probe {:<8} {}", "none", rule.untested.as_deref().unwrap_or("no reason given"));
        }
        for probe in &rule.probes {
            let agrees = probe.sight.agrees_with(rule.table.standing);
            disagreements += usize::from(!agrees);
            let mark = if agrees { "" } else { "  <- DISAGREE" };
            let seen: String = probe.seen.chars().take(MAX_OBSERVATION_CHARS).collect();
            println!("{head} probe {:<8} {}: {seen}{mark}", probe.sight.probe_word(), probe.name);
        }
    }
    // Measuring takes a while; show each release as soon as it is done, also through a pipe.
    let _ = std::io::stdout().flush();
    disagreements
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_opposite_statements_disagree() {
        assert!(!Standing::Good.agrees_with(Standing::Bad));
        assert!(Standing::Good.agrees_with(Standing::Good));
        assert!(Standing::Unclear.agrees_with(Standing::Bad));
        assert!(Standing::Bad.agrees_with(Standing::Unclear));
    }

    #[test]
    fn disagreements_are_counted() {
        let text = r#"{"rules": [
            {"id": "a", "table": {"standing": "good"}, "probes": [{"name": "p", "sight": "bad", "seen": "x"}]},
            {"id": "b", "table": {"standing": "unclear"}, "probes": [{"name": "p", "sight": "bad", "seen": "x"}]},
            {"id": "c", "table": {"standing": "bad"}, "probes": [], "untested": "too old"}
        ]}"#;
        assert_eq!(print_rules("1.36.4", &serde_json::from_str(text).unwrap()), 1);
    }
}
