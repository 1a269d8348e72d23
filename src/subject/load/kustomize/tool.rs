//! Building a kustomization with kustomize or kubectl, for what is not read natively.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crdproof_envtest::guard::{Guard, Output, Spec};

use super::super::Text;
use super::super::tree::{Tree, git, here};

/// How long a build may take: it may fetch from other hosts.
const TIMEOUT: Duration = Duration::from_secs(60);

/// What a shell says where there is no such command.
const NO_SUCH_COMMAND: i32 = 127;

/// Programs that build kustomizations, and the words before the folder.
const TOOLS: [(&str, &str); 2] = [("kustomize", "build"), ("kubectl", "kustomize")];

/// Builds the kustomization of a folder with the first program that is installed; `Err` says why not.
pub(super) fn build(tree: &Tree, folder: &Path) -> Result<Text, String> {
    let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
    let (root, revision) = match tree {
        Tree::Disk => (PathBuf::new(), String::new()),
        Tree::Git { folder, revision } => (export(folder, revision, scratch.path())?, format!(" at {revision}")),
    };
    let folder = here(folder);
    for (program, word) in TOOLS {
        let spec = Spec::new(program).arg(word).arg(root.join(folder));
        if let Some(text) = run(spec, scratch.path())? {
            return Ok(Text { name: format!("`{program} {word} {}`{revision}", folder.display()), text });
        }
    }
    Err("neither kustomize nor kubectl is installed".into())
}

/// Runs a program and returns what it prints; `None` where it is not installed.
fn run(spec: Spec, scratch: &Path) -> Result<Option<String>, String> {
    let name = spec.program.to_string_lossy().into_owned();
    let failed = |error: std::io::Error| format!("{name}: {error}");
    let printed = scratch.join("printed");
    let guard = Guard::new(None).map_err(failed)?;
    let mut command = guard.spawn(&spec.output(Output::PipedErrors(Some(printed.clone())))).map_err(failed)?;
    let errors = command.take_stderr();
    let (status, said) = std::thread::scope(|scope| {
        let said = scope.spawn(move || {
            let mut bytes = Vec::new();
            errors.map(|mut pipe| pipe.read_to_end(&mut bytes));
            bytes
        });
        let end = Instant::now() + TIMEOUT;
        let status = loop {
            match command.try_wait() {
                Ok(None) if Instant::now() < end => std::thread::sleep(Duration::from_millis(5)),
                // What it started holds the pipe, too, and ends with it.
                Ok(None) => break command.kill().map(|()| None),
                ended => break ended,
            }
        };
        (status, said.join().unwrap_or_default())
    });
    match status.map_err(failed)? {
        None => Err(format!("{name} did not end within {} s", TIMEOUT.as_secs())),
        Some(status) if status.success() => std::fs::read_to_string(&printed).map(Some).map_err(failed),
        Some(status) if status.code() == Some(NO_SUCH_COMMAND) => Ok(None),
        Some(_) => {
            let said = String::from_utf8_lossy(&said);
            let mut lines = said.lines().map(str::trim).filter(|line| !line.is_empty());
            let error = lines.clone().find(|line| line.to_lowercase().starts_with("error"));
            let error = error.or_else(|| lines.next_back()).unwrap_or("it said nothing");
            Err(format!("{name} failed: {}", error.chars().take(200).collect::<String>()))
        }
    }
}

/// Writes the files of a revision below a folder, without touching the repository. Returns the path there that
/// corresponds to the folder of the repository.
fn export(folder: &Path, revision: &str, scratch: &Path) -> Result<PathBuf, String> {
    let say = |error: super::super::InputError| error.message;
    let top = git(folder, &["rev-parse", "--show-toplevel"]).map_err(say)?;
    let prefix = git(folder, &["rev-parse", "--show-prefix"]).map_err(say)?;
    let (index, files) = (scratch.join("index"), scratch.join("files"));
    let target = format!("--prefix={}/", files.display());
    for words in [vec!["read-tree", revision], vec!["checkout-index", "--all", &target]] {
        let mut command = std::process::Command::new("git");
        command.args(&words).current_dir(top.trim()).env("GIT_INDEX_FILE", &index);
        let output = command.output().map_err(|error| error.to_string())?;
        if !output.status.success() {
            return Err(format!("git {}: {}", words[0], String::from_utf8_lossy(&output.stderr).trim()));
        }
    }
    Ok(files.join(prefix.trim()))
}
