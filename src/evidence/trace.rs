//! Observations on an API server.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Action, Body, Delivered, Health, LeftOut, Listing, Scenario, ScenarioStep as Step, WatchLog};
use crdproof_schema::kubernetes::KubeVersion;

/// The record of the scenarios of one CRD on one API server, step by step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Trace {
    /// The server's version.
    pub kubernetes: KubeVersion,
    /// The time of the recording, RFC 3339.
    pub recorded: String,
    /// The CRD.
    pub crd: String,
    /// The number of requests.
    #[serde(default)]
    pub requests: u64,
    /// The scenarios that ran; empty if all planned ones did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scenarios: Vec<Scenario>,
    /// The observations, in order.
    pub records: Vec<Record>,
}

/// One observation in its step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Record {
    /// The step, such as `serving/create`.
    pub step: Step,
    /// The observation.
    pub seen: Observation,
}

/// An observation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum Observation {
    /// A request and its response.
    Call(Call),
    /// All objects at one version.
    Snapshot(Snapshot),
    /// The CRD as the server has it.
    Definition(Value),
    /// The names of objects in a response.
    Names(Names),
    /// The version that each object is stored at, by `namespace/name`.
    Stored(BTreeMap<String, String>),
    /// The events of a watch.
    Watch(WatchLog),
    /// Reviews that the converter received.
    Reviews(Vec<ObservedReview>),
    /// The versions at which writes were stored after the storage version changed.
    Settled(Settled),
    /// The result of one pass of the built-in migration.
    Pass(MigrationPass),
    /// The number of writes that were refused.
    RefusedWrites(u64),
    /// True if the server keeps transition rules.
    RulesKept(bool),
    /// The changes of managedFields by a retirement.
    Cleaned(Cleaned),
    /// A request to an admission webhook.
    Admission(ObservedAdmission),
    /// The end of a migration.
    Driven(Driven),
    /// The result for an object of a source that was applied as a whole.
    Delivered(Delivered),
    /// The health of such an object, each time that it changed.
    Health(Health),
    /// An object that scenarios leave out, because it cannot be used at every version.
    LeftOut(LeftOut),
    /// The response that ended a scenario before its last step.
    Stopped(String),
}

/// One request and its response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Call {
    /// The purpose.
    #[serde(rename = "what")]
    pub action: Action,
    /// The version in the path.
    pub version: String,
    /// The object's name, or empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The content that was sent.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub sent: Value,
    /// The status code.
    pub status: u16,
    /// Warnings in the response.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The response of the server.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub answered: Value,
}

impl Call {
    /// Returns true if the request succeeded.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Returns the field that the server refuses, if it is a single one.
    pub fn refused_field(&self) -> Option<String> {
        let causes = self.answered["details"]["causes"].as_array()?;
        let mut fields = causes.iter().filter_map(|cause| cause["field"].as_str()).filter(|field| *field != "<nil>");
        let field = fields.next()?;
        fields.all(|other| other == field).then(|| format!(".{field}"))
    }

    /// Returns the server's message about a failure.
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

/// The names in a response, in its order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Names {
    /// The content of the list.
    pub what: Listing,
    /// The requested versions, in order.
    pub versions: Vec<String>,
    /// The names.
    pub names: Vec<String>,
}

/// A review that the converter received.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ObservedReview {
    /// The versions of its objects.
    pub from: Vec<String>,
    /// The desired version.
    pub to: String,
    /// The uids of its objects; empty if there is none.
    pub uids: Vec<String>,
    /// True if every object had metadata.
    pub metadata: bool,
    /// True if every object had a spec.
    pub spec: bool,
    /// True if the response was a success.
    pub answered: bool,
}

/// The versions at which writes were stored after the storage version changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Settled {
    /// Writes that were still stored at the previous version.
    pub late: u64,
    /// Consecutive writes that were stored at the wanted version, at the server with the fewest.
    pub in_a_row: u64,
}

impl Settled {
    /// The number of consecutive writes that show that the change has taken effect.
    pub const ENOUGH: usize = 5;

    /// Returns true if the change has taken effect at every server.
    pub fn has_taken_effect(self) -> bool {
        self.in_a_row >= Self::ENOUGH as u64
    }
}

/// The result of one pass of the built-in migration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MigrationPass {
    /// The name of the pass.
    #[serde(rename = "what")]
    pub pass: PassName,
    /// Objects that were listed.
    pub seen: u64,
    /// Objects that were rewritten.
    pub rewritten: u64,
    /// Objects that another client wrote in the meantime.
    pub overtaken: u64,
    /// Objects that could not be written.
    pub failed: u64,
}

