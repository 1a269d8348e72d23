//! The workbench of a probe: a separate CRD.

use std::time::Instant;

use serde_json::{Value, json};

use super::ProbeResult;
use crdproof_envtest::api::{Answer, Api, PatchKind, Query, Resource, definitions};
use crdproof_envtest::retry;
use crdproof_envtest::{ClusterError, Server};

pub(super) const GROUP: &str = "probe.crdproof.dev";

/// The label of everything except the objects of a probe's own kind.
pub(super) const LABEL: &str = "crdproof.dev/probe";

/// A server and the names that a probe uses on it.
pub(super) struct Bench<'a> {
    pub(super) server: &'a Server,
    pub(super) api: Api,
    pub(super) plural: String,
}

/// Returns the name of a probe's CRD.
pub(super) fn crd_name(probe: &str) -> String {
    format!("{}.{GROUP}", plural(probe))
}

fn plural(probe: &str) -> String {
    format!("{}s", probe.replace('-', ""))
}

impl<'a> Bench<'a> {
    pub(super) fn new(server: &'a Server, probe: &str) -> Self {
        Self { server, api: server.api(), plural: plural(probe) }
    }

    pub(super) fn crd_name(&self) -> String {
        format!("{}.{GROUP}", self.plural)
    }

    /// A CRD of these versions; the last one is the storage version.
    pub(super) fn crd(&self, versions: &[(&str, Value)]) -> Value {
        let last = versions.len().saturating_sub(1);
        let versions: Vec<Value> = versions
            .iter()
            .enumerate()
            .map(|(index, (name, spec))| {
                let schema = json!({"type": "object", "properties": {"spec": spec, "status": {
                    "type": "object", "properties": {"note": {"type": "string"}}}}});
                json!({"name": name, "served": true, "storage": index == last,
                    "schema": {"openAPIV3Schema": schema}})
            })
            .collect();
        json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": self.crd_name(), "labels": {LABEL: "yes"}},
            "spec": {"group": GROUP, "scope": "Cluster", "versions": versions,
                "names": {"plural": self.plural, "singular": self.plural.trim_end_matches('s'), "kind": "Probe"}}})
    }

    /// Installs a CRD and waits until it answers.
    pub(super) async fn install(&self, crd: &Value) -> Result<(), ClusterError> {
        self.server.install_crds(std::slice::from_ref(crd)).await
    }

    /// Installs a CRD of one version with these fields of a spec.
    pub(super) async fn plain(&self, spec: Value) -> Result<(), ClusterError> {
        self.install(&self.crd(&[("v1", spec)])).await
    }

    pub(super) fn object(version: &str, spec: &Value) -> Value {
        json!({"apiVersion": format!("{GROUP}/{version}"), "kind": "Probe", "metadata": {"name": "probe"}, "spec": spec})
    }

    fn kind(&self, version: &str) -> Resource {
        Resource::cluster_wide(GROUP, version, &self.plural)
    }

    pub(super) fn collection(&self, version: &str) -> String {
        self.kind(version).path()
    }

    pub(super) fn path(&self, version: &str) -> String {
        self.kind(version).path_of("probe")
    }

    /// The path of a subresource of the object: `status` or `scale`.
    pub(super) fn part(&self, version: &str, part: &str) -> String {
        self.kind(version).part_of("probe", part)
    }

    pub(super) async fn create(&self, version: &str, spec: &Value) -> Result<Answer, ClusterError> {
        let (path, object) = (self.collection(version), Self::object(version, spec));
        retry::while_unready(|| self.api.post(&path, &object)).await
    }

    pub(super) async fn get(&self, version: &str) -> Result<Value, ClusterError> {
        Ok(self.api.get(&self.path(version)).await?.ok()?.json())
    }

    pub(super) async fn apply(&self, version: &str, manager: &str, spec: &Value) -> Result<Answer, ClusterError> {
        self.apply_object(manager, version, &Self::object(version, spec)).await
    }

    pub(super) async fn apply_object(
        &self,
        manager: &str,
        version: &str,
        object: &Value,
    ) -> Result<Answer, ClusterError> {
        let path = Query::new().manager(manager).on(self.path(version));
        retry::while_unready(|| self.api.patch(&path, PatchKind::Apply, object)).await
    }

    /// Changes the CRD.
    pub(super) async fn redefine(&self, change: impl Fn(&mut Value)) -> Result<(), ClusterError> {
        let path = definitions().path_of(&self.crd_name());
        let end = Instant::now() + retry::TIMEOUT;
        loop {
            let mut crd = self.api.get(&path).await?.ok()?.json();
            change(&mut crd);
            let answer = self.api.put(&path, &crd).await?;
            if answer.status == 409 && Instant::now() < end {
                continue;
            }
            answer.ok()?;
            return Ok(());
        }
    }

    /// Leaves one version in `storedVersions`.
    pub(super) async fn trim(&self, version: &str) -> Result<(), ClusterError> {
        let path = format!("{}/status", definitions().path_of(&self.crd_name()));
        let changes = json!({"status": {"storedVersions": [version]}});
        self.api.patch(&path, PatchKind::Merge, &changes).await?.ok()?;
        Ok(())
    }

    /// Starts the deletion of the CRD, without waiting.
    pub(super) async fn delete_crd(&self) -> Result<Answer, ClusterError> {
        self.api.delete(&definitions().path_of(&self.crd_name())).await
    }

    /// Repeats a request until the response is as wanted; `None` at the timeout.
    pub(super) async fn until(
        &self,
        path: &str,
        wanted: impl Fn(&Answer) -> bool,
    ) -> Result<Option<Answer>, ClusterError> {
        let (seen, answer) = retry::get_until(&self.api, path, wanted).await?;
        Ok(seen.then_some(answer))
    }

    /// Removes the CRD with all its objects.
    pub(super) async fn clear(&self) -> Result<(), ClusterError> {
        let answer = self.delete_crd().await?;
        if answer.status == 404 {
            return Ok(());
        }
        answer.ok()?;
        let path = definitions().path_of(&self.crd_name());
        match self.until(&path, |answer| answer.status == 404).await? {
            Some(_) => Ok(()),
            None => Err(ClusterError::Deadline { call: format!("DELETE {path}"), seconds: retry::TIMEOUT.as_secs() }),
        }
    }
}

