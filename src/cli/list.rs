//! `list` and `explain`.

use crate::checks::{self, Check};
use crate::report::CheckInfo;
use crate::run::{SUITES, Selection, load_suite, scenarios_check, waiver_check};
use crate::subject::load::{InputError, Trouble};
use anyhow::Result;
use crdproof_schema::names;
use serde_json::json;

use super::args::{ExplainArgs, ListArgs, TextFormat};
use super::console::Console;
use super::exit::Exit;
use super::preflight;

/// Lists checks and suites.
pub(crate) fn list(args: &ListArgs, console: Console) -> Result<Exit> {
    let everything = Selection { only: args.only.iter().cloned().collect(), ..Selection::default() };
    if let Some(unknown) = everything.unknown().first() {
        let families = crate::checks::families();
        let near = names::closest(unknown, families.iter().copied());
        let help =
            near.map_or_else(|| format!("families: {}", families.join(", ")), |near| format!("did you mean `{near}`?"));
        return Err(InputError::new(Trouble::Wrong, format!("no check matches {unknown:?}")).help(help).into());
    }
    let listed: Vec<&Check> =
        checks::ALL.iter().copied().filter(|check| everything.only.is_empty() || everything.picks(check)).collect();
    let text = match args.format {
        TextFormat::Json => {
            let checks: Vec<_> = listed.iter().map(|check| CheckInfo::new(check, check.severity)).collect();
            let suites: Vec<_> = SUITES.iter().map(|(name, _)| name).collect();
            format!("{:#}\n", json!({"checks": checks, "suites": suites}))
        }
        TextFormat::Text => list_text(&listed, args.only.is_none()),
    };
    console.print(&text)?;
    Ok(Exit::Success)
}

fn list_text(listed: &[&Check], with_suites: bool) -> String {
    let width = listed.iter().map(|check| check.id.len()).max().unwrap_or(0);
    let mut text = String::new();
    for check in listed {
        text.push_str(&format!("{:<width$}  {:<7}  {}\n", check.id, check.severity.as_str(), check.title));
    }
    if with_suites {
        text.push_str("\nsuites:\n");
        for (name, content) in SUITES {
            let description = load_suite(name, name, content).map(|suite| suite.file.description).unwrap_or_default();
            text.push_str(&format!("{name:<width$}  {description}\n"));
        }
    }
    text
}

/// Explains one check.
pub(crate) fn explain(args: &ExplainArgs, console: Console) -> Result<Exit> {
    if let Some(info) = [waiver_check(), scenarios_check()].into_iter().find(|info| info.id == args.id) {
        return print(args, console, info);
    }
    if let Some(rule) = preflight::rules_named(&args.id).first().filter(|_| args.id.starts_with("server/")) {
        return preflight::explain(&[rule], args.format, console);
    }
    let by_name = || checks::ALL.iter().copied().find(|check| check.name() == args.id);
    let Some(check) = checks::find(&args.id).or_else(by_name) else {
        let ids = checks::ALL.iter().flat_map(|check| [check.id, check.name()]);
        let near = names::closest(&args.id, ids);
        let help =
            near.map_or_else(|| "`crdproof list` shows all checks".into(), |near| format!("did you mean `{near}`?"));
        return Err(InputError::new(Trouble::Wrong, format!("no check is named {:?}", args.id)).help(help).into());
    };
    print(args, console, CheckInfo::new(check, check.severity))
}

fn print(args: &ExplainArgs, console: Console, info: CheckInfo) -> Result<Exit> {
    let text = match args.format {
        TextFormat::Json => format!("{}\n", serde_json::to_string_pretty(&info)?),
        TextFormat::Text => {
            let since = info.since.map(|since| format!("Expected from Kubernetes {since}.\n\n")).unwrap_or_default();
            let sources: String = info.source.iter().map(|source| format!("  {source}\n")).collect();
            format!(
                "{} ({})\n\nGuarantee: {}.\n\nWhy: {}\n\n{since}Help: {}.\n\nSource:\n{sources}",
                info.id,
                info.severity.as_str(),
                info.title,
                info.why,
                info.help
            )
        }
    };
    console.print(&text)?;
    Ok(Exit::Success)
}
