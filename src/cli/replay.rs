//! `replay`: tries saved counterexamples again.

use std::path::Path;
use std::sync::Arc;

use crate::checks;
use crate::converter::SubjectEndpoints;
use crate::converter::endpoint::{Endpoint as _, ReplacementEndpoint, Request};
use crate::converter::webhook::Webhook;
use crate::evidence;
use crate::report::{Finding, Outcome, Report};
use crate::run::{self as engine, Observations, Options, ServerMatrix, Settings, Suite, SuiteFile};
use crate::subject::load::{InputError, Trouble};
use crate::subject::{API_VERSION, Subject};
use anyhow::Result;

use super::args::SelectionArgs;
use super::args::replay::ReplayArgs;
use super::console::Console;
use super::counterexamples::{self, Kept};
use super::env;
use super::exit::Exit;
use super::files;
use super::servers::{remedy, unreachable};
use super::subject::{load, options, settings};

/// The outcome of a counterexample.
enum Verdict {
    /// The check passes on it.
    Passes,
    /// The check still fails on it.
    Failed(Vec<Finding>),
    /// The check fails on it, and a waiver accepts that.
    Waived(String),
    /// It could not be tried, and why.
    Untried(String),
    /// The converter did not answer.
    Unreachable(String),
}

/// Tries saved counterexamples, each with the check that it failed.
pub(crate) fn replay(args: &ReplayArgs, console: Console) -> Result<Exit> {
    let subject = load(&args.subject())?;
    let kept = match args.counterexamples.as_slice() {
        [] => {
            counterexamples::folder(&args.subject()).map_or(Ok(Vec::new()), |folder| counterexamples::load(&folder))?
        }
        named => named.iter().map(|path| counterexamples::read(path)).collect::<Result<_>>()?,
    };
    if kept.is_empty() {
        console.say("✔ no counterexamples are saved");
        return Ok(Exit::Success);
    }
    let endpoint = args.target.as_deref().map(|url| target(url, args.ca.as_deref())).transpose()?;
    // A process of the subject is started once for all counterexamples.
    let opened = SubjectEndpoints::with(env::converter_resources(&subject, true, console)?);
    let (mut broken, mut unreachable) = (false, false);
    for kept in &kept {
        let verdict = judge(kept, &subject, endpoint.clone(), &opened, args)?;
        print_outcome(kept, &verdict, console);
        match verdict {
            Verdict::Passes if args.prune => {
                std::fs::remove_file(&kept.path).map_err(|error| files::cannot("remove", &kept.path, &error))?;
                console.say(&format!("○ {} is removed", kept.path.display()));
            }
            Verdict::Passes | Verdict::Waived(_) | Verdict::Untried(_) => {}
            Verdict::Failed(_) => broken = true,
            Verdict::Unreachable(_) => unreachable = true,
        }
    }
    Ok(match (broken, unreachable) {
        (true, _) => Exit::Findings,
        (false, true) => Exit::Environment,
        (false, false) => Exit::Success,
    })
}

/// A webhook that replaces the subject's converter. It must answer.
fn target(url: &str, ca: Option<&Path>) -> Result<ReplacementEndpoint> {
    let wrong = |why: String| InputError::new(Trouble::Wrong, why).help("write https://HOST:PORT/PATH, and --ca FILE");
    let read =
        |path: &Path| std::fs::read(path).map_err(|error| wrong(format!("{} cannot be read: {error}", path.display())));
    let authorities = ca.map(read).transpose()?;
    let webhook = Webhook::new(url, authorities.as_deref()).map_err(wrong)?;
    match webhook.send(&Request::get()).0 {
        evidence::Outcome::Failed(why) => Err(unreachable(&why, "start it, or correct --target").into()),
        evidence::Outcome::Answered { .. } | evidence::Outcome::Met(_) => Ok(ReplacementEndpoint(Arc::new(webhook))),
    }
}

