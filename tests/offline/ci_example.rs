//! The workflow that users copy. The tests run its steps as a runner would.

use std::path::Path;
use std::process::Command;

use crdproof_schema::document::{Node, Sources, parse};

use crate::cli::{BINARY, commit_all, copy, git, repository};

fn workflow() -> Node {
    let path = repository().join("examples/ci/github-workflow.yml");
    let mut sources = Sources::default();
    let id = sources.add("github-workflow.yml", std::fs::read_to_string(path).unwrap());
    let mut documents = parse(&sources, id).unwrap_or_else(|error| panic!("{}: {error}", sources.place(error.span)));
    assert_eq!(documents.len(), 1);
    documents.remove(0)
}

/// The steps of the gate as one script. As on a runner, each step has its own shell, and after a failure only steps
/// with a condition run.
fn script(workflow: &Node) -> String {
    let mut script = "status=0\n".to_owned();
    for step in workflow.at(&["jobs", "gate", "steps"]).unwrap().items() {
        let Some(run) = step.str_at("run") else { continue };
        assert!(!run.contains("${{"), "expressions in scripts invite injection; pass them by env:\n{run}");
        assert!(step.get("shell").is_none(), "teach this test about it:\n{run}");
        let keys: Vec<_> =
            step.get("env").map(Node::entries).unwrap_or_default().iter().map(|entry| &entry.key).collect();
        assert!(keys.is_empty() || keys == ["GH_TOKEN", "NUMBER"], "set {keys:?} in this test, too");
        let condition = match step.str_at("if") {
            None => "[ $status -eq 0 ]",
            Some(condition) if condition.starts_with("always()") && !condition.contains("hashFiles") => "true",
            Some(other) => panic!("teach this test about `if: {other}`"),
        };
        let file = format!("<<'STEP'\n{run}\nSTEP\n");
        script.push_str(&format!("if {condition}; then bash -e /dev/stdin {file}[ $? -eq 0 ] || status=1; fi\n"));
    }
    script + "exit $status\n"
}

/// Runs the gate on a subject that is committed to the base branch as it is.
fn gate(name: &str, change: impl FnOnce(&Path)) -> (tempfile::TempDir, Option<i32>, String) {
    let workflow = workflow();
    let folder = tempfile::tempdir().unwrap();
    copy(&repository().join("fixtures/crds").join(name), folder.path());
    commit_all(folder.path());
    git(folder.path(), &["update-ref", "refs/remotes/origin/main", "HEAD"]);
    change(folder.path());
    let mut command = Command::new("bash");
    for entry in workflow.at(&["jobs", "gate", "env"]).unwrap().entries() {
        command.env(&entry.key, entry.value.as_str().unwrap());
    }
    // A stand-in for GitHub's command line that keeps the comment it is given.
    let tools = folder.path().join(".tools");
    std::fs::create_dir(&tools).unwrap();
    let stand_in = "#!/bin/sh\n[ \"$1 $2 $3\" = 'pr comment 7' ] || exit 9\nwhile [ \"$1\" != --body-file ]; do shift; done\ncp \"$2\" comment.md\n";
    std::fs::write(tools.join("gh"), stand_in).unwrap();
    Command::new("chmod").arg("+x").arg(tools.join("gh")).status().unwrap();
    let path = format!(
        "{}:{}:{}",
        tools.display(),
        Path::new(BINARY).parent().unwrap().display(),
        std::env::var("PATH").unwrap()
    );
    let output = command
        .args(["-c", &script(&workflow)])
        .current_dir(folder.path())
        .env("PATH", path)
        // The fixtures keep their CRDs in another folder than the example does.
        .env("CRDS", "crds")
        .env("NUMBER", "7")
        .env("GITHUB_BASE_REF", "main")
        .env("GITHUB_STEP_SUMMARY", folder.path().join("summary.md"))
        .env("GITHUB_OUTPUT", folder.path().join("output.txt"))
        // Nothing may be downloaded.
        .env("CARGO_NET_OFFLINE", "true")
        .output()
        .unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    (folder, output.status.code(), said)
}

#[test]
fn the_gate_passes_a_sound_change_and_writes_its_reports() {
    let (folder, code, said) = gate("three-versions", |_| ());
    assert_eq!(code, Some(0), "{said}");
    let mut names: Vec<_> = std::fs::read_dir(folder.path().join("reports"))
        .unwrap()
        .flatten()
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(
        names,
        ["crdproof.json", "crdproof.md", "crdproof.sarif", "crdproof.xml", "upgrade.md", "upgrade.sarif"]
    );
    let summary = std::fs::read_to_string(folder.path().join("summary.md")).unwrap();
    assert!(summary.contains("three-versions"), "{summary}");
}

#[test]
fn the_gate_stops_a_subject_that_loses_data_and_still_reports() {
    let (folder, code, said) = gate("databases-none", |_| ());
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("::error "), "no annotation:\n{said}");
    let summary = std::fs::read_to_string(folder.path().join("summary.md")).unwrap();
    assert!(summary.contains(".spec.password"), "{summary}");
    let comment = std::fs::read_to_string(folder.path().join("comment.md")).unwrap();
    assert!(comment.contains(".spec.password"), "{comment}");
    assert!(folder.path().join("reports/crdproof.sarif").is_file());
}

#[test]
fn the_gate_stops_a_change_that_removes_a_version() {
    let (folder, code, said) = gate("three-versions", |folder| {
        let file = folder.join("crds/apps.yaml");
        let text = std::fs::read_to_string(&file).unwrap();
        let (before, after) = text.split_once("- name: v1beta1").unwrap();
        let after = after.replacen("served: true", "served: false", 1);
        std::fs::write(file, format!("{before}- name: v1beta1{after}")).unwrap();
    });
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("upgrade/served-version-kept"), "{said}");
    assert!(std::fs::read_to_string(folder.path().join("reports/upgrade.md")).unwrap().contains("example.com/v1beta1"));
}

#[test]
fn actions_are_pinned_and_permissions_are_minimal() {
    let workflow = workflow();
    let permissions: Vec<_> = workflow.get("permissions").unwrap().entries().iter().map(|entry| &entry.key).collect();
    assert_eq!(permissions, ["contents", "pull-requests", "security-events"]);
    for step in workflow.at(&["jobs", "gate", "steps"]).unwrap().items() {
        if let Some(action) = step.str_at("uses") {
            let version = action.split_once("@v").map(|(_, version)| version).unwrap_or_default();
            assert!(version.parse::<u32>().is_ok(), "{action}: pin the major version");
        }
    }
}
