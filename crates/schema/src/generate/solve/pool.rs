//! Candidate values for a rule about one scalar: the constants and patterns of the rule itself, and inputs of its
//! functions.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::super::format;
use super::super::pattern::Sampler;
use super::super::plan::{Id, Kind, Plan, Unsatisfiable};
use super::super::random::Random;
use crate::structural::{Pattern, Validator};

/// The numbers of values that are kept and tried.
const MAX_KEPT: usize = 24;
const MAX_TRIED: usize = 600;

/// Inputs of functions in rules: addresses, names, times, versions.
const KNOWN: [&str; 30] = [
    "a",
    "cluster",
    "example.com",
    "a.b.example.com",
    "*.example.com",
    "a/b",
    "example.com/a",
    "/a",
    "/",
    "*",
    "1",
    "0",
    "10",
    "1.2.3",
    "100m",
    "1Gi",
    "10s",
    "1m",
    "5m0s",
    "1h",
    "true",
    "localhost:80",
    "https://example.com",
    "https://example.com/a",
    "http://example.com:8080",
    "registry.example.com/a/b:v1",
    "registry.example.com/a/b@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    "A_B",
    "",
    "2020-01-02T03:04:05Z",
];

/// Strings that may satisfy a rule with these constants and patterns.
pub(crate) fn texts(plain: &[&str], patterns: &[&str], random: &mut Random) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    for pattern in patterns {
        if let Some(sampler) = Sampler::new(&Pattern::new(pattern)) {
            let (least, _) = sampler.lengths();
            texts.extend((0..6).map(|round| {
                let length = least + random.length(0, 4 + 4 * round);
                sampler.sample(random, length)
            }));
        }
    }
    let matching = texts.len();
    for text in plain.iter().take(12) {
        let behind: Vec<String> = texts[..matching].iter().map(|made| format!("{text}{made}")).collect();
        texts.extend(behind);
        let word = format::word(random);
        texts.extend([(*text).to_owned(), format!("{text}{word}"), format!("{word}{text}")]);
        for other in plain.iter().take(12) {
            texts.push(format!("{text}{word}{other}"));
        }
    }
    // A digest after an image, a path after a host: split parts are joined again.
    let joined: Vec<String> = texts
        .iter()
        .take(16)
        .flat_map(|left| {
            texts.iter().take(16).flat_map(move |right| [format!("{left}@{right}"), format!("{left}/{right}")])
        })
        .collect();
    texts.extend((0..3).map(|_| format::ipv4(random)));
    texts.push(format::ipv6(random));
    texts.extend((0..2).map(|_| format::cidr(random)));
    texts.extend((0..2).map(|_| format::uri(random)));
    texts.extend((0..2).map(|_| format::duration(random)));
    texts.extend((0..2).map(|_| format::quantity(random)));
    texts.extend((0..3).map(|_| format::word(random)));
    texts.extend(KNOWN.iter().map(|text| (*text).to_owned()));
    texts.extend(joined);
    texts
}

/// Bytes that start and end as a rule requires, in base64 without the characters that differ between its two alphabets.
fn encoded(plain: &[&str]) -> Vec<Value> {
    let mut texts: Vec<String> = plain.iter().map(|text| (*text).to_owned()).collect();
    for start in plain {
        for end in plain.iter().filter(|end| *end != start) {
            texts.extend(["", "aa"].map(|middle| format!("{start}\n{}{middle}\n{end}", "a".repeat(64))));
        }
    }
    let encoded = texts.into_iter().map(|text| STANDARD.encode(text)).filter(|text| !text.contains(['+', '/']));
    encoded.map(Value::from).collect()
}

/// Finds values for a scalar under rules. If none is found, the node has no values.
pub(crate) fn fill(plan: &mut Plan<'_>, id: Id, validator: &Validator<'_>) {
    let node = plan.node(id);
    let mut random = Random::of(0, 1, 0);
    let (mut constants, mut patterns) = (Vec::new(), Vec::new());
    for expr in node.goals.iter().filter_map(|goal| goal.expr.as_ref()) {
        expr.texts(&mut constants, &mut patterns);
    }
    constants.dedup();
    let mut candidates: Vec<Value> = Vec::new();
    if node.schemas.iter().any(|schema| schema.format.as_deref() == Some("byte")) {
        candidates.extend(encoded(&constants));
    }
    for _ in 0..40 {
        candidates.extend(scalar(plan, id, &mut random));
    }
    match &node.kind {
        Kind::Enumeration(values) => candidates.extend(values.iter().take(MAX_TRIED).cloned()),
        Kind::Whole(whole) => {
            candidates.extend(whole.edges().into_iter().map(Value::from));
            candidates.extend((0..20).map(Value::from));
        }
        Kind::Number(floating) => candidates.extend(floating.edges()),
        Kind::Boolean => candidates.extend([true.into(), false.into()]),
        _ => candidates.extend(texts(&constants, &patterns, &mut random).into_iter().map(Value::from)),
    }
    let (mut kept, mut open): (Vec<Value>, Vec<Value>) = (Vec::new(), Vec::new());
    for value in candidates.into_iter().take(MAX_TRIED) {
        if kept.len() == MAX_KEPT || kept.contains(&value) || open.contains(&value) || !plan.admits(id, &value) {
            continue;
        }
        let failing = validator.failing_rules(&node.path, &value);
        if failing.is_empty() {
            kept.push(value);
        } else if failing.iter().all(|(_, inconclusive)| inconclusive.is_some()) {
            open.push(value);
        }
    }
    // A value that the engine cannot decide on is better than none.
    if kept.is_empty() {
        open.truncate(MAX_KEPT);
        kept = open;
    }
    if kept.is_empty() {
        let rule = node.goals.first().map(|goal| goal.rule.rule.clone()).unwrap_or_default();
        let why = format!("no value was found for the rule {rule}");
        let fault = Unsatisfiable { path: node.path.clone(), keyword: "x-kubernetes-validations".to_owned(), why };
        plan.nodes[id].kind = Kind::Impossible(fault);
    }
    plan.nodes[id].pool = kept;
}

/// A scalar that satisfies its keywords, ignoring rules.
pub(crate) fn scalar(plan: &Plan<'_>, id: Id, random: &mut Random) -> Option<Value> {
    match &plan.node(id).kind {
        Kind::Boolean => Some(random.chance(1, 2).into()),
        Kind::Whole(whole) => Some(whole.sample(random).into()),
        Kind::Number(floating) => (0..8).map(|_| floating.sample(random)).find(|value| plan.admits(id, value)),
        Kind::Text(text) => Some(text.sample(random).into()),
        Kind::Enumeration(values) => random.pick(values).cloned(),
        Kind::Choice(options) => {
            let option = *random.pick(options)?;
            scalar(plan, option, random)
        }
        Kind::Free | Kind::List(_) | Kind::Object(_) | Kind::Impossible(_) => None,
    }
}
