//! A Kubernetes Indexed Job: one pod for each shard, and a job that merges their reports.

use anyhow::Result;

use super::{Work, yaml};
use crate::cli::args::job::IndexedJobArgs;
use crate::run::quoted;
use crate::subject::load::{InputError, Trouble};

/// The manifests. Values in braces are replaced.
const TEMPLATE: &str = include_str!("indexed.yaml");

/// Returns the manifests of both jobs.
pub(super) fn indexed(args: &IndexedJobArgs, work: &Work) -> Result<String> {
    for (flag, name) in
        [("--name", Some(&args.name)), ("--claim", Some(&args.claim)), ("--namespace", args.namespace.as_ref())]
    {
        name.map_or(Ok(()), |name| check_name(flag, name))?;
    }
    let mut run: Vec<String> = work.run("index").iter().map(|argument| literal(argument)).collect();
    run.extend(["--report", "json=/reports/shards/$(JOB_COMPLETION_INDEX).json"].map(str::to_owned));
    let list = |arguments: &[String]| {
        arguments
            .iter()
            .map(|argument| format!("        - {}\n", yaml(argument)))
            .collect::<String>()
            .trim_end()
            .to_owned()
    };
    let namespace = args.namespace.as_ref().map(|name| format!("\n  namespace: {}", yaml(name))).unwrap_or_default();
    let flag = args.namespace.as_ref().map(|name| format!(" --namespace {}", quoted(name))).unwrap_or_default();
    let values = [
        ("{name}", args.name.clone()),
        ("{namespace}", namespace),
        ("{-n}", flag),
        ("{shards}", work.shards.to_string()),
        ("{image}", yaml(args.image.as_deref().unwrap_or_default())),
        ("{claim}", args.claim.clone()),
        ("{cpu}", yaml(&args.cpu)),
        ("{memory}", yaml(&args.memory)),
        ("{arguments}", list(&run)),
    ];
    // A value is never searched for other values.
    let mut text = String::new();
    let mut rest = TEMPLATE;
    while let Some((at, name, value)) =
        values.iter().filter_map(|(name, value)| Some((rest.find(name)?, name, value))).min_by_key(|(at, ..)| *at)
    {
        text.push_str(&rest[..at]);
        text.push_str(value);
        rest = &rest[at + name.len()..];
    }
    Ok(text + rest)
}

/// Keeps Kubernetes from replacing `$(NAME)` in an argument of the user.
fn literal(argument: &str) -> String {
    argument.replace("$(", "$$(")
}

/// Checks a name of an object, because an API server would refuse it later.
fn check_name(flag: &str, name: &str) -> Result<()> {
    let is_inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let is_name = !name.is_empty()
        && name.len() <= 50
        && name.chars().all(is_inner)
        && !name.starts_with('-')
        && !name.ends_with('-');
    if is_name {
        return Ok(());
    }
    let error = InputError::new(Trouble::Wrong, format!("{flag} {name:?} is not the name of an object"));
    Err(error.help("use up to 50 lower-case letters, digits and hyphens").into())
}
