//! An object that broke a guarantee, kept so that it can be tried again.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Fit, Trial};

/// A saved counter-example. It holds the object as it is, secrets included, and needs no generator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SavedCase {
    /// Always `crdproof/v1alpha1`.
    pub api_version: String,
    /// Always `Case`.
    pub kind: String,
    /// The finding that it was saved for.
    pub fingerprint: String,
    /// The check that it broke.
    pub check: String,
    /// What was wrong.
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

impl SavedCase {
    /// The case of a finding that a trial shows.
    pub fn new(fingerprint: &str, check: &str, message: &str, trial: &Trial) -> Self {
        Self {
            api_version: crate::subject::API_VERSION.into(),
            kind: "Case".into(),
            fingerprint: fingerprint.to_owned(),
            check: check.to_owned(),
            message: message.to_owned(),
            crd: trial.crd.clone(),
            version: trial.version.clone(),
            fit: trial.fit.clone(),
            object: trial.input.clone(),
        }
    }

    /// The name of the file that it is kept in.
    pub fn file_name(&self) -> String {
        format!("{}.json", self.fingerprint)
    }
}
