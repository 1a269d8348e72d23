//! Published documents about a CRD: aggregated discovery, and schemas in both versions of `OpenAPI`.

use std::time::Duration;

use serde_json::{Value, json};

use super::session::{Request, Session};
use crate::evidence::{Action, ServingStep};
use crate::operate::probe::rules::schema_of;
use crdproof_envtest::ClusterError;
use crdproof_envtest::api::Answer;
use crdproof_envtest::retry;

/// `Accept` of aggregated discovery; a server without it returns a list of groups.
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
                          application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

/// The timeout of documents to reflect the CRD.
const PUBLISH_TIMEOUT: Duration = Duration::from_secs(15);

/// Reads everything that is published.
pub(super) async fn run(session: &mut Session<'_>) -> Result<(), ClusterError> {
    session.step(ServingStep::Discovery);
    let served = session.served();
    let group = session.crd.group.clone();
    let complete = |answer: &Answer| {
        let document = answer.json();
        let all = listed(&document, &group);
        document["kind"] != "APIGroupDiscoveryList"
            || served.iter().all(|version| all["versions"].get(*version).is_some())
    };
    let answer = until(session, "/apis", Some(AGGREGATED), complete).await?;
    let document = answer.json();
    session.note(&Request::new(Action::Aggregated, "", ""), Value::Null, &answer, listed(&document, &group));
    session.step(ServingStep::Openapi);
    let kind = session.crd.names.kind.clone();
    // A server without this document will have none for the CRD.
    let has_v3 = session.api.get("/openapi/v3").await?.status != 404;
    for version in &served {
        let path = format!("/openapi/v3/apis/{group}/{version}");
        let of = |answer: &Answer| published(&answer.json()["components"]["schemas"], &group, version, &kind);
        let answer = until(session, &path, None, |answer| !has_v3 || of(answer).is_some()).await?;
        session.note(
            &Request::new(Action::OpenapiV3, version, ""),
            Value::Null,
            &answer,
            of(&answer).unwrap_or_default(),
        );
    }
    // One document covers all versions, so it is read once.
    let of = |document: &Value, version: &str| published(&document["definitions"], &group, version, &kind);
    let complete = |answer: &Answer| {
        let document = answer.json();
        served.iter().all(|version| of(&document, version).is_some())
    };
    let answer = until(session, "/openapi/v2", None, complete).await?;
    let document = answer.json();
    for version in &served {
        let fields = of(&document, version).unwrap_or_default();
        session.note(&Request::new(Action::OpenapiV2, version, ""), Value::Null, &answer, fields);
    }
    Ok(())
}

/// Reads a document at intervals, because it is large, until it is as wanted or the timeout is over.
async fn until(
    session: &Session<'_>,
    path: &str,
    accept: Option<&str>,
    wanted: impl Fn(&Answer) -> bool,
) -> Result<Answer, ClusterError> {
    let ask = async || match accept {
        Some(accept) => session.api.get_as(path, accept).await,
        None => session.api.get(path).await,
    };
    let (_, answer) = retry::until(PUBLISH_TIMEOUT, Duration::from_millis(250), ask, wanted).await?;
    Ok(answer)
}

/// The resources of a group by version, with their subresources, as aggregated discovery has them.
fn listed(document: &Value, group: &str) -> Value {
    let mut groups = document["items"].as_array().into_iter().flatten();
    let own = groups.find(|one| one["metadata"]["name"] == group);
    let mut versions = json!({});
    for version in own.and_then(|own| own["versions"].as_array()).into_iter().flatten() {
        let mut names = Vec::new();
        for resource in version["resources"].as_array().into_iter().flatten() {
            let name = resource["resource"].as_str().unwrap_or_default();
            names.push(name.to_owned());
            let parts = resource["subresources"].as_array().into_iter().flatten();
            names.extend(parts.filter_map(|part| Some(format!("{name}/{}", part["subresource"].as_str()?))));
        }
        versions[version["version"].as_str().unwrap_or_default()] = json!(names);
    }
    json!({"kind": document["kind"], "versions": versions})
}

/// The names of the fields that are published for a kind, at its root and below `spec`.
fn published(schemas: &Value, group: &str, version: &str, kind: &str) -> Option<Value> {
    let schema = schema_of(schemas, group, version, kind)?;
    let names = |value: &Value| value.as_object().map(|map| map.keys().cloned().collect::<Vec<_>>());
    Some(json!({"root": names(&schema["properties"]), "spec": names(&schema["properties"]["spec"]["properties"])}))
}
