//! `preflight`: inspects a server before anything runs there.

use std::path::Path;

use crate::checks::preflight::{RuleResult, RuleVerdict};
use crate::evidence::ProbeResult;
use crate::operate::preflight::{self, Preflight};
use crate::operate::probe;
use crate::subject::Subject;
use crate::subject::load::{InputError, Trouble, from_file_with};
use anyhow::Result;
use crdproof_envtest::{Server, runtime};
use crdproof_schema::kubernetes::{RULES, ServerRule, Standing, Weight};
use crdproof_schema::names;
use serde_json::json;

use super::args::TextFormat;
use super::args::env::{Provider, ServerArgs};
use super::args::preflight::PreflightArgs;
use super::console::Console;
use super::env;
use super::env::run::{interrupted, spec};
use super::exit::Exit;
use super::servers::{cluster_error, describe};

/// The default subject file.
const SUBJECT: &str = "crdproof.yaml";

/// Inspects a server.
pub(crate) fn preflight(args: &PreflightArgs, console: Console) -> Result<Exit> {
    if let Some(topic) = &args.explain {
        return explain_topic(topic, args.format, console);
    }
    let subject = subject(args)?;
    // A release is something to start; without one there is an existing cluster.
    let natural = if args.release.is_some() { Provider::Local } else { Provider::Kubeconfig };
    let server = ServerArgs { provider: args.server.provider.or(Some(natural)), ..args.server.clone() };
    let may_change = server.cluster.allow_changes;
    let release = args.release.as_deref().unwrap_or(super::args::env::DEFAULT_RELEASE);
    let wanted = spec(&env::store()?, release, &server, !may_change, console)?;
    let seen = runtime::block_on(async {
        let Some(server) = runtime::unless_interrupted(wanted.start()).await else { return Ok(None) };
        let server: Server = server?;
        console.say(&format!("► {}", describe(&server)));
        let mut progress = |probe: &str| console.say(&format!("  probe {probe}"));
        let inspection = preflight::inspect(&server, subject.as_ref(), !args.no_probes, may_change, &mut progress);
        let seen = runtime::unless_interrupted(inspection).await;
        server.stop_after(seen.transpose()).await
    });
    let Some(seen) = seen.map_err(cluster_error)?.map_err(cluster_error)? else { return Ok(interrupted(console)) };
    match args.format {
        TextFormat::Json => console.print(&format!("{}\n", serde_json::to_string_pretty(&seen)?))?,
        TextFormat::Text => console.print(&text(&seen, args.all))?,
    }
    Ok(if seen.is_bad() { Exit::Findings } else { Exit::Success })
}

fn subject(args: &PreflightArgs) -> Result<Option<Subject>> {
    let commands = args.commands.allowed();
    match &args.file {
        Some(file) => Ok(Some(from_file_with(file, commands)?)),
        None if Path::new(SUBJECT).exists() => Ok(Some(from_file_with(Path::new(SUBJECT), commands)?)),
        None => Ok(None),
    }
}

/// Renders one line for each rule, feature and permission.
fn text(seen: &Preflight, all: bool) -> String {
    let vendor = seen.server.vendor.map(|vendor| format!(" ({vendor})")).unwrap_or_default();
    let mut lines = vec![format!("✔ Kubernetes {}{vendor}", seen.git_version)];
    let absent = seen.rules.iter().filter(|rule| rule.verdict == RuleVerdict::Good).count();
    lines.push(format!("✔ {absent} of {} known defects are absent", seen.rules.len()));
    let shown = seen.rules.iter().filter(|rule| all || rule.verdict != RuleVerdict::Good);
    lines.extend(shown.map(|rule| rule_line(seen, rule)));
    for feature in &seen.features {
        let sign = sign(feature.available, feature.harmless);
        let otherwise = if feature.available { String::new() } else { format!("; this server {}", feature.otherwise) };
        lines.push(format!(
            "{sign} {} needs >={}, is {} ({}){otherwise}",
            feature.feature,
            feature.since,
            seen.server.behaves_as(),
            feature.place
        ));
    }
    for permission in seen.permissions.iter().filter(|permission| all || !permission.allowed) {
        let may = if permission.allowed { "allowed" } else { "not allowed" };
        lines.push(format!("{} {may}: {}", sign(permission.allowed, false), permission.what));
    }
    if seen.permissions.iter().all(|permission| permission.allowed) {
        lines.push(format!("✔ all {} permissions that suites need are granted", seen.permissions.len()));
    }
    lines.push(if seen.is_bad() { "✗ not ready".into() } else { "✔ ready".into() });
    lines.join("\n") + "\n"
}

fn sign(good: bool, harmless: bool) -> char {
    match (good, harmless) {
        (true, _) => '✔',
        (false, true) => '⚠',
        (false, false) => '✗',
    }
}

