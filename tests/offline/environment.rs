//! An unusable environment: each problem gives one line with a remedy and exit code 5, and leaves nothing behind.

use std::path::Path;
use std::process::Command;

use crate::binaries::{assets_folder, script};
use crate::cli::{BINARY, Ended};

/// Runs `env run` in its own world: an own cache, our programs first on PATH, no cluster of the user.
fn env_run(world: &Path, arguments: &[&str]) -> Ended {
    let mut command = Command::new(BINARY);
    command.args(["env", "run"]).args(arguments).args(["--", "touch", "ran"]).current_dir(world);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(world.join("bin")).chain(std::env::split_paths(&path))).unwrap();
    command.env("PATH", path).env("CRDPROOF_CACHE", world.join("cache")).env("HOME", world);
    command.env_remove("KUBEBUILDER_ASSETS").env_remove("KUBECONFIG").env("TMPDIR", world.join("temporary"));
    let child = command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    let id = child.id();
    let output = child.wait_with_output().unwrap();
    assert!(!world.join("ran").exists(), "the command was run");
    assert_eq!(leftover_folders(world, id), Vec::<String>::new(), "left behind");
    Ended {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Folders that a run of this process left.
fn leftover_folders(world: &Path, process: u32) -> Vec<String> {
    let parents = [world.join("temporary"), "/dev/shm".into()];
    let entries = parents.iter().flat_map(|parent| std::fs::read_dir(parent).into_iter().flatten().flatten());
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with("crdproof-") && name.contains(&format!("-{process}-"))).collect()
}

fn world() -> tempfile::TempDir {
    let world = tempfile::tempdir().unwrap();
    for folder in ["bin", "temporary"] {
        std::fs::create_dir(world.path().join(folder)).unwrap();
    }
    world
}

/// Programs that pass for a release. The API server prints these words and exits.
fn release_that_dies(words: &str) -> tempfile::TempDir {
    let world = world();
    let assets = world.path().join("assets");
    assets_folder(&assets, "1.36.4");
    script(
        &assets.join("etcd"),
        "#!/bin/sh\n[ \"$1\" = --version ] && { echo 'etcd Version: 3.6.16'; exit; }\nsleep 300\n",
    );
    let text = format!(
        "#!/bin/sh\n[ \"$1\" = --version ] && {{ echo 'Kubernetes v1.36.4'; exit; }}\necho '{words}' >&2; exit 1\n"
    );
    script(&assets.join("kube-apiserver"), &text);
    world
}

const LOCAL: [&str; 4] = ["1.36.4", "--offline", "--assets", "assets"];

#[test]
fn a_port_that_stays_in_use_is_reported() {
    let world = release_that_dies("listen tcp 127.0.0.1:6443: bind: address already in use");
    env_run(world.path(), &LOCAL).says(
        5,
        &["error: kube-apiserver ended", "address already in use", "= help: another program took the port; try again"],
    );
}

#[test]
fn a_full_disk_is_reported() {
    let world = release_that_dies("write /x: no space left on device");
    env_run(world.path(), &LOCAL)
        .says(5, &["error: kube-apiserver ended", "= help: free some space where temporary files are kept"]);
}

#[test]
fn a_flag_unknown_to_the_release_is_reported() {
    let world = release_that_dies("Error: unknown flag: --new");
    env_run(world.path(), &LOCAL).says(5, &["Error: unknown flag: --new", "= help: its log says why"]);
}

#[test]
fn a_binary_for_another_architecture_fails_to_start() {
    let world = release_that_dies("");
    let mut elf = vec![0; 64];
    elf[..6].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1]);
    elf[18] = 22;
    std::fs::write(world.path().join("assets/kube-apiserver"), elf).unwrap();
    env_run(world.path(), &LOCAL).says(5, &["it is made for linux/s390x", "= help: use binaries for "]);
}