/// A pass of the built-in migration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PassName {
    /// The first pass.
    First,
    /// A pass after a complete migration.
    Second,
    /// A pass while other clients write.
    Busy,
    /// A pass after that, while nobody writes.
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

/// A request to an admission webhook.
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
    /// True for a dry run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
    /// True if it was allowed.
    pub allowed: bool,
    /// `object`, without managedFields.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub object: Value,
    /// `oldObject`, without managedFields.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub old_object: Value,
}

/// The end of a migration, as reported by the tool that ran it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Driven {
    /// True if it reported success.
    pub done: bool,
    /// True if it ended by itself in time.
    pub ended: bool,
    /// Its message.
    pub said: String,
}

impl Trace {
    /// Returns every request and its response, of all steps.
    pub fn all_calls(&self) -> impl Iterator<Item = &Call> {
        self.records
            .iter()
            .filter_map(|record| if let Observation::Call(call) = &record.seen { Some(call) } else { None })
    }

    /// Returns the objects that scenarios leave out.
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

    /// Returns the observations of a step.
    pub fn of(&self, step: impl Into<Step>) -> impl Iterator<Item = &Observation> {
        let step = step.into();
        self.records.iter().filter(move |record| record.step == step).map(|record| &record.seen)
    }

    /// Returns true if the scenario was to run.
    pub fn ran(&self, scenario: Scenario) -> bool {
        self.scenarios.is_empty() || self.scenarios.contains(&scenario)
    }

    /// Returns true if the scenario has at least one observation.
    pub fn has(&self, scenario: Scenario) -> bool {
        self.records.iter().any(|record| record.step.scenario() == scenario)
    }

    /// Returns true if the control plane itself migrated.
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

    /// Returns the events of watches in a step.
    pub fn watches(&self, step: impl Into<Step>) -> impl Iterator<Item = &WatchLog> {
        self.of(step).filter_map(|seen| if let Observation::Watch(seen) = seen { Some(seen) } else { None })
    }

    /// Returns the results for delivered objects in a step.
    pub fn delivered(&self, step: impl Into<Step>) -> impl Iterator<Item = &Delivered> {
        self.of(step).filter_map(|seen| if let Observation::Delivered(seen) = seen { Some(seen) } else { None })
    }

    /// Returns the changes of health of objects in a step.
    pub fn health(&self, step: impl Into<Step>) -> impl Iterator<Item = &Health> {
        self.of(step).filter_map(|seen| if let Observation::Health(seen) = seen { Some(seen) } else { None })
    }

    /// Returns the storage versions of objects in a step, one observation after the other.
    pub fn stored(&self, step: impl Into<Step>) -> impl Iterator<Item = &BTreeMap<String, String>> {
        self.of(step).filter_map(|seen| if let Observation::Stored(seen) = seen { Some(seen) } else { None })
    }

    /// Returns the requests to admission webhooks in a step.
    pub fn admissions(&self, step: impl Into<Step>) -> impl Iterator<Item = &ObservedAdmission> {
        self.of(step).filter_map(|seen| if let Observation::Admission(seen) = seen { Some(seen) } else { None })
    }

    /// Returns the ends of migrations in a step.
    pub fn driven(&self, step: impl Into<Step>) -> impl Iterator<Item = &Driven> {
        self.of(step).filter_map(|seen| if let Observation::Driven(seen) = seen { Some(seen) } else { None })
    }

    /// Returns the storage versions of writes after the storage version changed, in a step.
    pub fn settled(&self, step: impl Into<Step>) -> impl Iterator<Item = &Settled> {
        self.of(step).filter_map(|seen| if let Observation::Settled(seen) = seen { Some(seen) } else { None })
    }

    /// Returns the numbers of refused writes in a step.
    pub fn refused_writes(&self, step: impl Into<Step>) -> impl Iterator<Item = &u64> {
        self.of(step).filter_map(|seen| if let Observation::RefusedWrites(seen) = seen { Some(seen) } else { None })
    }

    /// Returns the result of a pass of the built-in migration in a step.
    pub fn pass(&self, step: impl Into<Step>, name: PassName) -> Option<&MigrationPass> {
        let mut passes =
            self.of(step).filter_map(|seen| if let Observation::Pass(pass) = seen { Some(pass) } else { None });
        passes.find(|pass| pass.pass == name)
    }

    /// Returns the definition at the end of a step.
    pub fn definition(&self, step: impl Into<Step>) -> Option<&Value> {
        self.of(step).filter_map(|seen| if let Observation::Definition(crd) = seen { Some(crd) } else { None }).last()
    }
}
