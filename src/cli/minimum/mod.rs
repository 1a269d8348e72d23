//! `minimum`: which Kubernetes release a subject needs, derived and then proven.

mod answer;
mod windows;
mod with;

use std::path::PathBuf;
use std::time::Instant;

use crate::operate::minimum::{self, Lack, Sight};
use crate::run::Redactor;
use crate::run::bisect::{Search, most_questions};
use crate::subject::Subject;
use crate::subject::load::{InputError, Trouble};
use anyhow::Result;
use crdproof_envtest::binaries::{Care, Store};
use crdproof_envtest::local::{Binaries, Local};
use crdproof_envtest::{ClusterError, Server, runtime};
use crdproof_schema::kubernetes::{KubeVersion, Selector, SelectorError};

use super::args::TextFormat;
use super::args::minimum::MinimumArgs;
use super::console::Console;
use super::env;
use super::env::run::interrupted;
use super::exit::Exit;
use super::progress::Live;
use super::servers::cluster_error;
use super::subject::load;
use answer::{Answer, Derived, Found, Tested};

/// A installed release.
struct Release {
    version: KubeVersion,
    folder: PathBuf,
}

/// Finds the lowest release.
pub(crate) fn minimum(args: &MinimumArgs, console: Console) -> Result<Exit> {
    let subject = load(&args.subject)?;
    let derived = Derived::of(&subject);
    // What is wrong with the question is known before a server is looked for.
    if let Some(name) = &args.with {
        with::question(name, KubeVersion::NEWEST, args.seed, &subject)?;
    }
    let answer = if args.derive_only {
        Answer::derived_only(&subject, derived)
    } else {
        let releases = installed(&env::store()?, &args.kubernetes)?;
        let Some(answer) = prove(&subject, derived, &releases, args, console)? else {
            return Ok(interrupted(console));
        };
        answer
    };
    match args.format {
        TextFormat::Json => console.print(&format!("{}\n", serde_json::to_string_pretty(&answer)?))?,
        TextFormat::Text => console.print(&answer.text())?,
    }
    Ok(if answer.minimum.is_some() { Exit::Success } else { Exit::Findings })
}

/// The releases of the cache, and of `KUBEBUILDER_ASSETS`, that selectors name, the oldest first. Nothing is fetched or built for a search.
fn installed(store: &Store, selectors: &[String]) -> Result<Vec<Release>> {
    // What is given comes before what is kept, as everywhere.
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
            let error = InputError::new(Trouble::Environment, format!("the cache holds no Kubernetes {text}"));
            return Err(error.help(format!("`crdproof env use {text}` gets it, `crdproof env list` shows all")).into());
        }
    }
    let mut wanted = wanted.into_iter();
    all.retain(|_| wanted.next() == Some(true));
    if all.is_empty() {
        let error = InputError::new(Trouble::Environment, "the cache holds no release to prove it on");
        return Err(error.help("`crdproof env use 1.36` gets one; --derive-only needs none").into());
    }
    Ok(all)
}

/// Asks one release after the other. `None` where it was interrupted.
fn prove(
    subject: &Subject,
    derived: Derived,
    releases: &[Release],
    args: &MinimumArgs,
    console: Console,
) -> Result<Option<Answer>> {
    let versions: Vec<KubeVersion> = releases.iter().map(|release| release.version).collect();
    // What a command or a suite asks, the table does not know.
    let whatever = !args.command.is_empty() || args.with.is_some();
    let touched = windows::touched(subject, &derived, &versions, whatever);
    // What a known defect may spoil says nothing about the order of releases, and is tried apart. The newest always counts.
    let aside = |index: &usize| index + 1 < versions.len() && touched.iter().any(|one| one.has(versions[*index]));
    let (apart, ordered): (Vec<usize>, Vec<usize>) = (0..versions.len()).partition(aside);
    let guess = ordered.iter().position(|index| derived.allows(versions[*index]));
    let mut search = Search::new(ordered.len(), guess.filter(|_| !whatever));
    let mut tested: Vec<Option<Tested>> = releases.iter().map(|_| None).collect();
    let mut wrong: Vec<Lack> = Vec::new();
    let most = most_questions(ordered.len());
    console.say(&format!("○ {} installed releases, at most {most} servers", releases.len()));
    let redact = Redactor::over(subject, false);
    let ask = |index: usize, wrong: Option<&[Lack]>| -> Result<Option<(Tested, Vec<Lack>)>> {
        let started = Instant::now();
        // A command prints by itself, and a suite shows its own steps.
        let live = Live::new(console, whatever);
        live.show(format!("Kubernetes {}: installing CRDs, sending objects", versions[index]));
        let Some(mut sight) = visit(&releases[index], subject, args, console)? else { return Ok(None) };
        sight.reword(&|text| redact.redact(text));
        // Where the first, the newest, has everything by table, what it does is right, and we were wrong.
        let ours = if derived.allows(versions[index]) { sight.expectations() } else { Vec::new() };
        sight.without(wrong.unwrap_or(&ours));
        drop(live);
        let sign = if sight.is_good() { '✔' } else { '✗' };
        console.say(&format!("{sign} {} after {:.1} s", versions[index], started.elapsed().as_secs_f64()));
        Ok(Some((Tested { release: versions[index], good: sight.is_good(), sight }, ours)))
    };
    while let Some(at) = search.next() {
        let index = ordered[at];
        let first = search.asked() == 0;
        let Some((one, ours)) = ask(index, (!first).then_some(&wrong))? else { return Ok(None) };
        if first {
            wrong = ours;
        }
        search.tell(at, one.good);
        tested[index] = Some(one);
    }
    let bound = search.bound();
    let servers = search.asked();
    // Below what does not work anyway, nobody needs to know.
    let above = bound.below.map_or(0, |below| ordered[below]);
    for index in apart.into_iter().filter(|index| bound.lowest.is_some() && *index >= above) {
        let Some((one, _)) = ask(index, Some(&wrong))? else { return Ok(None) };
        tested[index] = Some(one);
    }
    let found = Found {
        lowest: bound.lowest.map(|at| ordered[at]),
        strays: bound.strays.iter().map(|at| ordered[*at]).collect(),
        servers,
    };
    Ok(Some(Answer::proven(subject, derived, &versions, tested, &found, &touched)))
}

/// What one release says.
fn visit(release: &Release, subject: &Subject, args: &MinimumArgs, console: Console) -> Result<Option<Sight>> {
    if let Some(name) = &args.with {
        let question = with::question(name, release.version, args.seed, subject)?;
        return with::ask(&question, subject, console);
    }
    let seen = runtime::block_on(async {
        let builder = Local::builder(Binaries::in_folder(&release.folder));
        let Some(server) = runtime::unless_interrupted(builder.start()).await else { return Ok(None) };
        let server = Server::Local(Box::new(server?));
        let looking = async {
            match args.command.as_slice() {
                [] => minimum::look(&server, subject, args.seed).await,
                words => minimum::ask(&server, subject, words, args.timeout.0).await,
            }
        };
        let seen = runtime::unless_interrupted(looking).await;
        let stopped = server.stop().await;
        let seen = seen.transpose()?;
        stopped?;
        Ok::<_, ClusterError>(seen)
    });
    Ok(seen.map_err(cluster_error)?.map_err(cluster_error)?)
}
