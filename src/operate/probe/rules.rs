//! Probes of rules in CEL.

use serde_json::{Value, json};

use super::ProbeResult;
use super::bench::{Bench, GROUP, said};
use crdproof_envtest::ClusterError;
use crdproof_envtest::api::{Answer, definitions};

/// V29: containment of an IP block was recognised only at the start of the block.
pub(super) async fn cidr_containment(bench: &Bench<'_>) -> Result<ProbeResult, ClusterError> {
    let rule = json!([{"rule": "cidr('192.168.0.0/24').containsCIDR(self)"}]);
    let spec = json!({"type": "object", "properties": {
        "block": {"type": "string", "maxLength": 50, "x-kubernetes-validations": rule}}});
    match bench.plain(spec).await {
        Ok(()) => {}
        Err(ClusterError::Refused { status: 422, .. }) => {
            return Ok(ProbeResult::Unclear("the server does not know the CIDR library".into()));
        }
        Err(error) => return Err(error),
    }
    // A server without rules admits everything.
    let mut elsewhere = Bench::object("v1", &json!({"block": "10.0.0.0/8"}));
    elsewhere["metadata"]["name"] = json!("elsewhere");
    if bench.api.post(&bench.collection("v1"), &elsewhere).await?.is_success() {
        return Ok(ProbeResult::Unclear("the server does not judge rules".into()));
    }
    let part = bench.create("v1", &json!({"block": "192.168.0.128/25"})).await?;
    Ok(match part.status {
        201 => ProbeResult::Good("192.168.0.128/25 is a part of 192.168.0.0/24".into()),
        422 => ProbeResult::Bad("192.168.0.128/25 is not held for a part of 192.168.0.0/24".into()),
        _ => ProbeResult::Unclear(said(&part)),
    })
}

/// V14: keys of rules were published with their names in Go.
pub(super) async fn published_rules(bench: &Bench<'_>) -> Result<ProbeResult, ClusterError> {
    let rule = json!([{"rule": "self.a != 13", "message": "thirteen"}]);
    let spec = json!({"type": "object", "properties": {"a": {"type": "integer"}}, "x-kubernetes-validations": rule});
    bench.plain(spec).await?;
    if !keeps_rules(bench).await? {
        return Ok(ProbeResult::Unclear(NO_RULES.into()));
    }
    let own = |answer: &Answer| {
        let document = answer.json();
        let schema = schema_of(&document["definitions"], GROUP, "v1", "Probe");
        schema.map(|schema| schema["properties"]["spec"].clone())
    };
    let seen = bench.until("/openapi/v2", |answer| own(answer).is_some()).await?;
    Ok(published(seen.as_ref().and_then(own).as_ref()))
}

fn published(spec: Option<&Value>) -> ProbeResult {
    let Some(rules) = spec.and_then(|spec| spec["x-kubernetes-validations"].as_array()) else {
        return ProbeResult::Unclear("the rule was not published".into());
    };
    let right = rules.iter().all(|rule| rule["rule"].is_string());
    ProbeResult::of(right, format!("published is {}", json!(rules)))
}

/// V20: `join()` was an internal error.
pub(super) async fn joined_list(bench: &Bench<'_>) -> Result<ProbeResult, ClusterError> {
    let list = json!({"type": "array", "maxItems": 4, "items": {"type": "string", "maxLength": 8}});
    let rule = json!([{"rule": "self.items.join('-') == 'a-b'"}]);
    let spec = json!({"type": "object", "properties": {"items": list}, "x-kubernetes-validations": rule});
    match bench.plain(spec).await {
        Err(ClusterError::Refused { status: 422, message, .. }) if message.contains("internal error") => {
            return Ok(ProbeResult::Bad(message));
        }
        Err(ClusterError::Refused { status: 422, .. }) => {
            return Ok(ProbeResult::Unclear("the server does not know join()".into()));
        }
        installed => installed?,
    }
    if !keeps_rules(bench).await? {
        return Ok(ProbeResult::Unclear(NO_RULES.into()));
    }
    Ok(joined(&bench.create("v1", &json!({"items": ["a", "b"]})).await?))
}

