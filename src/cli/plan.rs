//! `plan`: prints what `run` would do, and starts nothing.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Result;
use serde_json::json;

use super::args::{PlanArgs, TextFormat};
use super::console::Console;
use super::exit::Exit;
use super::progress::RunProgress;
use super::servers::{matrix, run_error, servers};
use super::subject::{load_with, settings, shard};
use crate::act::scenarios::deployed_objects;
use crate::run::{self as engine, Plan, PlannedCheck, Settings, Share};
use crate::subject::load::Commands;

/// Prints the plan.
pub(crate) fn plan(args: &PlanArgs, console: Console) -> Result<Exit> {
    let subject = load_with(&args.subject, Commands::NotWhileLoading)?;
    let settings = Settings { shard: shard(&args.shard)?, ..settings(&args.selection, &subject)? };
    let servers = if settings.scenarios().is_empty() { None } else { servers(&subject, &args.matrix)? };
    let matrix = matrix(servers.as_ref(), &RunProgress::new(console, false, false));
    let matrix = matrix.map_err(|error| run_error(error, &subject))?;
    let plan = engine::plan(&subject, &settings, &matrix);
    let text = match args.format {
        TextFormat::Json => format!("{:#}\n", as_json(&plan)),
        TextFormat::Text => as_text(&plan),
    };
    console.print(&text)?;
    Ok(Exit::Success)
}

/// Every planned check, once for each server if it reads a scenario.
fn rows<'p, 'a>(plan: &'p Plan<'a>) -> impl Iterator<Item = (&'p PlannedCheck<'a>, Option<&'p str>)> {
    plan.planned.iter().flat_map(|planned| {
        let on: Vec<Option<&str>> = match planned.check.scenario() {
            Some(scenario) => plan.servers_of(&planned.crd.name, scenario).map(Some).collect(),
            None => vec![None],
        };
        on.into_iter().map(move |server| (planned, server))
    })
}

fn as_json(plan: &Plan<'_>) -> serde_json::Value {
    let row = |(planned, server): (&PlannedCheck<'_>, Option<&str>)| {
        let mut row = json!({"check": planned.check.id, "crd": planned.crd.name, "severity": planned.severity});
        if let (Some(server), Some(scenario)) = (server, planned.check.scenario()) {
            row["kubernetes"] = json!(server);
            row["scenario"] = json!(scenario);
        }
        row
    };
    let shard = plan.share.as_ref().map(|share| {
        let units: Vec<String> = share.units.iter().map(ToString::to_string).collect();
        json!({"index": share.shard.index, "count": share.shard.count, "units": units, "ofUnits": share.total})
    });
    let mut json = json!({
        "subject": plan.subject.name,
        "seed": plan.settings.seed,
        "suites": plan.settings.selection.suites.iter().map(|suite| &suite.name).collect::<Vec<_>>(),
        "settings": plan.subject.file,
        "servers": plan.matrix.servers,
        "scenarios": plan.scenarios,
        "checks": rows(plan).map(row).collect::<Vec<_>>(),
        "skipped": plan.skipped,
    });
    if let Some(shard) = shard {
        json["shard"] = shard;
    }
    if plan.matrix.deployed {
        json["creates"] = json!(deployed_objects(plan.subject, plan.settings.seed));
    }
    json
}

/// Says how long the shard will take, and all of them, by earlier durations.
fn expected(share: &Share) -> Option<String> {
    let own = share.expected.get(share.shard.index.get() - 1)?;
    let (least, most) = (share.expected.iter().min()?, share.expected.iter().max()?);
    Some(format!("► expected: {}; all shards from {} to {}", seconds(*own), seconds(*least), seconds(*most)))
}

fn seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}

fn as_text(plan: &Plan<'_>) -> String {
    let settings = plan.settings;
    let suites: Vec<_> = settings.selection.suites.iter().map(|suite| suite.name.as_str()).collect();
    let mut lines = vec![format!(
        "► {}: {} CRDs, suites {}, seed {}",
        plan.subject.name,
        plan.subject.crds.len(),
        suites.join(", "),
        settings.seed
    )];
    if let Some(share) = &plan.share {
        let (index, count) = (share.shard.index, share.shard.count);
        lines.push(format!("► shard {index}/{count}: {} of {} work units", share.units.len(), share.total));
        lines.extend(share.units.iter().map(|unit| {
            let expected = share.duration(unit).map(|expected| format!(" ({})", seconds(expected)));
            format!("  • {unit}{}", expected.unwrap_or_default())
        }));
        lines.extend(expected(share));
    }
    if !plan.scenarios.is_empty() {
        let scenarios: Vec<String> = plan.scenarios.iter().map(ToString::to_string).collect();
        lines.push(format!("► scenarios {} on Kubernetes {}", scenarios.join(", "), plan.matrix.servers.join(", ")));
    }
    // By CRD, and then by server in the order of the matrix; checks without a server come first.
    let mut groups: BTreeMap<(&str, Option<usize>), Vec<&PlannedCheck<'_>>> = BTreeMap::new();
    for (planned, server) in rows(plan) {
        let server = server.and_then(|own| plan.matrix.servers.iter().position(|name| name == own));
        groups.entry((&planned.crd.name, server)).or_default().push(planned);
    }
    for ((crd, server), group) in groups {
        let on = server.map(|index| format!(" on Kubernetes {}", plan.matrix.servers[index])).unwrap_or_default();
        lines.push(format!("► {crd}{on}: {} checks", group.len()));
        lines.extend(group.iter().map(|planned| {
            let scenario = planned.check.scenario().map(|scenario| format!(", scenario {scenario}"));
            format!("  • {} ({}{})", planned.check.id, planned.severity.as_str(), scenario.unwrap_or_default())
        }));
    }
    if plan.matrix.deployed && !plan.scenarios.is_empty() {
        lines.push("► would be created for a time, and removed".into());
        lines.extend(deployed_objects(plan.subject, plan.settings.seed).iter().map(|path| format!("  • {path}")));
    }
    let mut by_reason: BTreeMap<&str, usize> = BTreeMap::new();
    for skipped in &plan.skipped {
        *by_reason.entry(&skipped.reason).or_default() += 1;
    }
    lines.extend(by_reason.iter().map(|(reason, count)| format!("○ {count} skipped: {reason}")));
    lines.push("► settings in force".into());
    let settings = serde_json::to_string_pretty(&plan.subject.file).unwrap_or_default();
    lines.extend(settings.lines().map(|line| format!("  {line}")));
    lines.join("\n") + "\n"
}
