//! Tests of guards with real processes and folders.

use std::io::Read as _;
use std::time::{Duration, Instant};

use super::*;

fn alive(id: &str) -> bool {
    // A zombie has ended, even if its parent has not noticed.
    let state = Command::new("ps").args(["-o", "stat=", "-p", id]).output().map(|output| output.stdout);
    state.is_ok_and(|state| !state.is_empty() && !state.starts_with(b"Z"))
}

fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !condition() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn the_exit_status_is_that_of_the_command() {
    let guard = Guard::new(None).unwrap();
    let mut command = guard.spawn(&Spec::new("sh").args(["-c", "exit 7"])).unwrap();
    assert_eq!(command.wait().unwrap().code(), Some(7));
    assert_eq!(command.try_wait().unwrap().unwrap().code(), Some(7));
}

#[test]
fn a_command_reads_nothing_and_its_errors_reach_us() {
    let guard = Guard::new(None).unwrap();
    let spec =
        Spec::new("sh").args(["-c", "cat; echo \"$WORD\" >&2"]).env("WORD", "said").output(Output::PipedErrors(None));
    let mut command = guard.spawn(&spec).unwrap();
    let mut said = String::new();
    command.take_stderr().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(said, "said\n");
    assert!(command.wait().unwrap().success());
}

#[test]
fn a_dropped_guard_kills_grandchildren_and_removes_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("kept");
    std::fs::create_dir(&kept).unwrap();
    let guard = Guard::new(Some(&kept)).unwrap();
    let script = "sleep 300 & echo $! > child.part; mv child.part child; wait";
    let command = guard.spawn(&Spec::new("sh").args(["-c", script]).folder(&kept)).unwrap();
    eventually("the command started", || kept.join("child").exists());
    let child = std::fs::read_to_string(kept.join("child")).unwrap().trim().to_owned();
    assert!(alive(&child));
    drop(guard);
    assert!(!kept.exists());
    eventually("the grandchild is dead", || !alive(&child));
    drop(command);
}

#[test]
fn a_cleanup_runs_after_the_commands_and_before_the_folder_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let (kept, said) = (folder.path().join("kept"), folder.path().join("said"));
    std::fs::create_dir(&kept).unwrap();
    std::fs::write(kept.join("note"), "still here").unwrap();
    let script = r#"kill -0 "$3" 2>/dev/null && echo alive >"$2"; cat "$1/note" >>"$2""#;
    let guard = Guard::new(None).unwrap();
    let mut command = guard.spawn(&Spec::new("sleep").arg("300")).unwrap();
    let cleanup: Vec<OsString> = vec![
        "sh".into(),
        "-c".into(),
        script.into(),
        "cleanup".into(),
        kept.clone().into(),
        said.clone().into(),
        command.id().to_string().into(),
    ];
    command.kill().unwrap();
    drop(Guard::with_cleanup(Some(&kept), &cleanup).unwrap());
    assert!(!kept.exists());
    assert_eq!(std::fs::read_to_string(said).unwrap(), "still here");
}

#[test]
fn a_relative_folder_is_refused() {
    assert!(Guard::new(Some(Path::new("here"))).is_err());
    assert!(Guard::new(Some(Path::new("/"))).is_err());
}

#[cfg(target_os = "linux")]
#[test]
fn a_descendant_that_left_its_group_ends_with_the_guard() {
    let folder = tempfile::tempdir().unwrap();
    let script = "setsid sh -c 'echo $$ > child.part; mv child.part child; exec sleep 300' & wait";
    let guard = Guard::new(None).unwrap();
    let mut command = guard.spawn(&Spec::new("sh").args(["-c", script]).folder(folder.path())).unwrap();
    eventually("the descendant started", || folder.path().join("child").exists());
    let child = std::fs::read_to_string(folder.path().join("child")).unwrap().trim().to_owned();
    command.kill().unwrap();
    assert!(alive(&child), "it left the group, so it is not killed with it");
    drop(guard);
    eventually("the descendant is dead", || !alive(&child));
}