#[test]
fn a_missing_docker_is_reported() {
    let world = world();
    script(&world.path().join("bin/docker"), "#!/bin/sh\necho 'Cannot connect to the Docker daemon' >&2; exit 1\n");
    script(&world.path().join("bin/kind"), "#!/bin/sh\necho kind v0.33.0\n");
    for provider in ["k3s", "kind"] {
        env_run(world.path(), &["1.36.4", "--provider", provider]).says(
            5,
            &[
                "error: a Docker engine is missing: Cannot connect to the Docker daemon",
                "= help: install and start Docker",
            ],
        );
    }
}

#[test]
fn a_missing_image_is_reported() {
    let world = world();
    script(&world.path().join("bin/docker"), "#!/bin/sh\n[ \"$1\" = version ] && echo 28.0\nexit 0\n");
    script(&world.path().join("bin/kind"), "#!/bin/sh\necho kind v0.33.0\n");
    env_run(world.path(), &["1.36.4", "--provider", "k3s"]).says(
        5,
        &["error: the image rancher/k3s:v1.36.4-k3s1 is missing", "= help: `docker pull rancher/k3s:v1.36.4-k3s1`"],
    );
    env_run(world.path(), &["1.36.4", "--provider", "kind"])
        .says(5, &["error: the image kindest/node:v1.36.4 is missing", "`scripts/airgapped/kind-node-image 1.36.4`"]);
    env_run(world.path(), &["1.36.4", "--provider", "kind", "--kind", "no-such-kind"])
        .says(5, &["error: the program no-such-kind is missing", "= help: install kind"]);
    env_run(world.path(), &["1.36", "--provider", "kind"]).says(2, &["does not name one release"]);
}

#[test]
fn a_failing_kind_is_reported_and_cleaned_up() {
    let world = world();
    let calls = world.path().join("calls");
    script(
        &world.path().join("bin/docker"),
        "#!/bin/sh\n[ \"$1\" = images ] && echo 1a2b3c\n[ \"$1\" = version ] && echo 28.0\nexit 0\n",
    );
    let kind = format!(
        "#!/bin/sh\necho \"$1 $2\" >>{0}\n[ \"$1\" = create ] && {{ echo 'ERROR: no node' >&2; exit 1; }}\nexit 0\n",
        calls.display()
    );
    script(&world.path().join("bin/kind"), &kind);
    env_run(world.path(), &["1.36.4", "--provider", "kind", "--logs", "logs"])
        .says(5, &["error: kind: could not create the cluster", "ERROR: no node", "all logs are in logs"]);
    let calls = std::fs::read_to_string(calls).unwrap();
    assert_eq!(calls, "version \ncreate cluster\nexport logs\ndelete cluster\n");
}

fn kubeconfig(world: &Path, context: &str) {
    let text = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: {context}\n\
         clusters:\n- name: c\n  cluster: {{server: 'https://127.0.0.1:1'}}\n\
         contexts:\n- name: {context}\n  context: {{cluster: c, user: u}}\nusers:\n- name: u\n  user: {{}}\n"
    );
    std::fs::write(world.join("config"), text).unwrap();
}

const EXISTING: [&str; 4] = ["--provider", "kubeconfig", "--kubeconfig", "config"];

#[test]
fn an_unreachable_server_is_reported() {
    let world = world();
    kubeconfig(world.path(), "test");
    let ended = env_run(world.path(), &[&EXISTING[..], &["--allow-changes"]].concat());
    ended.says(5, &["error: GET /version failed", "refused", "= help: check that the server runs"]);
}

#[test]
fn a_cluster_is_not_changed_without_permission() {
    let world = world();
    kubeconfig(world.path(), "test");
    env_run(world.path(), &EXISTING).says(
        5,
        &["refusing to change context \"test\" (https://127.0.0.1:1) without --allow-changes", "add --allow-changes"],
    );
    kubeconfig(world.path(), "eu-prod");
    let allowed = [&EXISTING[..], &["--allow-changes"]].concat();
    env_run(world.path(), &allowed).says(
        5,
        &["looks like production", "= help: name it twice if you mean it: --context eu-prod --confirm eu-prod"],
    );
    env_run(world.path(), &["--provider", "kubeconfig", "--kubeconfig", "none", "--allow-changes"])
        .says(5, &["none: there is no such file", "= help: check --kubeconfig and --context"]);
    std::fs::write(world.path().join("config"), "{").unwrap();
    env_run(world.path(), &allowed).says(5, &["error: config: "]);
}

