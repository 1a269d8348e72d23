//! The conversion stanza must be valid for the API server: a strategy, and for Webhook exactly one valid address.

use crate::checks::{Check, Evidence, Failure, Need, Severity, Verdict};
use crate::subject::{ClientConfig, Service};
use crdproof_schema::document::Span;
use crdproof_schema::structural::is_request_uri;

pub(crate) const CHECK: Check = Check {
    id: "manifest/conversion-stanza-valid",
    title: "the conversion stanza is valid, and API servers can reach its webhook",
    why: "The API server refuses a CRD whose conversion stanza is invalid. A stanza that points at the API server's \
          own machine is accepted, but then every read and write that needs conversion fails.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#configure-customresourcedefinition-to-use-conversion-webhooks",
        "docs/api-server-behaviour.md#the-conversion-stanza-has-fixed-rules",
    ],
    severity: Severity::Error,
    since: None,
    help: "use `strategy: Webhook` with clientConfig.service, or with an https URL that API servers can reach",
    needs: &[Need::Manifest],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let conversion = &evidence.crd.conversion;
    let mut failures = Vec::new();
    match (conversion.strategy.as_str(), &conversion.client, conversion.webhook) {
        ("None", _, Some(webhook)) => {
            failures.push(
                Failure::new("strategy None excludes webhook settings")
                    .at(webhook)
                    .help("remove `webhook`, or use strategy Webhook"),
            );
        }
        ("None", ..) => {}
        ("Webhook", Some(client), _) => address(client, &mut failures),
        ("Webhook", None, _) => {
            failures.push(Failure::new("strategy Webhook needs webhook.clientConfig").at(conversion.span));
        }
        (strategy, ..) => {
            let message = format!("the strategy {strategy:?} is neither None nor Webhook");
            failures.push(Failure::new(message).at(evidence.crd.span_at("/spec/conversion/strategy")));
        }
    }
    Verdict::from_failures(failures, 1)
}

fn address(client: &ClientConfig, failures: &mut Vec<Failure>) {
    match (&client.url, &client.service) {
        (Some((text, span)), None) => url(text, *span, failures),
        (None, Some(address)) => service(address, failures),
        (Some(_), Some(_)) => {
            failures
                .push(Failure::new("clientConfig has both url and service").at(client.span).help("keep one of them"));
        }
        (None, None) => {
            failures.push(
                Failure::new("clientConfig has neither url nor service")
                    .at(client.span)
                    .help("name a service or a URL"),
            );
        }
    }
}

fn url(text: &str, span: Span, failures: &mut Vec<Failure>) {
    let mut say = |message: String, help: &str, severity: Severity| {
        failures.push(Failure::new(message).at(span).help(help).severity(severity));
    };
    let Some((scheme, rest)) = text.split_once("://") else {
        return say(format!("{text:?} is not a URL"), "write https://host:port/path", Severity::Error);
    };
    if scheme != "https" {
        let message = format!(
            "the URL has the scheme {scheme}; API servers call conversion webhooks by https only and refuse this CRD"
        );
        say(message, "serve the webhook with TLS, write https:// and put its CA into caBundle", Severity::Error);
    }
    if !is_request_uri(text) {
        say(format!("{text:?} cannot be parsed as a URL"), "write https://host:port/path", Severity::Error);
    }
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let (user, host) = authority.rsplit_once('@').map_or((None, authority), |(user, host)| (Some(user), host));
    if user.is_some() {
        say("the URL contains user information".into(), "remove it; API servers send no credentials", Severity::Error);
    }
    if rest.contains('?') || rest.contains('#') {
        say("the URL has a query or a fragment".into(), "remove it", Severity::Error);
    }
    let name = host
        .strip_prefix('[')
        .map_or_else(|| host.split(':').next(), |rest| rest.split(']').next())
        .unwrap_or_default();
    let port = host.rsplit_once(':').map(|(_, port)| port).filter(|port| port.bytes().all(|one| one.is_ascii_digit()));
    let is_possible = |port: &str| port.is_empty() || port.parse::<u16>().is_ok_and(|port| port > 0);
    if let Some(port) = port.filter(|port| !is_possible(port)) {
        // The API server accepts the CRD, but its calls cannot be dialled.
        let message = format!("the port {port} is not between 1 and 65535, so no call reaches the webhook");
        say(message, "correct the port", Severity::Error);
    }
    if name.is_empty() {
        say("the URL has no host".into(), "write https://host:port/path", Severity::Error);
    }
    let loopback = name == "localhost"
        || name.ends_with(".localhost")
        || name.starts_with("127.")
        || name == "::1"
        || name == "0.0.0.0";
    if loopback {
        let message = format!("the URL points at {name}, which for an API server is its own machine");
        say(
            message,
            "use clientConfig.service, or a host name that every API server resolves to the webhook",
            Severity::Warning,
        );
    }
}

fn service(service: &Service, failures: &mut Vec<Failure>) {
    let mut say = |message: String, span: Span| {
        failures.push(Failure::new(message).at(span).help("correct clientConfig.service"));
    };
    for (key, value) in [("name", &service.name), ("namespace", &service.namespace)] {
        if value.is_empty() {
            say(format!("clientConfig.service has no {key}"), service.span);
        }
    }
    if let Some((port, span)) = service.port.filter(|(port, _)| !(1..=65535).contains(port)) {
        say(format!("the port {port} is not between 1 and 65535"), span);
    }
    if let Some((path, span)) = &service.path
        && let Some(why) = path_fault(path)
    {
        say(format!("the path {path:?} {why}"), *span);
    }
}

/// A path is `/` or segments of lower-case letters, digits, dashes and dots.
fn path_fault(path: &str) -> Option<&'static str> {
    if path.is_empty() || path == "/" {
        return None;
    }
    let Some(rest) = path.strip_prefix('/') else {
        return Some("does not start with a slash");
    };
    let valid = rest.strip_suffix('/').unwrap_or(rest).split('/').all(crate::subject::is_dns_subdomain_1123);
    (!valid).then_some("has a segment that is empty or contains more than lower-case letters, digits, dashes and dots")
}
