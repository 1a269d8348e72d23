//! Whether a release gives a subject what its manifests ask for: the CRDs are accepted and kept as they were sent, valid
//! objects are admitted, and invalid ones refused. Nothing but the CRDs is stored.

mod compare;
mod lack;

pub use lack::{Lack, Sight};

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use crate::operate::subprocess::{self, Ended};
use crate::subject::objects::planned;
use crate::subject::{Crd, Subject, Version};
use compare::compare;
use crdproof_envtest::api::{Api, Query, definitions};
use crdproof_envtest::guard::Spec;
use crdproof_envtest::retry;
use crdproof_envtest::{ClusterError, Server};
use crdproof_schema::generate::{Generator, Options, Phase};
use crdproof_schema::kubernetes::KubeVersion;
use lack::SHOWN;

/// Violations of one keyword that are tried for each version.
const EACH: usize = 3;

/// The same for keywords of which every use is another matter.
const EACH_OF_ITS_OWN: usize = 16;

/// A webhook that nobody answers at: objects are written with strategy None.
const NOWHERE: &str = "https://127.0.0.1:1/convert";

/// Tries the subject on a server.
pub async fn look(server: &Server, subject: &Subject, seed: u64) -> Result<Sight, ClusterError> {
    let api = server.api();
    let namespace = server.create_namespace().await?;
    let mut sight = Sight::default();
    for crd in &subject.crds {
        let look = Look { api: &api, subject, crd, namespace: &namespace, seed };
        look.at(&mut sight).await?;
    }
    Ok(sight)
}

/// One CRD on a server.
#[derive(Clone, Copy)]
struct Look<'a> {
    api: &'a Api,
    subject: &'a Subject,
    crd: &'a Crd,
    namespace: &'a str,
    seed: u64,
}

impl Look<'_> {
    /// Sends the CRD, and then objects of it.
    async fn at(self, sight: &mut Sight) -> Result<(), ClusterError> {
        let Self { api, crd, .. } = self;
        let mut sent = crd.node.to_value();
        if let Some(fields) = sent.as_object_mut() {
            fields.remove("status");
        }
        if let Some(Value::Object(metadata)) = sent.get_mut("metadata") {
            // A CRD that was read from a cluster carries what only that one knows.
            metadata.retain(|name, _| matches!(name.as_str(), "name" | "labels" | "annotations"));
        }
        let converts = sent.pointer("/spec/conversion/strategy") == Some(&json!("Webhook"));
        let mut path = definitions().path();
        if converts {
            // Asked as it is, but for the address; then objects are tried without a converter.
            sent["spec"]["conversion"]["webhook"]["clientConfig"] = json!({"url": NOWHERE});
            path = Query::new().dry_run().on(path);
        }
        let answer = retry::while_unready(|| api.post(&path, &sent)).await?;
        sight.tried += 1;
        sight.warned(answer.warnings());
        if !answer.is_success() {
            sight.lacks.push(Lack::Refused { crd: crd.name.clone(), said: answer.message() });
            return Ok(());
        }
        let stored = answer.json();
        for part in ["metadata", "spec"] {
            compare(&crd.name, &format!("/{part}"), &sent[part], stored.get(part), sight);
        }
        if converts {
            sent["spec"]["conversion"] = json!({"strategy": "None"});
            let answer = api.post(&definitions().path(), &sent).await?;
            if !answer.is_success() {
                sight.lacks.push(Lack::Refused { crd: crd.name.clone(), said: answer.message() });
                return Ok(());
            }
        }
        api.until_served(std::slice::from_ref(&sent)).await?;
        self.write(sight).await
    }

    /// Sends samples, generated objects and violations as dry runs.
    async fn write(self, sight: &mut Sight) -> Result<(), ClusterError> {
        let Self { api, subject, crd, namespace, seed } = self;
        let kind = crd.resource(namespace);
        let path = |version: &str| Query::new().dry_run().on(kind.at(version).path());
        let mut samples: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for sample in subject.samples_of(crd) {
            samples.entry(sample.group_version().1).or_default().push(sample.name());
        }
        // Samples come first in their version, so that a number tells which is which.
        let mut number: BTreeMap<String, usize> = BTreeMap::new();
        for object in planned(subject, crd, KubeVersion::NEWEST, namespace, seed) {
            let path = path(&object.version);
            let answer = retry::while_unready(|| api.post(&path, &object.object)).await?;
            let at = number.entry(object.version.clone()).or_default();
            let sample = samples.get(object.version.as_str()).and_then(|names| names.get(*at));
            let name = sample.map_or_else(|| format!("#{at}"), |name| (*name).to_owned());
            *at += 1;
            sight.tried += 1;
            sight.warned(answer.warnings());
            if answer.is_success() {
                sight.lacks.extend(lost(&crd.name, &object.version, &name, &object.object, &answer.json()));
            } else {
                let said = answer.message();
                sight.lacks.push(Lack::Rejected { crd: crd.name.clone(), version: object.version, object: name, said });
            }
        }
        for version in crd.versions.iter().filter(|version| version.served) {
            let path = path(&version.name);
            for wrong in violations(crd, version, namespace, seed) {
                let answer = retry::while_unready(|| api.post(&path, &wrong.object)).await?;
                sight.tried += 1;
                if answer.is_success() {
                    sight.lacks.push(Lack::Admitted {
                        crd: crd.name.clone(),
                        version: version.name.clone(),
                        keyword: wrong.keyword,
                        value: value_at(&wrong.object, &wrong.field),
                        field: wrong.field,
                    });
                }
            }
        }
        Ok(())
    }
}

