//! `cargo xtask compare-reports`: two binaries on the same subjects, finding by finding.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result};
use serde_json::Value;

/// Compare the JSON reports of two crdproof binaries on the same subjects
///
/// Words that were renamed between the two count as equal. Prints every difference, and fails if there is one.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The binary before the change.
    old: PathBuf,
    /// The binary after the change.
    new: PathBuf,
    /// Subjects: `crdproof.yaml` files, or CRD files.
    #[arg(required = true)]
    subjects: Vec<PathBuf>,
    /// Further flags of `run`, such as `--suite converter`.
    #[arg(long, default_value = "--suite quick", allow_hyphen_values = true)]
    flags: String,
}

/// Words of earlier versions and their replacements. Longer ones come first.
const RENAMED: [(&str, &str); 16] = [
    ("server-fact", "known-server-issue"),
    ("server fact", "known server issue"),
    ("undecided", "inconclusive"),
    ("is not a lawful", "is not a valid"),
    ("not lawful", "not valid"),
    ("lawful", "valid"),
    ("no journey was recorded", "no scenario was recorded"),
    ("no journey was made", "no scenario was made"),
    ("journeys", "scenarios"),
    ("journey", "scenario"),
    ("at hand", "available"),
    ("counter-example", "counterexample"),
    ("experiment", "probe"),
    ("broken in the old state already", "failed in the old state already"),
    ("the laws", "the checks"),
    ("a law", "a check"),
];

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let mut differing = 0;
    for subject in &args.subjects {
        let (old, new) = (report(&args.old, subject, &args.flags)?, report(&args.new, subject, &args.flags)?);
        let differences = compare(&old, &new);
        if !differences.is_empty() {
            differing += 1;
            println!("{}:", subject.display());
            for line in differences {
                println!("  {line}");
            }
        }
    }
    println!("{} subjects compared, {differing} differ", args.subjects.len());
    Ok(if differing == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn report(binary: &Path, subject: &Path, flags: &str) -> Result<Value> {
    let mut command = Command::new(binary);
    command.args(["run", "--quiet", "--report", "json"]).args(flags.split_whitespace());
    if subject.file_name().is_some_and(|name| name == "crdproof.yaml") {
        // Save nothing beside the subject; set both names of the switch.
        command.env("CRDPROOF_NO_CASES", "1").env("CRDPROOF_NO_COUNTEREXAMPLES", "1").arg("-f");
    }
    let output = command.arg(subject).output().with_context(|| format!("cannot start {}", binary.display()))?;
    let said = || String::from_utf8_lossy(&output.stderr).into_owned();
    // If a subject cannot be loaded, both binaries must refuse it with the same message.
    Ok(serde_json::from_slice(&output.stdout).unwrap_or_else(|_| serde_json::json!({"refused": said()})))
}

/// Returns the rows that two reports must agree on, each with its count.
fn rows(report: &Value) -> BTreeMap<String, usize> {
    let mut rows = BTreeMap::new();
    let mut add = |kind: &str, value: &Value, names: &[&str]| {
        let fields: Vec<String> =
            names.iter().map(|name| value.pointer(name).unwrap_or(&Value::Null).to_string()).collect();
        let row = RENAMED.iter().fold(fields.join(" "), |row, (old, new)| row.replace(old, new));
        *rows.entry(format!("{kind} {row}")).or_default() += 1;
    };
    let list = |name: &str| report[name].as_array().cloned().unwrap_or_default();
    for finding in list("findings") {
        let names = [
            "/check",
            "/severity",
            "/crd",
            "/version",
            "/path",
            "/location/file",
            "/location/line",
            "/message",
            "/evidence",
        ];
        add("finding", &finding, &names);
    }
    for result in list("results") {
        let outcome = match result["outcome"].as_str() {
            Some("held") => "passed",
            Some("broken") => "failed",
            other => other.unwrap_or_default(),
        };
        let mut result = result.clone();
        result["outcome"] = outcome.into();
        add("result", &result, &["/check", "/crd", "/kubernetes", "/outcome", "/examined", "/findings", "/reason"]);
    }
    for skipped in list("skipped") {
        add("skipped", &skipped, &["/check", "/crd", "/reason"]);
    }
    if let Some(refused) = report.get("refused") {
        add("refused", refused, &[""]);
    }
    rows
}

fn compare(old: &Value, new: &Value) -> Vec<String> {
    let (old, new) = (rows(old), rows(new));
    let gone = old.iter().filter(|(row, count)| new.get(*row) != Some(count)).map(|(row, _)| format!("- {row}"));
    let added = new.iter().filter(|(row, count)| old.get(*row) != Some(count)).map(|(row, _)| format!("+ {row}"));
    gone.chain(added).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn finding(message: &str) -> Value {
        json!({"findings": [{"check": "a/b", "severity": "error", "crd": "c", "message": message}],
               "results": [{"check": "a/b", "crd": "c", "outcome": "held", "examined": 1, "findings": 0}]})
    }

    #[test]
    fn renamed_words_are_equal_and_others_are_not() {
        let mut new = finding("the name is not valid");
        new["results"][0]["outcome"] = "passed".into();
        assert_eq!(compare(&finding("the name is not lawful"), &new), Vec::<String>::new());
        assert_eq!(compare(&finding("another"), &new).len(), 2);
    }
}
