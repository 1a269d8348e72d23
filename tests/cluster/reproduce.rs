//! The `reproduce` line of a scenario's finding shows the same finding again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use crdproof_envtest::local::Binaries;
use libtest_mimic::Failed;
use serde_json::Value;

use crate::support::check;

pub(crate) fn findings_of_scenarios_are_reproduced(binaries: &Binaries) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/crds/databases-none");
    let copied = Command::new("cp").arg("-r").arg(fixture.join(".")).arg(folder.path()).status()?;
    check(copied.success(), "no copy")?;
    let said = Command::new(&binaries.apiserver).arg("--version").output()?.stdout;
    let release = String::from_utf8_lossy(&said).trim().replace("Kubernetes v", "");
    let run = |words: &str| -> Result<Value, Failed> {
        let script = format!("\"$0\" {words} --no-counterexamples -q --report json");
        let mut command = Command::new("sh");
        command.current_dir(folder.path()).args(["-c", &script, env!("CARGO_BIN_EXE_crdproof")]);
        command.env("KUBEBUILDER_ASSETS", binaries.apiserver.parent().unwrap_or(Path::new("/")));
        let ended = command.output()?;
        serde_json::from_slice(&ended.stdout).map_err(|_| String::from_utf8_lossy(&ended.stderr).into_owned().into())
    };
    let report = run(&format!("run --suite serving --suite storage --suite apply --kubernetes {release}"))?;
    let mut lines: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for finding in report["findings"].as_array().into_iter().flatten() {
        let line = finding["reproduce"].as_str().ok_or_else(|| format!("no command reproduces {finding}"))?;
        let fingerprint = finding["fingerprint"].as_str().unwrap_or_default();
        lines.entry(line.to_owned()).or_default().insert(fingerprint.to_owned());
    }
    check(lines.keys().any(|line| line.contains("--kubernetes")), format!("nothing was found: {lines:?}"))?;
    for (line, fingerprints) in lines {
        let again = run(line.trim_start_matches("crdproof "))?.to_string();
        let missing = fingerprints.iter().find(|fingerprint| !again.contains(*fingerprint));
        check(missing.is_none(), format!("`{line}` does not show {missing:?} again"))?;
    }
    Ok(())
}
