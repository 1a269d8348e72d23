//! What was seen on an API server.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Action, Body, Delivered, Health, LeftOut, Listing, Scenario, ScenarioStep as Step};
use crdproof_schema::kubernetes::KubeVersion;

/// The record of the scenarios of one CRD on one API server: what was done, step by step, and what was seen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Trace {
    /// The server's version.
    pub kubernetes: KubeVersion,
    /// When it was recorded, RFC 3339.
    pub recorded: String,
    /// The CRD.
    pub crd: String,
    /// The number of requests.
    #[serde(default)]
    pub requests: u64,
    /// The observations, in order.
    pub records: Vec<Record>,
}

/// One thing that was seen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Record {
    /// The step that it belongs to, such as `serving/create`.
    pub step: Step,
    /// The observations.
    pub seen: Observation,
}

/// An observation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum Observation {
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
    /// The events of a watch.
    Watch(WatchLog),
    /// Reviews that reached the converter.
    Reviews(Vec<ObservedReview>),
    /// The versions at which writes were stored after the storage version changed.
    Settled(Settled),
    /// The result of one pass of the built-in migration.
    Pass(MigrationPass),
    /// The number of writes that were refused.
    RefusedWrites(u64),
    /// Whether the server keeps transition rules.
    RulesKept(bool),
    /// The changes of managedFields by a retirement.
    Cleaned(Cleaned),
    /// What an admission webhook was shown.
    Admission(ObservedAdmission),
    /// The end of a migration.
    Driven(Driven),
    /// What became of an object of a source that was applied as a whole.
    Delivered(Delivered),
    /// The health of such an object, each time that it changed.
    Health(Health),
    /// An object that no scenario writes, because it cannot be used at every version.
    LeftOut(LeftOut),
    /// Why a scenario ended before its last step: what the server answered.
    Stopped(String),
}

/// One request and its answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Call {
    /// What it was for.
    #[serde(rename = "what")]
    pub action: Action,
    /// The version that was asked.
    pub version: String,
    /// The object's name, or nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The content that was sent.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub sent: Value,
    /// The status code.
    pub status: u16,
    /// Warnings that came with the answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The response of the server.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub answered: Value,
}

impl Call {
    /// Returns whether the server did what it was asked for.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Returns the field that the server does not accept, if it is one alone.
    pub fn refused_field(&self) -> Option<String> {
        let causes = self.answered["details"]["causes"].as_array()?;
        let mut fields = causes.iter().filter_map(|cause| cause["field"].as_str()).filter(|field| *field != "<nil>");
        let field = fields.next()?;
        fields.all(|other| other == field).then(|| format!(".{field}"))
    }

    /// Returns what the server says about a failure.
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
    /// What they are about.
    pub what: Listing,
    /// The versions that were asked, one after the other.
    pub versions: Vec<String>,
    /// The names.
    pub names: Vec<String>,
}

/// The events of a watch.
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
pub struct ObservedReview {
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

/// The versions at which writes were stored after the storage version changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Settled {
    /// Writes that were still stored at the previous version.
    pub late: u64,
    /// Writes in a row that were stored at the wanted version, at the server that had the fewest.
    pub in_a_row: u64,
}

impl Settled {
    /// The number of writes in a row that show that the change has taken effect.
    pub const ENOUGH: usize = 5;

    /// Returns whether the change has taken effect at every server.
    pub fn has_taken_effect(self) -> bool {
        self.in_a_row >= Self::ENOUGH as u64
    }
}

/// The result of one pass of the built-in migration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MigrationPass {
    /// Which pass it was.
    #[serde(rename = "what")]
    pub pass: PassName,
    /// Objects that were listed.
    pub seen: u64,
    /// Objects that were stored anew.
    pub rewritten: u64,
    /// Objects that somebody else wrote in the meantime.
    pub overtaken: u64,
    /// Objects that could not be written.
    pub failed: u64,
}

/// A pass of the built-in migration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PassName {
    /// The first one.
    First,
    /// One after a whole migration.
    Second,
    /// One while others write.
    Busy,
    /// One after that, when nobody writes.
    Last,
}

/// The changes of managedFields by a retirement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Cleaned {
    /// Objects whose entries were rewritten.
    pub rewritten: u64,
    /// Fields that have no owner afterwards.
    pub losses: u64,
}

/// A request that reached an admission webhook.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ObservedAdmission {
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

/// The end of a migration, as reported by the tool that ran it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Driven {
    /// Whether it says that everything is done.
    pub done: bool,
    /// Whether it came to an end by itself within its time.
    pub ended: bool,
    /// Its message.
    pub said: String,
}

impl Trace {
    /// Returns every request and its answer, of all steps.
    pub fn all_calls(&self) -> impl Iterator<Item = &Call> {
        self.records
            .iter()
            .filter_map(|record| if let Observation::Call(call) = &record.seen { Some(call) } else { None })
    }

