//! Counts of a search for counterexamples.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crdproof_schema::generate::Coverage;

/// The conversions of one CRD.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Conversions {
    /// The CRD.
    pub crd: String,
    /// Every ordered pair of versions that was tried.
    pub pairs: Vec<PairInfo>,
    /// The leaves of converted objects, by version.
    pub reach: Vec<Reach>,
    /// Response times, by the number of objects in a review; empty if nothing was sent.
    pub timings: Vec<Timing>,
    /// Objects that were planned and not tried, because the time was over or the run was interrupted.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub untried: usize,
    /// Findings whose object was not fully shrunk, because the time was over.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub larger: usize,
    /// The number of other versions that each object was converted to, if there are more.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub sampled: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// One ordered pair of versions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PairInfo {
    /// The version of the objects.
    pub from: String,
    /// The version that they were converted to.
    pub to: String,
    /// The number of objects that were tried.
    pub objects: usize,
    /// The number of valid ones that were not converted.
    pub refused: usize,
}

impl PairInfo {
    /// A pair that was not tried yet.
    pub fn new(from: &str, to: &str) -> Self {
        Self { from: from.to_owned(), to: to.to_owned(), objects: 0, refused: 0 }
    }
}

/// The leaves of a version that converted objects set to something else than their default.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Reach {
    /// The version.
    pub version: String,
    /// The number of leaves of its schema.
    pub leaves: usize,
    /// The number of leaves that were set.
    pub seen: usize,
    /// The leaves that were never set; only the first ones.
    pub never: Vec<String>,
}

/// Maximum number of unset leaves that are listed; others are only counted.
const MOST: usize = 50;

impl Reach {
    /// Returns the coverage of objects of a version, before or after their conversion.
    pub fn new(version: &str, coverage: &Coverage) -> Self {
        Self {
            version: version.to_owned(),
            leaves: coverage.leaves(),
            seen: coverage.reached(),
            never: coverage.unreached().take(MOST).map(ToString::to_string).collect(),
        }
    }
}

/// The durations of reviews with this number of objects, in microseconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Timing {
    /// Objects in a review.
    pub objects: usize,
    /// Reviews with a response.
    pub reviews: usize,
    /// The median.
    pub p50: u64,
    /// The 90th percentile.
    pub p90: u64,
    /// The 99th percentile.
    pub p99: u64,
}

impl Timing {
    /// Summarises measured times.
    pub fn new(objects: usize, mut micros: Vec<u64>) -> Self {
        micros.sort_unstable();
        let at = |percent: usize| {
            let rank = (micros.len() * percent).div_ceil(100).max(1);
            micros.get(rank - 1).copied().unwrap_or_default()
        };
        Self { objects, reviews: micros.len(), p50: at(50), p90: at(90), p99: at(99) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_measured_times() {
        let timing = Timing::new(3, (1..=200).rev().collect());
        assert_eq!((timing.reviews, timing.p50, timing.p90, timing.p99), (200, 100, 180, 198));
        assert_eq!(Timing::new(1, vec![7]).p99, 7);
        assert_eq!(Timing::new(1, Vec::new()).p50, 0);
    }
}
