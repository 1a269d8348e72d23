//! One test for each conversion webhook of another project, on the code of its Go module: `scripts/vendors NAME`.
//!
//! Every finding must be listed and judged in the vendor's `expected.yaml`, and every listed finding must be found.
//! With `--scenarios`, the same is true of the findings of scenarios on an API server, and of
//! `expected-scenarios.yaml`.

mod expected;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output};

use expected::{Expected, Finding};
use libtest_mimic::{Arguments, Completion, Failed, Trial};
use serde::Deserialize;

/// The exit code of `scripts/vendors --prepare` if Go or a module is not available.
const UNAVAILABLE: i32 = 69;

/// Lines of a small terminal.
const SCREEN: usize = 24;

/// Families of checks that judge scenarios on an API server.
const SCENARIOS: [&str; 4] = ["apply", "serving", "storage", "subject"];

/// The findings that a test compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// All findings of the suites that the subject names, which need no server.
    Suites,
    /// The findings of scenarios, in a run of all suites.
    Scenarios,
}

impl Part {
    fn file(self) -> &'static str {
        match self {
            Self::Suites => "expected.yaml",
            Self::Scenarios => "expected-scenarios.yaml",
        }
    }

    fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Suites => &[],
            Self::Scenarios => &["--suite", "all", "--kubernetes", "1.36"],
        }
    }

    fn contains(self, finding: &Finding) -> bool {
        let family = finding.check().split('/').next().unwrap_or_default();
        self == Self::Suites || SCENARIOS.contains(&family)
    }
}

fn main() -> ExitCode {
    let chosen = std::env::var("CRDPROOF_VENDORS").unwrap_or_default();
    let is_set = |name: &str| std::env::var_os(name).is_some();
    let update = is_set("CRDPROOF_VENDORS_UPDATE");
    let part = if is_set("CRDPROOF_VENDORS_SCENARIOS") { Part::Scenarios } else { Part::Suites };
    let tests = vendors().into_iter().map(|vendor| {
        let name = vendor.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let is_chosen = chosen.split_whitespace().any(|other| other == name);
        Trial::ignorable_test(name.clone(), move || {
            if is_chosen {
                test(&name, &vendor, part, update)
            } else {
                Ok(Completion::ignored_with("run scripts/vendors"))
            }
        })
    });
    libtest_mimic::run(&Arguments::from_args(), tests.collect()).exit_code()
}

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The folders of all vendors.
fn vendors() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(repository().join("tests/vendors")).into_iter().flatten().flatten();
    let mut vendors: Vec<_> =
        entries.map(|entry| entry.path()).filter(|path| path.join("crdproof.yaml").is_file()).collect();
    vendors.sort();
    vendors
}

fn test(name: &str, vendor: &Path, part: Part, update: bool) -> Result<Completion, Failed> {
    let prepared = output(Command::new(repository().join("scripts/vendors")).args(["--prepare", name]))?;
    if prepared.status.code() == Some(UNAVAILABLE) {
        return Ok(Completion::ignored_with(last_line(&prepared.stderr)));
    }
    if !prepared.status.success() {
        return Err(format!("cannot prepare {name}\n{}", String::from_utf8_lossy(&prepared.stderr)).into());
    }
    let folder = PathBuf::from(last_line(&prepared.stdout));
    let found = run(name, &folder, part)?;
    let file = vendor.join(part.file());
    let expected = Expected::read(&file)?;
    if update {
        std::fs::write(&file, expected.updated(&found).to_yaml())
            .map_err(|error| format!("{}: {error}", file.display()))?;
        return Ok(Completion::Completed);
    }
    match expected.differences(&found) {
        differences if differences.is_empty() => reproduce(&folder, &found).map(|()| Completion::Completed),
        differences => Err(format!("{}\n{}", file.display(), differences.join("\n")).into()),
    }
}

/// Runs the `reproduce` line of each finding, and checks that it shows the finding again.
fn reproduce(folder: &Path, found: &[Finding]) -> Result<(), Failed> {
    let mut by_line: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for finding in found {
        let missing = || format!("{} [{}] has no command that reproduces it", finding.check(), finding.fingerprint());
        by_line.entry(finding.reproduce().ok_or_else(missing)?).or_default().push(finding.fingerprint());
    }
    for (line, fingerprints) in by_line {
        let words = line.strip_prefix("crdproof ").ok_or_else(|| format!("not a command of ours: {line}"))?;
        let script = format!("\"$0\" {words} --no-counterexamples --report json");
        let again =
            output(Command::new("sh").current_dir(folder).args(["-c", &script, env!("CARGO_BIN_EXE_crdproof")]))?;
        let said = String::from_utf8_lossy(&again.stdout);
        if let Some(missing) = fingerprints.into_iter().find(|fingerprint| !said.contains(*fingerprint)) {
            let stderr = String::from_utf8_lossy(&again.stderr);
            return Err(format!("`{line}` does not show {missing} again\n{stderr}").into());
        }
    }
    Ok(())
}

/// Runs a prepared subject. Returns its findings, the first one of the report first.
fn run(name: &str, folder: &Path, part: Part) -> Result<Vec<Finding>, Failed> {
    #[derive(Deserialize)]
    struct Report {
        findings: Vec<Finding>,
    }
    let reports = tempfile::tempdir()?;
    let file = reports.path().join("report.json");
    let mut command = Command::new(env!("CARGO_BIN_EXE_crdproof"));
    command.current_dir(folder).args(["run", "--no-counterexamples", "--seed", "1"]).args(part.arguments());
    // Response times depend on the machine.
    command.args(["--except", "webhook/within-budget"]).arg("--report").arg(format!("json={}", file.display()));
    let run = output(&mut command)?;
    if !matches!(run.status.code(), Some(0 | 1)) {
        return Err(format!("crdproof ended with {}\n{}", run.status, String::from_utf8_lossy(&run.stderr)).into());
    }
    let mut report: Report = serde_json::from_str(&std::fs::read_to_string(file)?)?;
    fits_a_screen(name, &String::from_utf8_lossy(&run.stderr))?;
    report.findings.retain(|finding| part.contains(finding));
    Ok(report.findings)
}

/// Checks that the end of the terminal output, the summary, fits on a screen.
fn fits_a_screen(name: &str, terminal: &str) -> Result<(), Failed> {
    let start = format!("► {name}: ");
    let summary: Vec<&str> = terminal.lines().skip_while(|line| !line.starts_with(&start)).collect();
    match summary.len() {
        1..=SCREEN => Ok(()),
        count => Err(format!("the summary has {count} lines\n{}", summary.join("\n")).into()),
    }
}

fn output(command: &mut Command) -> Result<Output, Failed> {
    command.output().map_err(|error| format!("{}: {error}", command.get_program().display()).into())
}

fn last_line(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).lines().last().unwrap_or_default().to_owned()
}
