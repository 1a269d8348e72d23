//! Trees of files: on disk, or at a git revision.

use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};

use super::{InputError, Text, Trouble};

/// A tree of files.
#[derive(Debug, Clone)]
pub(super) enum Tree {
    /// The file system.
    Disk,
    /// A revision of the repository around a folder; paths are relative to that folder.
    Git {
        /// The folder.
        folder: PathBuf,
        /// The revision.
        revision: String,
    },
}

/// The entry at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// Nothing.
    Nothing,
}

/// Extensions of files that are read from a directory.
const EXTENSIONS: [&str; 3] = ["yaml", "yml", "json"];

impl Tree {
    /// Returns the type of the entry at a path.
    pub(super) fn look(&self, path: &Path) -> Found {
        match self {
            Self::Disk => match fs::metadata(or_dot(path)) {
                Ok(metadata) if metadata.is_dir() => Found::Folder,
                Ok(_) => Found::File,
                Err(_) => Found::Nothing,
            },
            Self::Git { folder, revision } => {
                match git(folder, &["cat-file", "-t", &object(revision, path)]).as_deref().map(str::trim) {
                    Ok("blob") => Found::File,
                    Ok("tree") => Found::Folder,
                    _ => Found::Nothing,
                }
            }
        }
    }

    /// Reads one file.
    pub(super) fn read(&self, path: &Path) -> Result<Text, InputError> {
        match self {
            Self::Disk => file(path),
            Self::Git { folder, revision } => {
                let text = git(folder, &["show", &object(revision, path)])?;
                Ok(Text { name: format!("git:{revision}:{}", path.display()), text })
            }
        }
    }

    /// Returns the path of a text that was read from this tree, by its name.
    pub(super) fn path_of(&self, name: &str) -> PathBuf {
        let path = match self {
            Self::Disk => name,
            Self::Git { revision, .. } => name.strip_prefix(&format!("git:{revision}:")).unwrap_or(name),
        };
        join(Path::new(""), path)
    }

    /// Lists all manifests below a folder, by path. Skips hidden folders and files.
    pub(super) fn manifests_below(&self, path: &Path) -> Result<Vec<PathBuf>, InputError> {
        match self {
            Self::Disk => Ok(walk(or_dot(path))?.files),
            Self::Git { folder, revision } => {
                let below = or_dot(path).to_string_lossy();
                let listed = git(folder, &["ls-tree", "-r", "-z", "--name-only", revision, "--", &below])?;
                let mut paths: Vec<PathBuf> = listed.split('\0').map(PathBuf::from).collect();
                paths.retain(|found| has_ending(found));
                paths.sort();
                Ok(paths)
            }
        }
    }

    /// Returns the links below a folder that are not followed, because they lead outside.
    pub(super) fn links_out_of(&self, path: &Path) -> Result<Vec<String>, InputError> {
        match self {
            Self::Disk if self.look(path) == Found::Folder => {
                let links = walk(or_dot(path))?.links_out;
                Ok(links
                    .iter()
                    .map(|link| format!("{} (a link out of its folder, not followed)", link.display()))
                    .collect())
            }
            // Git returns the content of a link, and follows none.
            Self::Disk | Self::Git { .. } => Ok(Vec::new()),
        }
    }

    /// Returns the first of these files that exists in a folder.
    pub(super) fn first_of(&self, folder: &Path, names: &[&str]) -> Option<PathBuf> {
        names.iter().map(|name| folder.join(name)).find(|path| self.look(path) == Found::File)
    }
}

/// Settings that keep git from running programs that the configuration of a repository names, and from fetching.
const SAFE_SETTINGS: [&str; 8] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.attributesFile=/dev/null",
    "core.sshCommand=false",
    "protocol.allow=never",
    "credential.helper=",
    "diff.external=",
];

/// Returns a git command for a folder that reads objects and runs no code of the repository.
pub(super) fn git_command(folder: &Path) -> Command {
    let mut command = Command::new("git");
    command.arg("--no-pager").arg("--no-replace-objects");
    for setting in SAFE_SETTINGS {
        command.args(["-c", setting]);
    }
    command.env("GIT_NO_LAZY_FETCH", "1").env("GIT_TERMINAL_PROMPT", "0").env("GIT_OPTIONAL_LOCKS", "0");
    command.current_dir(or_dot(folder)).stdin(Stdio::null());
    command
}