fn rule_line(seen: &Preflight, rule: &RuleResult) -> String {
    let sign = match (rule.verdict, rule.severity) {
        (RuleVerdict::Good | RuleVerdict::Backported, _) => '✔',
        (RuleVerdict::Bad | RuleVerdict::Regressed, Weight::Error) => '✗',
        (RuleVerdict::Bad | RuleVerdict::Regressed, _) => '⚠',
        (RuleVerdict::Unclear, _) => '○',
    };
    let release = seen.server.release;
    let table = match &rule.table {
        Standing::Good => format!("{release} is good by version"),
        Standing::Bad { fixed_in: Some(fix) } => format!("needs >={fix}, is {release}"),
        Standing::Bad { fixed_in: None } => format!("no release has a fix, is {release}"),
        Standing::Unclear { why } => why.clone(),
    };
    let probes: String =
        rule.probes.iter().map(|probe| format!("; {} {}", probe.name, probe_text(&probe.result))).collect();
    let both = match rule.verdict {
        RuleVerdict::Backported => " (table says bad, probe says good: backport)",
        RuleVerdict::Regressed => " (table says good, probe says bad)",
        _ => "",
    };
    format!("{sign} {} {}: {table}{probes}{both}", rule.id, rule.name)
}

fn probe_text(result: &ProbeResult) -> String {
    match result {
        ProbeResult::Good(seen) => format!("shows correct behaviour ({seen})"),
        ProbeResult::Bad(seen) => format!("shows the defect ({seen})"),
        ProbeResult::Unclear(why) => format!("cannot decide ({why})"),
    }
}

/// The rules whose name begins with this, after `server/`, or with this id.
pub(super) fn rules_named(topic: &str) -> Vec<&'static ServerRule> {
    let name = topic.strip_prefix("server/").unwrap_or(topic);
    let exact: Vec<_> = RULES.iter().filter(|rule| rule.name == name || rule.id.eq_ignore_ascii_case(name)).collect();
    if exact.is_empty() { RULES.iter().filter(|rule| rule.name.starts_with(name)).collect() } else { exact }
}

fn explain_topic(topic: &str, format: TextFormat, console: Console) -> Result<Exit> {
    let rules = rules_named(topic);
    if rules.is_empty() {
        let near = names::closest(topic, RULES.iter().map(|rule| rule.name.as_str()));
        let help = near.map_or_else(
            || "`crdproof preflight --all` shows all rules".into(),
            |near| format!("did you mean `{near}`?"),
        );
        return Err(InputError::new(Trouble::Wrong, format!("no rule is named {topic:?}")).help(help).into());
    }
    explain(&rules, format, console)
}

/// Prints the explanation of rules.
pub(super) fn explain(rules: &[&ServerRule], format: TextFormat, console: Console) -> Result<Exit> {
    let text = match format {
        TextFormat::Text => rules.iter().map(|rule| page(rule)).collect::<Vec<_>>().join("\n"),
        TextFormat::Json => {
            format!("{}\n", serde_json::to_string_pretty(&rules.iter().map(|rule| data(rule)).collect::<Vec<_>>())?)
        }
    };
    console.print(&text)?;
    Ok(Exit::Success)
}

fn page(rule: &ServerRule) -> String {
    let bad: Vec<String> = rule.bad.iter().map(ToString::to_string).collect();
    let good: String = rule
        .good
        .iter()
        .map(|fix| format!("  >={:<9} {}\n", fix.release.to_string(), fix.why).replace(" \n", "\n"))
        .collect();
    let good = if good.is_empty() { "  no release yet\n".to_owned() } else { good };
    let probes: String = rule
        .probes
        .iter()
        .filter_map(|name| probe::find(name))
        .map(|probe| format!("  {}: {}\n", probe.name, probe.does))
        .collect();
    let probes = match &rule.untested {
        Some(why) => format!("  none, the version decides: {why}\n"),
        None => probes,
    };
    format!(
        "server/{} ({}, {})\n\nGuarantee: {}.\n\nWhy: {}\n\nBad: {}.\n\nFixed in:\n{good}\nProbes:\n{probes}\nSource:\n  {}\n",
        rule.name,
        rule.id,
        match rule.severity {
            Weight::Error => "error",
            Weight::Warning => "warning",
            Weight::Note => "note",
        },
        rule.title,
        rule.breaks,
        bad.join(", "),
        rule.source
    )
}

fn data(rule: &ServerRule) -> serde_json::Value {
    let good: Vec<_> = rule.good.iter().map(|fix| json!({"release": fix.release, "why": fix.why})).collect();
    let bad: Vec<_> = rule.bad.iter().map(|window| json!({"from": window.from, "to": window.to})).collect();
    json!({"id": rule.id, "name": format!("server/{}", rule.name), "title": rule.title, "why": rule.breaks, "bad": bad,
        "fixedIn": good, "severity": rule.severity, "probes": rule.probes, "untested": rule.untested, "source": rule.source})
}
