//! Sources of texts: a file, a directory, standard input, a command, a git revision.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::command::{self, Commands};
use super::tree::{self, Found, Tree, file, plain};
use super::{InputError, Trouble, kustomize};

/// A text and its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// Its name in messages.
    pub name: String,
    /// The text.
    pub text: String,
}

/// Reads texts relative to a folder.
#[derive(Debug, Clone)]
pub struct Texts {
    base: PathBuf,
    commands: Commands,
}

impl Texts {
    /// A reader whose relative paths start at this folder; the empty path is the current one.
    pub fn relative_to(base: impl Into<PathBuf>) -> Self {
        Self { base: base.into(), commands: Commands::default() }
    }

    /// Sets the permission to run commands.
    pub(super) fn with(self, commands: Commands) -> Self {
        Self { commands, ..self }
    }

    /// Reads a source: `-`, `git:REF:PATH`, a file or a directory.
    pub fn read(&self, source: &str) -> Result<Vec<Text>, InputError> {
        if source == "-" {
            return Self::stdin().map(|text| vec![text]);
        }
        let (tree, path) = self.locate(source)?;
        match (tree.look(&path), &tree) {
            (Found::File, _) => tree.read(&path).map(|text| vec![text]),
            (Found::Folder, Tree::Disk) => tree.manifests_below(&path)?.iter().map(|path| tree.read(path)).collect(),
            (Found::Nothing, Tree::Disk) => {
                // Reading its metadata gives the reason.
                let error = std::fs::metadata(&path).err().map(|error| plain(&error)).unwrap_or_default();
                let error = InputError::new(Trouble::Wrong, format!("cannot read {}: {error}", path.display()));
                Err(error.help(
                    "give a file, a directory, git:REF:PATH, or - for standard input; `crdproof init` looks for CRDs below \
                     this folder",
                ))
            }
            (Found::Folder | Found::Nothing, Tree::Git { revision, .. }) => {
                let paths = tree.manifests_below(&path)?;
                if paths.is_empty() {
                    let message = format!("revision {revision} has no manifests at {}", path.display());
                    let error = InputError::new(Trouble::Wrong, message);
                    return Err(error.help(format!("`git ls-tree -r {revision}` shows what is there")));
                }
                paths.iter().map(|path| tree.read(path)).collect()
            }
        }
    }

    /// Returns the tree and the path that a source names, except for standard input.
    pub(super) fn locate(&self, source: &str) -> Result<(Tree, PathBuf), InputError> {
        let Some(rest) = source.strip_prefix("git:") else {
            return Ok((Tree::Disk, self.base.join(source)));
        };
        let named = rest.split_once(':').filter(|(revision, path)| !revision.is_empty() && !path.is_empty());
        let Some((revision, path)) = named else {
            let error = InputError::new(Trouble::Wrong, format!("{source:?} names no revision and path"));
            return Err(error.help("write git:REF:PATH, such as git:v1.4.0:config/crd"));
        };
        if revision.starts_with('-') {
            return Err(InputError::new(Trouble::Wrong, format!("{revision:?} is not a git revision")));
        }
        let tree = Tree::Git { folder: self.base.clone(), revision: revision.to_owned() };
        Ok((tree, tree::join(Path::new(""), path)))
    }

    /// Returns the kustomization that a source names, by its folder or its file.
    pub(super) fn kustomization(&self, source: &str) -> Result<Option<(Tree, PathBuf)>, InputError> {
        if source == "-" {
            return Ok(None);
        }
        let (tree, path) = self.locate(source)?;
        let path = tree::join(Path::new(""), &path.to_string_lossy());
        let file = match tree.look(&path) {
            Found::Folder => kustomize::find(&tree, &path),
            Found::File => Some(path).filter(|path| kustomize::is_kustomization(path)),
            Found::Nothing => None,
        };
        Ok(file.map(|file| (tree, file)))
    }

    /// Returns true if a source names a folder.
    pub(super) fn is_folder(&self, source: &str) -> Result<bool, InputError> {
        if source == "-" {
            return Ok(false);
        }
        let (tree, path) = self.locate(source)?;
        Ok(tree.look(&path) == Found::Folder)
    }

    /// Reads every text manifest below a folder; skips binary files.
    pub fn scan(&self, folder: &Path) -> Result<Vec<Text>, InputError> {
        let paths = Tree::Disk.manifests_below(&self.base.join(folder))?;
        Ok(paths.iter().filter_map(|path| file(path).ok()).collect())
    }

    fn stdin() -> Result<Text, InputError> {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).map_err(|error| {
            InputError::new(Trouble::Wrong, format!("cannot read standard input: {}", plain(&error)))
        })?;
        Ok(Text { name: "-".into(), text })
    }

    /// Runs a command and returns its output.
    pub fn command(&self, words: &[String]) -> Result<Text, InputError> {
        match self.commands.why_not() {
            Some(why) => Err(InputError::new(Trouble::Wrong, format!("the command is not run: {why}"))),
            None => command::run(words, &self.base),
        }
    }

    /// Returns the permission to run commands.
    pub(super) fn commands(&self) -> Commands {
        self.commands
    }
}
