//! One CRD under test.

use std::sync::Arc;

use crdproof::subject::{Crd, Version};
use crdproof_envtest::api::{Answer, Api, Resource};
use crdproof_envtest::local::Local;
use crdproof_schema::generate::{Case, Generator, Options, Phase};
use crdproof_schema::kubernetes::KubeVersion;
use crdproof_schema::structural::Outcome;
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::Arguments;
use crate::corpus::Definition;
use crate::table::{Row, Table};

const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// Concurrent requests.
const CONCURRENT: usize = 16;

/// Number of objects whose status is sent.
const STATUSES: usize = 20;

type Failure = Box<dyn std::error::Error>;

/// Some boundary cases, evenly spread, and random objects.
fn valid_cases(generator: &Generator<'_>, arguments: &Arguments) -> Vec<Case> {
    let boundary = arguments.objects * 3 / 5;
    let count = usize::try_from(generator.count(Phase::Boundary).unwrap_or_default()).unwrap_or(usize::MAX);
    let step = count.div_ceil(boundary.max(1)).max(1);
    let indices = (0..count).step_by(step);
    let edges = indices.filter_map(|index| generator.case(Phase::Boundary, arguments.seed, index as u64));
    let mut cases: Vec<Case> = edges.collect();
    let missing = arguments.objects - cases.len().min(arguments.objects);
    cases.extend(generator.cases(Phase::Random, arguments.seed).take(missing));
    cases
}

fn negative_cases(generator: &Generator<'_>, arguments: &Arguments) -> Vec<Case> {
    let count = usize::try_from(generator.count(Phase::Negative).unwrap_or_default()).unwrap_or(usize::MAX);
    let step = count.div_ceil(arguments.negative.max(1)).max(1);
    let indices = (0..count).step_by(step);
    indices.filter_map(|index| generator.case(Phase::Negative, arguments.seed, index as u64)).collect()
}

/// Records the leaves that all boundary cases and the random objects reach.
fn cover(generator: &Generator<'_>, arguments: &Arguments, row: &mut Row) {
    let mut coverage = generator.coverage();
    let together = |case: &Case| {
        case.meant.as_ref().is_some_and(|meant| matches!(meant.keyword.as_str(), "required" | "properties"))
    };
    let edges = generator.cases(Phase::Boundary, arguments.seed).take_while(together);
    for case in generator.cases(Phase::Random, arguments.seed).take(arguments.objects).chain(edges) {
        coverage.observe(&case.object);
    }
    let left: Vec<_> = coverage.unreached().cloned().collect();
    for path in left {
        if let Some(object) = generator.reach(&path, arguments.seed) {
            coverage.observe(&object);
        }
    }
    row.leaves += coverage.leaves();
    row.covered += coverage.reached();
    row.gaps.extend(coverage.unreached().map(ToString::to_string));
}

/// Judges only by our own validator.
pub(crate) fn offline(definition: &Definition, arguments: &Arguments, table: &mut Table) {
    let crd = &definition.crd;
    let kubernetes = KubeVersion::minor(36);
    for version in crd.versions.iter().filter(|version| version.served) {
        let Some(schema) = &version.schema else { continue };
        let name = format!("{}/{}", crd.name, version.name);
        let started = std::time::Instant::now();
        let generator = match Generator::new(schema, kubernetes, &crd.context(version), Options::default()) {
            Ok(generator) => generator,
            Err(fault) => {
                table.refused.insert(name, fault.to_string());
                continue;
            }
        };
        let compiled = started.elapsed();
        let row = table.crds.entry(name.clone()).or_default();
        let started = std::time::Instant::now();
        let cases = valid_cases(&generator, arguments);
        row.missing += arguments.objects.saturating_sub(cases.len());
        for case in &cases {
            row.made += 1;
            let answer = generator.judge(&case.object);
            match &answer.outcome {
                Outcome::Admitted if answer.pruned.is_empty() => row.admitted += 1,
                Outcome::Admitted => *row.messages.entry(format!("pruned {:?}", answer.pruned)).or_default() += 1,
                other => *row.messages.entry(format!("{other:?}")).or_default() += 1,
            }
            row.inconclusive += usize::from(!answer.inconclusive.is_empty());
            for open in &answer.inconclusive {
                *row.open.entry(format!("{}: {}", open.rule, open.why)).or_default() += 1;
            }
        }
        cover(&generator, arguments, row);
        for case in negative_cases(&generator, arguments) {
            row.negative += 1;
            row.refused += 1;
            row.meant += usize::from(case.meant.is_some());
        }
        let spent = started.elapsed();
        for fault in generator.unreachable().iter().take(6) {
            row.gaps.push(format!("unreachable {fault}"));
        }
        if spent.as_millis() > 2000 || compiled.as_millis() > 500 {
            eprintln!("{name}: compiled in {compiled:?}, {} cases in {spent:?}", cases.len());
        }
    }
}

