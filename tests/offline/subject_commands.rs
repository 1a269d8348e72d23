//! Commands of a subject: they end at their timeout and with us, their output is bounded, and they run only where
//! allowed.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::cli::{BINARY, crdproof, folder, sound_crd};
use crate::wait::{eventually, is_alive};

/// The databases with another converter, and more lines in the subject file.
fn subject(converter: &str, more: &str) -> tempfile::TempDir {
    let folder = crate::cli::subject("databases");
    let file = folder.path().join("crdproof.yaml");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("fieldMap: {}"), "{text}");
    std::fs::write(&file, text.replace("fieldMap: {}", converter) + more).unwrap();
    folder
}

/// A subject whose CRDs a script prints.
fn subject_with_script(script: &str) -> tempfile::TempDir {
    let file = "apiVersion: crdproof/v1alpha1\nkind: Subject\ncrds: {command: [sh, render.sh]}\n";
    folder(&[("crd.yaml", &sound_crd()), ("crdproof.yaml", file), ("render.sh", script)])
}

/// Writes the process ids of itself, of a child, and of a descendant that leaves its process group; then waits forever.
const FAMILY: &str =
    "sleep 7777 & child=$!; setsid sleep 7777 & echo $$ $child $! > ids.part; mv ids.part ids; sleep 7777";

/// Starts a run, waits for the processes of its command, ends the run by a signal, and asserts that none is left.
#[track_caller]
fn nothing_is_left_after(signal: &str, folder: &Path) {
    // A parent such as `nohup … &` may ignore signals, and children inherit that.
    let mut run = Command::new("env")
        .args(["--default-signal", BINARY, "run", "-f", "crdproof.yaml", "--suite", "quick"])
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let ids = eventually("the command started", || std::fs::read_to_string(folder.join("ids")).ok());
    let ended = Command::new("kill").args(["-s", signal, &run.id().to_string()]).status().unwrap();
    assert!(ended.success());
    run.wait().unwrap();
    for id in ids.split_whitespace() {
        eventually(&format!("{id} of {ids} is alive after {signal}"), || (!is_alive(id)).then_some(()));
    }
    std::fs::remove_file(folder.join("ids")).unwrap();
}

#[test]
fn no_process_of_a_command_is_left_however_the_run_ends() {
    let crds = subject_with_script(FAMILY);
    let exec = subject("exec: {command: [sh, render.sh], timeout: 2s}", "");
    std::fs::write(exec.path().join("render.sh"), FAMILY).unwrap();
    let process = subject("process: {run: [sh, render.sh]}", "");
    std::fs::write(process.path().join("render.sh"), FAMILY).unwrap();
    for folder in [&crds, &exec, &process] {
        for signal in ["TERM", "INT", "HUP", "KILL"] {
            nothing_is_left_after(signal, folder.path());
        }
    }
}

#[test]
fn a_converter_that_hangs_or_leaves_its_streams_open_is_ended() {
    let began = Instant::now();
    for script in ["sleep 7777", "sleep 7777 & sleep 7777"] {
        let folder = subject(&format!("exec: {{command: [sh, -c, '{script}'], timeout: 200ms}}"), "");
        let run =
            ["run", "--only", "converter/valid-always-converts", "--only", "converter/pairs-complete", "--strict"];
        crdproof(folder.path(), &run).says(1, &["sh had no answer within 0.2 s"]);
    }
    assert!(began.elapsed() < Duration::from_secs(60));
    let folder = subject("exec: [sh, -c, 'sleep 7777 & echo {}']", "");
    crdproof(folder.path(), &["run", "-q", "--only", "converter/pairs-complete"]).says(1, &[]);
    assert!(began.elapsed() < Duration::from_secs(120), "{:?}", began.elapsed());
}

#[test]
fn output_without_end_is_an_error_and_takes_no_memory() {
    let folder = subject_with_script("yes 'kind: Nothing'");
    crdproof(folder.path(), &["run", "-q"]).says(5, &["`sh render.sh` failed: it wrote more than 64 MiB"]);
    let folder = subject("exec: ['yes']", "");
    let run = ["run", "--only", "converter/pairs-complete", "--strict"];
    crdproof(folder.path(), &run).says(1, &["yes wrote more than 64 MiB, and was ended"]);
}

#[test]
fn a_missing_program_is_reported_before_anything_is_judged() {
    for converter in
        ["exec: [no-such-program]", "exec: {command: [./no-such], longLived: true}", "process: {run: [no-such]}"]
    {
        let folder = subject(converter, "");
        crdproof(folder.path(), &["run", "--report", "json"]).says(5, &["cannot be run: no such program"]);
    }
    let file = "apiVersion: crdproof/v1alpha1\nkind: Subject\ncrds: {command: [no-such-program, x]}\n";
    let folder = folder(&[("crdproof.yaml", file)]);
    crdproof(folder.path(), &["run"]).says(5, &["cannot run `no-such-program x`: no such program"]);
}

