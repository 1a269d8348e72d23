//! A client reads back what it wrote, at the version that it wrote through.

use crdproof_schema::structural::{Schema, means_absent, means_same};
use serde_json::Value;

use crate::checks::{Check, Evidence, Failure, Need, Severity, Verdict};
use crate::evidence::{Action, Scenario, ServingStep, Snapshot};

pub(crate) const CHECK: Check = Check {
    id: "serving/writes-lose-nothing",
    title: "a write at any served version keeps every field that was sent",
    why: "The API server answers 201 and drops fields that the stored version does not have. The client gets no error.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/",
        "docs/api-server-behaviour.md#unknown-fields-are-pruned-at-every-step",
        "docs/api-server-behaviour.md#strategy-none-loses-what-one-schema-lacks",
    ],
    severity: Severity::Error,
    since: None,
    help: "add the field to every version, or convert by webhook",
    needs: &[Need::Scenario(Scenario::Serving)],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let Some(trace) = evidence.trace else {
        return Verdict::Inconclusive("no scenario was recorded".into());
    };
    let (mut failures, mut examined) = (Vec::new(), 0);
    for write in trace.calls(ServingStep::Create).filter(|call| call.action == Action::Create && call.is_success()) {
        // A later read counts, not the response to the write.
        let Some(snapshot) = trace.snapshots(ServingStep::Read).find(|snapshot| snapshot.version == write.version)
        else {
            continue;
        };
        examined += 1;
        let Some(read) = read_back(snapshot, &write.answered) else {
            failures.push(
                Failure::new(format!("{} is missing when read at {}", write.name, write.version))
                    .version(&write.version),
            );
            continue;
        };
        let schema = evidence.crd.version(&write.version).and_then(|version| version.schema.as_ref());
        let mut lost = Vec::new();
        missing(schema, &write.sent, read, "", &mut lost);
        failures.extend(lost.into_iter().map(|Missing { path, severity }| {
            let message = format!("{path} was sent through {} and is gone when read there again", write.version);
            let mut failure = Failure::new(message).version(&write.version).key(path.clone()).severity(severity);
            failure.path = Some(path);
            let shown = |object: &Value| evidence.redact(Some(&write.version), object);
            failure.evidence(format!("sent: {}\nread: {}", shown(&write.sent), shown(read)))
        }));
    }
    let mut told = std::collections::BTreeSet::new();
    failures.retain(|failure| told.insert((failure.version.clone(), failure.key.clone())));
    Verdict::from_failures(failures, examined)
}

fn read_back<'a>(snapshot: &'a Snapshot, answered: &Value) -> Option<&'a Value> {
    let metadata = &answered["metadata"];
    let name = metadata["name"].as_str()?;
    let key = metadata["namespace"].as_str().map_or_else(|| name.to_owned(), |namespace| format!("{namespace}/{name}"));
    snapshot.objects.get(&key).map(|body| &**body)
}

/// A field that was sent and differs in the read.
struct Missing {
    path: String,
    severity: Severity,
}

impl Missing {
    fn new(path: String, means_the_same: bool) -> Self {
        Self { path, severity: if means_the_same { Severity::Warning } else { Severity::Error } }
    }
}

/// The fields of one object that the other lacks. Ignores nulls, and additions of the server.
fn missing(schema: Option<&Schema>, sent: &Value, read: &Value, at: &str, lost: &mut Vec<Missing>) {
    match (sent, read) {
        (Value::Object(sent), Value::Object(read)) => {
            for (name, value) in sent.iter().filter(|(_, value)| !value.is_null()) {
                let (at, schema) = (format!("{at}.{name}"), schema.and_then(|schema| schema.child(name)));
                match read.get(name) {
                    Some(other) => missing(schema, value, other, &at, lost),
                    None => lost.push(Missing::new(at, means_absent(schema, value))),
                }
            }
        }
        (Value::Array(sent), Value::Array(read)) if sent.len() == read.len() => {
            let items = schema.and_then(|schema| schema.items.as_deref());
            for (sent, read) in sent.iter().zip(read) {
                missing(items, sent, read, &format!("{at}[*]"), lost);
            }
        }
        (sent, read) if sent == read => {}
        (sent, read) => lost.push(Missing::new(at.to_owned(), means_same(schema, sent, read))),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case::default_in_an_item(json!({"a": [{"b": 1}]}), json!({"a": [{"b": 1, "protocol": "TCP"}]}), &[])]
    #[case::lost_in_an_item(json!({"a": [{"b": 1}]}), json!({"a": [{}]}), &[(".a[*].b", Severity::Error)])]
    #[case::shorter(json!({"a": [1, 2]}), json!({"a": [1]}), &[(".a", Severity::Error)])]
    #[case::explicit_zero(json!({"a": 0}), json!({}), &[(".a", Severity::Warning)])]
    #[case::another_spelling(json!({"a": "60s"}), json!({"a": "1m0s"}), &[(".a", Severity::Warning)])]
    #[case::null(json!({"a": null}), json!({}), &[])]
    fn additions_of_a_server_are_not_losses(
        #[case] sent: Value,
        #[case] read: Value,
        #[case] expected: &[(&str, Severity)],
    ) {
        let mut lost = Vec::new();
        missing(None, &sent, &read, "", &mut lost);
        let lost: Vec<(&str, Severity)> = lost.iter().map(|one| (one.path.as_str(), one.severity)).collect();
        assert_eq!(lost, expected);
    }
}
