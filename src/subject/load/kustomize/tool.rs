//! Building a kustomization with kustomize or kubectl, if it needs unsupported features.

use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::path::{Component, Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use crdproof_envtest::capture::{Capture, Captured, End, MAX_OUTPUT, is_program};
use crdproof_envtest::guard::{Guard, Spec};
use crdproof_envtest::{RunId, error_chain, guarded_folder};

use super::super::Text;
use super::super::tree::{Tree, git, git_command, or_dot};

/// The timeout of a build: it may download.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Programs that build kustomizations, and their subcommands.
const TOOLS: [(&str, &str); 2] = [("kustomize", "build"), ("kubectl", "kustomize")];

/// Builds the kustomization of a folder with the first installed program; `Err` says why not.
pub(super) fn build(tree: &Tree, folder: &Path) -> Result<Text, String> {
    // A revision is written to a folder of its own, which is gone after the build, also when we are killed.
    let (root, revision, _guard) = match tree {
        Tree::Disk => (PathBuf::new(), String::new(), None),
        Tree::Git { folder, revision } => {
            let scratch = guarded_folder(None, &RunId::new(), |_| Vec::new());
            let (scratch, guard) = scratch.map_err(|error| error_chain(&error))?;
            (export(folder, revision, &scratch)?, format!(" at {revision}"), Some(guard))
        }
    };
    let folder = or_dot(folder);
    for (program, word) in TOOLS {
        let spec = Spec::new(program).arg(word).arg(root.join(folder));
        if let Some(text) = run(spec)? {
            return Ok(Text { name: format!("`{program} {word} {}`{revision}", folder.display()), text });
        }
    }
    Err("neither kustomize nor kubectl is installed".into())
}

/// Runs a program and returns its output; `None` if it is not installed.
fn run(spec: Spec) -> Result<Option<String>, String> {
    let name = spec.program.to_string_lossy().into_owned();
    if !is_program(&name, Path::new("")) {
        return Ok(None);
    }
    let failed = |error: std::io::Error| format!("{name}: {error}");
    let guard = Guard::new(None).map_err(failed)?;
    let captured = Capture::start(&guard, spec, Vec::new(), TIMEOUT).and_then(Capture::wait);
    let Captured { end, output, errors } = captured.map_err(failed)?;
    match end {
        End::TimedOut => Err(format!("{name} did not end within {} s", TIMEOUT.as_secs())),
        End::TooMuchOutput => Err(format!("{name} wrote more than {} MiB", MAX_OUTPUT >> 20)),
        End::Exited(status) if status.success() => {
            String::from_utf8(output).map(Some).map_err(|_| format!("{name} wrote what is not UTF-8"))
        }
        End::Exited(_) => {
            let said = String::from_utf8_lossy(&errors);
            let mut lines = said.lines().map(str::trim).filter(|line| !line.is_empty());
            let error = lines.clone().find(|line| line.to_lowercase().starts_with("error"));
            let error = error.or_else(|| lines.next_back()).unwrap_or("it said nothing");
            Err(format!("{name} failed: {}", error.chars().take(200).collect::<String>()))
        }
    }
}

/// Writes the files of a revision below a folder, as they are stored: git's own checkout would run the filters that the
/// repository configures. Skips links. Returns the path that corresponds to the folder of the repository.
fn export(folder: &Path, revision: &str, scratch: &Path) -> Result<PathBuf, String> {
    let say = |error: super::super::InputError| error.message;
    let top = git(folder, &["rev-parse", "--show-toplevel"]).map_err(say)?;
    let prefix = git(folder, &["rev-parse", "--show-prefix"]).map_err(say)?;
    let top = Path::new(top.trim_end_matches('\n'));
    let listed = git(top, &["ls-tree", "-r", "-z", "--full-tree", revision]).map_err(say)?;
    let entries: Vec<(&str, &str)> = listed.split('\0').filter_map(regular_file).collect();
    let files = scratch.join("files");
    let mut command = git_command(top);
    command.args(["cat-file", "--batch"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| format!("git cat-file: {error}"))?;
    let asked: String = entries.iter().map(|(id, _)| format!("{id}\n")).collect();
    let pipes = child.stdin.take().zip(child.stdout.take());
    let (mut stdin, stdout) = pipes.ok_or("git cat-file has no pipes")?;
    // Git answers while it reads, so write and read concurrently.
    let asking = std::thread::spawn(move || stdin.write_all(asked.as_bytes()));
    let mut stdout = BufReader::new(stdout);
    for (_, path) in &entries {
        let bytes = next_object(&mut stdout).map_err(|error| format!("git cat-file {path}: {error}"))?;
        let target = files.join(path);
        let made = std::fs::create_dir_all(target.parent().unwrap_or(&files));
        made.and_then(|()| std::fs::write(&target, bytes)).map_err(|error| format!("{path}: {error}"))?;
    }
    // All objects were read, so both have already ended or failed.
    drop(asking.join());
    child.wait().map_err(|error| format!("git cat-file: {error}"))?;
    Ok(files.join(prefix.trim_end_matches('\n')))
}

/// Returns the id and the path of a tree entry if it is a regular file.
fn regular_file(entry: &str) -> Option<(&str, &str)> {
    let (head, path) = entry.split_once('\t')?;
    let id = head.rsplit(' ').next()?;
    let stays = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    (head.starts_with("100") && stays).then_some((id, path))
}

/// Reads the next object of `git cat-file --batch`: a line with its size, its bytes, and a line break.
fn next_object(from: &mut impl BufRead) -> std::io::Result<Vec<u8>> {
    let mut head = String::new();
    from.read_line(&mut head)?;
    let size = head.trim_end().rsplit(' ').next().and_then(|size| size.parse().ok());
    let size: usize = size.ok_or_else(|| std::io::Error::other(head.trim_end().to_owned()))?;
    let mut bytes = Vec::new();
    from.take(size as u64 + 1).read_to_end(&mut bytes)?;
    bytes.truncate(size);
    Ok(bytes)
}
