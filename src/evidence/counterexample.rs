//! An object that broke a guarantee, kept so that it can be tried again.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ConversionRun, Fit};

/// A saved counterexample. It holds the object as it is, secrets included, and needs no generator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Counterexample {
    /// Always `crdproof/v1alpha1`.
    pub api_version: String,
    /// Always `Counterexample`.
    pub kind: String,
    /// The finding that it was saved for.
    pub fingerprint: String,
    /// The check that it broke.
    pub check: String,
    /// The error.
    pub message: String,
    /// The CRD.
    pub crd: String,
    /// The version of the object.
    pub version: String,
    /// What kind of object it is.
    #[serde(default, skip_serializing_if = "Fit::is_valid")]
    pub fit: Fit,
    /// The object, as small as it got.
    pub object: Value,
}

/// A text that is not a saved case.
#[derive(Debug, thiserror::Error)]
pub enum CounterexampleError {
    /// Not made like a case.
    #[error("this is not a counterexample that crdproof saved: {0}")]
    Shape(#[from] serde_json::Error),
    /// Another kind of document, or one of another generation.
    #[error("this is a {kind:?} of {api_version:?}, not a Counterexample of {:?}", crate::subject::API_VERSION)]
    Kind {
        /// What it says of itself.
        kind: String,
        /// What it says of itself.
        api_version: String,
    },
    /// A fingerprint that no finding has.
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
        // It names a file, so it holds nothing but digits.
        if case.fingerprint.len() != 12 || !case.fingerprint.chars().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(CounterexampleError::Fingerprint(case.fingerprint));
        }
        Ok(case)
    }

    /// As JSON for people and for [`Counterexample::read`].
    pub fn write(&self) -> String {
        // Our own types have string keys and serialisers that cannot fail.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// The case of a finding that a conversion run shows.
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

    /// The name of the file that it is kept in.
    pub fn file_name(&self) -> String {
        format!("{}.json", self.fingerprint)
    }
}