/// What was sent of an object and is not in the answer. Metadata and status are the server's own affair.
fn lost(crd: &str, version: &str, object: &str, sent: &Value, answered: &Value) -> Vec<Lack> {
    let mut seen = Sight::default();
    let parts = sent.as_object().into_iter().flatten();
    for (part, value) in
        parts.filter(|(part, _)| !matches!(part.as_str(), "apiVersion" | "kind" | "metadata" | "status"))
    {
        compare(crd, &format!("/{part}"), value, answered.get(part), &mut seen);
    }
    let lost = |lack| match lack {
        Lack::Dropped { crd, path, sent } => Some((crd, path, sent, Value::Null)),
        Lack::Changed { crd, path, sent, stored } => Some((crd, path, sent, stored)),
        _ => None,
    };
    let lost = seen.lacks.into_iter().filter_map(lost);
    lost.map(|(crd, path, sent, stored)| Lack::Lost {
        crd,
        version: version.to_owned(),
        object: object.to_owned(),
        path,
        sent,
        stored,
    })
    .collect()
}

struct Violation {
    keyword: String,
    field: String,
    object: Value,
}

/// Objects that break one constraint each, as the newest release that we know has it.
fn violations(crd: &Crd, version: &Version, namespace: &str, seed: u64) -> Vec<Violation> {
    let Some(schema) = &version.schema else { return Vec::new() };
    let options = Options { longest_text: 64, longest_list: 4, parts: 40, ..Options::default() };
    let Ok(generator) = Generator::new(schema, KubeVersion::NEWEST, &crd.context(version), options) else {
        return Vec::new();
    };
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut violations = Vec::new();
    for case in generator.cases(Phase::Negative, seed) {
        // Without a reason it is admitted, less what is unknown.
        let Some(meant) = case.meant.filter(|meant| meant.reason.is_some()) else { continue };
        let field = meant.field.unwrap_or_default();
        let count = counts.entry(meant.keyword.clone()).or_default();
        let own = matches!(meant.keyword.as_str(), "format" | "x-kubernetes-validations");
        if *count >= if own { EACH_OF_ITS_OWN } else { EACH } || field.starts_with("metadata") {
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

/// The value at a field as servers write it: `spec.list[0].name`. Null where there is none.
fn value_at(object: &Value, field: &str) -> Value {
    let pointer = format!("/{}", field.replace(['.', '['], "/").replace(']', ""));
    object.pointer(&pointer).cloned().unwrap_or_default()
}

/// Runs a command beside a server, which finds it by `KUBECONFIG`; its exit code is the answer. One that does not end in
/// time has said no.
pub async fn ask(
    server: &Server,
    subject: &Subject,
    words: &[std::ffi::OsString],
    timeout: Duration,
) -> Result<Sight, ClusterError> {
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
    let Ended { status, said } = subprocess::run(spec, timeout, SHOWN, &subject.secret_values()).await?;
    let mut sight = Sight { tried: 1, ..Sight::default() };
    let end = match status {
        Some(status) if status.success() => return Ok(sight),
        Some(status) => status.to_string(),
        None => format!("it did not end within {} s", timeout.as_secs_f32()),
    };
    sight.lacks.push(Lack::Command { said: format!("{end}: {said}") });
    Ok(sight)
}