/// Installs some CRDs, tries their versions, and removes the CRDs.
pub(crate) async fn wave(
    server: &Local,
    definitions: &[Definition],
    arguments: &Arguments,
    table: &mut Table,
) -> Result<(), Failure> {
    let api = server.api();
    let _there = api.post("/api/v1/namespaces", &crate::namespace()).await?;
    let mut installed = Vec::new();
    for definition in definitions {
        let answer = api.post(CRDS, &definition.value).await?;
        if answer.is_success() {
            installed.push(definition);
        } else {
            table.refused.insert(definition.crd.name.clone(), answer.message());
        }
    }
    for definition in installed {
        let crd = &definition.crd;
        for version in crd.versions.iter().filter(|version| version.served) {
            let Some(schema) = &version.schema else { continue };
            let name = format!("{}/{}", crd.name, version.name);
            let generator = match Generator::new(schema, server.version(), &crd.context(version), Options::default()) {
                Ok(generator) => generator,
                Err(fault) => {
                    table.refused.insert(name, fault.to_string());
                    continue;
                }
            };
            let row = table.crds.entry(name).or_default();
            cover(&generator, arguments, row);
            try_version(&api, crd, version, &generator, arguments, row).await?;
        }
        api.delete(&format!("{CRDS}/{}", crd.name)).await?;
    }
    Ok(())
}

fn resource(crd: &Crd, version: &Version) -> Resource {
    if crd.is_namespaced() {
        Resource::namespaced(&crd.group, &version.name, &crd.names.plural, "default")
    } else {
        Resource::cluster_wide(&crd.group, &version.name, &crd.names.plural)
    }
}

async fn try_version(
    api: &Api,
    crd: &Crd,
    version: &Version,
    generator: &Generator<'_>,
    arguments: &Arguments,
    row: &mut Row,
) -> Result<(), Failure> {
    let resource = resource(crd, version);
    until_served(api, &resource).await?;
    let path = format!("{}?dryRun=All&fieldValidation=Strict", resource.path());
    let cases = valid_cases(generator, arguments);
    row.missing += arguments.objects.saturating_sub(cases.len());
    let sent = cases.iter().map(|case| (path.clone(), case.object.clone())).collect();
    for (case, answer) in cases.iter().zip(send(api, Verb::Post, sent).await?) {
        row.made += 1;
        if answer.is_success() {
            row.admitted += 1;
        } else {
            let meant =
                case.meant.as_ref().map(|meant| format!(" [{} {}]", meant.path, meant.keyword)).unwrap_or_default();
            *row.messages.entry(format!("{}{meant}", answer.message())).or_default() += 1;
        }
        agree(&generator.judge(&case.object), &answer, case, row);
    }
    let cases_of_status: Vec<&Case> =
        cases.iter().filter(|case| case.object.get("status").is_some()).take(STATUSES).collect();
    if version.status.is_some() && !cases_of_status.is_empty() {
        statuses(api, &resource, generator, &cases_of_status, arguments, row).await?;
    }
    let negative = negative_cases(generator, arguments);
    let sent = negative.iter().map(|case| (path.clone(), case.object.clone())).collect();
    for (case, answer) in negative.iter().zip(send(api, Verb::Post, sent).await?) {
        row.negative += 1;
        row.refused += usize::from(!answer.is_success());
        if has_intended_reason(case, &answer) {
            row.meant += 1;
        } else {
            let meant = case.meant.as_ref().map(|meant| format!("{} {} {:?}", meant.path, meant.keyword, meant.field));
            row.unintended.push(format!("{meant:?}: {} {}", answer.status, answer.message()));
        }
        agree(&generator.judge(&case.object), &answer, case, row);
    }
    Ok(())
}

