//! What was seen on an API server.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Body, Delivered, Health};
use crdproof_schema::kubernetes::KubeVersion;

/// The journeys of one CRD on one API server: what was done, step by step, and what was seen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Trace {
    /// The server's version.
    pub kubernetes: KubeVersion,
    /// When it was recorded, RFC 3339.
    pub recorded: String,
    /// The CRD.
    pub crd: String,
    /// How many requests it took.
    #[serde(default)]
    pub requests: u64,
    /// What was seen, in order.
    pub records: Vec<Record>,
}

/// One thing that was seen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Record {
    /// The step that it belongs to, such as `serve/create`.
    pub step: String,
    /// What was seen.
    pub seen: Seen,
}

/// What can be seen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum Seen {
    /// A request and its answer.
    Call(Call),
    /// All objects at one version.
    Snapshot(Snapshot),
    /// The CRD as the server has it.
    Definition(Value),
    /// The names of objects that a question was answered with.
    Names(Names),
    /// The version that each object is stored at, by `namespace/name`.
    Stored(BTreeMap<String, String>),
    /// What a watch told.
    Watch(WatchLog),
    /// Reviews that reached the converter.
    Reviews(Vec<ReviewSeen>),
    /// A number of something.
    Count(Count),
    /// What an admission webhook was shown.
    Admission(AdmissionSeen),
    /// How a migration ended.
    Driven(Driven),
    /// What became of an object of a source that was applied as a whole.
    Delivered(Delivered),
    /// The health of such an object, each time that it changed.
    Health(Health),
}

/// One request and its answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Call {
    /// What it was for, such as `create`.
    pub what: String,
    /// The version that was asked.
    pub version: String,
    /// The object's name, or nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// What was sent.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub sent: Value,
    /// The status code.
    pub status: u16,
    /// Warnings that came with the answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// What the server answered.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub answered: Value,
}

impl Call {
    /// Whether the server did what it was asked for.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// What the server says about a failure.
    pub fn message(&self) -> String {
        let message = self.answered["message"].as_str().unwrap_or("without a message");
        format!("{} {message}", self.status)
    }
}

/// All objects at one version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Snapshot {
    /// The version read at.
    pub version: String,
    /// Objects by `namespace/name`.
    pub objects: BTreeMap<String, Body>,
}

/// The names that a question was answered with, in the order of the answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Names {
    /// The question, such as `label selector`.
    pub what: String,
    /// The versions that were asked, one after the other.
    pub versions: Vec<String>,
    /// The names.
    pub names: Vec<String>,
}

/// What a watch told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WatchLog {
    /// The version that was watched.
    pub version: String,
    /// Its events, in order.
    pub events: Vec<WatchEvent>,
}

/// One event of a watch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WatchEvent {
    /// `ADDED`, `MODIFIED`, `DELETED` or `ERROR`.
    pub kind: String,
    /// The object's name.
    pub name: String,
    /// The object's `apiVersion`.
    pub api_version: String,
    /// The object's resource version.
    pub resource_version: String,
}

/// A review that reached the converter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReviewSeen {
    /// The versions of its objects.
    pub from: Vec<String>,
    /// The version asked for.
    pub to: String,
    /// The uids of its objects; empty where there is none.
    pub uids: Vec<String>,
    /// Whether every object had metadata.
    pub metadata: bool,
    /// Whether every object had a spec.
    pub spec: bool,
    /// Whether it was answered with success.
    pub answered: bool,
}

/// A number of something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Count {
    /// What was counted.
    pub what: String,
    /// How many there were.
    pub count: u64,
}

