//! Git sources: the configuration of a repository cannot make us run code.

use std::path::Path;
use std::process::Command;

use crate::cli::{commit_all, crdproof, folder, git, sound_crd};

/// Sets up a repository whose configuration names programs wherever git would run one.
fn hostile_repository(folder: &Path) {
    let ran = folder.join("ran").display().to_string();
    let evil = folder.join("evil");
    std::fs::write(&evil, format!("#!/bin/sh\necho \"$0 $*\" >> '{ran}'\ncat\n")).unwrap();
    assert!(Command::new("chmod").arg("+x").arg(&evil).status().unwrap().success());
    let evil = evil.display().to_string();
    for (key, value) in [
        ("core.fsmonitor", evil.as_str()),
        ("core.pager", &evil),
        ("core.sshCommand", &evil),
        ("core.hooksPath", &folder.display().to_string()),
        ("pager.show", &evil),
        ("diff.external", &evil),
        ("diff.x.textconv", &evil),
        ("diff.x.command", &evil),
        ("filter.x.smudge", &evil),
        ("filter.x.required", "true"),
        ("gpg.program", &evil),
        ("log.showSignature", "true"),
        ("alias.show", &format!("!{evil}")),
    ] {
        git(folder, &["config", key, value]);
    }
    std::fs::write(folder.join(".git/info/attributes"), "* diff=x filter=x\n").unwrap();
}

#[test]
fn the_configuration_of_a_repository_runs_no_code() {
    let crd = sound_crd();
    // The second kustomization needs features that we do not read ourselves, so the revision is exported for another
    // program.
    let transformed = "resources: [crd.yaml]\ntransformers: [other.yaml]\n";
    let folder =
        folder(&[("plain/crd.yaml", &crd), ("built/crd.yaml", &crd), ("built/kustomization.yaml", transformed)]);
    commit_all(folder.path());
    hostile_repository(folder.path());
    for source in ["git:HEAD:plain/crd.yaml", "git:HEAD:plain", "git:HEAD:built"] {
        crdproof(folder.path(), &["run", source]).says(0, &[]);
        let ran = std::fs::read_to_string(folder.path().join("ran")).unwrap_or_default();
        assert_eq!(ran, "", "{source}");
    }
}

#[test]
fn a_missing_object_is_not_fetched_by_a_program_of_the_repository() {
    let folder = folder(&[("crd.yaml", &sound_crd())]);
    commit_all(folder.path());
    hostile_repository(folder.path());
    let evil = folder.path().join("evil").display().to_string();
    let here = folder.path().display().to_string();
    for (key, value) in [
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.url", here.as_str()),
        ("remote.origin.promisor", "true"),
        ("remote.origin.uploadpack", &evil),
    ] {
        git(folder.path(), &["config", key, value]);
    }
    let listed = Command::new("git").args(["rev-parse", "HEAD:crd.yaml"]).current_dir(folder.path()).output().unwrap();
    let id = String::from_utf8(listed.stdout).unwrap().trim().to_owned();
    std::fs::remove_file(folder.path().join(format!(".git/objects/{}/{}", &id[..2], &id[2..]))).unwrap();
    let _ = std::fs::remove_file(folder.path().join("ran"));
    crdproof(folder.path(), &["run", "git:HEAD:crd.yaml"]).says(2, &["git"]);
    let ran = std::fs::read_to_string(folder.path().join("ran")).unwrap_or_default();
    assert_eq!(ran, "");
}
