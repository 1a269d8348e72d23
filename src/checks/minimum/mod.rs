//! The Kubernetes release that a subject needs: the requirements of its manifests by table, the results of requests to
//! a release, and the lowest release that works.

mod answer;
pub mod bisect;
mod compare;
mod gap;
mod requirements;
mod windows;

pub use answer::{Answer, Searched, Tested};
pub use gap::{Gap, ReleaseResult};
pub use requirements::{Requirement, Requirements};
pub use windows::{Excluded, Suspect, suspects};

use serde_json::Value;

use crate::evidence::{Attempt, AttemptKind, AttemptResponse, ObjectName};
use compare::compare;

/// Judges the requests to one release.
pub fn judge(attempts: &[Attempt]) -> ReleaseResult {
    let mut result = ReleaseResult { tried: attempts.len(), ..ReleaseResult::default() };
    for attempt in attempts {
        result.add_warnings(attempt.response.warnings());
        judge_attempt(attempt, &mut result);
    }
    result
}

fn judge_attempt(Attempt { crd, request, sent, response }: &Attempt, result: &mut ReleaseResult) {
    match (request, response) {
        (AttemptKind::Definition | AttemptKind::DefinitionWithoutWebhook, AttemptResponse::Refused(message, _)) => {
            result.gaps.push(Gap::Refused { crd: crd.clone(), message: message.clone() });
        }
        (AttemptKind::Definition, AttemptResponse::Accepted(stored, _)) => {
            for part in ["metadata", "spec"] {
                compare(crd, &format!("/{part}"), &sent[part], stored.get(part), result);
            }
        }
        (AttemptKind::Valid { version, object }, AttemptResponse::Refused(message, _)) => {
            result.gaps.push(Gap::Rejected {
                crd: crd.clone(),
                version: version.clone(),
                object: object.to_string(),
                generated: matches!(object, ObjectName::Generated(_)),
                message: message.clone(),
            });
        }
        (AttemptKind::Valid { version, object }, AttemptResponse::Accepted(stored, _)) => {
            result.gaps.extend(lost(crd, version, &object.to_string(), sent, stored));
        }
        (AttemptKind::Invalid { version, keyword, field }, AttemptResponse::Accepted(..)) => {
            result.gaps.push(Gap::Admitted {
                crd: crd.clone(),
                version: version.clone(),
                keyword: keyword.clone(),
                field: field.clone(),
                value: value_at(sent, field),
            });
        }
        (AttemptKind::DefinitionWithoutWebhook, AttemptResponse::Accepted(..))
        | (AttemptKind::Invalid { .. }, AttemptResponse::Refused(..)) => {}
    }
}

/// Returns the parts of an object that were sent and are not in the response. The server owns metadata and status.
fn lost(crd: &str, version: &str, object: &str, sent: &Value, stored: &Value) -> Vec<Gap> {
    let mut compared = ReleaseResult::default();
    let parts = sent.as_object().into_iter().flatten();
    for (part, value) in
        parts.filter(|(part, _)| !matches!(part.as_str(), "apiVersion" | "kind" | "metadata" | "status"))
    {
        compare(crd, &format!("/{part}"), value, stored.get(part), &mut compared);
    }
    let lost = |gap| match gap {
        Gap::Dropped { crd, path, sent } => Some((crd, path, sent, Value::Null)),
        Gap::Changed { crd, path, sent, stored } => Some((crd, path, sent, stored)),
        _ => None,
    };
    let lost = compared.gaps.into_iter().filter_map(lost);
    lost.map(|(crd, path, sent, stored)| Gap::Lost {
        crd,
        version: version.to_owned(),
        object: object.to_owned(),
        path,
        sent,
        stored,
    })
    .collect()
}

/// Returns the value of a field as servers write it: `spec.list[0].name`. Null if there is none.
fn value_at(object: &Value, field: &str) -> Value {
    let pointer = format!("/{}", field.replace(['.', '['], "/").replace(']', ""));
    object.pointer(&pointer).cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn attempt(request: AttemptKind, sent: Value, response: AttemptResponse) -> Attempt {
        Attempt { crd: "x".into(), request, sent, response }
    }

    fn gaps(attempt: Attempt) -> Vec<String> {
        judge(&[attempt]).gaps.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_refused_definition_is_a_gap_and_its_warnings_are_kept() {
        let refused = AttemptResponse::Refused("no".into(), vec!["beware".into()]);
        let result = judge(&[attempt(AttemptKind::Definition, json!({}), refused)]);
        assert_eq!((result.tried, result.warnings.as_slice()), (1, ["beware".to_owned()].as_slice()));
        assert_eq!(result.gaps, [Gap::Refused { crd: "x".into(), message: "no".into() }]);
    }

    #[test]
    fn valid_objects_must_come_back_whole() {
        let valid = || AttemptKind::Valid { version: "v1".into(), object: ObjectName::Generated(3) };
        let sent = json!({"metadata": {"name": "a"}, "spec": {"list": [1, 2]}});
        let whole = AttemptResponse::Accepted(json!({"spec": {"list": [1, 2], "more": 1}}), Vec::new());
        assert_eq!(gaps(attempt(valid(), sent.clone(), whole)), Vec::<String>::new());
        let pruned = AttemptResponse::Accepted(json!({"spec": {}}), Vec::new());
        let text = "loses /spec/list of the object #3 of x v1: sent was [1,2], stored is null";
        assert_eq!(gaps(attempt(valid(), sent.clone(), pruned)), [text]);
        let refused = AttemptResponse::Refused("no".into(), Vec::new());
        assert_eq!(gaps(attempt(valid(), sent, refused)), ["refuses the valid object #3 of x v1: no"]);
    }

    #[test]
    fn invalid_objects_must_be_refused() {
        let field = "spec.list[1]".to_owned();
        let invalid = || AttemptKind::Invalid { version: "v1".into(), keyword: "maximum".into(), field: field.clone() };
        let sent = json!({"spec": {"list": [1, 99]}});
        let admitted = AttemptResponse::Accepted(sent.clone(), Vec::new());
        let text = "admits spec.list[1]: 99 of x v1, which maximum forbids";
        assert_eq!(gaps(attempt(invalid(), sent.clone(), admitted)), [text]);
        let refused = AttemptResponse::Refused("too large".into(), Vec::new());
        assert_eq!(gaps(attempt(invalid(), sent, refused)), Vec::<String>::new());
    }
}
