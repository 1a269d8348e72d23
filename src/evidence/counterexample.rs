//! Counterexamples: objects that made a check fail, saved so that they can be replayed.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ConversionRun, Validity};

/// A saved counterexample. It contains the object unredacted, and needs no generator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Counterexample {
    /// Always `crdproof/v1alpha1`.
    pub api_version: String,
    /// Always `Counterexample`.
    pub kind: String,
    /// The finding that it was saved for.
    pub fingerprint: String,
    /// The check that failed.
    pub check: String,
    /// The message of the finding.
    pub message: String,
    /// The CRD.
    pub crd: String,
    /// The version of the object.
    pub version: String,
    /// The validity of the object.
    #[serde(default, skip_serializing_if = "Validity::is_valid")]
    pub fit: Validity,
    /// The object, minimized.
    pub object: Value,
}

/// An error in a counterexample file.
#[derive(Debug, thiserror::Error)]
pub enum CounterexampleError {
    /// The structure is wrong.
    #[error("this is not a counterexample that crdproof saved: {0}")]
    Shape(#[from] serde_json::Error),
    /// Another kind of document, or another version of it.
    #[error("this is a {kind:?} of {api_version:?}, not a Counterexample of {:?}", crate::subject::API_VERSION)]
    Kind {
        /// Its `kind`.
        kind: String,
        /// Its `apiVersion`.
        api_version: String,
    },
    /// A fingerprint that no finding can have.
    #[error("{0:?} is not a fingerprint of a finding")]
    Fingerprint(String),
}

impl Counterexample {
    /// Reads what [`Counterexample::write`] wrote.
    pub fn read(text: &str) -> Result<Self, CounterexampleError> {
        let case: Self = serde_json::from_str(text)?;
        if case.kind != "Counterexample" || case.api_version != crate::subject::API_VERSION {
            return Err(CounterexampleError::Kind { kind: case.kind, api_version: case.api_version });
        }
        // It becomes a file name, so it must contain only hexadecimal digits.
        if case.fingerprint.len() != 12 || !case.fingerprint.chars().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(CounterexampleError::Fingerprint(case.fingerprint));
        }
        Ok(case)
    }

    /// Writes JSON, for people and for [`Counterexample::read`].
    pub fn write(&self) -> String {
        // Our own types have string keys and serializers that cannot fail.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// The counterexample of a finding on a conversion run.
    pub fn new(fingerprint: &str, check: &str, message: &str, conversion_run: &ConversionRun) -> Self {
        Self {
            api_version: crate::subject::API_VERSION.into(),
            kind: "Counterexample".into(),
            fingerprint: fingerprint.to_owned(),
            check: check.to_owned(),
            message: message.to_owned(),
            crd: conversion_run.crd.to_string(),
            version: conversion_run.version.to_string(),
            fit: conversion_run.fit.clone(),
            object: Value::clone(&conversion_run.input),
        }
    }

    /// The name of its file.
    pub fn file_name(&self) -> String {
        format!("{}.json", self.fingerprint)
    }
}
