//! Which checks a run is about.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Suite;
use super::suite::matches;
use crate::checks::{self, Check, Severity};

/// Suites, further restricted by globs.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Selection {
    /// The suites; a check is selected if any of them selects it.
    pub suites: Vec<Suite>,
    /// Globs of ids, or names of families; empty means all that the suites select.
    pub only: Vec<String>,
    /// Globs of ids to leave out.
    pub except: Vec<String>,
}

impl Selection {
    /// The selected checks with the severity in force, sorted by id. A later suite's severity wins.
    pub fn checks(&self) -> Vec<(&'static Check, Severity)> {
        let mut selected: BTreeMap<&'static str, (&'static Check, Severity)> = BTreeMap::new();
        for suite in &self.suites {
            for check in checks::ALL.iter().copied() {
                let picks =
                    |globs: &[String]| globs.iter().any(|glob| matches(glob, check.id) || glob == check.family());
                if !picks(&suite.file.checks) || (!self.only.is_empty() && !picks(&self.only)) || picks(&self.except) {
                    continue;
                }
                let mut overridden = suite
                    .file
                    .severity
                    .iter()
                    .filter(|(glob, _)| matches(glob, check.id))
                    .map(|(_, severity)| *severity);
                selected.insert(check.id, (check, overridden.next_back().unwrap_or(check.severity)));
            }
        }
        selected.into_values().collect()
    }

    /// Whether `only` names this check.
    pub fn picks(&self, check: &Check) -> bool {
        self.only.iter().any(|glob| matches(glob, check.id) || glob == check.family())
    }

    /// Globs of `only` and `except` that name nothing.
    pub fn unknown(&self) -> Vec<&str> {
        let names_nothing = |glob: &&String| {
            !checks::ALL.iter().any(|check| matches(glob, check.id) || check.family() == glob.as_str())
        };
        self.only.iter().chain(&self.except).filter(names_nothing).map(String::as_str).collect()
    }
}