#[test]
fn a_command_runs_in_the_folder_of_a_bare_subject_file() {
    let folder = subject("exec: [./convert.sh]", "");
    let script = folder.path().join("convert.sh");
    std::fs::write(&script, "#!/bin/sh\ntouch ran\ncat\n").unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    for arguments in [&["run", "-f", "crdproof.yaml"][..], &["run"]] {
        assert_ne!(crdproof(folder.path(), arguments).code, 5, "{arguments:?}");
        std::fs::remove_file(folder.path().join("ran")).unwrap();
    }
}

#[test]
fn no_exec_refuses_every_command_with_its_location() {
    let migration = "migration: {command: [touch, ran]}\n";
    for (converter, more, key) in [
        ("exec: [touch, ran]", "", "converter.exec"),
        ("process: {run: [touch, ran]}", "", "converter.process"),
        ("fieldMap: {}", migration, "migration.command"),
    ] {
        let folder = subject(converter, more);
        let says = format!("{key} is not run: --no-exec is given");
        crdproof(folder.path(), &["run", "--no-exec"]).says(2, &["crdproof.yaml:", &says]);
        crdproof(folder.path(), &["plan", "--no-exec"]).says(0, &[]);
        assert!(!folder.path().join("ran").exists());
    }
    let crds = subject_with_script("touch ran; cat crd.yaml");
    crdproof(crds.path(), &["run", "--no-exec"]).says(2, &["crdproof.yaml:3:", "crds.command is not run"]);
    let ended = Command::new(BINARY).arg("run").env("CRDPROOF_NO_EXEC", "1").current_dir(crds.path()).output().unwrap();
    assert_eq!(ended.status.code(), Some(2));
    assert!(!crds.path().join("ran").exists());
    // Runs without commands are not affected.
    crdproof(crds.path(), &["run", "--no-exec", "crd.yaml"]).says(0, &[]);
}

#[test]
fn a_plan_runs_no_command() {
    let folder = subject_with_script("touch ran; cat crd.yaml");
    crdproof(folder.path(), &["plan"]).says(2, &["crds.command is not run: `crdproof plan` starts nothing"]);
    assert!(!folder.path().join("ran").exists());
    crdproof(folder.path(), &["run"]).says(0, &[]);
    assert!(folder.path().join("ran").exists());
}

#[test]
fn a_suite_file_is_relative_to_the_subject_file() {
    let suite =
        "apiVersion: crdproof/v1alpha1\nkind: Suite\ndescription: ours\nchecks: [manifest/one-storage-version]\n";
    let file = "apiVersion: crdproof/v1alpha1\nkind: Subject\ncrds: {paths: [crd.yaml]}\nsuites: [suites/ours.yaml]\n";
    let folder = folder(&[("a/crd.yaml", &sound_crd()), ("a/crdproof.yaml", file), ("a/suites/ours.yaml", suite)]);
    for (place, name) in [(folder.path().to_owned(), "a/crdproof.yaml"), (folder.path().join("a"), "crdproof.yaml")] {
        let ended = crdproof(&place, &["run", "-f", name, "--report", "json"]).says(0, &[]);
        assert_eq!(ended.json()["results"].as_array().map(Vec::len), Some(1));
    }
}

#[test]
fn links_that_leave_their_folder_are_skipped_and_reported() {
    let folder = folder(&[("crds/a.yaml", &sound_crd()), ("secret.yaml", "kind: Secret\napiVersion: v1\n")]);
    symlink("../secret.yaml", folder.path().join("crds/out.yaml")).unwrap();
    symlink("a.yaml", folder.path().join("crds/hidden.txt")).unwrap();
    let ended =
        crdproof(folder.path(), &["run", "crds", "--verbose"]).says(0, &["crds/out.yaml (a link out of its folder"]);
    assert!(!ended.stderr.contains("Secret"), "{}", ended.stderr);
    // A link that the user names is followed, and so are links that stay inside the folder.
    std::fs::remove_file(folder.path().join("crds/out.yaml")).unwrap();
    symlink("crds", folder.path().join("named")).unwrap();
    std::fs::rename(folder.path().join("crds/a.yaml"), folder.path().join("crds/b.txt")).unwrap();
    symlink("b.txt", folder.path().join("crds/a.yaml")).unwrap();
    crdproof(folder.path(), &["run", "named"]).says(0, &[]);
}

#[test]
fn the_log_of_a_process_is_readable_by_its_owner_only() {
    let folder = subject("process: {run: [sh, -c, 'echo said; exit 3']}", "");
    crdproof(folder.path(), &["run", "-q"]).says(5, &["  said", "ended (exit status: 3)"]);
    let log = folder.path().join(".crdproof/process.log");
    assert_eq!(std::fs::metadata(&log).unwrap().permissions().mode() & 0o777, 0o600);
}
