//! Tries a subject's manifests on a release: sends the CRDs, valid objects and invalid ones. Only the CRDs are stored.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use crate::checks::minimum::{Gap, ReleaseResult};
use crate::evidence::{Attempt, AttemptKind, AttemptResponse, ObjectName};
use crate::operate::subprocess::{self, Ended};
use crate::subject::objects::planned;
use crate::subject::{Crd, Subject, Version};
use crdproof_envtest::api::{Answer, Api, Query, definitions};
use crdproof_envtest::guard::Spec;
use crdproof_envtest::retry;
use crdproof_envtest::{ClusterError, Server};
use crdproof_schema::generate::{Generator, Options, Phase};
use crdproof_schema::kubernetes::KubeVersion;

/// Maximum number of characters of a command's output that are kept.
const MAX_OUTPUT_CHARS: usize = 600;

/// The number of violations of one keyword that are tried for each version.
const VIOLATIONS_PER_KEYWORD: usize = 3;

/// The same for keywords whose uses differ from each other.
const VIOLATIONS_PER_VARIED_KEYWORD: usize = 16;

/// An address without a webhook: objects are written with strategy None.
const NOWHERE: &str = "https://127.0.0.1:1/convert";

/// Sends everything to a server, and returns each request with its response.
pub async fn attempt(server: &Server, subject: &Subject, seed: u64) -> Result<Vec<Attempt>, ClusterError> {
    let api = server.api();
    let namespace = server.create_namespace().await?;
    let mut attempts = Vec::new();
    for crd in &subject.crds {
        let sender = Sender { api: &api, subject, crd, namespace: &namespace, seed };
        sender.send(&mut attempts).await?;
    }
    Ok(attempts)
}

/// Sends one CRD and its objects.
#[derive(Clone, Copy)]
struct Sender<'a> {
    api: &'a Api,
    subject: &'a Subject,
    crd: &'a Crd,
    namespace: &'a str,
    seed: u64,
}

impl Sender<'_> {
    /// Sends the CRD, and then its objects if the server accepts the CRD.
    async fn send(self, attempts: &mut Vec<Attempt>) -> Result<(), ClusterError> {
        let Self { api, crd, .. } = self;
        let mut sent = crd.node.to_value();
        if let Some(fields) = sent.as_object_mut() {
            fields.remove("status");
        }
        if let Some(Value::Object(metadata)) = sent.get_mut("metadata") {
            // A CRD that was read from a cluster has metadata of that cluster.
            metadata.retain(|name, _| matches!(name.as_str(), "name" | "labels" | "annotations"));
        }
        let converts = sent.pointer("/spec/conversion/strategy") == Some(&json!("Webhook"));
        let mut path = definitions().path();
        if converts {
            // Sent unchanged except for the address, as a dry run; objects are tried without a converter.
            sent["spec"]["conversion"]["webhook"]["clientConfig"] = json!({"url": NOWHERE});
            path = Query::new().dry_run().on(path);
        }
        if !self.post(&path, AttemptKind::Definition, &sent, attempts).await? {
            return Ok(());
        }
        if converts {
            sent["spec"]["conversion"] = json!({"strategy": "None"});
            let path = definitions().path();
            if !self.post(&path, AttemptKind::DefinitionWithoutWebhook, &sent, attempts).await? {
                return Ok(());
            }
        }
        api.until_served(std::slice::from_ref(&sent)).await?;
        self.send_objects(attempts).await
    }

    /// Sends samples, generated objects and violations as dry runs.
    async fn send_objects(self, attempts: &mut Vec<Attempt>) -> Result<(), ClusterError> {
        let Self { subject, crd, namespace, seed, .. } = self;
        let kind = crd.resource(namespace);
        let path = |version: &str| Query::new().dry_run().on(kind.at(version).path());
        let mut samples: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for sample in subject.samples_of(crd) {
            samples.entry(sample.group_version().1).or_default().push(sample.name());
        }
        // Samples come first in their version, so that a number identifies them.
        let mut number: BTreeMap<String, usize> = BTreeMap::new();
        for planned in planned(subject, crd, KubeVersion::NEWEST, namespace, seed) {
            let at = number.entry(planned.version.clone()).or_default();
            let sample = samples.get(planned.version.as_str()).and_then(|names| names.get(*at));
            let object = sample.map_or(ObjectName::Generated(*at), |name| ObjectName::Sample((*name).to_owned()));
            *at += 1;
            let path = path(&planned.version);
            let request = AttemptKind::Valid { version: planned.version, object };
            self.post(&path, request, &planned.object, attempts).await?;
        }
        for version in crd.versions.iter().filter(|version| version.served) {
            let path = path(&version.name);
            for Violation { keyword, field, object } in violations(crd, version, namespace, seed) {
                let request = AttemptKind::Invalid { version: version.name.clone(), keyword, field };
                self.post(&path, request, &object, attempts).await?;
            }
        }
        Ok(())
    }

    /// Sends one body and records the response. Returns true if the server accepted it.
    async fn post(
        self,
        path: &str,
        request: AttemptKind,
        sent: &Value,
        attempts: &mut Vec<Attempt>,
    ) -> Result<bool, ClusterError> {
        let answer = retry::while_unready(|| self.api.post(path, sent)).await?;
        let accepted = answer.is_success();
        let response = response(&answer);
        attempts.push(Attempt { crd: self.crd.name.clone(), request, sent: sent.clone(), response });
        Ok(accepted)
    }
}

