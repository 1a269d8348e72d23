//! A finding as data.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Location, Related};
use crate::checks::{Severity, cause_rank};
use crdproof_schema::document::Place;

/// One failed guarantee in one place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Finding {
    /// The check.
    pub check: String,
    /// The severity.
    pub severity: Severity,
    /// The CRD; the first one if a change concerns several.
    pub crd: String,
    /// The CRD version concerned.
    pub version: Option<String>,
    /// The field concerned, such as `.spec.password`.
    pub path: Option<String>,
    /// The problem.
    pub message: String,
    /// Evidence over several lines.
    pub evidence: Option<String>,
    /// The remedy.
    pub help: String,
    /// The location.
    pub location: Option<Location>,
    /// Other locations that explain it.
    pub related: Vec<Related>,
    /// Stable identifier of this finding; it does not change when lines move.
    pub fingerprint: String,
    /// The kind of change, such as "field removed", if two states are compared; `fields` lists the places.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
    /// All fields that it concerns, if it can concern several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<Field>,
    /// Other checks that fail for the same reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub consequences: Vec<Consequence>,
    /// A command that shows the finding again.
    pub reproduce: Option<String>,
    /// The waiver that accepts it: an index into the report's waivers.
    pub waiver: Option<usize>,
}

/// One field of a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Field {
    /// The CRD, if the finding can concern several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crd: Option<String>,
    /// The version, if the finding can concern several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The field, such as `.spec.password`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The message about this field.
    pub message: String,
    /// The location, in the new state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// Stable identifier of this field of the finding.
    pub fingerprint: String,
}

/// Another check that fails for the same reason as a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Consequence {
    /// The check.
    pub check: String,
    /// Its message.
    pub message: String,
    /// Stable identifier of its finding.
    pub fingerprint: String,
}

impl Finding {
    /// Returns the CRDs that it concerns.
    pub fn crds(&self) -> BTreeSet<&str> {
        let fields = self.fields.iter().filter_map(|field| field.crd.as_deref());
        fields.chain([self.crd.as_str()]).collect()
    }

    /// Returns true if a fingerprint names this finding, one of its fields or one of its consequences.
    pub fn is_named(&self, fingerprint: &str) -> bool {
        let fields = self.fields.iter().map(|field| &field.fingerprint);
        let consequences = self.consequences.iter().map(|consequence| &consequence.fingerprint);
        self.fingerprint == fingerprint || fields.chain(consequences).any(|own| own == fingerprint)
    }

    /// Returns the fingerprint of the counterexample that shows this finding, among the given ones: its own, otherwise
    /// that of a consequence.
    pub(crate) fn shown_by(&self, counterexamples: &[String]) -> Option<&str> {
        let own = std::iter::once(&self.fingerprint).chain(self.consequences.iter().map(|one| &one.fingerprint));
        own.map(String::as_str).find(|own| counterexamples.iter().any(|shown| shown == own))
    }

    /// The order of findings in a report: by CRD, the worst first, causes before others, then by location and check.
    /// The fingerprint comes last, so that the order is unique.
    pub fn order(&self) -> impl Ord + use<> {
        let place = self.location.as_ref().map(|location| (location.file.clone(), location.line, location.column));
        (
            self.crd.clone(),
            std::cmp::Reverse(self.severity),
            cause_rank(&self.check),
            place,
            self.check.clone(),
            self.version.clone(),
            self.path.clone(),
            self.message.clone(),
            self.fingerprint.clone(),
        )
    }
}
