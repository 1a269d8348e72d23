//! The selection of checks.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::Suite;
use super::load_suite;
use super::suite::SUITES;
use crate::checks::{self, Check, Severity};
use crate::subject::Subject;
use crate::subject::load::{InputError, Texts, Trouble};
use crdproof_schema::names;
use crdproof_schema::text::glob;

/// Suites, further restricted by globs.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Selection {
    /// The suites; a check is selected if any of them selects it.
    pub suites: Vec<Suite>,
    /// Globs of ids, or names of families; empty means all checks of the suites.
    pub only: Vec<String>,
    /// Globs of ids to leave out.
    pub except: Vec<String>,
    /// True if the suites were not chosen: they are those of the subject file, or `quick`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_default: bool,
}

impl Selection {
    /// Reads a selection from names: suites by name or file, otherwise those of the subject file, otherwise `quick`.
    pub fn named(suites: &[String], only: &[String], except: &[String], subject: &Subject) -> Result<Self, InputError> {
        // Paths are relative to the current folder on the command line, and to the subject file inside of it.
        let suites_of = |names: &[String], folder: &Path| {
            names.iter().map(|name| named_suite(name, folder)).collect::<Result<Vec<_>, _>>()
        };
        let chosen = match (suites, subject.file.suites.as_slice()) {
            ([], []) => suites_of(&[DEFAULT_SUITE.to_owned()], Path::new(""))?,
            ([], named) => suites_of(named, &subject.folder())?,
            (named, _) => suites_of(named, Path::new(""))?,
        };
        let selection =
            Self { suites: chosen, only: only.to_vec(), except: except.to_vec(), by_default: suites.is_empty() };
        if let Some(unknown) = selection.unknown().first() {
            let near = names::closest(unknown, checks::ALL.iter().map(|check| check.id));
            let help = near
                .map_or_else(|| "`crdproof list` shows all checks".into(), |near| format!("did you mean `{near}`?"));
            return Err(InputError::new(Trouble::Wrong, format!("no check is named {unknown:?}")).help(help));
        }
        Ok(selection)
    }

    /// The selected checks with the severity in force, sorted by id. A later suite's severity wins.
    pub fn checks(&self) -> Vec<(&'static Check, Severity)> {
        let mut selected: BTreeMap<&'static str, (&'static Check, Severity)> = BTreeMap::new();
        for suite in &self.suites {
            for check in checks::ALL.iter().copied() {
                let picks = |globs: &[String]| globs.iter().any(|ids| glob(ids, check.id) || ids == check.family());
                if !picks(&suite.file.checks) || (!self.only.is_empty() && !picks(&self.only)) || picks(&self.except) {
                    continue;
                }
                let mut overridden =
                    suite.file.severity.iter().filter(|(ids, _)| glob(ids, check.id)).map(|(_, severity)| *severity);
                selected.insert(check.id, (check, overridden.next_back().unwrap_or(check.severity)));
            }
        }
        selected.into_values().collect()
    }

    /// Returns true if a selected check reads answers of the converter.
    pub fn reads_answers(&self) -> bool {
        self.checks().iter().any(|(check, _)| check.reads_answers())
    }

    /// Returns true if `only` names this check.
    pub fn picks(&self, check: &Check) -> bool {
        self.only.iter().any(|ids| glob(ids, check.id) || ids == check.family())
    }

    /// Globs of `only` and `except` that match nothing.
    pub fn unknown(&self) -> Vec<&str> {
        let names_nothing =
            |ids: &&String| !checks::ALL.iter().any(|check| glob(ids, check.id) || check.family() == ids.as_str());
        self.only.iter().chain(&self.except).filter(names_nothing).map(String::as_str).collect()
    }
}

/// The default suite.
const DEFAULT_SUITE: &str = "quick";

/// Loads a suite by name or by file.
fn named_suite(name: &str, folder: &Path) -> Result<Suite, InputError> {
    let built_in = SUITES.iter().find(|(built_in, _)| *built_in == name);
    let loaded = match built_in {
        Some((_, text)) => load_suite(name, name, text),
        None if folder.join(name).is_file() => {
            let text = Texts::relative_to(folder).read(name)?.remove(0);
            load_suite(name, &text.name, &text.text)
        }
        None => {
            let names: Vec<_> = SUITES.iter().map(|(name, _)| *name).collect();
            let help = names::closest(name, names.iter().copied()).map_or_else(
                || format!("suites: {}; or name a file", names.join(", ")),
                |near| format!("did you mean `{near}`?"),
            );
            return Err(InputError::new(Trouble::Wrong, format!("there is no suite {name:?}")).help(help));
        }
    };
    loaded.map_err(|error| InputError {
        place: Some(error.place),
        help: error.help,
        ..InputError::new(Trouble::Wrong, error.message)
    })
}
