//! `cargo xtask record-verdicts`: records the responses of a real API server to the cases in `fixtures/verdicts`.

mod cases;
mod fixture;
mod recorder;
mod server;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};

use self::cases::Theme;
use self::fixture::RecordedCase;
use self::recorder::Recorder;
use self::server::Server;
use crate::interrupt::Interrupt;
use crate::repository;

/// Record the responses of a real API server to the cases in fixtures/verdicts
///
/// Installs every case as a separate CRD in the group verdicts.example.com (cluster scoped, one version v1). Sends
/// every object with dryRun=All and fieldValidation=Ignore, and writes the responses to OUT/VERSION/THEME.json. Deletes
/// the definitions at the end, also after an error or Ctrl-C.
#[derive(clap::Args)]
#[command(after_long_help = CASE_FILES)]
pub(crate) struct Args {
    /// Address of the API server; use a server for tests
    #[arg(long, value_name = "URL")]
    server: String,
    /// Certificate authority of the server, PEM
    #[arg(long, value_name = "FILE")]
    ca: PathBuf,
    /// Bearer token of a user who may manage CRDs
    #[arg(long, value_name = "FILE")]
    token_file: PathBuf,
    /// Folder to write to (default: fixtures/verdicts/recorded)
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Themes to record (default: all)
    #[arg(value_name = "THEME")]
    themes: Vec<String>,
}

const CASE_FILES: &str = "\
Case files (one YAML document per theme):

  theme: numbers
  cases:
    - name: integer accepts an integral float
      schema: {type: integer}      # schema of .spec.value, objects are its values
      objects: [1, 1.0, 1.5, \"1\"]

Instead of `schema` a case may have `specSchema` (objects are values of .spec) or
`rootSchema` (objects are whole objects; apiVersion, kind and metadata.name are
added where missing). `status: true` enables the status subresource.
`updates: true`: objects are {old: ..., new: ...}; old is created, new is sent as
an update. With `oldSchema`, `oldSpecSchema` or `oldRootSchema` the old objects are
created under that schema first. `objects: []` is for definitions that the server
is expected to refuse.

Example:
  cargo xtask record-verdicts --server https://127.0.0.1:6443 --ca ca.crt --token-file token numbers cel";

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let interrupt = Interrupt::listen()?;
    let fixtures = repository().join("fixtures/verdicts");
    let themes = load_themes(&fixtures, &args.themes)?;
    let server = Server::new(&args.server, &args.ca, &args.token_file)?;
    let version = server.version()?;
    let out = args.out.clone().unwrap_or_else(|| fixtures.join("recorded")).join(&version);
    fs::create_dir_all(&out).with_context(|| format!("cannot create {}", out.display()))?;

    let mut recorder = Recorder::new(server, interrupt);
    let count = record_all(&mut recorder, &themes, &version, &out);
    // After an error, definitions of the current theme are still installed.
    let removed = recorder.remove_definitions();
    if let Err(error) = &removed {
        eprintln!("error: {error:#}");
    }
    println!("{} objects recorded in {}", count?, out.display());
    Ok(if removed.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn load_themes(fixtures: &Path, names: &[String]) -> anyhow::Result<Vec<Theme>> {
    let files = if names.is_empty() {
        let entries = fs::read_dir(fixtures).with_context(|| format!("cannot read {}", fixtures.display()))?;
        let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        files.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
        files.sort();
        files
    } else {
        names.iter().map(|name| fixtures.join(format!("{name}.yaml"))).collect()
    };
    if files.is_empty() {
        bail!("{} contains no case files", fixtures.display());
    }
    files.iter().map(|file| Theme::load(file)).collect()
}

/// Records all themes, one after the other, and returns the number of objects.
fn record_all(recorder: &mut Recorder, themes: &[Theme], version: &str, out: &Path) -> anyhow::Result<usize> {
    let mut total = 0;
    for theme in themes {
        let cases = recorder.record(theme)?;
        recorder.remove_definitions()?;
        let path = out.join(format!("{}.json", theme.name));
        fs::write(&path, fixture::render(version, &theme.sha256, &theme.name, &cases))
            .with_context(|| format!("cannot write {}", path.display()))?;
        total += print_summary(&theme.name, &cases);
    }
    Ok(total)
}

/// Prints one line about a theme, and returns the number of its objects.
fn print_summary(theme: &str, cases: &[RecordedCase]) -> usize {
    let refused = cases.iter().filter(|case| case.refusal.is_some()).count();
    let objects: Vec<_> = cases.iter().flat_map(|case| &case.objects).collect();
    let accepted = objects.iter().filter(|object| object["code"].as_u64().is_some_and(|code| code < 300)).count();
    let count = objects.len();
    println!("{theme}: {} cases ({refused} definitions refused), {count} objects ({accepted} accepted)", cases.len());
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_case_files_of_the_repository_load() {
        let themes = load_themes(&repository().join("fixtures/verdicts"), &[]).unwrap();
        assert!(themes.len() >= 19);
        assert!(themes.iter().map(|theme| theme.cases.len()).sum::<usize>() >= 327);
    }
}
