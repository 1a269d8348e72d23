//! The commands beside `run`.

use super::{crdproof, folder, listing, repository, sound_crd, subject};

#[test]
fn plan_changes_nothing_and_prints_every_setting() {
    let folder = subject("databases-none");
    let before = listing(folder.path());
    let ended = crdproof(folder.path(), &["plan"]).says(0, &[]);
    for word in
        ["suites quick, seed 1", "manifest/one-storage-version (error)", "settings in force", "\"provider\": \"local\""]
    {
        assert!(ended.stdout.contains(word), "{word}: {}", ended.stdout);
    }
    assert_eq!(listing(folder.path()), before);
    let plan = crdproof(folder.path(), &["plan", "--format", "json"]).says(0, &[]).json();
    assert_eq!((&plan["subject"], &plan["seed"]), (&"databases-none".into(), &1.into()));
    assert_eq!(plan["settings"]["kubernetes"]["minimum"], "1.31");
    // The run does exactly what the plan lists.
    let report = crdproof(folder.path(), &["run", "-q", "--report", "json"]).json();
    assert_eq!(plan["checks"].as_array().unwrap().len(), report["results"].as_array().unwrap().len());
    assert_eq!(plan["skipped"], report["skipped"]);
}

#[test]
fn list_and_explain_show_the_registry() {
    let all = crdproof(repository(), &["list", "--format", "json"]).says(0, &[]).json();
    assert_eq!(all["checks"].as_array().unwrap().len(), crdproof::checks::ALL.len());
    let text = crdproof(repository(), &["list"]).says(0, &[]).stdout;
    for check in crdproof::checks::ALL {
        assert!(text.contains(check.id));
        let told = crdproof(repository(), &["explain", check.id, "--format", "json"]).says(0, &[]).json();
        assert_eq!((&told["id"], &told["title"]), (&check.id.into(), &check.title.into()));
    }
    let family = crdproof(repository(), &["list", "converter"]).says(0, &[]).stdout;
    assert!(family.lines().all(|line| line.starts_with("converter/")), "{family}");
    crdproof(repository(), &["list", "manifst"]).says(2, &["did you mean `manifest`?"]);
}

#[test]
fn explain_suggests_similar_ids() {
    let by_name = crdproof(repository(), &["explain", "one-storage-version"]).says(0, &[]);
    assert!(by_name.stdout.contains("Guarantee: exactly one version is the storage version."));
    crdproof(repository(), &["explain", "manifest/one-storage-versions"])
        .says(2, &["did you mean `manifest/one-storage-version`?"]);
    crdproof(repository(), &["explain", "qqqq"]).says(2, &["`crdproof list` shows all checks"]);
}

#[test]
fn init_writes_a_subject_file_that_runs() {
    let folder = folder(&[("config/crd/apps.yaml", &sound_crd()), ("chart/templates/a.yaml", "{{ if .x }}\na: [\n")]);
    crdproof(folder.path(), &["init"]).says(0, &["found 1 CRD: apps.example.com", "1 files are not plain YAML"]);
    crdproof(folder.path(), &["run"]).says(0, &["apps.example.com"]);
    crdproof(folder.path(), &["init"]).says(2, &["crdproof.yaml exists already", "--force"]);
    let again = crdproof(folder.path(), &["init", "--force", "--format", "json"]).says(0, &[]).json();
    assert_eq!(again["crds"], serde_json::json!(["apps.example.com"]));
    let empty = tempfile::tempdir().unwrap();
    crdproof(empty.path(), &["init"]).says(4, &["no CRD was found below ."]);
    assert!(listing(empty.path()).is_empty());
}

#[test]
fn schemas_describe_inputs_and_outputs() {
    for of in ["subject", "suite", "report"] {
        let schema = crdproof(repository(), &["schema", of]).says(0, &[]).json();
        assert_eq!(schema["type"], "object", "{of}");
    }
    let schema = crdproof(repository(), &["schema", "report"]).json();
    let report = crdproof(repository(), &["run", "-q", "fixtures/crds/databases-none/crds", "--report", "json"]).json();
    let validator = jsonschema::validator_for(&schema).unwrap();
    assert!(validator.is_valid(&report));
}