fn joined(answer: &Answer) -> ProbeResult {
    match answer.status {
        201 => ProbeResult::Good("a and b are joined to a-b".into()),
        422 | 500.. => ProbeResult::Bad(said(answer)),
        _ => ProbeResult::Unclear(said(answer)),
    }
}

/// V22: the size of a function's result was unknown, and so the cost of using it.
pub(super) async fn rule_costs(bench: &Bench<'_>) -> Result<ProbeResult, ClusterError> {
    let rule = json!([{"rule": "self.split(',').all(part, part.lowerAscii().contains('a'))"}]);
    let text = json!({"type": "string", "maxLength": 64, "x-kubernetes-validations": rule});
    let installed = bench.plain(json!({"type": "object", "properties": {"text": text}})).await;
    let kept = installed.is_ok() && keeps_rules(bench).await?;
    estimated(installed, kept)
}

fn estimated(installed: Result<(), ClusterError>, kept: bool) -> Result<ProbeResult, ClusterError> {
    match installed {
        Ok(()) if kept => Ok(ProbeResult::Good("the CRD is accepted".into())),
        Ok(()) => Ok(ProbeResult::Unclear(NO_RULES.into())),
        Err(ClusterError::Refused { status: 422, message, .. }) => {
            let cost = message.contains("estimated rule cost");
            let reason: String = message.chars().rev().take(200).collect::<Vec<_>>().into_iter().rev().collect();
            Ok(if cost { ProbeResult::Bad(reason) } else { ProbeResult::Unclear(reason) })
        }
        Err(error) => Err(error),
    }
}

const NO_RULES: &str = "the server does not keep rules";

/// Returns true if the installed CRD has its rules; servers without support drop them.
async fn keeps_rules(bench: &Bench<'_>) -> Result<bool, ClusterError> {
    let stored = bench.api.get(&definitions().path_of(&bench.crd_name())).await?.ok()?.json();
    Ok(stored["spec"].to_string().contains("x-kubernetes-validations"))
}

/// The published schema of a kind.
pub(crate) fn schema_of<'v>(schemas: &'v Value, group: &str, version: &str, kind: &str) -> Option<&'v Value> {
    let own = |schema: &&Value| {
        let mut kinds = schema["x-kubernetes-group-version-kind"].as_array().into_iter().flatten();
        kinds.any(|one| one["kind"] == kind && one["group"] == group && one["version"] == version)
    };
    schemas.as_object()?.values().find(own)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::super::bench::tests::{refusal, word};
    use super::*;

    #[rstest]
    #[case(Some(json!({"x-kubernetes-validations": [{"rule": "self.a != 13"}]})), "good")]
    #[case(Some(json!({"x-kubernetes-validations": [{"Rule": "self.a != 13"}]})), "bad")]
    #[case(Some(json!({"type": "object"})), "unclear")]
    #[case(None, "unclear")]
    fn rules_are_published_with_their_keys(#[case] spec: Option<Value>, #[case] expected: &str) {
        assert_eq!(word(&published(spec.as_ref())), expected);
    }

    #[rstest]
    #[case(201, "good")]
    #[case(422, "bad")]
    #[case(500, "bad")]
    #[case(403, "unclear")]
    fn a_joined_list_is_admitted(#[case] status: u16, #[case] expected: &str) {
        assert_eq!(word(&joined(&refusal(status, "internal error"))), expected);
    }

    fn refused(message: &str) -> Result<(), ClusterError> {
        Err(refusal(422, message).ok().unwrap_err())
    }

    #[rstest]
    #[case(Ok(()), true, "good")]
    #[case(Ok(()), false, "unclear")]
    #[case(refused("estimated rule cost exceeds budget by factor of more than 100x"), false, "bad")]
    #[case(refused("undeclared reference to 'split'"), false, "unclear")]
    fn a_cheap_rule_is_accepted(
        #[case] installed: Result<(), ClusterError>,
        #[case] kept: bool,
        #[case] expected: &str,
    ) {
        assert_eq!(word(&estimated(installed, kept).unwrap()), expected);
    }
}
