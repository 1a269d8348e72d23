//! The admission recorder: an admission webhook that records reviews, and refuses one object on request.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use super::{Call, Listener, Reply};
use crate::evidence::ObservedAdmission;
use crdproof_envtest::{ClusterError, HostAccess};

/// The label of objects that the recorder sees, so that no other writes depend on it.
pub const RECORDED: (&str, &str) = ("crdproof.dev/recorded", "yes");

/// A listener that API servers call for admission.
#[derive(Debug)]
pub struct AdmissionRecorder {
    listener: Listener,
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    log: Mutex<Vec<ObservedAdmission>>,
    refused: Mutex<Option<String>>,
}

impl AdmissionRecorder {
    /// Listens on an address that an API server can reach.
    pub async fn start(access: &HostAccess) -> Result<Self, ClusterError> {
        let state = Arc::new(State::default());
        let own = Arc::clone(&state);
        let listener = Listener::start(access, move |call: Call| answer(&own, &call)).await?;
        Ok(Self { listener, state })
    }

    /// A `ValidatingWebhookConfiguration` with a webhook for each of these versions, or `*`, of a kind.
    pub fn configuration(&self, name: &str, group: &str, plural: &str, versions: &[&str]) -> Value {
        let webhooks = (0..).zip(versions).map(|(number, version): (u32, &&str)| {
            let shown = if *version == "*" { "all" } else { *version };
            json!({
                "name": format!("{shown}-{number}.recorder.crdproof.dev"),
                "clientConfig": self.listener.client_config(&format!("/{version}")),
                "rules": [{"apiGroups": [group], "apiVersions": [version], "operations": ["CREATE", "UPDATE"],
                           "resources": [plural]}],
                "matchPolicy": "Equivalent", "failurePolicy": "Fail", "sideEffects": "None", "timeoutSeconds": 10,
                // 1.16 supports only the older of the two.
                "admissionReviewVersions": ["v1", "v1beta1"],
                "objectSelector": {"matchLabels": {RECORDED.0: RECORDED.1}},
            })
        });
        json!({
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
            "metadata": {"name": name}, "webhooks": webhooks.collect::<Vec<_>>(),
        })
    }

    /// Refuses changes of the object with this name from now on; `None` ends that.
    pub fn refuse(&self, name: Option<&str>) {
        *self.state.refused.lock().unwrap_or_else(PoisonError::into_inner) = name.map(str::to_owned);
    }

    /// Returns the number of requests so far.
    pub fn count(&self) -> usize {
        self.state.log.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// The requests after the first `count`.
    pub fn since(&self, count: usize) -> Vec<ObservedAdmission> {
        let log = self.state.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.get(count..).unwrap_or_default().to_vec()
    }

    /// Stops listening.
    pub async fn stop(self) {
        self.listener.stop().await;
    }
}

fn answer(state: &State, call: &Call) -> Reply {
    let Ok(review) = serde_json::from_slice::<Value>(&call.body) else {
        return Reply::text(400, "this is not an AdmissionReview");
    };
    let request = &review["request"];
    let name = request["name"].as_str().unwrap_or_default();
    let refused = state.refused.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let allowed = request["operation"] != "UPDATE" || refused.is_none_or(|refused| refused != name);
    let registered = call.path.trim_start_matches('/').split('?').next().unwrap_or_default();
    state.log.lock().unwrap_or_else(PoisonError::into_inner).push(observed(registered, request, allowed));
    let mut response = json!({"uid": request["uid"], "allowed": allowed});
    if !allowed {
        // Without the name: the caller must report by itself which object it could not write.
        response["status"] = json!({"code": 403, "message": "this object is refused on purpose"});
    }
    Reply::json(&json!({"apiVersion": review["apiVersion"], "kind": "AdmissionReview", "response": response}))
}

fn observed(registered: &str, request: &Value, allowed: bool) -> ObservedAdmission {
    let text = |pointer: &str| request.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    ObservedAdmission {
        registered: registered.to_owned(),
        operation: text("/operation"),
        name: text("/name"),
        kind: text("/kind/version"),
        resource: text("/resource/version"),
        request_kind: text("/requestKind/version"),
        request_resource: text("/requestResource/version"),
        dry_run: request["dryRun"] == true,
        allowed,
        object: without_managed_fields(&request["object"]),
        old_object: without_managed_fields(&request["oldObject"]),
    }
}

/// An object without managedFields, which are long and not needed here.
fn without_managed_fields(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        metadata.remove("managedFields");
    }
    object
}

#[cfg(test)]
mod tests {
    use super::*;

    fn review(operation: &str, name: &str) -> Call {
        let body = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
            "uid": "u", "operation": operation, "name": name, "kind": {"version": "v1"}, "resource": {"version": "v1"},
            "requestKind": {"version": "v2"}, "requestResource": {"version": "v2"},
            "object": {"metadata": {"name": name, "managedFields": []}}, "oldObject": null}});
        Call { method: "POST".into(), path: "/v1?timeout=10s".into(), body: body.to_string().into_bytes() }
    }

    #[test]
    fn changes_of_one_object_are_refused_and_all_are_recorded() {
        let state = State { refused: Mutex::new(Some("a".into())), ..State::default() };
        let allowed = |call: Call| {
            let reply: Value = serde_json::from_slice(&answer(&state, &call).body).unwrap();
            assert_eq!(reply["response"]["uid"], "u");
            reply["response"]["allowed"] == true
        };
        assert!(allowed(review("CREATE", "a")) && !allowed(review("UPDATE", "a")) && allowed(review("UPDATE", "b")));
        let log = state.log.lock().unwrap();
        assert_eq!(log.len(), 3);
        assert_eq!(
            (log[0].registered.as_str(), log[0].kind.as_str(), log[0].request_kind.as_str()),
            ("v1", "v1", "v2")
        );
        assert_eq!(log[0].object, json!({"metadata": {"name": "a"}}));
        assert_eq!(answer(&state, &Call { body: b"junk".to_vec(), ..review("UPDATE", "a") }).status, 400);
    }
}
