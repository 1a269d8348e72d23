//! Saved counterexamples: where they are saved, how they are replayed, and when they are pruned.

use std::path::{Path, PathBuf};

use super::{Ended, crdproof, listing, repository, subject};

/// The counterexample files of a subject's folder.
fn counterexamples(folder: &Path) -> Vec<PathBuf> {
    let folder = folder.join(".crdproof/counterexamples");
    if !folder.exists() {
        return Vec::new();
    }
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
    paths.sort();
    paths
}

/// Removes the field that v1 lacks from v2, too, so that nothing is lost.
fn fix_subject(folder: &Path) {
    let file = folder.join("crds/databases.yaml");
    let text = std::fs::read_to_string(&file).unwrap();
    let password = "              password:\n                type: string\n                format: password\n";
    assert!(text.contains(password), "{text}");
    std::fs::write(&file, text.replace(password, "")).unwrap();
}

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(path).unwrap().permissions()) & 0o777
}

fn loss_finding(ended: &Ended) -> serde_json::Value {
    let findings = ended.json()["findings"].as_array().unwrap().clone();
    findings.into_iter().find(|finding| finding["check"] == "converter/round-trip-lossless").unwrap()
}

#[test]
fn a_counterexample_is_saved_and_named_in_the_finding() {
    let folder = subject("databases-none");
    let ended = crdproof(folder.path(), &["run", "--only", "converter", "--report", "json"]).says(1, &[]);
    let finding = loss_finding(&ended);
    let print = finding["fingerprint"].as_str().unwrap();
    let path = format!(".crdproof/counterexamples/{print}.json");
    assert_eq!(finding["reproduce"], format!("crdproof replay {path}"));
    assert_eq!(counterexamples(folder.path()), [folder.path().join(&path)]);
    let case: serde_json::Value = serde_json::from_slice(&std::fs::read(folder.path().join(&path)).unwrap()).unwrap();
    assert_eq!((&case["kind"], &case["check"]), (&"Counterexample".into(), &"converter/round-trip-lossless".into()));
    assert_eq!(case["version"], "v2");
    assert!(case["object"]["spec"]["password"].is_string(), "{case}");
    #[cfg(unix)]
    {
        assert_eq!(mode(&folder.path().join(&path)), 0o600);
        assert_eq!(mode(&folder.path().join(".crdproof/counterexamples")), 0o700);
    }
    assert_eq!(std::fs::read_to_string(folder.path().join(".crdproof/counterexamples/.gitignore")).unwrap(), "*\n");

    // The next run finds the same, with the same message and location, and leaves one file.
    let again =
        loss_finding(&crdproof(folder.path(), &["run", "--only", "converter", "--report", "json"]).says(1, &[]));
    assert_eq!(again, finding);
    assert_eq!(counterexamples(folder.path()).len(), 1);
    let elsewhere = tempfile::tempdir().unwrap();
    let file = folder.path().join("crdproof.yaml").display().to_string();
    let far = loss_finding(
        &crdproof(elsewhere.path(), &["run", "-f", &file, "--only", "converter", "--report", "json"]).says(1, &[]),
    );
    let named = folder.path().join(&path).display().to_string();
    assert_eq!(far["reproduce"], format!("crdproof replay -f {file} {named}"));
    assert!(listing(elsewhere.path()).is_empty());
}

#[test]
fn no_counterexample_is_saved_without_a_subject_file_or_if_disabled() {
    let folder = subject("databases-none");
    let before = listing(folder.path());
    crdproof(folder.path(), &["run", "crds", "samples"]);
    let ended = crdproof(
        folder.path(),
        &["run", "--no-counterexamples", "--only", "converter", "--seed", "7", "--report", "json"],
    )
    .says(1, &[]);
    assert_eq!(loss_finding(&ended)["reproduce"], "crdproof run --seed 7 --only converter/round-trip-lossless");
    assert_eq!(listing(folder.path()), before);
    // If the folder cannot be created, the counterexample is not saved, but the verdict stays.
    std::fs::write(folder.path().join(".crdproof"), "a file is in the way").unwrap();
    crdproof(folder.path(), &["run"]).says(1, &["not saved for `crdproof replay`: cannot", "round-trip-lossless"]);
}