#[test]
fn completions_exist_for_every_shell() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let ended = crdproof(repository(), &["completions", shell]).says(0, &[]);
        assert!(ended.stdout.contains("explain"), "{shell}");
    }
    crdproof(repository(), &["completions", "tcsh"]).says(2, &["possible values: bash"]);
}

#[test]
fn diff_reports_the_effects_of_a_change() {
    let old = sound_crd();
    let (before, after) = old.split_once("- name: v1beta1").unwrap();
    let new = format!("{before}- name: v1beta1{}", after.replacen("served: true", "served: false", 1));
    let folder = folder(&[("old.yaml", &old), ("new.yaml", &new)]);
    crdproof(folder.path(), &["diff", "old.yaml", "old.yaml"]).says(0, &[]);
    crdproof(folder.path(), &["diff", "old.yaml", "new.yaml"]).says(1, &["upgrade/served-version-kept"]);
    let guide = crdproof(folder.path(), &["diff", "-q", "old.yaml", "new.yaml", "--format", "markdown"]).says(1, &[]);
    assert!(guide.stdout.starts_with('#') && guide.stdout.contains("apps.example.com"), "{}", guide.stdout);
    crdproof(folder.path(), &["diff", "old.yaml", "none.yaml"]).says(2, &["cannot read none.yaml"]);
    crdproof(folder.path(), &["diff", "-", "-"]).says(2, &["cannot both be standard input"]);
}

#[test]
fn commands_that_change_clusters_name_missing_flags() {
    let folder = tempfile::tempdir().unwrap();
    crdproof(folder.path(), &["retire", "widgets.example.com"]).says(2, &["<VERSION>"]);
    crdproof(folder.path(), &["retire", "widgets.example.com", "v1", "--drain", "soon"])
        .says(2, &["\"soon\" is not a length of time; write a number and a unit"]);
    for command in [&["migrate", "widgets.example.com"][..], &["retire", "widgets.example.com", "v1"]] {
        let words = [command, &["--kubeconfig", "nowhere.yaml"]].concat();
        crdproof(folder.path(), &words).says(5, &["nowhere.yaml"]);
    }
    assert!(listing(folder.path()).is_empty());
}

/// Programs that leave a mark if somebody starts them.
fn telltale(folder: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt as _;
    for program in ["etcd", "kube-apiserver", "go", "docker", "kind"] {
        let path = folder.join(program);
        std::fs::write(&path, format!("#!/bin/sh\ntouch '{}/started-{program}'\n", folder.display())).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
}

#[test]
fn a_plan_lists_scenarios_and_starts_nothing() {
    let folder = subject("databases");
    let programs = tempfile::tempdir().unwrap();
    telltale(programs.path());
    let cache = programs.path().join("cache");
    let plan = |format: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_crdproof"));
        command.args(["plan", "--suite", "all", "--kubernetes", "1.31", "--kubernetes", "1.36", "--format", format]);
        command.current_dir(folder.path()).env("CRDPROOF_CACHE", &cache).env("KUBEBUILDER_ASSETS", programs.path());
        let output = command.env("PATH", programs.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let json: serde_json::Value = serde_json::from_str(&plan("json")).unwrap();
    assert_eq!(json["servers"], serde_json::json!(["1.31", "1.36"]));
    assert_eq!(json["scenarios"], serde_json::json!(["serving", "storage", "apply", "retirement"]));
    let planned = json["checks"].as_array().unwrap();
    for check in crdproof::checks::ALL {
        let Some(scenario) = check.scenario() else { continue };
        let skipped = json["skipped"].as_array().unwrap().iter().any(|skipped| skipped["check"] == check.id);
        for server in ["1.31", "1.36"] {
            let is_planned = planned.iter().any(|row| {
                row["check"] == check.id && row["kubernetes"] == server && row["scenario"] == scenario.to_string()
            });
            assert!(is_planned || skipped, "{} on {server}", check.id);
        }
    }
    let text = plan("text");
    for words in [
        "scenarios serving, storage, apply, retirement on Kubernetes 1.31, 1.36",
        "on Kubernetes 1.31: ",
        "scenario storage)",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(!cache.exists(), "nothing is installed");
    let started = std::fs::read_dir(programs.path()).unwrap().flatten();
    let started: Vec<_> = started.filter(|entry| entry.file_name().to_string_lossy().starts_with("started-")).collect();
    assert!(started.is_empty(), "{started:?}");
}
