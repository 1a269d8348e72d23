//! Saved counterexamples: objects that made a check fail, in a folder beside the subject file.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::evidence::Counterexample;
use crate::report::{Outcome, Report};
use crate::run::quoted;
use crate::subject::Subject;
use crate::subject::load::{InputError, Trouble};
use anyhow::Result;

use super::args::SubjectArgs;
use super::console::Console;
use super::files::{self, For};

/// A counterexample and its file.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) path: PathBuf,
    pub(crate) counterexample: Counterexample,
}

/// The folder of the subject's counterexamples; `None` if there is no subject file, or it is not a regular file.
pub(crate) fn folder(args: &SubjectArgs) -> Option<PathBuf> {
    let file = args.file.as_deref().unwrap_or(Path::new("crdproof.yaml"));
    (args.sources.is_empty() && file.is_file()).then(|| file.with_file_name(".crdproof").join("counterexamples"))
}

/// All counterexamples of a folder, by name; none if the folder does not exist.
pub(crate) fn load(folder: &Path) -> Result<Vec<Kept>> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(Vec::new()),
        Err(error) => return Err(files::cannot("read", folder, &error).into()),
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    let is_hidden = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    paths.retain(|path| !is_hidden(path) && path.extension().is_some_and(|ending| ending == "json"));
    paths.sort();
    paths.iter().map(|path| read(path)).collect()
}

/// Reads one counterexample.
pub(crate) fn read(path: &Path) -> Result<Kept> {
    let wrong = |what: String| {
        InputError::new(Trouble::Wrong, format!("{}: {what}", path.display()))
            .help("remove the file; the next `crdproof run` saves what still fails")
    };
    let text =
        std::fs::read_to_string(path).map_err(|error| wrong(format!("this counterexample cannot be read: {error}")))?;
    let counterexample = Counterexample::read(&text).map_err(|error| wrong(error.to_string()))?;
    Ok(Kept { path: path.to_owned(), counterexample })
}

/// Saves counterexamples, each to a file that only its owner can read. Replaces an older one of the same finding.
fn save(folder: &Path, counterexamples: &[Counterexample]) -> Result<()> {
    if counterexamples.is_empty() {
        return Ok(());
    }
    let fresh = !folder.exists();
    files::private_folder(folder)?;
    if fresh {
        // They contain unredacted objects, so they must not get into a repository by accident.
        files::write(&folder.join(".gitignore"), "*\n", For::All)?;
    }
    for counterexample in counterexamples {
        files::write(&folder.join(counterexample.file_name()), &counterexample.write(), For::User)?;
    }
    Ok(())
}

/// Returns the number of counterexamples that no longer fail, of those whose checks were judged.
pub(crate) fn passing(counterexamples: &[Kept], report: &Report) -> usize {
    let judged = |counterexample: &Counterexample| {
        report.results.iter().any(|result| {
            result.check == counterexample.check
                && result.crd == counterexample.crd
                && matches!(result.outcome, Outcome::Passed | Outcome::Failed)
        })
    };
    let broken = |counterexample: &Counterexample| {
        report.findings.iter().any(|finding| finding.is_named(&counterexample.fingerprint))
    };
    let is_there = |counterexample: &Counterexample| {
        let crd = report.crds.iter().find(|crd| crd.name == counterexample.crd);
        crd.is_some_and(|crd| crd.versions.iter().any(|version| version.name == counterexample.version))
    };
    counterexamples
        .iter()
        .filter(|kept| is_there(&kept.counterexample) && judged(&kept.counterexample) && !broken(&kept.counterexample))
        .count()
}

/// Saves counterexamples, and adds to their findings how to replay them. An unwritable folder must not prevent the
/// report.
pub(crate) fn keep(
    subject: &Subject,
    folder: &Path,
    counterexamples: &[Counterexample],
    report: &mut Report,
    console: Console,
) {
    if let Err(error) = save(folder, counterexamples) {
        console.say(&format!("○ counterexamples are not saved for `crdproof replay`: {error}"));
        return;
    }
    let named: String = subject.arguments.iter().flatten().map(|argument| format!(" {}", quoted(argument))).collect();
    for counterexample in counterexamples {
        for finding in report.findings.iter_mut().filter(|finding| finding.fingerprint == counterexample.fingerprint) {
            let path = folder.join(counterexample.file_name()).display().to_string();
            finding.reproduce = Some(format!("crdproof replay{named} {}", quoted(&path)));
            if let (Some(shard), Some(replay)) = (&mut report.shard, &finding.reproduce) {
                shard.replays.insert(finding.fingerprint.clone(), replay.clone());
            }
        }
    }
}
