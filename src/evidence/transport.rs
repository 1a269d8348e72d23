//! The transport of an endpoint, before any request.

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

/// The transport of requests to an endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum Transport {
    /// HTTP without TLS.
    Plain,
    /// TLS, with the certificate that the endpoint presented.
    Tls(Certificate),
}

/// A certificate that an endpoint presented.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Certificate {
    /// The name or address in the request.
    pub host: String,
    /// The owner that it names.
    pub subject: String,
    /// The issuer that it names.
    pub issuer: String,
    /// The names and addresses for which it is valid.
    pub names: Vec<String>,
    /// The day from which it is valid, in UTC.
    pub from: Date,
    /// The day on which it expires, in UTC.
    pub until: Date,
    /// The source of the authorities that it was compared with.
    pub authorities: String,
    /// The reason why none of them signed it, if none did. Independent of names and dates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untrusted: Option<String>,
}
