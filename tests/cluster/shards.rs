//! Shards of a run with scenarios merge to the report of the whole run.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use crdproof_envtest::local::Binaries;
use libtest_mimic::Failed;
use serde_json::Value;

use crate::endings::release;
use crate::support::{check, said};

/// The number of shards.
const COUNT: usize = 4;

/// The outcomes of checks and the findings of a report. Durations, requests and counts of what was seen while something settled differ
/// between two runs.
fn outcomes(file: &Path) -> Result<BTreeSet<String>, Failed> {
    let report: Value = serde_json::from_slice(&std::fs::read(file)?)?;
    let all = |key: &str| report[key].as_array().cloned().unwrap_or_default();
    let results = all("results")
        .into_iter()
        .map(|result| format!("{} {} {} {}", result["check"], result["crd"], result["kubernetes"], result["outcome"]));
    let skipped = all("skipped").into_iter().map(|skipped| format!("skipped {skipped}"));
    let findings = all("findings").into_iter().map(|finding| format!("finding {}", finding["fingerprint"]));
    Ok(results.chain(skipped).chain(findings).collect())
}

pub(crate) fn shards_of_scenarios_merge_to_the_whole_report(binaries: &Binaries) -> Result<(), Failed> {
    let (folder, release) = (tempfile::tempdir()?, release(binaries)?);
    let subject = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/crds/databases/crdproof.yaml");
    let run = |shard: Option<usize>, file: &str| -> Result<(), Failed> {
        let report = format!("json={file}");
        let common =
            ["run", "-f", subject, "--suite", "all", "--objects", "50", "--no-counterexamples", "--report", &report];
        let mut command = Command::new(env!("CARGO_BIN_EXE_crdproof"));
        command.args(common).args(["--kubernetes", &release]).current_dir(folder.path());
        let output = command.args(shard.map(|index| format!("--shard={index}/{COUNT}"))).output()?;
        check(output.status.success(), said(&output))
    };
    run(None, "whole.json")?;
    let mut files = Vec::new();
    for index in 1..=COUNT {
        let file = format!("{index}.json");
        run(Some(index), &file)?;
        files.push(file);
    }
    let mut merge = Command::new(env!("CARGO_BIN_EXE_crdproof"));
    let merged =
        merge.args(["report", "merge", "--report", "json=merged.json"]).args(&files).current_dir(folder.path());
    let merged = merged.output()?;
    check(merged.status.success(), said(&merged))?;
    let (whole, merged) = (outcomes(&folder.path().join("whole.json"))?, outcomes(&folder.path().join("merged.json"))?);
    check(whole.len() > 100, format!("only {} results", whole.len()))?;
    let different: Vec<&String> = whole.symmetric_difference(&merged).collect();
    check(different.is_empty(), format!("{different:#?}"))
}
