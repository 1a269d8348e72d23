//! `preflight`: a look at a server before anything runs there.

use std::path::Path;

use crate::operate::preflight::{self, Outcome, Preflight, Ruled};
use crate::operate::probe::{self, Sight};
use crate::subject::Subject;
use crate::subject::load::{InputError, Trouble, from_file};
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

/// The subject file that is taken where none is named.
const SUBJECT: &str = "crdproof.yaml";

/// Looks at a server.
pub(crate) fn preflight(args: &PreflightArgs, console: Console) -> Result<Exit> {
    if let Some(topic) = &args.explain {
        return explain_topic(topic, args.format, console);
    }
    let subject = subject(args)?;
    // A release is something to start; without one there is a cluster already.
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
        let looking = preflight::look(&server, subject.as_ref(), !args.no_probes, may_change, &mut progress);
        let seen = runtime::unless_interrupted(looking).await;
        let stopped = server.stop().await;
        let seen = seen.transpose()?;
        stopped?;
        Ok(seen)
    });
    let Some(seen) = seen.map_err(cluster_error)?.map_err(cluster_error)? else { return Ok(interrupted(console)) };
    match args.format {
        TextFormat::Json => console.print(&format!("{}\n", serde_json::to_string_pretty(&seen)?))?,
        TextFormat::Text => console.print(&text(&seen, args.all))?,
    }
    Ok(if seen.is_bad() { Exit::Findings } else { Exit::Success })
}

fn subject(args: &PreflightArgs) -> Result<Option<Subject>> {
    match &args.file {
        Some(file) => Ok(Some(from_file(file)?)),
        None if Path::new(SUBJECT).exists() => Ok(Some(from_file(Path::new(SUBJECT))?)),
        None => Ok(None),
    }
}

/// One line for each thing, what is wanted beside what was seen.
fn text(seen: &Preflight, all: bool) -> String {
    let vendor = seen.server.vendor.map(|vendor| format!(" ({vendor})")).unwrap_or_default();
    let mut lines = vec![format!("✔ Kubernetes {}{vendor}", seen.git_version)];
    let held = seen.rules.iter().filter(|rule| rule.verdict == Outcome::Good).count();
    lines.push(format!("✔ {held} of {} known defects are not here", seen.rules.len()));
    let shown = seen.rules.iter().filter(|rule| all || rule.verdict != Outcome::Good);
    lines.extend(shown.map(|rule| rule_line(seen, rule)));
    for feature in &seen.features {
        let sign = sign(feature.there, feature.harmless);
        let otherwise = if feature.there { String::new() } else { format!("; this server {}", feature.otherwise) };
        lines.push(format!(
            "{sign} {} needs >={}, is {} ({}){otherwise}",
            feature.what,
            feature.since,
            seen.server.behaves_as(),
            feature.place
        ));
    }
    for permission in seen.permissions.iter().filter(|permission| all || !permission.allowed) {
        let may = if permission.allowed { "may" } else { "may not" };
        lines.push(format!("{} {may} {}", sign(permission.allowed, false), permission.what));
    }
    if seen.permissions.iter().all(|permission| permission.allowed) {
        lines.push(format!("✔ may do all of the {} things that suites do", seen.permissions.len()));
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

fn rule_line(seen: &Preflight, rule: &Ruled) -> String {
    let sign = match (rule.verdict, rule.severity) {
        (Outcome::Good | Outcome::Backported, _) => '✔',
        (Outcome::Bad | Outcome::Regressed, Weight::Error) => '✗',
        (Outcome::Bad | Outcome::Regressed, _) => '⚠',
        (Outcome::Unclear, _) => '○',
    };
    let release = seen.server.release;
    let table = match &rule.table {
        Standing::Good => format!("{release} is good by version"),
        Standing::Bad { mended: Some(mended) } => format!("needs >={mended}, is {release}"),
        Standing::Bad { mended: None } => format!("no release has a fix, is {release}"),
        Standing::Unclear { why } => why.clone(),
    };
    let probes: String = rule.probes.iter().map(|probe| format!("; {} {}", probe.name, saw(&probe.sight))).collect();
    let both = match rule.verdict {
        Outcome::Backported => " (table says bad, probe says good: backport)",
        Outcome::Regressed => " (table says good, probe says bad)",
        _ => "",
    };
    format!("{sign} {} {}: {table}{probes}{both}", rule.id, rule.name)
}

fn saw(sight: &Sight) -> String {
    match sight {
        Sight::Good(seen) => format!("saw it good ({seen})"),
        Sight::Bad(seen) => format!("saw it bad ({seen})"),
        Sight::Unclear(why) => format!("does not tell ({why})"),
    }
}

/// The rules whose name begins with this, after `server/`, or whose id it is.
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

/// What rules are about.
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
        .map(|mended| format!("  >={:<9} {}\n", mended.release.to_string(), mended.why).replace(" \n", "\n"))
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
        "server/{} ({}, {})\n\nGuarantee: {}.\n\nWhy: {}\n\nBad: {}.\n\nMended in:\n{good}\nProbes:\n{probes}\nSource:\n  {}\n",
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
    let good: Vec<_> = rule.good.iter().map(|mended| json!({"release": mended.release, "why": mended.why})).collect();
    let bad: Vec<_> = rule.bad.iter().map(|window| json!({"from": window.from, "to": window.to})).collect();
    json!({"id": rule.id, "name": format!("server/{}", rule.name), "title": rule.title, "why": rule.breaks, "bad": bad,
        "mended": good, "severity": rule.severity, "probes": rule.probes, "untested": rule.untested, "source": rule.source})
}