/// A request that reached an admission webhook.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AdmissionSeen {
    /// The version that the webhook is registered for.
    #[serde(rename = "version")]
    pub registered: String,
    /// `CREATE` or `UPDATE`.
    #[serde(rename = "what")]
    pub operation: String,
    /// The object's name.
    pub name: String,
    /// The version of `kind`.
    pub kind: String,
    /// The version of `resource`.
    pub resource: String,
    /// The version of `requestKind`.
    pub request_kind: String,
    /// The version of `requestResource`.
    pub request_resource: String,
    /// Whether the write only pretended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
    /// Whether it was let through.
    pub allowed: bool,
    /// `object`, without managers.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub object: Value,
    /// `oldObject`, without managers.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub old_object: Value,
}

/// How a migration ended, in the words of whoever drove it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Driven {
    /// Whether it says that everything is done.
    pub done: bool,
    /// Whether it came to an end by itself within its time.
    pub ended: bool,
    /// What it said.
    pub said: String,
}

impl Trace {
    /// What was seen in a step, and in those below it.
    pub fn of<'t>(&'t self, step: &'t str) -> impl Iterator<Item = &'t Seen> {
        let within = move |record: &&Record| {
            record.step == step || record.step.strip_prefix(step).is_some_and(|rest| rest.starts_with('/'))
        };
        self.records.iter().filter(within).map(|record| &record.seen)
    }

    /// The requests of a step.
    pub fn calls<'t>(&'t self, step: &'t str) -> impl Iterator<Item = &'t Call> {
        self.of(step).filter_map(|seen| if let Seen::Call(call) = seen { Some(call) } else { None })
    }

    /// All objects as they were seen in a step, by version.
    pub fn snapshots<'t>(&'t self, step: &'t str) -> impl Iterator<Item = &'t Snapshot> {
        self.of(step).filter_map(|seen| if let Seen::Snapshot(snapshot) = seen { Some(snapshot) } else { None })
    }

    /// The answers to questions for names in a step.
    pub fn names<'t>(&'t self, step: &'t str) -> impl Iterator<Item = &'t Names> {
        self.of(step).filter_map(|seen| if let Seen::Names(names) = seen { Some(names) } else { None })
    }

    /// What watches told in a step.
    pub fn watches<'t>(&'t self, step: &'t str) -> impl Iterator<Item = &'t WatchLog> {
        self.of(step).filter_map(|seen| if let Seen::Watch(log) = seen { Some(log) } else { None })
    }

    /// What became of objects in a step.
    pub fn delivered<'t>(&'t self, step: &'t str) -> impl Iterator<Item = &'t Delivered> {
        self.of(step).filter_map(|seen| if let Seen::Delivered(delivered) = seen { Some(delivered) } else { None })
    }

    /// How the health of objects changed in a step.
    pub fn health<'t>(&'t self, step: &'t str) -> impl Iterator<Item = &'t Health> {
        self.of(step).filter_map(|seen| if let Seen::Health(health) = seen { Some(health) } else { None })
    }

    /// The definition as it was at the end of a step.
    pub fn definition<'t>(&'t self, step: &'t str) -> Option<&'t Value> {
        self.of(step).filter_map(|seen| if let Seen::Definition(crd) = seen { Some(crd) } else { None }).last()
    }

    /// The versions that objects were stored at in a step, as they were seen one after the other.
    pub fn stored<'t>(&'t self, step: &'t str) -> impl Iterator<Item = &'t BTreeMap<String, String>> {
        self.of(step).filter_map(|seen| if let Seen::Stored(stored) = seen { Some(stored) } else { None })
    }

    /// What admission webhooks were shown in a step.
    pub fn admissions<'t>(&'t self, step: &'t str) -> impl Iterator<Item = &'t AdmissionSeen> {
        self.of(step).filter_map(|seen| if let Seen::Admission(seen) = seen { Some(seen) } else { None })
    }

    /// How migrations ended in a step.
    pub fn driven<'t>(&'t self, step: &'t str) -> impl Iterator<Item = &'t Driven> {
        self.of(step).filter_map(|seen| if let Seen::Driven(driven) = seen { Some(driven) } else { None })
    }
}