fn judge(
    kept: &Kept,
    subject: &Subject,
    endpoint: Option<ReplacementEndpoint>,
    opened: &SubjectEndpoints,
    args: &ReplayArgs,
) -> Result<Verdict> {
    let counterexample = &kept.counterexample;
    let Some(crd) = subject.crd(&counterexample.crd) else {
        return Ok(Verdict::Untried(format!("the subject no longer has the CRD {}", counterexample.crd)));
    };
    if crd.version(&counterexample.version).is_none() {
        return Ok(Verdict::Untried(format!("{} no longer has the version {}", crd.name, counterexample.version)));
    }
    if checks::find(&counterexample.check).is_none() {
        return Ok(Verdict::Untried(format!("this crdproof has no check {}", counterexample.check)));
    }
    let selection = SelectionArgs { only: vec![counterexample.check.clone()], seed: 1, ..SelectionArgs::default() };
    let mut settings = Settings {
        counterexamples: vec![counterexample.clone()],
        only_counterexamples: true,
        endpoint,
        show_secrets: args.secrets.show_secrets,
        ..settings(&selection, subject)?
    };
    // The check is judged whatever suite found it; severities are those of the subject's suites.
    settings.selection.suites.insert(0, alone(&counterexample.check));
    let plan = engine::plan(subject, &settings, &ServerMatrix::default());
    if !plan.planned.iter().any(|planned| planned.crd.name == crd.name) {
        let skipped = plan.skipped.iter().find(|skipped| skipped.crd == crd.name);
        return Ok(Verdict::Untried(skipped.map_or_else(|| "it is skipped".into(), |skipped| skipped.reason.clone())));
    }
    if let Err(why) = engine::reach(&plan, opened) {
        return Err(unreachable(&why, remedy(subject)).into());
    }
    let options = Options { endpoint: opened.clone(), ..options(None) };
    Ok(verdict(engine::judge(&plan, &Observations::default(), &options).report, kept))
}

fn alone(check: &str) -> Suite {
    let file = SuiteFile {
        api_version: API_VERSION.into(),
        kind: "Suite".into(),
        description: "one check".into(),
        checks: vec![check.to_owned()],
        objects: None,
        time: None,
        severity: std::collections::BTreeMap::default(),
    };
    Suite { name: "replay".into(), file }
}

fn verdict(report: Report, kept: &Kept) -> Verdict {
    let counterexample = &kept.counterexample;
    let own = |finding: &Finding| finding.check == counterexample.check && finding.crd == counterexample.crd;
    let (waivers, results, problems) = (report.waivers, report.results, report.problems);
    let findings: Vec<Finding> = report.findings.into_iter().filter(own).collect();
    let (waived, counting): (Vec<Finding>, Vec<Finding>) =
        findings.into_iter().partition(|finding| finding.waiver.is_some());
    if !counting.is_empty() {
        return Verdict::Failed(counting);
    }
    if let Some(problem) = problems.into_iter().next() {
        return Verdict::Unreachable(problem.message);
    }
    if let Some(index) = waived.first().and_then(|finding| finding.waiver) {
        return Verdict::Waived(waivers.get(index).map_or_else(String::new, |waiver| waiver.reason.clone()));
    }
    match results.into_iter().find(|result| result.check == counterexample.check && result.crd == counterexample.crd) {
        Some(result) if result.outcome == Outcome::Passed => Verdict::Passes,
        Some(result) => Verdict::Untried(result.reason.unwrap_or_else(|| "it was inconclusive".into())),
        None => Verdict::Untried("it was not judged".into()),
    }
}

fn print_outcome(kept: &Kept, verdict: &Verdict, console: Console) {
    let (path, check) = (kept.path.display(), &kept.counterexample.check);
    match verdict {
        Verdict::Passes => console.say(&format!("✔ {path}: {check} passes now")),
        Verdict::Waived(reason) => console.say(&format!("○ {path}: {check} still fails, and is waived: {reason}")),
        Verdict::Untried(reason) => console.say(&format!("○ {path}: {check} was not tried: {reason}")),
        Verdict::Unreachable(why) => console.say(&format!("✗ {path}: {check} could not be judged: {why}")),
        Verdict::Failed(findings) => {
            console.say(&format!("✗ {path}: {check} still fails"));
            for finding in findings {
                console.say(&format!("  {}[{check}]: {}", finding.severity.as_str(), finding.message));
                for line in finding.evidence.iter().flat_map(|evidence| evidence.lines()) {
                    console.say(&format!("    {line}"));
                }
                console.say(&format!("  = help: {}", finding.help));
            }
        }
    }
}
