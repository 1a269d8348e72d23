//! The converter in the subject file.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use http::Uri;

use super::{ExecConfig, Period, SubjectFileError};

/// Reads the URL of a webhook. `Err` says what is wrong with it.
pub fn webhook_url(url: &str) -> Result<Uri, String> {
    let uri: Uri = url.parse().map_err(|error| format!("{url:?} is not a URL: {error}"))?;
    if !matches!(uri.scheme_str(), Some("http" | "https")) || uri.host().is_none_or(str::is_empty) {
        return Err(format!("{url:?} is not a URL of a webhook; write https://HOST:PORT/PATH"));
    }
    // `Uri` ignores a port that is out of range, and the default port would be used.
    let port = uri.authority().and_then(|authority| authority.as_str().rsplit_once(':'));
    let port = port.map(|(_, port)| port).filter(|port| !port.contains(']'));
    match port {
        Some(port) if !port.parse().is_ok_and(|port: u16| port > 0) => {
            Err(format!("{url:?} has the port {port:?}, which is not between 1 and 65535"))
        }
        _ => Ok(uri),
    }
}

/// Exactly one way to convert, and optionally that of the previous release.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConverterConfig {
    /// A webhook that is already running.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webhook: Option<WebhookConfig>,
    /// A webhook that crdproof starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<ProcessConfig>,
    /// A command that reads a review on stdin and writes its response to stdout: a list of words, or a map with more
    /// keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exec: Option<ExecConfig>,
    /// The declared field maps themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field_map: Option<Empty>,
    /// The previous release's converter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Box<ConverterConfig>>,
}

/// No settings yet.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Empty {}

/// A webhook that is already running.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WebhookConfig {
    /// Its URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Its Service in a cluster, called through the API server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<ServiceConfig>,
    /// The kubeconfig of that cluster; by default the one that `kubectl` uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kubeconfig: Option<String>,
    /// The context of that cluster; by default the current one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// The CA that signed its certificate; by default the CRD's `caBundle` or the machine's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_file: Option<String>,
    /// The same as text in base64, as in a CRD.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_bundle: Option<String>,
    /// The timeout of a response; `30s` by default, as for API servers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Period>,
}

/// A Service in a cluster.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ServiceConfig {
    /// Its name.
    pub name: String,
    /// Its namespace.
    pub namespace: String,
    /// Its port; 443 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// The path of its endpoint; `/convert` by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// A webhook that crdproof starts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ProcessConfig {
    /// The command; `$PORT`, `$CERT_DIR` and `$KUBECONFIG` are filled in.
    pub run: Vec<String>,
    /// Additional environment variables, filled in the same way.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// The port that it listens on; a free one by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// The path of its endpoint; `/convert` by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// True if it speaks TLS, which API servers require.
    #[serde(default = "yes")]
    pub tls: bool,
    /// The timeout of a response; `30s` by default, as for API servers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Period>,
    /// The condition for being ready; by default, that it answers a review.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready: Option<Ready>,
    /// True if it needs an API server; crdproof starts one for it, with the CRDs installed.
    #[serde(default)]
    pub needs_cluster: bool,
    /// Files and directories with objects that are created on the API server before the process starts; with
    /// `needsCluster`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub manifests: Vec<String>,
    /// The CA of its certificate, if it generates one; `$CERT_DIR` is filled in. Read once the process listens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_file: Option<String>,
}

/// The condition under which a started webhook counts as ready.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Ready {
    /// Its port accepts connections.
    #[serde(default)]
    pub tcp: bool,
    /// The timeout of the start; `60s` by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<Period>,
}

fn yes() -> bool {
    true
}

impl ConverterConfig {
    /// Finds mistakes that the types cannot express.
    pub(super) fn problem(&self) -> Option<SubjectFileError> {
        let of_baseline = || self.baseline.as_ref()?.problem_at("/converter/baseline");
        self.problem_at("/converter").or_else(of_baseline)
    }

    fn problem_at(&self, place: &str) -> Option<SubjectFileError> {
        let error = |pointer: &str, message: String, help: &str| {
            Some(SubjectFileError { pointer: format!("{place}{pointer}"), message, help: help.to_owned() })
        };
        if self.ways() != 1 {
            let message =
                format!("a converter is exactly one of webhook, process, exec and fieldMap; here are {}", self.ways());
            return error("", message, "keep one of them");
        }
        if self.exec.as_ref().is_some_and(|exec| exec.command.is_empty()) {
            let help = "name the program and its arguments, such as `exec: [bin/convert]`";
            return error("/exec", "no command is given".into(), help);
        }
        if let Some(webhook) = &self.webhook {
            let service = webhook.service.as_ref();
            if webhook.url.is_some() == service.is_some() {
                let message = "a webhook is exactly one of url and service".to_owned();
                return error("/webhook", message, "keep one of them, or add `url:`");
            }
            if let Some(Err(wrong)) = webhook.url.as_deref().map(webhook_url) {
                return error("/webhook/url", wrong, "write https://HOST:PORT/PATH");
            }
            if service.is_none() && (webhook.kubeconfig.is_some() || webhook.context.is_some()) {
                let message = "kubeconfig and context are for a service".to_owned();
                return error("/webhook", message, "name the service, or leave them out");
            }
            if service.is_some() && webhook.ca_file.is_some() {
                let message = "the API server does not show a service's certificate".to_owned();
                return error("/webhook/caFile", message, "leave `caFile` out");
            }
            if let Some(path) = service.and_then(|service| service.path.as_ref()).filter(|path| !path.starts_with('/'))
            {
                return error("/webhook/service/path", format!("{path:?} is not a path"), "begin it with a slash");
            }
        }
        if let Some(process) = &self.process {
            if process.run.first().is_none_or(|program| program.trim().is_empty()) {
                let help = "name the program and its arguments, such as `run: [bin/manager, --port, $PORT]`";
                return error("/process/run", "no command is given".into(), help);
            }
            if process.port == Some(0) {
                return error("/process/port", "0 is not a port".into(), "leave `port` out for a free one");
            }
            if let Some(path) = process.path.as_ref().filter(|path| !path.starts_with('/')) {
                return error("/process/path", format!("{path:?} is not a path"), "begin it with a slash");
            }
            if !process.manifests.is_empty() && !process.needs_cluster {
                let message = "manifests are for the API server that the process needs".to_owned();
                return error("/process/manifests", message, "add `needsCluster: true`, or leave `manifests` out");
            }
            if process.ca_file.is_some() && !process.tls {
                let message = "without TLS there is no certificate".to_owned();
                return error("/process/caFile", message, "leave `caFile` or `tls: false` out");
            }
        }
        None
    }

    fn ways(&self) -> usize {
        [self.webhook.is_some(), self.process.is_some(), self.exec.is_some(), self.field_map.is_some()]
            .into_iter()
            .filter(|given| *given)
            .count()
    }
}