#[test]
fn a_counterexample_fails_until_the_subject_is_fixed_and_is_then_pruned() {
    let folder = subject("databases-none");
    crdproof(folder.path(), &["replay"]).says(0, &["no counterexamples are saved"]);
    crdproof(folder.path(), &["run", "-q"]).says(1, &[]);
    let path = counterexamples(folder.path()).remove(0);
    let shown = format!("✗ .crdproof/counterexamples/{}", path.file_name().unwrap().to_string_lossy());
    let words = [shown.as_str(), "still fails", "error[converter/round-trip-lossless]: .spec.password (•••)", "help:"];
    crdproof(folder.path(), &["replay", "--prune"]).says(1, &words);
    let name = path.display().to_string();
    crdproof(folder.path(), &["replay", &name]).says(1, &["v2 in: ", "v1 converted: "]);
    assert_eq!(counterexamples(folder.path()).len(), 1);

    // A counterexample whose CRD or version no longer exists is reported and kept.
    let text = std::fs::read_to_string(&path).unwrap();
    let gone = path.with_file_name("000000000000.json");
    let print = path.file_stem().unwrap().to_string_lossy().into_owned();
    let text = text.replace(&print, "000000000000").replace("\"version\": \"v2\"", "\"version\": \"v7\"");
    std::fs::write(&gone, text).unwrap();
    fix_subject(folder.path());
    crdproof(folder.path(), &["run", "--only", "converter"])
        .says(0, &["saved counterexamples that pass now: 1; `crdproof replay --prune`"]);
    crdproof(folder.path(), &["replay"])
        .says(0, &["✔ ", "passes now", "was not tried: ", "no longer has the version v7"]);
    assert_eq!(counterexamples(folder.path()).len(), 2);
    crdproof(folder.path(), &["replay", "--prune"]).says(0, &["is removed"]);
    assert_eq!(counterexamples(folder.path()), [gone]);
}

#[test]
fn a_waived_counterexample_does_not_fail() {
    let folder = subject("databases-none");
    crdproof(folder.path(), &["run", "-q"]).says(1, &[]);
    let file = folder.path().join("crdproof.yaml");
    let text = std::fs::read_to_string(&file).unwrap();
    let waiver = "waivers:\n- {check: 'converter/*', reason: \"v1 ends in May\", expires: 9999-12-31}\n";
    std::fs::write(&file, text + waiver).unwrap();
    crdproof(folder.path(), &["replay", "--prune"]).says(0, &["still fails, and is waived: v1 ends in May"]);
    assert_eq!(counterexamples(folder.path()).len(), 1);
}

#[test]
fn files_that_are_not_counterexamples_are_refused_with_a_remedy() {
    let folder = subject("databases-none");
    crdproof(folder.path(), &["run", "-q"]).says(1, &[]);
    let path = counterexamples(folder.path()).remove(0);
    let good = std::fs::read_to_string(&path).unwrap();
    let foreign = good.replace("\"kind\": \"Counterexample\"", "\"kind\": \"Report\"");
    let print = path.file_stem().unwrap().to_string_lossy().into_owned();
    let sly = good.replace(&print, "../../escape");
    for (text, words) in [
        (&good[..good.len() / 2], "this is not a counterexample that crdproof saved"),
        ("", "this is not a counterexample that crdproof saved"),
        (foreign.as_str(), "this is a \"Report\" of \"crdproof/v1alpha1\", not a Counterexample"),
        (sly.as_str(), "\"../../escape\" is not a fingerprint"),
    ] {
        std::fs::write(&path, text).unwrap();
        for command in ["replay", "run"] {
            let name = format!(".crdproof/counterexamples/{print}.json");
            crdproof(folder.path(), &[command]).says(2, &[&name, words, "= help: remove the file"]);
        }
    }
    crdproof(folder.path(), &["replay", "none.json"]).says(2, &["none.json: this counterexample cannot be read"]);
    crdproof(repository(), &["replay", "x.json"]).says(2, &["there is no crdproof.yaml here"]);
}
