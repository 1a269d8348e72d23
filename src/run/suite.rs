//! Suites: data that selects checks and sets their severity.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::checks::{self, Severity};
use crate::subject::Period;
use crdproof_schema::document::{DecodeError, ParseError, Place, Sources, decode, parse};
use crdproof_schema::names;
use crdproof_schema::text::glob;

/// The built-in suites: name and text.
pub static SUITES: &[(&str, &str)] = &[
    ("all", include_str!("../../suites/all.yaml")),
    ("apply", include_str!("../../suites/apply.yaml")),
    ("converter", include_str!("../../suites/converter.yaml")),
    ("manifest", include_str!("../../suites/manifest.yaml")),
    ("quick", include_str!("../../suites/quick.yaml")),
    ("serving", include_str!("../../suites/serving.yaml")),
    ("storage", include_str!("../../suites/storage.yaml")),
    ("upgrade", include_str!("../../suites/upgrade.yaml")),
    ("webhook", include_str!("../../suites/webhook.yaml")),
];

/// A suite file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(title = "crdproof suite file")]
pub struct SuiteFile {
    /// Always `crdproof/v1alpha1`.
    pub api_version: String,
    /// Always `Suite`.
    pub kind: String,
    /// Its purpose, in one line.
    pub description: String,
    /// Ids or globs of the checks, such as `manifest/*`.
    pub checks: Vec<String>,
    /// The number of generated objects of every version, for converter checks; none if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objects: Option<usize>,
    /// The time limit for all work on one CRD, such as `30s`; two minutes by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Period>,
    /// Severities that differ from the registry's, by id or glob.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub severity: BTreeMap<String, Severity>,
}

/// A valid suite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Suite {
    /// Its name.
    pub name: String,
    /// Its content.
    pub file: SuiteFile,
}

/// An error in a suite.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{place}: {message}")]
pub struct SuiteError {
    /// The location.
    pub place: Place,
    /// The problem.
    pub message: String,
    /// The remedy.
    pub help: Option<String>,
}

/// Reads a suite from its text. `file` names the text in errors.
pub fn load_suite(name: &str, file: &str, text: &str) -> Result<Suite, SuiteError> {
    let mut sources = Sources::default();
    let id = sources.add(file, text);
    let start = crdproof_schema::document::Span::start_of(id);
    let error = |span, message: String, help| SuiteError { place: sources.place(span), message, help };
    let documents = parse(&sources, id).map_err(|ParseError { span, message }| error(span, message, None))?;
    let [document] = documents.as_slice() else {
        return Err(error(start, format!("a suite file has one document; this one has {}", documents.len()), None));
    };
    let suite: SuiteFile = decode(document)
        .map_err(|DecodeError { span, message, help }| error(span.unwrap_or(document.span), message, help))?;
    if suite.kind != "Suite" || suite.api_version != crate::subject::API_VERSION {
        let help = format!("write `apiVersion: {}` and `kind: Suite`", crate::subject::API_VERSION);
        return Err(error(document.span, "this is not a suite".into(), Some(help)));
    }
    let patterns = suite.checks.iter().enumerate().map(|(index, ids)| (format!("/checks/{index}"), ids));
    for (pointer, ids) in
        patterns.chain(suite.severity.keys().map(|ids| (format!("/severity/{}", ids.replace('/', "~1")), ids)))
    {
        if !checks::ALL.iter().any(|check| glob(ids, check.id)) {
            let help = names::closest(ids, checks::ALL.iter().map(|check| check.id)).map_or_else(
                || "`crdproof list` shows all checks".to_owned(),
                |near| format!("did you mean `{near}`?"),
            );
            return Err(error(document.nearest(&pointer).span, format!("no check matches {ids:?}"), Some(help)));
        }
    }
    Ok(Suite { name: name.to_owned(), file: suite })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_suites_are_sound() {
        for (name, text) in SUITES {
            load_suite(name, name, text).unwrap();
        }
    }

    #[test]
    fn an_unknown_check_is_refused_with_the_place() {
        let text =
            "apiVersion: crdproof/v1alpha1\nkind: Suite\ndescription: x\nchecks:\n- manifest/one-storage-versio\n";
        let error = load_suite("x", "x.yaml", text).unwrap_err();
        assert_eq!(error.place.to_string(), "x.yaml:5:3");
        assert_eq!(error.help.unwrap(), "did you mean `manifest/one-storage-version`?");
    }
}
