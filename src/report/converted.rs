//! Conversions as text and tables, for several writers.

use serde::Serialize;

use super::coverage::Covered;
use super::sections::plural;
use super::{Conversions, PairInfo, Reach, Timing};

/// Maximum number of unset leaves that are named; others are counted.
const MAX_NAMED: usize = 6;

/// The conversions of one CRD, as a table and as lines.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Converted {
    pub(super) crd: String,
    /// The versions, as columns.
    pub(super) versions: Vec<String>,
    /// A row for each version: its objects, by the version that they were converted to.
    pub(super) rows: Vec<Row>,
    /// Conversions that were not tried, and leaves that no object set.
    pub(super) never: Vec<String>,
    /// Response times.
    pub(super) timings: Vec<Took>,
    /// The leaves of converted objects, by version.
    pub(super) coverage: Vec<Covered>,
    /// True if something needs attention.
    pub(super) odd: bool,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Row {
    pub(super) from: String,
    pub(super) cells: Vec<String>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Took {
    pub(super) objects: String,
    pub(super) reviews: usize,
    pub(super) p50: String,
    pub(super) p90: String,
    pub(super) p99: String,
    /// The lengths of their bars, in percent of the longest.
    pub(super) bars: [u64; 3],
}

impl Converted {
    pub(super) fn of(conversions: &Conversions) -> Self {
        let mut versions: Vec<String> = Vec::new();
        for name in conversions.pairs.iter().flat_map(|pair| [&pair.from, &pair.to]) {
            if !versions.contains(name) {
                versions.push(name.clone());
            }
        }
        let cell = |from: &str, to: &str| {
            let pair = conversions.pairs.iter().find(|pair| pair.from == from && pair.to == to);
            pair.map_or_else(|| "–".to_owned(), count)
        };
        let row = |from: &String| Row { from: from.clone(), cells: versions.iter().map(|to| cell(from, to)).collect() };
        Self {
            crd: conversions.crd.clone(),
            rows: versions.iter().map(row).collect(),
            never: cut(conversions).chain(conversions.reach.iter().filter_map(never)).collect(),
            timings: took(&conversions.timings),
            coverage: conversions.reach.iter().map(Covered::of).collect(),
            odd: has_gaps(conversions),
            versions,
        }
    }
}

fn took(timings: &[Timing]) -> Vec<Took> {
    let longest = timings.iter().map(|timing| timing.p99).max().unwrap_or_default();
    timings.iter().map(|timing| Took::of(timing, longest)).collect()
}

impl Took {
    fn of(timing: &Timing, longest: u64) -> Self {
        // On a logarithmic scale: a slow response must not hide the differences of others.
        let bits = |micros: u64| u64::from((micros + 1).ilog2()) + 1;
        let bar = |micros: u64| bits(micros) * 100 / bits(longest);
        Self {
            bars: [bar(timing.p50), bar(timing.p90), bar(timing.p99)],
            objects: plural(timing.objects, "object"),
            reviews: timing.reviews,
            p50: time(timing.p50),
            p90: time(timing.p90),
            p99: time(timing.p99),
        }
    }

    /// A line such as `1 object: p50 1.2 ms, p90 2.0 ms, p99 4.1 ms`.
    pub(super) fn line(&self) -> String {
        format!("{}: p50 {}, p90 {}, p99 {}", self.objects, self.p50, self.p90, self.p99)
    }
}

/// Returns true if something was refused, never set, or timed.
pub(super) fn has_content(conversions: &Conversions) -> bool {
    has_gaps(conversions) || !conversions.timings.is_empty()
}

/// Returns true if something was refused, never set, or not tried.
fn has_gaps(conversions: &Conversions) -> bool {
    cut(conversions).next().is_some()
        || conversions.pairs.iter().any(|pair| pair.refused > 0)
        || conversions.reach.iter().any(|reach| never(reach).is_some())
}

/// Returns the number of conversions that were tried, over all pairs of versions.
pub(super) fn tried(conversions: &Conversions) -> usize {
    conversions.pairs.iter().map(|pair| pair.objects).sum()
}

/// A line such as `v1→v2 20, v2→v1 21 (3 refused)`.
pub(super) fn pairs(conversions: &Conversions) -> String {
    let pairs = conversions.pairs.iter().map(|pair| format!("{}→{} {}", pair.from, pair.to, count(pair)));
    pairs.collect::<Vec<_>>().join(", ")
}

fn count(pair: &PairInfo) -> String {
    match pair.refused {
        0 => pair.objects.to_string(),
        refused => format!("{} ({refused} refused)", pair.objects),
    }
}

/// The leaves that no object of a version set, except to their defaults, whether it was converted from or to it.
fn never(reach: &Reach) -> Option<String> {
    let missing = reach.leaves.saturating_sub(reach.seen);
    if missing == 0 || reach.never.is_empty() {
        return None;
    }
    let named: Vec<&str> = reach.never.iter().take(MAX_NAMED).map(String::as_str).collect();
    let more = match missing.saturating_sub(named.len()) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(format!("no object of {} had, beyond defaults: {}{more}", reach.version, named.join(", ")))
}

/// Returns the conversions that were not tried for lack of time.
fn cut(conversions: &Conversions) -> impl Iterator<Item = String> {
    let untried = (conversions.untried > 0).then(|| {
        format!("not tried: {}; the search ended early (--time sets its limit)", plural(conversions.untried, "object"))
    });
    let larger = (conversions.larger > 0).then(|| {
        let findings = plural(conversions.larger, "finding");
        format!(
            "{findings} may have a smaller counterexample: the time to look for it was over (10 s each, 60 s for a CRD)"
        )
    });
    let sampled = (conversions.sampled > 0).then(|| {
        format!("sampled: each object was converted to {} of the other versions, in turns", conversions.sampled)
    });
    untried.into_iter().chain(larger).chain(sampled)
}

/// Microseconds in a readable unit.
fn time(micros: u64) -> String {
    match micros {
        ..1_000 => format!("{micros} µs"),
        1_000..1_000_000 => format!("{}.{} ms", micros / 1_000, micros % 1_000 / 100),
        _ => format!("{}.{} s", micros / 1_000_000, micros % 1_000_000 / 100_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_a_table_and_a_line() {
        let pair = |from: &str, to: &str, refused| PairInfo { objects: 20, refused, ..PairInfo::new(from, to) };
        let never: Vec<String> = (0..8).map(|number| format!(".spec.f{number}")).collect();
        let reach = vec![Reach { version: "v2".into(), leaves: 12, seen: 3, never }];
        let timings = vec![Timing { objects: 1, reviews: 9, p50: 840, p90: 1_250, p99: 2_040_000 }];
        let pairs_tried = vec![pair("v1", "v2", 0), pair("v2", "v1", 3)];
        let conversions =
            Conversions { crd: "a".into(), pairs: pairs_tried, reach, timings, untried: 4, ..Conversions::default() };
        assert_eq!(pairs(&conversions), "v1→v2 20, v2→v1 20 (3 refused)");
        let shown = Converted::of(&conversions);
        assert_eq!(shown.versions, ["v1", "v2"]);
        assert_eq!(shown.rows[1], Row { from: "v2".into(), cells: vec!["20 (3 refused)".into(), "–".into()] });
        let fields = ".spec.f0, .spec.f1, .spec.f2, .spec.f3, .spec.f4, .spec.f5";
        let untried = "not tried: 4 objects; the search ended early (--time sets its limit)";
        assert_eq!(
            shown.never,
            [untried.to_owned(), format!("no object of v2 had, beyond defaults: {fields} and 3 more")]
        );
        assert_eq!(shown.timings[0].line(), "1 object: p50 840 µs, p90 1.2 ms, p99 2.0 s");
        assert!(shown.odd);
    }
}
