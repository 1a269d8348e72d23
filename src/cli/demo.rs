//! `demo`: runs all suites on an example operator, on an API server that is installed for it.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Parser as _;

use super::args::demo::DemoArgs;
use super::args::{Cli, Command};
use super::console::Console;
use super::exit::Exit;
use super::files::{self, For};
use super::{env, run};
use crate::run::quoted;
use crate::subject::load::InputError;

const SUBJECT: &str = include_str!("../../fixtures/crds/databases/crdproof.yaml");
const CRD: &str = include_str!("../../fixtures/crds/databases/crds/databases.yaml");
const SAMPLES: &str = include_str!("../../fixtures/crds/databases/samples/databases.yaml");

/// The line that keeps the password at v1, and the same turned off.
const STASH: &str = "  stash:\n  - {from";
const NO_STASH: &str = "  # The defect: v1 has no place for the password, and nothing keeps it.\n  \
                        # To fix it, turn these two comments into YAML.\n  # stash:\n  # - {from";

/// Writes the example, and runs all suites on it.
pub(crate) fn demo(args: &DemoArgs, console: Console) -> Result<Exit> {
    let default = if args.defect { "crdproof-demo-defect" } else { "crdproof-demo" };
    let folder = args.folder.clone().unwrap_or_else(|| PathBuf::from(default));
    write(&folder, args.defect)?;
    console.say(&format!(
        "► the example operator is in {}: a CRD with two versions, samples, a converter",
        folder.display()
    ));
    let server = install(args, console)?;
    let (subject, report) = (folder.join("crdproof.yaml"), folder.join("report.html"));
    let (subject, report) = (subject.display().to_string(), report.display().to_string());
    let mut words = vec!["crdproof", "run", "-f", &subject, "--suite", "all"];
    if server.is_none() {
        words.extend(["--kubernetes", &args.kubernetes]);
    }
    let html = format!("html={report}");
    words.extend(["--report", &html]);
    let shown: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    console.say(&format!("► {}", shown.join(" ")));
    // The flags of `run` have their defaults in one place.
    let Command::Run(mut flags) = Cli::try_parse_from(&words)?.command else {
        anyhow::bail!("{} is another command", shown.join(" "));
    };
    flags.matrix.server.sources = args.sources.clone();
    let exit = run::run(&flags, console)?;
    console.say(&format!("► the report, for a browser: {report}"));
    Ok(match server {
        Some(error) if exit == Exit::Success => {
            let why = error.to_string();
            console.say(&format!("○ nothing ran on an API server: {}", why.lines().next().unwrap_or_default()));
            Exit::Environment
        }
        _ => exit,
    })
}

/// Installs the API server. Returns the reason if that fails, so that the rest can still be shown.
fn install(args: &DemoArgs, console: Console) -> Result<Option<InputError>> {
    let installed =
        env::with_progress(&env::store()?, &args.sources, console, |installer| installer.install_one(&args.kubernetes));
    let Err(error) = installed else { return Ok(None) };
    let error = error.downcast::<InputError>()?;
    let help = error.help.as_ref().map(|help| format!("\n  = help: {help}")).unwrap_or_default();
    console.say(&format!("○ no API server for Kubernetes {}, scenarios are left out: {error}{help}", args.kubernetes));
    Ok(Some(error))
}

/// Writes the files of the example. Keeps existing ones: the user may have changed them.
fn write(folder: &Path, defect: bool) -> Result<()> {
    let subject = if defect { SUBJECT.replace(STASH, NO_STASH) } else { SUBJECT.to_owned() };
    let crd = ("crds/databases.yaml", CRD.to_owned());
    let files = [("crdproof.yaml", subject), crd, ("samples/databases.yaml", SAMPLES.to_owned())];
    for (name, text) in files {
        let path = folder.join(name);
        if path.exists() {
            continue;
        }
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(|error| files::cannot("create", parent, &error))?;
        }
        files::write(&path, &text, For::All)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subject::load;

    #[test]
    fn the_defect_is_the_missing_stash() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), true).unwrap();
        let file = folder.path().join("crdproof.yaml");
        assert!(load::from_file(&file).unwrap().file.field_maps[0].stash.is_empty());
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, text.replace("# stash", "stash").replace("# - {", "- {")).unwrap();
        // Changed files are kept.
        write(folder.path(), true).unwrap();
        assert_eq!(load::from_file(&file).unwrap().file.field_maps[0].stash.len(), 1);
    }
}