/// Runs git in a folder and returns its output.
pub(super) fn git(folder: &Path, arguments: &[&str]) -> Result<String, InputError> {
    let output = git_command(folder).args(arguments).output().map_err(|error| {
        InputError::new(Trouble::Environment, format!("cannot run git: {}", plain(&error))).help("install git")
    })?;
    if output.status.success() {
        return utf8("git", output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.lines().next().unwrap_or_default().trim_start_matches("fatal: ");
    let error = InputError::new(Trouble::Wrong, format!("git {}: {said}", arguments[0]));
    Err(error.help("fetch the revision (in CI: a checkout with history), and run inside its repository"))
}

/// Reads a file of the file system.
pub(super) fn file(path: &Path) -> Result<Text, InputError> {
    let name = path.display().to_string();
    let bytes = fs::read(path)
        .map_err(|error| InputError::new(Trouble::Wrong, format!("cannot read {name}: {}", plain(&error))))?;
    Ok(Text { text: utf8(&name, bytes)?, name })
}

/// Joins a path to a folder and removes `.` and `..` lexically.
pub(super) fn join(folder: &Path, path: &str) -> PathBuf {
    let mut joined = PathBuf::new();
    for part in folder.join(path).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if matches!(joined.components().next_back(), Some(Component::Normal(_))) => {
                joined.pop();
            }
            part => joined.push(part),
        }
    }
    joined
}

/// The path, or a dot if it is empty.
pub(super) fn or_dot(path: &Path) -> &Path {
    if path.as_os_str().is_empty() { Path::new(".") } else { path }
}

fn has_ending(path: &Path) -> bool {
    path.extension().is_some_and(|ending| EXTENSIONS.iter().any(|known| ending.eq_ignore_ascii_case(known)))
}

pub(super) fn utf8(name: &str, bytes: Vec<u8>) -> Result<String, InputError> {
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        InputError::new(Trouble::Wrong, format!("{name} is not UTF-8 text (byte {at})")).help("save it as UTF-8")
    })?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// The message of the operating system without its error number.
pub(super) fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
}

fn object(revision: &str, path: &Path) -> String {
    format!("{revision}:./{}", path.display())
}

/// The entries below a folder.
struct Below {
    files: Vec<PathBuf>,
    /// Links to files outside.
    links_out: Vec<PathBuf>,
}

fn walk(root: &Path) -> Result<Below, InputError> {
    let mut pending = vec![root.to_owned()];
    let mut below = Below { files: Vec::new(), links_out: Vec::new() };
    while let Some(folder) = pending.pop() {
        let unreadable =
            |error| InputError::new(Trouble::Wrong, format!("cannot read {}: {}", folder.display(), plain(&error)));
        let inside = root.canonicalize().map_err(unreadable)?;
        for entry in fs::read_dir(&folder).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            if entry.file_name().to_string_lossy().starts_with('.') {
                continue;
            }
            let (path, kind) = (entry.path(), entry.file_type().map_err(unreadable)?);
            // Links to folders are not followed, so there are no loops.
            if kind.is_dir() {
                pending.push(path);
            } else if has_ending(&path) && path.is_file() {
                let leaves = kind.is_symlink() && path.canonicalize().is_ok_and(|target| !target.starts_with(&inside));
                if leaves { below.links_out.push(path) } else { below.files.push(path) }
            }
        }
    }
    below.files.sort();
    below.links_out.sort();
    Ok(below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_joined_without_detours() {
        let joined = |folder: &str, path: &str| join(Path::new(folder), path).display().to_string();
        assert_eq!(joined("config/default", "../crd"), "config/crd");
        assert_eq!(joined("config", "./a/../b.yaml"), "config/b.yaml");
        assert_eq!(joined("", "../x"), "../x");
        assert_eq!(joined("..", "../x"), "../../x");
        assert_eq!(joined("a", "/b"), "/b");
    }
}