fn response(answer: &Answer) -> AttemptResponse {
    let warnings = answer.warnings();
    if answer.is_success() {
        AttemptResponse::Accepted(answer.json(), warnings)
    } else {
        AttemptResponse::Refused(answer.message(), warnings)
    }
}

struct Violation {
    keyword: String,
    field: String,
    object: Value,
}

/// Returns objects that violate one constraint each, of those that the newest known release enforces.
fn violations(crd: &Crd, version: &Version, namespace: &str, seed: u64) -> Vec<Violation> {
    let Some(schema) = &version.schema else { return Vec::new() };
    let options = Options { longest_text: 64, longest_list: 4, parts: 40, ..Options::default() };
    let Ok(generator) = Generator::new(schema, KubeVersion::NEWEST, &crd.context(version), options) else {
        return Vec::new();
    };
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut violations = Vec::new();
    for case in generator.cases(Phase::Negative, seed) {
        // Without a reason it is admitted, with unknown fields dropped.
        let Some(meant) = case.meant.filter(|meant| meant.reason.is_some()) else { continue };
        let field = meant.field.unwrap_or_default();
        let count = counts.entry(meant.keyword.clone()).or_default();
        let own = matches!(meant.keyword.as_str(), "format" | "x-kubernetes-validations");
        if *count >= if own { VIOLATIONS_PER_VARIED_KEYWORD } else { VIOLATIONS_PER_KEYWORD }
            || field.starts_with("metadata")
        {
            continue;
        }
        *count += 1;
        let mut object = case.object;
        object["metadata"] = json!({"name": "wrong"});
        if crd.is_namespaced() {
            object["metadata"]["namespace"] = json!(namespace);
        }
        violations.push(Violation { keyword: meant.keyword, field, object });
    }
    violations
}

/// Runs a user's command, which finds the server by `KUBECONFIG`. Its exit code decides; a timeout is a failure.
pub async fn run_command(
    server: &Server,
    subject: &Subject,
    words: &[std::ffi::OsString],
    timeout: Duration,
) -> Result<ReleaseResult, ClusterError> {
    let [program, arguments @ ..] = words else {
        return Err(ClusterError::Missing {
            what: "the command".into(),
            why: "none was given".into(),
            help: "write it after `--`".into(),
        });
    };
    let namespace = server.create_namespace().await?;
    let mut spec = Spec::new(program).args(arguments);
    if let Some(kubeconfig) = server.kubeconfig() {
        spec = spec.env("KUBECONFIG", kubeconfig);
    }
    let spec = spec.env("CRDPROOF_NAMESPACE", namespace).env("CRDPROOF_KUBERNETES", server.version().to_string());
    let Ended { status, said } = subprocess::run(spec, timeout, MAX_OUTPUT_CHARS, &subject.secret_values()).await?;
    let mut result = ReleaseResult { tried: 1, ..ReleaseResult::default() };
    let end = match status {
        Some(status) if status.success() => return Ok(result),
        Some(status) => status.to_string(),
        None => format!("it did not end within {} s", timeout.as_secs_f32()),
    };
    result.gaps.push(Gap::Command { message: format!("{end}: {said}") });
    Ok(result)
}
