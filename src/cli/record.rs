//! Recordings: whole runs in folders that only their owner can open, and `judge`, which judges them again.

use std::fs;
use std::path::{Path, PathBuf};

use crate::report::{Conduct, Wire, har};
use crate::run::{self as engine, HEADER, Header, Options, Plan, Ran, Recording, Settings, quoted};
use crate::subject::load::{InputError, Trouble};
use anyhow::Result;

use super::args::SelectionArgs;
use super::args::replay::JudgeArgs;
use super::console::Console;
use super::exit::Exit;
use super::files::{self, For};
use super::output;
use super::servers::nothing;
use super::subject::{load, options, settings};

/// Refuses a folder that contains something else than a recording, before anything runs.
pub(crate) fn check(folder: &Path) -> Result<()> {
    let wrong = |what: &str| {
        let error = InputError::new(Trouble::Wrong, format!("{} {what}", folder.display()));
        error.help("pass a new folder; only recordings are replaced")
    };
    let mut entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(wrong(&format!("cannot be used: {error}")).into()),
    };
    let is_recording = || fs::read_to_string(folder.join(HEADER)).is_ok_and(|text| Header::read(&text).is_ok());
    if entries.next().is_some() && !is_recording() {
        return Err(wrong("is neither empty nor a recording").into());
    }
    Ok(())
}

/// Writes a recording beside its final place and moves it there. Replaces an existing one.
pub(crate) fn write(folder: &Path, recording: &Recording) -> Result<()> {
    // The same name with and without a trailing slash is the same folder.
    let folder: PathBuf = folder.components().collect();
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let beside = |word: &str| folder.with_file_name(format!(".{name}.{word}.{}", std::process::id()));
    let (draft, old) = (beside("new"), beside("old"));
    let written = write_files(&draft, recording).and_then(|()| {
        let failed = |error| files::cannot("write", &folder, &error);
        if folder.exists() {
            fs::rename(&folder, &old).map_err(failed)?;
        }
        fs::rename(&draft, &folder).map_err(|error| {
            // Restore the previous recording.
            let _ = fs::rename(&old, &folder);
            failed(error).into()
        })
    });
    for rest in [draft, old] {
        // They may already be gone.
        let _ = fs::remove_dir_all(rest);
    }
    written
}

fn write_files(folder: &Path, recording: &Recording) -> Result<()> {
    files::private_folder(folder)?;
    recording.files().try_for_each(|(name, text)| files::write(&folder.join(name), &text, For::User))
}

/// Writes the requests to the converter as an HTTP archive.
pub(crate) fn write_har(
    path: &Path,
    plan: &Plan<'_>,
    ran: &Ran,
    started: jiff::Timestamp,
    console: Console,
) -> Result<()> {
    if ran.exchanges.is_empty() {
        console.say(&format!("○ no HTTP requests were sent, so {} has no entries", path.display()));
    }
    let crds = plan.subject.crds.iter();
    let wires = crds.filter_map(|crd| ran.exchanges.get(&crd.name).map(|exchanges| Wire { crd, exchanges }));
    let wires: Vec<_> = wires.collect();
    let webhook = plan.subject.file.converter.as_ref().and_then(|converter| converter.webhook.as_ref());
    let url = webhook.and_then(|webhook| webhook.url.as_deref()).unwrap_or_default();
    files::write(path, &har(&wires, url, started, plan.settings.show_secrets), For::User)
}

/// Judges a recording, without calling a converter or server.
pub(crate) fn judge(args: &JudgeArgs, console: Console) -> Result<Exit> {
    output::requests(&args.report)?;
    let recording = Recording::read(|name| fs::read_to_string(args.recording.join(name))).map_err(|error| {
        InputError::new(Trouble::Wrong, format!("{}/{error}", args.recording.display()))
            .help("name a folder that `crdproof run --record FOLDER` wrote")
    })?;
    let subject = load(&args.subject.subject())?;
    let implementation = output::implementation(&subject, &args.report)?;
    for change in recording.changes(&subject) {
        console.say(&format!("○ {change}"));
    }
    let mut selection = recording.header.selection.clone();
    if args.chooses() {
        let chosen = SelectionArgs {
            suites: args.suites.clone(),
            only: args.only.clone(),
            except: args.except.clone(),
            ..SelectionArgs::default()
        };
        let chosen = settings(&chosen, &subject)?.selection;
        let suites = if args.suites.is_empty() { selection.suites } else { chosen.suites };
        selection = engine::Selection { suites, ..chosen };
    }
    let folder = quoted(&args.recording.display().to_string());
    let named = args.subject.subject();
    let named = named.sources.iter().map(|source| format!(" --crd {}", quoted(source))).collect::<String>()
        + &named.file.map_or(String::new(), |file| format!(" -f {}", quoted(&file.display().to_string())));
    let command = format!("crdproof judge{named} {folder}");
    let settings = Settings {
        selection,
        seed: recording.header.seed,
        show_secrets: args.secrets.show_secrets,
        command: Some(command.clone()),
        ..Settings::default()
    };
    let observations = recording.observations();
    let plan = engine::plan_recorded(&subject, &settings, &observations);
    if plan.planned.is_empty() {
        return Err(nothing().into());
    }
    let options = Options { today: recording.header.day, ..options(args.report.jobs) };
    let report = engine::judge(&plan, &observations, &options).report;
    let minimum = subject.file.kubernetes.lowest().map(|version| version.to_string());
    let conduct = implementation.map(|implementation| Conduct {
        implementation,
        minimum: minimum.as_deref(),
        day: recording.header.day,
        command: &command,
        objects: recording.header.objects,
    });
    output::finish_conduct(&report, &args.report, conduct.as_ref(), console)
}
