//! Judges the configuration of a conversion webhook: problems that prevent calls, now or soon.

use jiff::civil::Date;

use super::{Fact, Level};
use crate::evidence::inventory::Webhook;
use crate::subject::Bundle;

pub(super) fn facts(webhook: &Webhook, today: Date, notice: i64) -> Vec<Fact> {
    let mut facts = Vec::new();
    let mut say = |level: Level, text: String| {
        facts.push(Fact { level, about: "conversion", version: None, text, objects: None });
    };
    match (&webhook.service, &webhook.url) {
        (Some(service), _) => say(Level::Ok, format!("converts by the webhook of service {service}")),
        (None, Some(url)) => {
            say(Level::Ok, format!("converts by the webhook at {}", address(url)));
            if !url.starts_with("https://") {
                say(Level::Error, "the webhook's address is not https, and API servers use nothing else".into());
            } else if is_local(url) {
                let text = "the webhook's address is that of each API server's own machine; a cluster has several";
                say(Level::Warning, text.into());
            }
        }
        (None, None) => say(Level::Error, "converts by a webhook without a service or an address".into()),
    }
    match webhook.bundle.as_deref().map(Bundle::read) {
        None | Some(Bundle::Blank) if webhook.service.is_some() => {
            let text = "there is no caBundle, and no public authority signs the name of a service: conversion fails";
            say(Level::Error, text.into());
        }
        None | Some(Bundle::Blank) => {
            say(Level::Warning, "there is no caBundle: authorities of each API server's machine decide".into());
        }
        Some(Bundle::Unreadable(why)) => say(Level::Error, format!("caBundle {why}")),
        Some(Bundle::Certificates(certificates)) => {
            let good = certificates.iter().any(|(_, end)| *end >= today);
            for (name, end) in certificates {
                let left = today.until(end).map_or(i64::MAX, |span| i64::from(span.get_days()));
                if end < today {
                    // A valid certificate may be enough: bundles contain the old and the new one for a while.
                    let level = if good { Level::Warning } else { Level::Error };
                    say(level, format!("the certificate {name:?} in caBundle expired on {end}"));
                } else if left <= notice {
                    say(Level::Warning, format!("the certificate {name:?} in caBundle ends on {end}, in {left} days"));
                }
            }
        }
    }
    let has = |version: &str| webhook.reviews.iter().any(|each| each == version);
    let listed = webhook.reviews.join(", ");
    match (has("v1"), has("v1beta1")) {
        (true, _) => {}
        (false, true) => say(Level::Warning, format!("conversionReviewVersions is [{listed}], without v1")),
        (false, false) => {
            say(Level::Error, format!("conversionReviewVersions is [{listed}]: API servers support none of them"));
        }
    }
    facts
}

/// The host and port of an address; user, path and query may be secret.
fn address(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    authority.rsplit_once('@').map_or(authority, |(_, host)| host)
}

fn is_local(url: &str) -> bool {
    let address = address(url);
    let host = match address.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or(rest),
        None => address.split(':').next().unwrap_or(address),
    };
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}