    /// Returns the objects that no scenario writes.
    pub fn left_out(&self) -> impl Iterator<Item = &LeftOut> {
        self.records
            .iter()
            .filter_map(|record| if let Observation::LeftOut(one) = &record.seen { Some(one) } else { None })
    }

    /// Returns the steps at which scenarios ended early, and why.
    pub fn stopped(&self) -> impl Iterator<Item = (Step, &str)> {
        self.records.iter().filter_map(|record| {
            if let Observation::Stopped(why) = &record.seen { Some((record.step, why.as_str())) } else { None }
        })
    }

    /// Returns what was seen in a step.
    pub fn of(&self, step: impl Into<Step>) -> impl Iterator<Item = &Observation> {
        let step = step.into();
        self.records.iter().filter(move |record| record.step == step).map(|record| &record.seen)
    }

    /// Returns whether the scenario ran, as far as to its first observation.
    pub fn has(&self, scenario: Scenario) -> bool {
        self.records.iter().any(|record| record.step.scenario() == scenario)
    }

    /// Returns whether the control plane itself migrated.
    pub fn has_in_tree_migration(&self) -> bool {
        self.records.iter().any(|record| matches!(record.step, Step::Storage(step) if step.is_in_tree()))
    }

    /// Returns the requests of a step.
    pub fn calls(&self, step: impl Into<Step>) -> impl Iterator<Item = &Call> {
        self.of(step).filter_map(|seen| if let Observation::Call(seen) = seen { Some(seen) } else { None })
    }

    /// Returns all objects as they were seen in a step, by version.
    pub fn snapshots(&self, step: impl Into<Step>) -> impl Iterator<Item = &Snapshot> {
        self.of(step).filter_map(|seen| if let Observation::Snapshot(seen) = seen { Some(seen) } else { None })
    }

    /// Returns the lists of names in a step.
    pub fn names(&self, step: impl Into<Step>) -> impl Iterator<Item = &Names> {
        self.of(step).filter_map(|seen| if let Observation::Names(seen) = seen { Some(seen) } else { None })
    }

    /// Returns what watches reported in a step.
    pub fn watches(&self, step: impl Into<Step>) -> impl Iterator<Item = &WatchLog> {
        self.of(step).filter_map(|seen| if let Observation::Watch(seen) = seen { Some(seen) } else { None })
    }

    /// Returns what became of delivered objects in a step.
    pub fn delivered(&self, step: impl Into<Step>) -> impl Iterator<Item = &Delivered> {
        self.of(step).filter_map(|seen| if let Observation::Delivered(seen) = seen { Some(seen) } else { None })
    }

    /// Returns how the health of objects changed in a step.
    pub fn health(&self, step: impl Into<Step>) -> impl Iterator<Item = &Health> {
        self.of(step).filter_map(|seen| if let Observation::Health(seen) = seen { Some(seen) } else { None })
    }

    /// Returns the versions that objects were stored at in a step, one observation after the other.
    pub fn stored(&self, step: impl Into<Step>) -> impl Iterator<Item = &BTreeMap<String, String>> {
        self.of(step).filter_map(|seen| if let Observation::Stored(seen) = seen { Some(seen) } else { None })
    }

    /// Returns what admission webhooks were shown in a step.
    pub fn admissions(&self, step: impl Into<Step>) -> impl Iterator<Item = &ObservedAdmission> {
        self.of(step).filter_map(|seen| if let Observation::Admission(seen) = seen { Some(seen) } else { None })
    }

    /// Returns how migrations ended in a step.
    pub fn driven(&self, step: impl Into<Step>) -> impl Iterator<Item = &Driven> {
        self.of(step).filter_map(|seen| if let Observation::Driven(seen) = seen { Some(seen) } else { None })
    }

    /// Returns where writes landed in a step.
    pub fn settled(&self, step: impl Into<Step>) -> impl Iterator<Item = &Settled> {
        self.of(step).filter_map(|seen| if let Observation::Settled(seen) = seen { Some(seen) } else { None })
    }

    /// Returns how many writes were refused in a step.
    pub fn refused_writes(&self, step: impl Into<Step>) -> impl Iterator<Item = &u64> {
        self.of(step).filter_map(|seen| if let Observation::RefusedWrites(seen) = seen { Some(seen) } else { None })
    }

    /// Returns what a pass of the built-in migration did in a step.
    pub fn pass(&self, step: impl Into<Step>, name: PassName) -> Option<&MigrationPass> {
        let mut passes =
            self.of(step).filter_map(|seen| if let Observation::Pass(pass) = seen { Some(pass) } else { None });
        passes.find(|pass| pass.pass == name)
    }

    /// Returns the definition as it was at the end of a step.
    pub fn definition(&self, step: impl Into<Step>) -> Option<&Value> {
        self.of(step).filter_map(|seen| if let Observation::Definition(crd) = seen { Some(crd) } else { None }).last()
    }
}