#[test]
fn conflicting_flags_are_refused() {
    let world = world();
    env_run(world.path(), &["1.36.4", "--dry-run"]).says(2, &["--dry-run needs an existing cluster"]);
    env_run(world.path(), &["1.36.4", "--feature-gate", "X"]).says(2, &["write it like Name=true"]);
    env_run(world.path(), &["1.36.4", "--crd", "no-such-folder"]).says(2, &["no-such-folder"]);
}

#[test]
fn leftovers_of_a_killed_run_are_swept() {
    let world = world();
    script(&world.path().join("bin/docker"), "#!/bin/sh\nexit 1\n");
    let sweep = |arguments: &[&str]| {
        let mut command = Command::new(BINARY);
        command.args(["env", "sweep"]).args(arguments).env("TMPDIR", world.path().join("temporary"));
        command.env("PATH", format!("{}:{}", world.path().join("bin").display(), std::env::var("PATH").unwrap()));
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    let mut ended = Command::new("true").spawn().unwrap();
    ended.wait().unwrap();
    let ours = crdproof_envtest::RunId::new().name();
    let number = format!("-{}-", std::process::id());
    let temporary = world.path().join("temporary");
    let alive = temporary.join(&ours);
    // One of a process that has ended, and that was killed between its first steps, so that it is empty.
    let dead = temporary.join(ours.replace(&number, &format!("-{}-", ended.id())));
    // One of a process that had our number before us.
    let started = ours.split('-').nth(3).unwrap();
    let earlier = temporary.join(ours.replace(started, "000000"));
    // One of another machine, or of this one before it was started anew.
    let foreign = temporary.join(ours.replace(ours.split('-').nth(1).unwrap(), "ffffff"));
    for path in [&dead, &alive, &earlier, &foreign] {
        std::fs::create_dir(path).unwrap();
    }
    // A server whose guard was killed with the tool, so that nothing stops it.
    let mut orphan = Command::new("sh")
        .args(["-c", "sleep 300; true", &format!("--data-dir={}/etcd", dead.display())])
        .spawn()
        .unwrap();

    let said = sweep(&["--dry-run"]);
    assert!(said.contains(&format!("would remove folder {}", dead.display())), "{said}");
    assert!(said.contains(&format!("would remove process {}", orphan.id())), "{said}");
    assert!(dead.exists() && orphan.try_wait().unwrap().is_none(), "a dry run removed something");

    let said = sweep(&[]);
    assert!(said.contains(&format!("removed folder {}", dead.display())), "{said}");
    assert!(!dead.exists() && !earlier.exists(), "{said}");
    assert!(alive.exists() && foreign.exists(), "{said}");
    assert!(!orphan.wait().unwrap().success(), "the process was not killed");
    assert!(!sweep(&[]).contains(&dead.display().to_string()));

    // In another container with the same host name nobody of ours can be seen, and yet we live.
    let mut command = Command::new("unshare");
    command.args(["--pid", "--fork", "--mount-proc", BINARY, "env", "sweep"]).env("TMPDIR", &temporary);
    let Ok(output) = command.output() else { return println!("unshare is not installed: not tried in a container") };
    if !output.status.success() {
        return println!("no container can be made here: {}", String::from_utf8_lossy(&output.stderr));
    }
    assert!(alive.exists(), "{}", String::from_utf8_lossy(&output.stdout));
    assert!(sweep(&["--all", "--dry-run"]).contains(&format!("would remove folder {}", foreign.display())));
}
