//! `convert`: converts one object to another version, and judges the converter's response.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use crate::act::wire;
use crate::checks::{Difference, differences, field};
use crate::converter::{self, Converter, Declared};
use crate::evidence::Answer;
use crate::report::{Outcome, Report};
use crate::run::{self as engine, DEFAULT_TIME, Observations, SUITES, Selection, Settings, load_suite};
use crate::subject::load::{InputError, Texts, Trouble};
use crate::subject::{Crd, Subject};
use anyhow::Result;
use crdproof_schema::document::{Sources, parse};
use crdproof_schema::structural::redact_text;
use serde_json::Value;

use super::args::convert::ConvertArgs;
use super::console::Console;
use super::env;
use super::exit::Exit;
use super::servers::{remedy, unreachable};
use super::subject::{load, options};

/// Converts one object.
pub(crate) fn convert(args: &ConvertArgs, console: Console) -> Result<Exit> {
    let subject = load(&args.subject())?;
    let object = read(&args.object)?;
    let (crd, from) = crd_of(&subject, &object)?;
    let wrong = |why: String| InputError::new(Trouble::Wrong, why);
    if crd.version(&args.to).is_none() {
        let known: Vec<_> = crd.versions.iter().map(|version| version.name.as_str()).collect();
        let error = wrong(format!("{} has no version {:?}", crd.name, args.to));
        return Err(error.help(format!("its versions: {}", known.join(", "))).into());
    }
    let declared = converter::declared(&subject, crd).map_err(wrong)?;
    let means = env::converter_resources(&subject, true, console)?;
    let endpoint = converter::open(&subject, &means).map_err(|why| unreachable(&why, remedy(&subject)))?;
    let converter = Converter::of(&subject, crd, endpoint.as_deref()).map_err(wrong)?;
    let exit = match converter.convert(&object, &from, &args.to) {
        Ok(answer) => {
            console.print(&format!("{:#}\n", *answer.raw))?;
            for note in served_differently(&answer) {
                console.say(&note);
            }
            Exit::Success
        }
        Err(why) => {
            console.say(&format!("✗ refused: {}", redacted_refusal(&why, crd, &from, &object, args)));
            Exit::Findings
        }
    };
    let Some(endpoint) = endpoint.filter(|_| matches!(declared, Declared::Webhook(_))) else {
        console.say("○ the converter has no HTTP endpoint, so there are no wire checks to judge");
        return Ok(exit);
    };
    let end = Instant::now() + DEFAULT_TIME;
    let exchanges = wire::probe(&*endpoint, crd, &[object], &|| Instant::now() >= end);
    let exchanges = BTreeMap::from([(crd.name.clone(), exchanges)]);
    let suites = SUITES.iter().filter(|(name, _)| *name == "webhook");
    let suites: Result<Vec<_>, _> = suites.map(|(name, text)| load_suite(name, name, text)).collect();
    let suites = suites.map_err(|error| wrong(error.to_string()))?;
    let settings = Settings {
        selection: Selection { suites, ..Selection::default() },
        show_secrets: args.secrets.show_secrets,
        ..Settings::default()
    };
    let observations = Observations { exchanges, ..Observations::default() };
    let plan = engine::plan_recorded(&subject, &settings, &observations);
    let report = engine::judge(&plan, &observations, &options(None)).report;
    Ok(if print_results(&report, &crd.name, console) { exit } else { Exit::Findings })
}

/// Lists the changes that an API server makes to a converted object.
fn served_differently(answer: &Answer) -> Vec<String> {
    let said = |difference: &Difference<'_>| {
        let place = field(&difference.pointer);
        match (difference.was, difference.now) {
            (Some(Value::Null), None) => format!("○ the API server drops {place}: its schema does not allow null"),
            (_, None) => format!("○ the API server drops {place}"),
            (None, Some(now)) => format!("○ the API server adds {place}: {now}"),
            (Some(_), Some(now)) => format!("○ the API server makes {place} {now}"),
        }
    };
    differences(&answer.raw, answer.served()).iter().map(said).collect()
}

/// The message of a refusal, without the secrets that were sent.
fn redacted_refusal(why: &str, crd: &Crd, version: &str, object: &Value, args: &ConvertArgs) -> String {
    let mut values = BTreeSet::new();
    if !args.secrets.show_secrets {
        let schema = crd.version(version).and_then(|version| version.schema.as_ref());
        crd.secrets().collect(schema, object, &mut values);
    }
    redact_text(why, &values)
}

/// Prints one line for each wire check; returns true if none failed.
fn print_results(report: &Report, crd: &str, console: Console) -> bool {
    let mut sound = true;
    for result in report.results.iter().filter(|result| result.crd == crd) {
        let title = crate::checks::find(&result.check).map_or("", |check| check.title);
        let reason = result.reason.as_deref().unwrap_or_default();
        match result.outcome {
            Outcome::Passed => console.say(&format!("✔ {}: {title}", result.check)),
            Outcome::Failed => {
                sound = false;
                for finding in report.findings.iter().filter(|finding| finding.check == result.check) {
                    console.say(&format!("✗ {}: {}; {}", result.check, finding.message, finding.help));
                }
            }
            Outcome::KnownServerIssue | Outcome::Inconclusive => console.say(&format!("○ {}: {reason}", result.check)),
        }
    }
    sound
}

fn read(source: &str) -> Result<Value> {
    let wrong = |why: String| InputError::new(Trouble::Wrong, format!("{source}: {why}"));
    let mut texts = Texts::relative_to("").read(source)?;
    let (Some(text), true) = (texts.pop(), texts.is_empty()) else {
        return Err(wrong("pass one file with one object".into()).into());
    };
    let mut sources = Sources::default();
    let id = sources.add(text.name, text.text);
    let documents = parse(&sources, id).map_err(|error| InputError::at(&sources, error.span, error.message.clone()))?;
    let [document] = documents.as_slice() else {
        return Err(wrong(format!("the file contains {} documents; pass one object", documents.len())).into());
    };
    Ok(document.to_value())
}

/// The CRD and the version of an object.
fn crd_of<'a>(subject: &'a Subject, object: &Value) -> Result<(&'a Crd, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (own, kind) = (text(&object["apiVersion"]), text(&object["kind"]));
    let (group, version) = own.split_once('/').unwrap_or_default();
    let crd =
        subject.crds.iter().find(|crd| crd.group == group && crd.names.kind == kind && crd.version(version).is_some());
    let crd = crd.ok_or_else(|| {
        let known: Vec<_> = subject.crds.iter().map(|crd| format!("{} of {}", crd.names.kind, crd.group)).collect();
        let error = InputError::new(Trouble::Wrong, format!("the subject has no CRD for {kind:?} at {own:?}"));
        error.help(format!("it has: {}", known.join(", ")))
    })?;
    Ok((crd, version.to_owned()))
}
