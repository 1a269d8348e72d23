//! `minimum`: the Kubernetes release that a subject needs, derived and then verified.

mod text;
mod with;

use std::path::PathBuf;
use std::time::Instant;

use crate::act::Stop;
use crate::checks::minimum::bisect::{Search, most_questions};
use crate::checks::minimum::{Answer, Gap, ReleaseResult, Requirements, Searched, Tested, judge, suspects};
use crate::operate::minimum;
use crate::run::Redactor;
use crate::subject::Subject;
use crate::subject::load::{InputError, Trouble};
use anyhow::Result;
use crdproof_envtest::binaries::{Care, Store};
use crdproof_envtest::local::{Binaries, Local};
use crdproof_envtest::{Server, runtime};
use crdproof_schema::kubernetes::{KubeVersion, Selector, SelectorError};

use super::args::TextFormat;
use super::args::minimum::MinimumArgs;
use super::console::Console;
use super::env;
use super::env::run::interrupted;
use super::exit::Exit;
use super::interrupt;
use super::progress::Live;
use super::servers::cluster_error;
use super::subject::load;

/// An installed release.
struct Release {
    version: KubeVersion,
    folder: PathBuf,
}

/// Finds the lowest release.
pub(crate) fn minimum(args: &MinimumArgs, console: Console) -> Result<Exit> {
    let subject = load(&args.subject)?;
    let requirements = Requirements::of(&subject);
    // Errors in the flags are reported before servers are searched.
    if let Some(name) = &args.with {
        with::run_flags(name, KubeVersion::NEWEST, args.seed, &subject)?;
    }
    let stop = interrupt::remembered();
    let answer = if args.derive_only {
        Answer::derived_only(&subject, requirements)
    } else {
        let releases = installed(&env::store()?, &args.kubernetes)?;
        let Some(answer) = prove(&subject, requirements, &releases, args, &stop, console)? else {
            return Ok(interrupted(console));
        };
        answer
    };
    match args.format {
        TextFormat::Json => console.print(&format!("{}\n", serde_json::to_string_pretty(&answer)?))?,
        TextFormat::Text => console.print(&text::text(&answer))?,
    }
    Ok(if answer.minimum.is_some() { Exit::Success } else { Exit::Findings })
}

/// The selected releases of the cache, and of `KUBEBUILDER_ASSETS`, the oldest first. Downloads and builds nothing.
fn installed(store: &Store, selectors: &[String]) -> Result<Vec<Release>> {
    // The folder that the user names comes before the cache, as in other commands.
    let given = env::assets()?.map(|assets| Release { version: assets.version, folder: assets.folder });
    let entries = store.entries().into_iter().filter(|entry| entry.fault(Care::Quick).is_none());
    let kept = entries.filter_map(|entry| Some(Release { version: entry.manifest.kubernetes?, folder: entry.folder }));
    let mut all: Vec<Release> = given.into_iter().chain(kept).collect();
    all.sort_by_key(|release| release.version);
    all.dedup_by_key(|release| release.version);
    let newest = all.last().map(|release| release.version);
    let mut wanted = vec![selectors.is_empty(); all.len()];
    for text in selectors {
        let selector: Selector = text.parse().map_err(|error: SelectorError| {
            InputError::new(Trouble::Wrong, error.to_string())
                .help("write 1.36 (every patch in the cache), 1.36.4, ~1.31, 1.30..1.37, latest or installed")
        })?;
        let mut named = false;
        for (release, wanted) in all.iter().zip(&mut wanted) {
            let fits =
                selector.matches(release.version) && (selector != Selector::Latest || Some(release.version) == newest);
            *wanted |= fits;
            named |= fits;
        }
        if !named {
            let error = InputError::new(Trouble::Environment, format!("the cache has no Kubernetes {text}"));
            return Err(error
                .help(format!("`crdproof env use {text}` installs it, `crdproof env list` shows all"))
                .into());
        }
    }
    let mut wanted = wanted.into_iter();
    all.retain(|_| wanted.next() == Some(true));
    if all.is_empty() {
        let error = InputError::new(Trouble::Environment, "no release is installed to test it on");
        return Err(error.help("`crdproof env use 1.36` installs one; --derive-only needs none").into());
    }
    Ok(all)
}

