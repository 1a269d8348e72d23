//! Processing a request to create or update an object, from parsing to the response.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::default::{default, default_keeping_nulls, drop_nulls};
use super::lists::Lists;
use super::place::{DEPTH_LIMIT, Place, is_deeper_than};
use super::print::print;
use super::prune;
use super::ratchet::Correlation;
use super::resource::{Naming, Strictness, judge_created, judge_embedded, judge_updated, read_embedded, read_metadata};
use super::rules::Rules;
use super::scale::{ScalePaths, judge_scale};
use super::validate::Check;
use super::verdict::{Admission, Findings, Outcome, RULES_NOT_CHECKED, Reason, Violation};
use super::{Path, Rule, Schema};
use crate::kubernetes::KubeVersion;

/// Metadata that a server sets itself, whatever a request contains.
const SERVER_SET: [&str; 8] = [
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation",
    "managedFields",
    "selfLink",
];

/// A request to create or update an object.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The object in the request.
    pub object: &'a Value,
    /// The stored object, at the version of the request; `None` on creation.
    pub old: Option<&'a Value>,
    /// The API group of the endpoint.
    pub group: &'a str,
    /// The API version of the endpoint.
    pub version: &'a str,
    /// The kind that the endpoint serves.
    pub kind: &'a str,
    /// True if the kind is namespaced.
    pub namespaced: bool,
    /// True if the version has the status subresource, so that the endpoint ignores status.
    pub status_subresource: bool,
    /// The scale subresource of the version, which constrains its fields.
    pub scale: Option<ScalePaths<'a>>,
}

/// A schema that is prepared to validate many objects: its rules are compiled.
#[derive(Debug)]
pub struct Validator<'a> {
    pub(super) schema: &'a Schema,
    pub(super) kubernetes: KubeVersion,
    rules: Option<Rules<'a>>,
    /// True if the schema has any defaults.
    fills: bool,
    /// True if there are embedded objects.
    pub(super) embeds: bool,
    /// Its lists whose items must differ, if there are any.
    pub(super) lists: Option<Lists<'a>>,
}

/// Answers one request. To answer several with one schema, keep a [`Validator`].
pub fn admit(schema: &Schema, kubernetes: KubeVersion, request: &Request<'_>) -> Admission {
    Validator::new(schema, kubernetes).admit(request)
}

/// Validates one value unchanged. To validate several with one schema, keep a [`Validator`].
pub fn validate(schema: &Schema, value: &Value, kubernetes: KubeVersion) -> Findings {
    Validator::new(schema, kubernetes).validate(value)
}

impl<'a> Validator<'a> {
    /// Prepares a schema for a release. Rules are enforced from 1.25.
    pub fn new(schema: &'a Schema, kubernetes: KubeVersion) -> Self {
        let rules = kubernetes.at_least(25).then(|| Rules::compile(schema, kubernetes));
        let (mut fills, mut embeds) = (false, false);
        schema.walk(&mut |_, schema| {
            fills |= schema.default.is_some();
            embeds |= schema.embedded_resource;
        });
        Self { schema, kubernetes, rules: rules.flatten(), fills, embeds, lists: Lists::of(schema) }
    }

    /// Returns true if there are rules; only these can be inconclusive.
    pub(crate) fn has_rules(&self) -> bool {
        self.rules.is_some()
    }

