//! How an endpoint was met, before anything was asked.

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

/// The transport of requests to an endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum Transport {
    /// HTTP without TLS.
    Plain,
    /// TLS, with the certificate that the endpoint showed.
    Tls(Certificate),
}

/// A certificate as an endpoint showed it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Certificate {
    /// The name or address that was asked.
    pub host: String,
    /// Whom it names as its owner.
    pub subject: String,
    /// Whom it names as its issuer.
    pub issuer: String,
    /// The names and addresses that it is good for.
    pub names: Vec<String>,
    /// The day from which it is valid, in UTC.
    pub from: Date,
    /// The day on which it ends, in UTC.
    pub until: Date,
    /// Whose authorities it was compared with.
    pub authorities: String,
    /// Why none of them vouches for it, where none does. Names and days have no part in this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untrusted: Option<String>,
}
