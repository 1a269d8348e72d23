//! Declarations about conversion besides field maps: known losses, omitted zero values, and values of string fields.

use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Crd, PathGlob, Subject, SubjectFile, SubjectFileError, Version};
use crdproof_schema::structural::{Pattern, Schema};
use crdproof_schema::text::glob;

/// Fields that conversion loses, which is accepted until a date.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeclaredLoss {
    /// The fields, with everything below them; `*` stands for one step, `**` for any number of steps.
    pub path: PathGlob,
    /// Only objects of this CRD, or of those that match a glob.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crd: Option<String>,
    /// The reason for accepting it.
    pub reason: String,
    /// The last day on which it applies.
    pub expires: Date,
}

impl DeclaredLoss {
    /// Returns true if it declares the loss of a field of this CRD.
    pub fn covers(&self, crd: &Crd, field: &str) -> bool {
        self.is_of(crd) && self.path.covers(field)
    }

    /// Returns true if it applies to this CRD.
    pub fn is_of(&self, crd: &Crd) -> bool {
        is_of(self.crd.as_deref(), crd)
    }
}

/// States that explicit zero values may become absent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OmittedZeros {
    /// The reason, such as `Go structs with omitempty; no controller distinguishes them`.
    pub reason: String,
}

/// The settings of generated objects.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GenerateConfig {
    /// Values of string fields, if the schema does not restrict them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<Hint>,
}

impl GenerateConfig {
    pub(super) fn is_empty(&self) -> bool {
        self.hints.is_empty()
    }
}

/// The values of a field. Exactly one of `as`, `values` and `pattern`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Hint {
    /// The fields; `*` stands for one step, `**` for any number of steps.
    pub path: PathGlob,
    /// Only objects of this CRD, or of those that match a glob.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crd: Option<String>,
    /// A common notation.
    #[serde(default, rename = "as", skip_serializing_if = "Option::is_none")]
    pub notation: Option<Notation>,
    /// All values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<Value>,
    /// A regular expression that all values match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
}

/// Notations that converters parse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Notation {
    /// A duration of Go, such as `90s`.
    Duration,
    /// A schedule of cron, such as `0 3 * * 1`.
    Cron,
    /// A quantity of Kubernetes, such as `500Mi`.
    Quantity,
}

impl Notation {
    /// Returns a regular expression that matches only such texts, but not necessarily all of them.
    fn pattern(self) -> &'static str {
        match self {
            Self::Duration => "^[1-9][0-9]{0,2}(ms|s|m|h)$",
            Self::Cron => {
                r"^([0-9]|[1-5][0-9]) ([0-9]|1[0-9]|2[0-3]) (\*|[1-9]|1[0-9]|2[0-8]) (\*|[1-9]|1[0-2]) (\*|[0-6])$"
            }
            Self::Quantity => "^[1-9][0-9]{0,2}(m|k|M|G|Ki|Mi|Gi)?$",
        }
    }
}

impl Hint {
    /// Restricts the schemas of the named fields. Returns their number.
    fn narrow(&self, root: &mut Schema) -> usize {
        let mut paths = Vec::new();
        root.walk(&mut |path, _| {
            if self.path.matches(&path.to_string()) {
                paths.push(path.clone());
            }
        });
        for path in &paths {
            let Some(schema) = root.at_mut(path) else { continue };
            let pattern = self.pattern.as_deref().or(self.notation.map(Notation::pattern));
            if let Some(pattern) = pattern {
                // The schema's own pattern still applies.
                if let Some(own) = schema.pattern.replace(Pattern::new(pattern)) {
                    let mut also = Schema::empty(schema.span);
                    also.pattern = Some(own);
                    schema.all_of.push(also);
                }
            } else {
                schema.enumeration = Some(self.values.clone());
            }
        }
        paths.len()
    }
}

fn is_of(wanted: Option<&str>, crd: &Crd) -> bool {
    wanted.is_none_or(|wanted| glob(wanted, &crd.name))
}

impl Version {
    /// Returns the schema for generated objects: the version's own, restricted by hints of the subject file.
    pub fn generated_from(&self) -> Option<&Schema> {
        self.hinted.as_ref().or(self.schema.as_ref())
    }
}

impl Subject {
    /// Returns true if the loss of a field of a CRD is declared by its path.
    pub fn declares_loss(&self, crd: &Crd, field: &str) -> bool {
        self.file.losses.iter().any(|loss| loss.covers(crd, field))
    }
}

/// Restricts the values that are generated for CRDs by hints. `Err` is the number of a hint that matches no field.
pub(in crate::subject) fn apply_hints(hints: &[Hint], crds: &mut [Crd]) -> Result<(), usize> {
    for (index, hint) in hints.iter().enumerate() {
        let mut named = 0;
        for crd in crds.iter_mut().filter(|crd| is_of(hint.crd.as_deref(), crd)) {
            for version in &mut crd.versions {
                let Some(mut schema) = version.hinted.take().or_else(|| version.schema.clone()) else { continue };
                named += hint.narrow(&mut schema);
                version.hinted = Some(schema);
            }
        }
        if named == 0 {
            return Err(index);
        }
    }
    Ok(())
}

impl SubjectFile {
    /// Finds mistakes in losses, omitted zeros and hints that the types cannot express.
    pub(super) fn declared_problem(&self) -> Option<SubjectFileError> {
        let error = |pointer: String, message: &str, help: &str| {
            Some(SubjectFileError { pointer, message: message.to_owned(), help: help.to_owned() })
        };
        let losses = self.losses.iter().map(|loss| &loss.path).enumerate();
        let paths = losses.map(|(index, path)| (format!("/losses/{index}/path"), path));
        let hints = self.generate.hints.iter().map(|hint| &hint.path).enumerate();
        let mut paths = paths.chain(hints.map(|(index, path)| (format!("/generate/hints/{index}/path"), path)));
        if let Some((pointer, path)) = paths.find(|(_, path)| !path.is_path()) {
            let message = format!("{:?} is not the path of a field", path.as_str());
            return error(pointer, &message, "begin it with a dot, such as `.spec.password`");
        }
        if let Some(index) = self.losses.iter().position(|loss| loss.reason.trim().is_empty()) {
            return error(format!("/losses/{index}/reason"), "the reason is empty", "say why the loss is accepted");
        }
        if self.omitted_zeros.as_ref().is_some_and(|zeros| zeros.reason.trim().is_empty()) {
            return error("/omittedZeros/reason".into(), "the reason is empty", "say why omitted zero values are fine");
        }
        let index = self.generate.hints.iter().position(|hint| {
            let ways = [hint.notation.is_some(), !hint.values.is_empty(), hint.pattern.is_some()];
            ways.into_iter().filter(|given| *given).count() != 1
        });
        if let Some(index) = index {
            let help = "write one of `as: duration`, `values: [a, b]` and `pattern: \"^[a-z]+$\"`";
            return error(format!("/generate/hints/{index}"), "a hint is exactly one of as, values and pattern", help);
        }
        let hints = self.generate.hints.iter().enumerate();
        let mut patterns = hints.filter_map(|(index, hint)| Some((index, Pattern::new(hint.pattern.as_deref()?))));
        patterns.find_map(|(index, pattern)| {
            let why = pattern.regex().err()?.to_owned();
            let message = format!("the pattern cannot be compiled: {why}");
            error(format!("/generate/hints/{index}/pattern"), &message, "write it in the syntax of Go's regexp")
        })
    }
}