/// Returns the result for a request that must be answered: a panic of its handler shows as 500, or closes the
/// connection.
pub(super) fn survived(asked: Result<Answer, ClusterError>) -> Result<ProbeResult, ClusterError> {
    Ok(match asked {
        Ok(answer) if answer.is_success() => ProbeResult::Good(said(&answer)),
        Ok(answer) if answer.status >= 500 => ProbeResult::Bad(said(&answer)),
        Ok(answer) => ProbeResult::Unclear(said(&answer)),
        Err(ClusterError::Transport { why, .. }) => ProbeResult::Bad(format!("the connection failed: {why}")),
        Err(error) => return Err(error),
    })
}

/// The managers that own something, in order.
pub(super) fn managers(object: &Value) -> Vec<String> {
    let entries = object["metadata"]["managedFields"].as_array().into_iter().flatten();
    entries.map(|entry| entry["manager"].as_str().unwrap_or_default().to_owned()).collect()
}

/// A short description of a response.
pub(super) fn said(answer: &Answer) -> String {
    if answer.is_success() {
        return format!("{}", answer.status);
    }
    let message: String = answer.message().chars().take(160).collect();
    format!("{} {}", answer.status, message.trim())
}

#[cfg(test)]
pub(super) mod tests {
    use std::time::Duration;

    use rstest::rstest;

    use super::*;

    /// An answer as a server would give it.
    pub(in super::super) fn answer(status: u16, body: &Value) -> Answer {
        let body = body.to_string().into_bytes();
        Answer { status, headers: http::HeaderMap::default(), body, took: Duration::ZERO, call: "a call".into() }
    }

    /// A refusal in these words.
    pub(in super::super) fn refusal(status: u16, message: &str) -> Answer {
        answer(status, &json!({"message": message}))
    }

    /// Returns which of the three it is.
    pub(in super::super) fn word(sight: &ProbeResult) -> &'static str {
        match sight {
            ProbeResult::Good(_) => "good",
            ProbeResult::Bad(_) => "bad",
            ProbeResult::Unclear(_) => "unclear",
        }
    }

    #[rstest]
    #[case(201, "good")]
    #[case(500, "bad")]
    #[case(403, "unclear")]
    fn a_panicking_handler_is_bad(#[case] status: u16, #[case] expected: &str) {
        assert_eq!(word(&survived(Ok(answer(status, &json!({})))).unwrap()), expected);
    }

    #[test]
    fn a_closed_connection_is_bad_and_a_deadline_is_an_error() {
        let broken = ClusterError::Transport { call: "a call".into(), why: "end of file".into() };
        assert_eq!(word(&survived(Err(broken)).unwrap()), "bad");
        assert!(survived(Err(ClusterError::Deadline { call: "a call".into(), seconds: 1 })).is_err());
    }
}
