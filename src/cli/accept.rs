//! `accept`: writes today's findings to a file, so that only new ones fail.

use std::path::Path;

use anyhow::Result;

use super::args::RunArgs;
use super::console::Console;
use super::exit::Exit;
use super::files::{self, For};
use super::run::run_then;
use crate::checks::Severity;
use crate::report::{Field, Finding, Report};
use crate::subject::load::{InputError, Trouble};
use crate::subject::{ACCEPTED_FILE, API_VERSION, Accepted, AcceptedFinding, Subject};

/// Runs like `run`, and accepts the findings.
pub(crate) fn accept(args: &RunArgs, console: Console) -> Result<Exit> {
    if !args.subject.sources.is_empty() {
        let error = InputError::new(Trouble::Wrong, "there is no subject file; accepted findings are saved beside it");
        return Err(error.help("`crdproof init` writes one").into());
    }
    if args.shard.shard.is_some() {
        let error = InputError::new(Trouble::Wrong, "accepting needs the findings of a whole run, not of a shard");
        return Err(error.help("leave --shard out").into());
    }
    let file = args.subject.file.as_deref().unwrap_or(Path::new("crdproof.yaml")).with_file_name(ACCEPTED_FILE);
    let exit = run_then(args, console, &|subject, report| {
        let accepted = accepted(subject, report);
        files::write(&file, &accepted.write(), For::All)?;
        console.say(&format!("✔ accepted findings: {} ({})", accepted.findings.len(), file.display()));
        Ok(())
    })?;
    Ok(if exit == Exit::Findings { Exit::Success } else { exit })
}

/// Returns the current findings and those accepted before, without findings that are gone. Keeps findings of checks
/// that this run did not judge.
fn accepted(subject: &Subject, report: &Report) -> Accepted {
    let by_file = report.waivers.iter().position(|waiver| waiver.names == ACCEPTED_FILE);
    let is_judged = |known: &&AcceptedFinding| {
        report.results.iter().any(|result| result.check == known.check && result.crd == known.crd)
    };
    let kept = subject.accepted.findings.iter().filter(|known| !is_judged(known)).cloned();
    let found = report.findings.iter().filter(|finding| finding.waiver.is_none() || finding.waiver == by_file);
    let found = found.filter(|finding| !finding.check.starts_with("subject/")).flat_map(entries);
    let mut findings: Vec<AcceptedFinding> = kept.chain(found).collect();
    findings.sort_by(|left, right| {
        (&left.crd, &left.check, &left.fingerprint).cmp(&(&right.crd, &right.check, &right.fingerprint))
    });
    Accepted { api_version: API_VERSION.into(), kind: "Accepted".into(), findings }
}

/// Accepts every field of errors and changes separately, and warnings as a whole.
fn entries(finding: &Finding) -> Vec<AcceptedFinding> {
    let is_each = finding.severity == Severity::Error || finding.change.is_some();
    let crds = finding.crds().into_iter();
    let entry = |crd: &str| {
        let is_of = |field: &&Field| field.crd.as_deref().is_none_or(|own| own == crd);
        let fields = finding.fields.iter().filter(|_| is_each).filter(is_of);
        AcceptedFinding {
            fingerprint: finding.fingerprint.clone(),
            check: finding.check.clone(),
            crd: crd.to_owned(),
            message: finding.message.clone(),
            fields: fields.map(|field| (field.fingerprint.clone(), field.path.clone().unwrap_or_default())).collect(),
        }
    };
    crds.map(entry).collect()
}
