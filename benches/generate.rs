//! Speed of generating objects: `cargo bench --bench generate [-- FOLDER]`. Prints objects and bytes per second on one
//! core for a small, a medium and the largest CRD of a folder, or of the fixtures. Asserts nothing, because machines
//! differ.

#![expect(clippy::print_stdout, reason = "a benchmark has nothing else to do with its figures")]

use std::path::PathBuf;
use std::time::{Duration, Instant};

use crdproof::subject::Crd;
use crdproof_schema::document::{Sources, parse};
use crdproof_schema::generate::{Context, Generator, Options, Phase};
use crdproof_schema::kubernetes::KubeVersion;

/// Minimum duration of the measurement of each CRD.
const MIN_DURATION: Duration = Duration::from_secs(2);

/// Minimum number of small objects, to see that memory does not grow.
const MIN_OBJECTS: u64 = 1_000_000;

/// A namespaced kind with a dozen fields, like most kinds.
const SMALL: &str = r"
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [image, replicas]
            properties:
              image: {type: string, minLength: 1}
              replicas: {type: integer, format: int32, minimum: 0, maximum: 100}
              paused: {type: boolean, default: false}
              mode: {type: string, enum: [Fast, Safe]}
              labels: {type: object, additionalProperties: {type: string}}
              ports:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items:
                  type: object
                  required: [name]
                  properties: {name: {type: string}, port: {type: integer, minimum: 1, maximum: 65535}}
          status: {type: object, properties: {phase: {type: string}, ready: {type: integer}}}
";

fn main() {
    // `cargo bench` adds its own flags.
    let folder = std::env::args().skip(1).find(|word| !word.starts_with('-')).map(PathBuf::from);
    let folder = folder.or_else(|| std::env::var_os("CRDPROOF_CORPUS").map(PathBuf::from));
    let mut crds: Vec<(usize, Crd)> = folder.map(load).unwrap_or_default();
    crds.sort_by_key(|(size, _)| *size);
    println!("{:<60} {:>10} {:>12} {:>10} {:>10}", "CRD", "leaves", "objects/s", "MB/s", "growth kB");
    measure("small", &read(SMALL), MIN_OBJECTS);
    if let Some((_, middle)) = crds.get(crds.len() / 2) {
        measure("middle", middle, 0);
    }
    if let Some((_, largest)) = crds.last() {
        measure("largest", largest, 0);
    }
}

fn read(text: &str) -> Crd {
    let mut sources = Sources::default();
    let id = sources.add("crd", text);
    let node = parse(&sources, id).expect("the CRD parses").remove(0);
    Crd::read(node).expect("it is a CRD")
}

fn load(folder: PathBuf) -> Vec<(usize, Crd)> {
    let entries = std::fs::read_dir(folder).expect("the folder is there").flatten();
    let texts = entries.filter_map(|entry| std::fs::read_to_string(entry.path()).ok());
    texts.filter(|text| text.contains("CustomResourceDefinition")).map(|text| (text.len(), read(&text))).collect()
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn measure(size: &str, crd: &Crd, least: u64) {
    let Some(version) = crd.versions.iter().find(|version| version.served) else { return };
    let Some(schema) = &version.schema else { return };
    let context = Context::new(&crd.group, &version.name, &crd.names.kind).namespaced();
    let generator = match Generator::new(schema, KubeVersion::minor(36), &context, Options::default()) {
        Ok(generator) => generator,
        Err(fault) => return println!("{}: {fault}", crd.name),
    };
    let (mut objects, mut bytes) = (0_u64, 0_u64);
    let mut made = Duration::ZERO;
    let started = Instant::now();
    let mut before_all = None;
    while started.elapsed() < MIN_DURATION || objects < least {
        let before = Instant::now();
        let batch: Vec<_> =
            (objects..objects + 64).filter_map(|index| generator.case(Phase::Random, 1, index)).collect();
        made += before.elapsed();
        bytes += batch.iter().map(|case| case.object.to_string().len() as u64).sum::<u64>();
        objects += 64;
        // Memory that the allocator keeps from the first objects is not growth.
        if objects >= 4096 && before_all.is_none() {
            before_all = Some(resident());
        }
    }
    let seconds = made.as_secs_f64();
    println!(
        "{:<60} {:>10} {:>12.0} {:>10.1} {:>10}",
        format!("{size}: {}/{}", crd.name, version.name),
        generator.coverage().leaves(),
        objects as f64 / seconds,
        bytes as f64 / seconds / 1e6,
        resident() - before_all.unwrap_or_default(),
    );
}

/// The memory of this process in kB, if the system reports it.
fn resident() -> i64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or_default()
}
