//! The commands that show findings again.

use super::{Plan, Settings};
use crate::checks::{self, Check};
use crate::report::UngroupedFinding;
use crate::subject::Subject;

/// Adds to each finding the command that shows it again.
pub(super) fn add(plan: &Plan<'_>, findings: &mut [UngroupedFinding]) {
    let command = plan.settings.command.clone().or_else(|| command(plan.subject, plan.settings));
    let Some(command) = command else { return };
    let servers: String = plan.matrix.arguments.iter().map(|argument| format!(" {}", quoted(argument))).collect();
    for UngroupedFinding { finding, .. } in findings {
        // A webhook that is asked where it is installed is found by the same arguments.
        let on_server = |check: &Check| check.scenario().is_some() || plan.matrix.deployed && check.reads_answers();
        finding.reproduce = Some(match checks::find(&finding.check) {
            Some(check) if on_server(check) => format!("{command}{servers} --only {}", finding.check),
            Some(_) => format!("{command} --only {}", finding.check),
            // Not a check that could be selected: it is about the whole run.
            None => format!("{command}{servers}"),
        });
    }
}

/// Returns the command that repeats a run, without its filters; `None` for a subject that is not in a file.
pub fn command(subject: &Subject, settings: &Settings) -> Option<String> {
    let arguments = subject.arguments.as_ref()?;
    let selection = &settings.selection;
    let suites = selection.suites.iter().map(|suite| ("--suite", suite.name.clone()));
    // Suites of the subject file need not be repeated.
    let suites = suites.filter(|_| !selection.by_default);
    let seed = (settings.seed != 1).then(|| ("--seed", settings.seed.to_string()));
    let objects = settings.objects.map(|objects| ("--objects", objects.to_string()));
    let mut command = "crdproof run".to_owned();
    for (flag, value) in suites.chain(seed).chain(objects) {
        command.push_str(&format!(" {flag} {}", quoted(&value)));
    }
    for argument in arguments {
        command.push_str(&format!(" {}", quoted(argument)));
    }
    Some(command)
}

/// Quotes a word for a shell.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
