//! `crdproof env`, as a person or a script uses it.

use std::process::{Command, Output};

use serde_json::Value;

use super::World;

fn env(world: &World, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_crdproof"));
    command.arg("env").args(arguments).env("CRDPROOF_CACHE", world.path("cache")).env_remove("KUBEBUILDER_ASSETS");
    command.output().unwrap()
}

fn has(world: &World, arguments: &[&str]) -> Output {
    let go = world.path("go");
    env(world, &[arguments, &["--offline", "--go", go.to_str().unwrap()]].concat())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn path_prints_a_folder_and_nothing_else() {
    let world = World::new();
    let output = has(&world, &["path", "1.36"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let folder = text(&output.stdout);
    assert!(std::path::Path::new(folder.trim_end()).join("kube-apiserver").is_file(), "{folder:?}");
    assert_eq!(
        text(&has(&world, &["use", "1.36"]).stdout),
        format!("export KUBEBUILDER_ASSETS='{}'\n", folder.trim_end())
    );
}

#[test]
fn list_shows_installed_and_buildable_releases() {
    let world = World::new();
    assert!(text(&env(&world, &["list"]).stdout).contains("  none\n"));
    has(&world, &["use", "1.35..1.36"]);
    let listed: Value = serde_json::from_slice(&env(&world, &["list", "--format", "json"]).stdout).unwrap();
    let installed: Vec<_> =
        listed["installed"].as_array().unwrap().iter().map(|entry| entry["version"].clone()).collect();
    assert_eq!(installed, ["1.35.8", "1.36.5"]);
    assert!(listed["buildable"].as_array().unwrap().iter().any(|release| release["kubernetes"] == "1.18.4"));
    assert!(text(&env(&world, &["list"]).stdout).contains("  1.35.8       0 MB  built with Go 1.26.8\n"));

    assert!(env(&world, &["remove", "1.35"]).status.success());
    let output = env(&world, &["remove", "1.35"]);
    assert_eq!(output.status.code(), Some(4), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("the cache has no Kubernetes 1.35"));
}

#[test]
fn exit_codes_tell_wrong_flags_from_an_unusable_environment() {
    let world = World::new();
    let wrong = has(&world, &["use", "1.x"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).contains("write 1.36 (any patch), 1.36.4"), "{}", text(&wrong.stderr));
    let nowhere = has(&world, &["use", "1.9"]);
    assert_eq!(nowhere.status.code(), Some(5));
    assert!(text(&nowhere.stderr).contains("do one of these:\n    (1)"), "{}", text(&nowhere.stderr));
    let vague = env(&world, &["lock", "1.30", "--out", "locks"]);
    assert_eq!(vague.status.code(), Some(2));
}
