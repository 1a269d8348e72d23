//! The report as JSON: written, described by a schema, and read back.

use serde::{Deserialize, Serialize};

use super::Report;
use crate::subject::API_VERSION;

/// A text that is not a report.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Not JSON, or an object that does not say what it is.
    #[error("this is not a crdproof report in JSON")]
    NotJson(#[source] serde_json::Error),
    /// Another kind of document.
    #[error("this is a {kind:?}, not a Report")]
    Kind {
        /// Its `kind`.
        kind: String,
    },
    /// A report of another generation.
    #[error("this report has apiVersion {found:?}; this crdproof reads {API_VERSION:?}")]
    ApiVersion {
        /// Its `apiVersion`.
        found: String,
    },
    /// Says that it is a report, but is not made like one.
    #[error("this report is damaged or was written by a crdproof that knows other fields")]
    Shape(#[source] serde_json::Error),
}

/// The header of every document of ours.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Header {
    api_version: String,
    kind: String,
}

/// Writes the report as JSON for people: indented, with a line break at the end.
pub fn json(report: &Report) -> String {
    pretty(report)
}

/// Reads a report that [`json`] wrote.
pub fn read(text: &str) -> Result<Report, ReadError> {
    let header: Header = serde_json::from_str(text).map_err(ReadError::NotJson)?;
    if header.kind != "Report" {
        return Err(ReadError::Kind { kind: header.kind });
    }
    if header.api_version != API_VERSION {
        return Err(ReadError::ApiVersion { found: header.api_version });
    }
    serde_json::from_str(text).map_err(ReadError::Shape)
}

/// The JSON Schema of a report.
pub fn report_schema() -> serde_json::Value {
    schemars::schema_for!(Report).to_value()
}

/// Our own types have string keys and serialisers that cannot fail.
pub(super) fn pretty(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("reports can always be serialised");
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refuse(text: &str) -> String {
        read(text).unwrap_err().to_string()
    }

    #[test]
    fn refusals_say_what_the_text_is() {
        assert_eq!(refuse("<xml>"), "this is not a crdproof report in JSON");
        assert_eq!(refuse("[]"), "this is not a crdproof report in JSON");
        assert_eq!(
            refuse(r#"{"apiVersion": "crdproof/v1alpha1", "kind": "Subject"}"#),
            "this is a \"Subject\", not a Report"
        );
        assert_eq!(
            refuse(r#"{"apiVersion": "crdproof/v9", "kind": "Report"}"#),
            "this report has apiVersion \"crdproof/v9\"; this crdproof reads \"crdproof/v1alpha1\""
        );
        let error = read(r#"{"apiVersion": "crdproof/v1alpha1", "kind": "Report"}"#).unwrap_err();
        let source = std::error::Error::source(&error).unwrap().to_string();
        assert!(source.contains("missing field"), "{source}");
    }
}