/// Tests one release after the other. Returns `None` if interrupted.
fn prove(
    subject: &Subject,
    requirements: Requirements,
    releases: &[Release],
    args: &MinimumArgs,
    stop: &Stop,
    console: Console,
) -> Result<Option<Answer>> {
    let versions: Vec<KubeVersion> = releases.iter().map(|release| release.version).collect();
    // The table does not know the requirements of a command or a suite.
    let custom = !args.command.is_empty() || args.with.is_some();
    let suspects = suspects(subject, &requirements, &versions, custom);
    // A release with a known defect says nothing about the order of releases, so it is tested separately. The newest
    // always counts.
    let is_suspect = |index: &usize| index + 1 < versions.len() && suspects.iter().any(|one| one.has(versions[*index]));
    let (apart, ordered): (Vec<usize>, Vec<usize>) = (0..versions.len()).partition(is_suspect);
    let guess = ordered.iter().position(|index| requirements.allow(versions[*index]));
    let mut search = Search::new(ordered.len(), guess.filter(|_| !custom));
    let mut tested: Vec<Option<Tested>> = releases.iter().map(|_| None).collect();
    let mut wrong: Vec<Gap> = Vec::new();
    let most = most_questions(ordered.len());
    console.say(&format!("○ {} installed releases, at most {most} servers", releases.len()));
    let redact = Redactor::over(subject, false);
    let test = |index: usize, wrong: Option<&[Gap]>| -> Result<Option<(Tested, Vec<Gap>)>> {
        let started = Instant::now();
        // A command prints by itself, and a suite shows its own steps.
        let live = Live::new(console, custom);
        live.show(format!("Kubernetes {}: installing CRDs, sending objects", versions[index]));
        if stop.is_requested() {
            return Ok(None);
        }
        let Some(mut result) = test_release(&releases[index], subject, args, stop, console)? else { return Ok(None) };
        result.redact(&|text| redact.redact(text));
        // If the newest release has every feature by table, it is right, and our expectation was wrong.
        let ours = if requirements.allow(versions[index]) { result.wrong_expectations() } else { Vec::new() };
        result.excuse(wrong.unwrap_or(&ours));
        drop(live);
        let sign = if result.is_good() { '✔' } else { '✗' };
        console.say(&format!("{sign} {} after {:.1} s", versions[index], started.elapsed().as_secs_f64()));
        Ok(Some((Tested { release: versions[index], good: result.is_good(), result }, ours)))
    };
    while let Some(at) = search.next() {
        let index = ordered[at];
        let first = search.answered() == 0;
        let Some((one, ours)) = test(index, (!first).then_some(&wrong))? else { return Ok(None) };
        if first {
            wrong = ours;
        }
        search.record(at, one.good);
        tested[index] = Some(one);
    }
    let bound = search.bound();
    let servers = search.answered();
    // Releases below one that fails do not matter.
    let above = bound.below.map_or(0, |below| ordered[below]);
    for index in apart.into_iter().filter(|index| bound.lowest.is_some() && *index >= above) {
        let Some((one, _)) = test(index, Some(&wrong))? else { return Ok(None) };
        tested[index] = Some(one);
    }
    let searched = Searched {
        lowest: bound.lowest.map(|at| ordered[at]),
        strays: bound.strays.iter().map(|at| ordered[*at]).collect(),
        servers,
    };
    Ok(Some(Answer::proven(subject, requirements, &versions, tested, &searched, &suspects)))
}

/// Tests one release. Returns `None` if interrupted.
fn test_release(
    release: &Release,
    subject: &Subject,
    args: &MinimumArgs,
    stop: &Stop,
    console: Console,
) -> Result<Option<ReleaseResult>> {
    if let Some(name) = &args.with {
        let question = with::run_flags(name, release.version, args.seed, subject)?;
        return with::test(&question, subject, stop, console);
    }
    let result = runtime::block_on(async {
        let builder = Local::builder(Binaries::in_folder(&release.folder));
        let Some(server) = runtime::unless_interrupted(builder.start()).await else { return Ok(None) };
        let server = Server::Local(Box::new(server?));
        let testing = async {
            match args.command.as_slice() {
                [] => minimum::attempt(&server, subject, args.seed).await.map(|attempts| judge(&attempts)),
                words => minimum::run_command(&server, subject, words, args.timeout.0).await,
            }
        };
        let result = runtime::unless_interrupted(testing).await;
        server.stop_after(result.transpose()).await
    });
    Ok(result.map_err(cluster_error)?.map_err(cluster_error)?)
}
