//! The command line as users see it: the built binary, its exit codes, its output, its files.

mod about;
mod audit;
mod accept;
mod commands;
mod conformance;
mod first_steps;
mod help;
mod init;
mod inputs;
mod minimum;
mod outputs;
mod progress;
mod ranges;
mod record;
mod replay;
mod verdicts;
mod waivers;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The result of a run of the binary.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ended {
    /// Asserts the exit code, and that stderr contains all of these texts.
    #[track_caller]
    pub(crate) fn says(self, code: i32, words: &[&str]) -> Self {
        assert_eq!(self.code, code, "exit code; stderr:\n{}", self.stderr);
        for word in words {
            assert!(self.stderr.contains(word), "stderr does not say {word:?}:\n{}", self.stderr);
        }
        self
    }

    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {}", self.stdout))
    }
}

/// The built binary.
pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_crdproof");

/// The repository; tests name fixtures relative to it, as a reader would.
pub(crate) fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Runs the binary in a folder.
pub(crate) fn crdproof(folder: &Path, arguments: &[&str]) -> Ended {
    crdproof_fed(folder, arguments, "")
}

/// Runs the binary in a folder with this standard input.
pub(crate) fn crdproof_fed(folder: &Path, arguments: &[&str], input: &str) -> Ended {
    let mut command = Command::new(BINARY);
    command.args(arguments).current_dir(folder);
    // The terminal of the person who runs the tests must not matter.
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS"] {
        command.env_remove(name);
    }
    // Keep the fixtures unchanged.
    if folder == repository() {
        command.env("CRDPROOF_NO_COUNTEREXAMPLES", "yes");
    }
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // A run that refuses its flags does not read its input.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    Ended {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Copies a subject of `fixtures/crds` into a temporary folder.
pub(crate) fn subject(name: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    copy(&repository().join("fixtures/crds").join(name), folder.path());
    folder
}

/// Copies a folder with its contents.
pub(crate) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    // Counterexamples are there if somebody ran crdproof on the fixture itself.
    let entries = std::fs::read_dir(from).unwrap().flatten().filter(|entry| entry.file_name() != ".crdproof");
    for entry in entries {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() { copy(&entry.path(), &target) } else { drop(std::fs::copy(entry.path(), target)) }
    }
}

/// A folder with these files.
pub(crate) fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

/// A CRD without findings.
pub(crate) fn sound_crd() -> String {
    std::fs::read_to_string(repository().join("fixtures/crds/three-versions/crds/apps.yaml")).unwrap()
}

/// Everything below a folder, without git's own files.
pub(crate) fn listing(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(path) = pending.pop() {
        for entry in std::fs::read_dir(path).unwrap().flatten() {
            if entry.path().is_dir() {
                pending.push(entry.path());
            } else {
                found.push((entry.path(), std::fs::read(entry.path()).unwrap()));
            }
        }
    }
    found.sort();
    found
}

/// Runs git in a folder, without the settings of the person who runs the tests.
pub(crate) fn git(folder: &Path, arguments: &[&str]) {
    let status = Command::new("git")
        .args(["-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "init.defaultBranch=main"])
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success(), "git {arguments:?}");
}

/// Makes a folder a repository with one commit of everything.
pub(crate) fn commit_all(folder: &Path) {
    git(folder, &["init", "-q"]);
    git(folder, &["add", "-A"]);
    git(folder, &["commit", "-q", "-m", "first"]);
}