    /// A value with its missing defaults.
    pub fn filled<'v>(&self, value: &'v Value) -> Cow<'v, Value> {
        if !self.fills {
            return Cow::Borrowed(value);
        }
        let mut value = value.clone();
        self.fill(&mut value);
        Cow::Owned(value)
    }

    /// Validates a value without pruning or defaulting it: schema keywords, list types, embedded resources, and rules
    /// as on creation. For defaults and for converted objects.
    pub fn validate(&self, value: &Value) -> Findings {
        let mut findings = Findings::default();
        self.judge(value, None, &mut findings);
        findings
    }

    /// The rules at a schema node, not below, that fail for a part of an object, and undecidable ones with the reason.
    pub(crate) fn failing_rules(&self, path: &Path, value: &Value) -> Vec<(&'a Rule, Option<String>)> {
        let mut failing = Vec::new();
        if let Some(rules) = &self.rules {
            rules.judge_at(path, value, &mut |rule, inconclusive| failing.push((rule, inconclusive)));
        }
        failing
    }

    /// Answers a request as an API server does. Names, resource versions and uids are not compared with those of the
    /// old object, because they do not depend on the schema.
    pub fn admit(&self, request: &Request<'_>) -> Admission {
        let mut admission = Admission {
            object: request.object.clone(),
            pruned: Vec::new(),
            outcome: Outcome::Admitted,
            inconclusive: Vec::new(),
        };
        let old = request.old.map(|old| self.stored(old));
        match self.read(request, old.as_ref(), &mut admission) {
            Ok(()) => self.decide(request, old.as_ref(), &mut admission),
            Err(fault) => admission.outcome = Outcome::Malformed(fault),
        }
        admission
    }

    /// Reads the object and brings it into the form that is validated.
    fn read(&self, request: &Request<'_>, old: Option<&Value>, admission: &mut Admission) -> Result<(), String> {
        if is_deeper_than(&admission.object, DEPTH_LIMIT) {
            return Err(format!("nested deeper than {DEPTH_LIMIT} levels"));
        }
        let Value::Object(map) = &mut admission.object else {
            return Err("an object must be a map".to_owned());
        };
        read_type(map, request)?;
        let metadata = match map.get("metadata") {
            Some(metadata) => {
                let metadata = read_metadata(metadata, Strictness::Refuse);
                Some(metadata.map_err(|fault| format!("metadata: {fault}"))?)
            }
            None => None,
        };
        if map.get("kind").and_then(Value::as_str) == Some(request.kind) {
            admission.pruned = self.shape(&mut admission.object, Strictness::Refuse)?;
        }
        if let Value::Object(map) = &mut admission.object {
            map.insert("metadata".to_owned(), Value::Object(settle(metadata.unwrap_or_default(), request)));
            if request.status_subresource {
                match old.and_then(|old| old.get("status")) {
                    Some(status) => drop(map.insert("status".to_owned(), status.clone())),
                    None => drop(map.remove("status")),
                }
            }
        }
        Ok(())
    }

    /// Prunes, drops nulls, reads embedded resources and fills in defaults; returns the pruned paths.
    fn shape(&self, object: &mut Value, strictness: Strictness) -> Result<Vec<String>, String> {
        let pruned = prune(self.schema, object);
        if self.drops_nulls() {
            drop_nulls(self.schema, object);
        }
        if self.embeds {
            read_embedded(self.schema, object, strictness)?;
        }
        self.fill(object);
        Ok(pruned)
    }

    fn drops_nulls(&self) -> bool {
        self.kubernetes.at_least(20)
    }

    fn fill(&self, object: &mut Value) {
        if !self.fills {
            return;
        }
        if self.drops_nulls() {
            default(self.schema, object);
        } else {
            default_keeping_nulls(self.schema, object);
        }
    }

    fn decide(&self, request: &Request<'_>, old: Option<&Value>, admission: &mut Admission) {
        let mut findings = Findings::default();
        if let Some(violation) = wrong_kind(&admission.object, request) {
            findings.violations.push(violation);
        } else {
            judge_metadata(&admission.object, old.is_some(), &mut findings.violations);
            self.judge(&admission.object, old, &mut findings);
            if let Some(scale) = &request.scale {
                judge_scale(&admission.object, scale, &mut findings.violations);
            }
            // The response contains the defaults of the removed status.
            self.fill(&mut admission.object);
        }
        print(&mut admission.object);
        admission.inconclusive = findings.inconclusive;
        if !findings.violations.is_empty() {
            admission.outcome = Outcome::Refused(findings.violations);
        }
    }

    /// The old object as it comes from storage: under the current schema, and always readable.
    fn stored(&self, old: &Value) -> Value {
        if is_deeper_than(old, DEPTH_LIMIT) {
            return Value::Null;
        }
        let mut old = old.clone();
        // Nothing is refused here, so there is nothing to report.
        let _pruned = self.shape(&mut old, Strictness::Drop);
        if let Some(metadata) = old.get_mut("metadata")
            && let Ok(read) = read_metadata(metadata, Strictness::Drop)
        {
            *metadata = Value::Object(read);
        }
        old
    }

    pub(super) fn judge(&self, value: &Value, old: Option<&Value>, findings: &mut Findings) {
        let root = Place::root();
        let ratchets = self.kubernetes.at_least(30);
        let correlation = old.filter(|_| ratchets).map(|old| Correlation::new(self.schema, value, old));
        let check = Check { schema: self.schema, value, kubernetes: self.kubernetes, nesting: 0 };
        let violations = &mut findings.violations;
        violations.extend(check.violations(&root, correlation.as_ref()));
        if self.embeds {
            judge_embedded(self.schema, value, &root, violations);
        }
        self.judge_lists(value, old, violations);
        if let Some(rules) = &self.rules {
            if violations.iter().any(|violation| blocks_rules(violation.reason)) {
                violations.push(root.violation_of_whole("x-kubernetes-validations", RULES_NOT_CHECKED.to_owned()));
            } else {
                rules.judge(value, old, correlation, findings);
            }
        }
    }
}

/// Rules may rely on types, sizes and required fields, so they do not run if those are wrong.
fn blocks_rules(reason: Reason) -> bool {
    match reason {
        Reason::NotSupported | Reason::Required | Reason::TooLong | Reason::TooMany | Reason::TypeInvalid => true,
        Reason::Duplicate | Reason::Forbidden | Reason::Invalid => false,
    }
}