/// Creates one object, and sends statuses to it.
async fn statuses(
    api: &Api,
    resource: &Resource,
    generator: &Generator<'_>,
    cases: &[&Case],
    arguments: &Arguments,
    row: &mut Row,
) -> Result<(), Failure> {
    let Some(stored) = base(api, resource, generator, arguments).await? else { return Ok(()) };
    let name = stored["metadata"]["name"].as_str().unwrap_or_default();
    let path = format!("{}/status?dryRun=All&fieldValidation=Strict", resource.path_of(name));
    let sent = cases.iter().map(|case| {
        let mut object = stored.clone();
        object["status"] = case.object["status"].clone();
        (path.clone(), object)
    });
    for answer in send(api, Verb::Put, sent.collect()).await? {
        row.statuses += 1;
        if answer.is_success() {
            row.statuses_admitted += 1;
        } else {
            *row.messages.entry(format!("status: {}", answer.message())).or_default() += 1;
        }
    }
    api.delete(&resource.path_of(name)).await?;
    Ok(())
}

/// Creates an object that can be written again unchanged. Transition rules can forbid that.
async fn base(
    api: &Api,
    resource: &Resource,
    generator: &Generator<'_>,
    arguments: &Arguments,
) -> Result<Option<Value>, Failure> {
    let random = generator.cases(Phase::Random, arguments.seed).take(8);
    for mut case in generator.case(Phase::Boundary, arguments.seed, 0).into_iter().chain(random) {
        if let Some(metadata) = case.object["metadata"].as_object_mut() {
            metadata.retain(|name, _| name == "name" || name == "namespace");
        }
        let created = api.post(&resource.path(), &case.object).await?;
        if !created.is_success() {
            continue;
        }
        let stored = created.json();
        let path = resource.path_of(stored["metadata"]["name"].as_str().unwrap_or_default());
        if api.put(&format!("{path}/status?dryRun=All"), &stored).await?.is_success() {
            return Ok(Some(stored));
        }
        api.delete(&path).await?;
    }
    Ok(None)
}

/// Waits until the kind's own handler answers a dry run.
async fn until_served(api: &Api, resource: &Resource) -> Result<(), Failure> {
    for _ in 0..600 {
        let answer = api.get(&format!("{}?limit=1", resource.path())).await?;
        if answer.is_success() {
            return Ok(());
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    Err(format!("{} is not served", resource.path()).into())
}

#[derive(Clone, Copy)]
enum Verb {
    Post,
    Put,
}

/// Sends all requests, some at a time, and returns the responses in the same order.
async fn send(api: &Api, verb: Verb, requests: Vec<(String, Value)>) -> Result<Vec<Answer>, Failure> {
    let gate = Arc::new(Semaphore::new(CONCURRENT));
    let mut tasks = JoinSet::new();
    for (index, (path, object)) in requests.into_iter().enumerate() {
        let (api, gate) = (api.clone(), Arc::clone(&gate));
        tasks.spawn(async move {
            let _permit = gate.acquire().await;
            let answer = loop {
                let answer = match verb {
                    Verb::Post => api.post(&path, &object).await,
                    Verb::Put => api.put(&path, &object).await,
                };
                // A server under load asks clients to retry.
                match answer {
                    Ok(answer) if answer.status == 429 => {}
                    other => break other,
                }
            };
            (index, answer)
        });
    }
    let mut answers = Vec::new();
    while let Some(done) = tasks.join_next().await {
        let (index, answer) = done?;
        answers.push((index, answer?));
    }
    answers.sort_by_key(|(index, _)| *index);
    Ok(answers.into_iter().map(|(_, answer)| answer).collect())
}

/// Compares our verdict with the server's.
fn agree(ours: &crdproof_schema::structural::Admission, answer: &Answer, case: &Case, row: &mut Row) {
    row.inconclusive += usize::from(!ours.inconclusive.is_empty());
    let admitted = ours.outcome == Outcome::Admitted && ours.pruned.is_empty();
    if admitted != answer.is_success() && ours.inconclusive.is_empty() {
        let object: String = case.object.to_string().chars().take(1500).collect();
        let ours = format!("{:?} pruned {:?}", ours.outcome, ours.pruned).chars().take(600).collect::<String>();
        row.disagreements.push(format!("server {} {}; ours {ours}: {object}", answer.status, answer.message()));
    }
}

/// Returns true if the response names the intended field and reason.
fn has_intended_reason(case: &Case, answer: &Answer) -> bool {
    let Some(meant) = &case.meant else { return false };
    let field = meant.field.as_deref().unwrap_or_default();
    let body = answer.json();
    let causes = body["details"]["causes"].as_array().cloned().unwrap_or_default();
    let named = causes.iter().any(|cause| cause["field"] == field && cause["reason"].as_str() == meant.reason);
    let unknown = meant.reason.is_none() && answer.message().contains(field);
    !answer.is_success() && (named || unknown)
}
