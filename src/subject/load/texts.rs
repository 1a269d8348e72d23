//! Texts by where they are: a file, a directory, standard input, a command, a git revision.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{InputError, Trouble};

/// A text and its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// How it is named in messages.
    pub name: String,
    /// The text.
    pub text: String,
}

/// Reads texts relative to a folder.
#[derive(Debug, Clone)]
pub struct Texts {
    base: PathBuf,
}

/// Endings of files that are read from a directory.
const ENDINGS: [&str; 3] = ["yaml", "yml", "json"];

impl Texts {
    /// A reader whose relative paths start at this folder; the empty path is the current one.
    pub fn relative_to(base: impl Into<PathBuf>) -> Self {
        Self { base: base.into() }
    }

    /// Reads what a source names: `-`, `git:REF:PATH`, a file or a directory.
    pub fn read(&self, source: &str) -> Result<Vec<Text>, InputError> {
        if source == "-" {
            return Self::stdin().map(|text| vec![text]);
        }
        if let Some(rest) = source.strip_prefix("git:") {
            let Some((revision, path)) =
                rest.split_once(':').filter(|(revision, path)| !revision.is_empty() && !path.is_empty())
            else {
                let error = InputError::new(Trouble::Wrong, format!("{source:?} names no revision and path"));
                return Err(error.help("write git:REF:PATH, such as git:v1.4.0:config/crd"));
            };
            return self.git(revision, path);
        }
        let path = self.base.join(source);
        let metadata = fs::metadata(&path).map_err(|error| {
            InputError::new(Trouble::Wrong, format!("cannot read {}: {}", path.display(), plain(&error)))
                .help("give a file, a directory, git:REF:PATH, or - for standard input")
        })?;
        if metadata.is_dir() { directory(&path) } else { file(&path).map(|text| vec![text]) }
    }

    /// Reads every manifest below a folder that is text; what is not is left out.
    pub fn scan(&self, folder: &Path) -> Result<Vec<Text>, InputError> {
        Ok(manifests_below(&self.base.join(folder))?.iter().filter_map(|path| file(path).ok()).collect())
    }

    fn stdin() -> Result<Text, InputError> {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).map_err(|error| {
            InputError::new(Trouble::Wrong, format!("cannot read standard input: {}", plain(&error)))
        })?;
        Ok(Text { name: "-".into(), text })
    }

    /// Runs a command and takes what it prints.
    pub fn command(&self, command: &[String]) -> Result<Text, InputError> {
        let Some((program, arguments)) = command.split_first() else {
            return Err(
                InputError::new(Trouble::Wrong, "the command is empty").help("write [kustomize, build, config/crd]")
            );
        };
        let name = format!("`{}`", command.join(" "));
        let output =
            Command::new(program).args(arguments).current_dir(self.folder()).stdin(Stdio::null()).output().map_err(
                |error| {
                    InputError::new(Trouble::Environment, format!("cannot run {name}: {}", plain(&error)))
                        .help(format!("install {program} or correct the command"))
                },
            )?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            let last = said.lines().last().unwrap_or("it said nothing");
            let error = InputError::new(Trouble::Environment, format!("{name} failed ({}): {last}", output.status));
            return Err(error.help("run the command by hand and mend what it complains about"));
        }
        Ok(Text { text: utf8(&name, output.stdout)?, name })
    }

    fn git(&self, revision: &str, path: &str) -> Result<Vec<Text>, InputError> {
        if revision.starts_with('-') {
            return Err(InputError::new(Trouble::Wrong, format!("{revision:?} is no git revision")));
        }
        let listed = self.git_output(&["ls-tree", "-r", "-z", "--name-only", revision, "--", path])?;
        let mut paths: Vec<&str> = listed.split('\0').filter(|path| !path.is_empty()).collect();
        if paths != [path] {
            paths.retain(|path| has_ending(Path::new(path)));
        }
        if paths.is_empty() {
            let error = InputError::new(Trouble::Wrong, format!("revision {revision} has no manifests at {path}"));
            return Err(error.help(format!("`git ls-tree -r {revision}` shows what is there")));
        }
        paths.sort_unstable();
        paths
            .into_iter()
            .map(|path| {
                let text = self.git_output(&["show", &format!("{revision}:./{path}")])?;
                Ok(Text { name: format!("git:{revision}:{path}"), text })
            })
            .collect()
    }

    fn git_output(&self, arguments: &[&str]) -> Result<String, InputError> {
        let output =
            Command::new("git").args(arguments).current_dir(self.folder()).stdin(Stdio::null()).output().map_err(
                |error| {
                    InputError::new(Trouble::Environment, format!("cannot run git: {}", plain(&error)))
                        .help("install git")
                },
            )?;
        if output.status.success() {
            return utf8("git", output.stdout);
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.lines().next().unwrap_or_default().trim_start_matches("fatal: ");
        let error = InputError::new(Trouble::Wrong, format!("git {}: {said}", arguments[0]));
        Err(error.help("fetch the revision (in CI: a checkout with history), and run inside its repository"))
    }

    fn folder(&self) -> &Path {
        if self.base.as_os_str().is_empty() { Path::new(".") } else { &self.base }
    }
}

fn file(path: &Path) -> Result<Text, InputError> {
    let name = path.display().to_string();
    let bytes = fs::read(path)
        .map_err(|error| InputError::new(Trouble::Wrong, format!("cannot read {name}: {}", plain(&error))))?;
    Ok(Text { text: utf8(&name, bytes)?, name })
}

fn directory(path: &Path) -> Result<Vec<Text>, InputError> {
    manifests_below(path)?.iter().map(|path| file(path)).collect()
}

/// All manifests below a directory, by path. Hidden folders and files are not entered.
fn manifests_below(path: &Path) -> Result<Vec<PathBuf>, InputError> {
    let mut pending = vec![path.to_owned()];
    let mut files = Vec::new();
    while let Some(folder) = pending.pop() {
        let unreadable =
            |error| InputError::new(Trouble::Wrong, format!("cannot read {}: {}", folder.display(), plain(&error)));
        for entry in fs::read_dir(&folder).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            if entry.file_name().to_string_lossy().starts_with('.') {
                continue;
            }
            let path = entry.path();
            // Links to folders are not followed, so a loop cannot be entered.
            if entry.file_type().map_err(unreadable)?.is_dir() {
                pending.push(path);
            } else if has_ending(&path) && path.is_file() {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

fn has_ending(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known)))
}

fn utf8(name: &str, bytes: Vec<u8>) -> Result<String, InputError> {
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        InputError::new(Trouble::Wrong, format!("{name} is not UTF-8 text (byte {at})")).help("save it as UTF-8")
    })?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// The words of the operating system without the number behind them.
fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
}
