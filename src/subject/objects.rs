//! The objects that scenarios write: samples and generated ones, of every version.

use serde_json::{Value, json};

use crate::subject::{Crd, Subject, Version};
use crdproof_schema::generate::{Generator, Options, Phase};
use crdproof_schema::kubernetes::KubeVersion;
use crdproof_schema::structural::{Schema, prune};

/// Generated objects of each version.
const GENERATED: u64 = 3;

/// An object that a scenario writes.
#[derive(Debug, Clone)]
pub(crate) struct Planned {
    pub(crate) version: String,
    pub(crate) name: String,
    pub(crate) object: Value,
    /// Its status, if that is written separately.
    pub(crate) status: Option<Value>,
    /// True if it is a sample.
    pub(crate) is_sample: bool,
}

/// Objects of every served version, with unique names.
pub(crate) fn planned(
    subject: &Subject,
    crd: &Crd,
    kubernetes: KubeVersion,
    namespace: &str,
    seed: u64,
) -> Vec<Planned> {
    let mut planned = Vec::new();
    for version in crd.versions.iter().filter(|version| version.served) {
        let samples = subject.samples_of(crd).filter(|sample| sample.group_version().1 == version.name);
        let mut objects: Vec<Value> = samples.map(|sample| sample.object.clone()).collect();
        let written = objects.len();
        objects.extend(generated(crd, version, kubernetes, seed));
        for (number, object) in objects.into_iter().enumerate() {
            let name = format!("{}-{number}", version.name);
            planned.push(Planned { is_sample: number < written, ..plan(crd, version, &name, object, namespace) });
        }
    }
    planned
}

fn generated(crd: &Crd, version: &Version, kubernetes: KubeVersion, seed: u64) -> Vec<Value> {
    let Some(schema) = version.generated_from() else { return Vec::new() };
    let options = Options { longest_text: 64, longest_list: 4, parts: 40, ..Options::default() };
    let Ok(generator) = Generator::new(schema, kubernetes, &crd.context(version), options) else { return Vec::new() };
    // The second object of the boundary phase sets many fields at once.
    let many = generator.case(Phase::Boundary, seed, 1);
    let random = (0..GENERATED).filter_map(|index| generator.case(Phase::Random, seed, index));
    many.into_iter().chain(random).map(|case| case.object).collect()
}

fn plan(crd: &Crd, version: &Version, name: &str, mut object: Value, namespace: &str) -> Planned {
    if let Some(schema) = &version.schema {
        prune(schema, &mut object);
    }
    let status = version.status.and_then(|_| object.as_object_mut()?.remove("status"));
    let labels = json!({"crdproof.dev/born": version.name, "crdproof.dev/number": name});
    let annotations = json!({"crdproof.dev/note": "stays as it is"});
    let mut metadata = json!({"name": name, "labels": labels, "annotations": annotations});
    if crd.is_namespaced() {
        metadata["namespace"] = json!(namespace);
    }
    object["metadata"] = metadata;
    Planned { version: version.name.clone(), name: name.to_owned(), object, status, is_sample: false }
}

/// Returns true if a schema has this field at its root.
pub(crate) fn has(schema: Option<&Schema>, field: &str) -> bool {
    schema.is_some_and(|schema| schema.child(field).is_some())
}
