//! Shared parts of the checks of deliveries.

use serde_json::Value;

use crate::checks::Evidence;
use crate::checks::shared_difference::{Difference, Kind, differences};
use crate::checks::shared_trace::content;
use crate::evidence::{ApplyStep, Delivered, Trace};

/// The step in which everything is applied for the first time.
pub(super) const FIRST: ApplyStep = ApplyStep::DeliverFirst;

/// Returns the results for the objects of the kind under test in a step.
pub(super) fn lines<'t>(
    evidence: &Evidence<'_>,
    trace: &'t Trace,
    step: ApplyStep,
) -> impl Iterator<Item = &'t Delivered> + use<'t> {
    let kind = format!("{}/", evidence.crd.names.kind);
    trace.delivered(step).filter(move |line| line.name.starts_with(&kind))
}

/// The name of an object in snapshots.
pub(super) fn key(line: &Delivered) -> &str {
    line.name.split_once('/').map_or(&line.name, |(_, key)| key)
}

/// Returns an object as the source has it.
pub(super) fn sent<'t>(trace: &'t Trace, line: &Delivered) -> Option<&'t Value> {
    trace.calls(FIRST).find(|call| call.name == line.name && call.version == line.version).map(|call| &call.sent)
}

/// An object in a step, at the version at which it is applied.
pub(super) fn live<'t>(trace: &'t Trace, step: ApplyStep, line: &Delivered) -> Option<&'t Value> {
    let mut snapshots = trace.snapshots(step).filter(|snapshot| snapshot.version == line.version);
    snapshots.find_map(|snapshot| snapshot.objects.get(key(line))).map(|body| &**body)
}

/// Returns the differences between two states of an object, in the fields of the source, and not only in form.
pub(super) fn wanted(evidence: &Evidence<'_>, line: &Delivered, was: &Value, now: &Value, sent: &Value) -> Vec<String> {
    let schema = evidence.crd.version(&line.version).and_then(|version| version.schema.as_ref());
    let (was, now) = (content(was), content(now));
    let own = |difference: &Difference<'_>| {
        sent.pointer(&difference.pointer).is_some() && difference.kind(schema) != Kind::Representation
    };
    differences(&was, &now).into_iter().filter(own).map(|difference| difference.pointer).collect()
}

/// Returns true if one place is the other, or a part of it.
pub(super) fn overlap(one: &str, other: &str) -> bool {
    let within =
        |whole: &str, part: &str| part.strip_prefix(whole).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    within(one, other) || within(other, one)
}
