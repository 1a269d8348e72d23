//! The part of a report that a shard adds, so that merging gives the report of the whole run.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Finding, WaiverInfo};
use crate::checks::Together;

/// The duration of one work unit.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UnitTime {
    /// The work unit, such as `widgets.example.com: storage on 1.36`.
    pub unit: String,
    /// The duration in milliseconds.
    pub milliseconds: u64,
}

/// One of several runs that share the work of one plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ShardInfo {
    /// The number of this shard, from 1.
    pub index: usize,
    /// The number of shards.
    pub count: usize,
    /// A digest of the subject, the settings and the assignment of work units. It is the same for all shards of a run.
    pub plan: String,
    /// The API servers of the plan, in the requested order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<String>,
    /// The number of work units of all shards.
    pub units: usize,
    /// The number of work units of this shard.
    pub own_units: usize,
    /// True if the run was interrupted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// All findings, before they are grouped.
    pub findings: Vec<UngroupedFinding>,
    /// The waivers of the subject with their effect on these findings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waivers: Vec<WaiverUse>,
    /// The effect of the file of accepted findings, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted: Option<AcceptedUse>,
    /// The commands that try saved counterexamples again, by the fingerprint of the finding.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub replays: BTreeMap<String, String>,
}

/// A finding before it is grouped with others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UngroupedFinding {
    /// The finding.
    pub finding: Finding,
    /// The part that it has in common with findings about other fields.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub together: Option<Together>,
    /// The message of the converter or the server that caused it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complaint: Option<String>,
}

/// A waiver and its effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WaiverUse {
    /// The waiver.
    pub waiver: WaiverInfo,
    /// The finding about it, if it is expired or unused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complaint: Option<Finding>,
}

/// The entries of the file of accepted findings, by their index.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AcceptedUse {
    /// Entries that accept a finding.
    pub used: BTreeSet<usize>,
    /// Entries whose check was judged.
    pub judged: BTreeSet<usize>,
}

impl ShardInfo {
    /// Returns the name of the shard, such as `2/4`.
    pub fn name(&self) -> String {
        format!("{}/{}", self.index, self.count)
    }
}