pub(super) fn read_type(map: &Map<String, Value>, request: &Request<'_>) -> Result<(), String> {
    let expected = format!("{}/{}", request.group, request.version);
    match map.get("apiVersion") {
        Some(Value::String(text)) if *text == expected => {}
        Some(Value::String(text)) => {
            return Err(format!("apiVersion is {text:?}, must be {expected:?}"));
        }
        Some(_) => return Err("apiVersion must be a string".to_owned()),
        None => return Err(format!("apiVersion is missing, must be {expected:?}")),
    }
    match map.get("kind") {
        Some(Value::String(text)) if !text.is_empty() => Ok(()),
        Some(Value::String(_) | Value::Null) | None => Err("kind is missing".to_owned()),
        Some(_) => Err("kind must be a string".to_owned()),
    }
}

pub(super) fn wrong_kind(object: &Value, request: &Request<'_>) -> Option<Violation> {
    let kind = object.get("kind").and_then(Value::as_str).unwrap_or_default();
    (kind != request.kind).then(|| {
        let message = format!("is {kind:?}, must be {:?}", request.kind);
        Place::root().field("kind").refused(Reason::Invalid, "kind", message)
    })
}

/// Removes metadata that the server sets itself, and generates a name if requested.
fn settle(mut metadata: Map<String, Value>, request: &Request<'_>) -> Map<String, Value> {
    for name in SERVER_SET {
        metadata.remove(name);
    }
    if !request.namespaced {
        metadata.remove("namespace");
    }
    if let Some(prefix) = metadata.get("generateName").and_then(Value::as_str)
        && !metadata.contains_key("name")
    {
        // The generated part is random; five letters stand for it.
        let prefix: String = prefix.chars().take(58).collect();
        metadata.insert("name".to_owned(), format!("{prefix}xxxxx").into());
    }
    metadata
}

fn judge_metadata(object: &Value, update: bool, found: &mut Vec<Violation>) {
    let root = Place::root();
    let place = root.field("metadata");
    if let Some(Value::Object(metadata)) = object.get("metadata") {
        if update {
            judge_updated(metadata, &place, found);
        } else {
            judge_created(metadata, Naming::Subdomain, &place, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;
    use crate::document::{Sources, parse};

    fn answer(spec: &str, value: &Value, scale: Option<ScalePaths<'_>>) -> Outcome {
        let mut sources = Sources::default();
        let id = sources.add("schema", format!("{{type: object, properties: {{spec: {spec}}}}}"));
        let schema = Schema::read(&parse(&sources, id).unwrap()[0]);
        let object = json!({"apiVersion": "g/v1", "kind": "K", "metadata": {"name": "n"}, "spec": value});
        let request = Request {
            object: &object,
            old: None,
            group: "g",
            version: "v1",
            kind: "K",
            namespaced: false,
            status_subresource: false,
            scale,
        };
        admit(&schema, KubeVersion::minor(36), &request).outcome
    }

    /// A 1.36.4 server says "should be a non-negative integer", and "should be less than or equal to
    /// 2147483647".
    #[rstest]
    #[case(json!({}), true)]
    #[case(json!({"replicas": 0}), true)]
    #[case(json!({"replicas": 2_147_483_647_i64}), true)]
    #[case(json!({"replicas": 2_147_483_648_i64}), false)]
    #[case(json!({"replicas": -1}), false)]
    fn replicas_fit_into_a_scale(#[case] spec: Value, #[case] admitted: bool) {
        let scale =
            ScalePaths { spec_replicas: ".spec.replicas", status_replicas: ".status.replicas", label_selector: None };
        let schema = "{type: object, properties: {replicas: {type: integer}}}";
        assert_eq!(answer(schema, &spec, None), Outcome::Admitted);
        let outcome = answer(schema, &spec, Some(scale));
        assert_eq!(outcome == Outcome::Admitted, admitted, "{outcome:?}");
        if let Outcome::Refused(violations) = outcome {
            assert_eq!(
                (violations[0].field.as_str(), violations[0].pointer.as_str()),
                (".spec.replicas", "/spec/replicas")
            );
        }
    }

    #[rstest]
    #[case("double(self.a) < 1.0", "1e999", false)]
    #[case("double(self.a) < 1.0", "0.5", true)]
    #[case("!has(self.namespace)", "any", false)]
    #[case("!has(self.__namespace__)", "any", false)]
    fn rules_read_what_a_server_reads(#[case] rule: &str, #[case] text: &str, #[case] admitted: bool) {
        let schema = format!(
            "{{type: object, properties: {{a: {{type: string}}, namespace: {{type: string}}}}, \
             x-kubernetes-validations: [{{rule: \"{rule}\"}}]}}"
        );
        let outcome = answer(&schema, &json!({"a": text, "namespace": "n"}), None);
        assert_eq!(outcome == Outcome::Admitted, admitted, "{outcome:?}");
    }
}
