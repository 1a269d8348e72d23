//! Shrinks the objects that make a check fail, by asking the check again.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::act::Actor;
use super::input::{Edits, Input};
use super::keep::{Kept, KeptFailure};
use crate::checks::{Evidence, Need};
use crate::evidence::{ConversionRun, Validity};
use crdproof_schema::generate::shrink::{Budget, search_among};
use crdproof_schema::structural::canonicalize;

/// The time limit for shrinking one finding.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The time limit for shrinking all findings of a CRD; a converter that fails everything must not take forever.
const SHRINK_TIMEOUT: Duration = Duration::from_secs(60);

/// The time for shrinking where all other time is up, since a large object tells nobody anything; and the share of a finding.
const GRACE: Duration = Duration::from_secs(5);
const SHARE: Duration = Duration::from_secs(1);

/// The number of objects that are tried for one finding.
const BUDGET: Budget = Budget { objects: 1500, batch: 48 };

/// The maximum number of bytes of objects that are tried for one finding. A failure that needs a huge object stays
/// huge, however long one tries.
const MOST_BYTES: usize = 4 << 20;

/// Returns the number of objects of this size to try.
fn budget(object: &Value) -> Budget {
    let affordable = MOST_BYTES / object.to_string().len().max(1);
    Budget { objects: BUDGET.objects.min(affordable), batch: BUDGET.batch.min(affordable) }
}

/// Shrinks the object of every finding. Returns the number of findings for which the time was too short.
pub(super) fn smaller(
    kept: &mut Kept,
    actor: &Actor<'_>,
    evidence: &Evidence<'_>,
    deadline: impl Fn() -> Instant,
) -> usize {
    let mut unfinished = 0;
    let (all, grace) = (Instant::now() + SHRINK_TIMEOUT, Instant::now() + GRACE);
    // What follows from something else is not shown for itself.
    let causes = kept.symptoms();
    let is_explained = |shown: &KeptFailure| {
        let symptoms = shown.symptoms();
        causes.iter().any(|cause| symptoms.follow_from(cause))
    };
    for shown in kept.shown().filter(|shown| !is_explained(shown)) {
        let now = Instant::now();
        let end = (now + TIMEOUT).min(all).min(deadline()).max(grace.min(now + SHARE));
        if now < end {
            shrink(shown, actor, evidence, end);
        }
        unfinished += usize::from(Instant::now() >= end);
    }
    unfinished
}

fn shrink(shown: &mut KeptFailure, actor: &Actor<'_>, evidence: &Evidence<'_>, end: Instant) {
    // A failure over many conversion runs has no single object.
    let Some(conversion_run) =
        shown.conversion_run.take().filter(|_| shown.check.needs.contains(&Need::ConversionRuns))
    else {
        return;
    };
    let (actor, last) = (&actor.until(end), actor.until(end + SHARE));
    let inputs = actor.versions.iter().find(|inputs| inputs.version == conversion_run.version);
    let Some(inputs) = inputs else { return };
    let best = conversion_run;
    let breaks = |input: Input| {
        let conversion_run = actor.act(&inputs.version, vec![input]).pop();
        conversion_run.is_some_and(|conversion_run| shown.in_conversion_run(evidence, &conversion_run).is_some())
    };
    // Most failures need no edits and repetitions, which take most of the time.
    let whole = !breaks(like(&best, &best.input, false));
    let mut again = |objects: &[Value]| -> Vec<bool> {
        if Instant::now() >= end || actor.converter.stopped().is_some() {
            return vec![false; objects.len()];
        }
        let conversion_runs =
            actor.act(&inputs.version, objects.iter().map(|object| like(&best, object, whole)).collect());
        conversion_runs
            .iter()
            .map(|conversion_run| shown.in_conversion_run(evidence, conversion_run).is_some())
            .collect()
    };
    // Validate by the schema, even if nothing was generated.
    let own = if inputs.generator.is_none() {
        actor.crd.version(&inputs.version).and_then(|version| super::generator(actor.crd, version))
    } else {
        None
    };
    let generator = inputs.generator.as_ref().or(own.as_ref());
    let valid = |object: &Value| {
        let admitted = Instant::now() < end && generator.is_none_or(|generator| generator.admits(object));
        // Removing may only bring parts back that the schema fills in; those are not smaller.
        let mut held = object.clone();
        canonicalize(inputs.schema, &mut held);
        admitted && held == *object
    };
    let has_shape = |object: &Value| has_shape_of(&best.input, object);
    let may_be_tried: &dyn Fn(&Value) -> bool = match &best.fit {
        Validity::Valid => &valid,
        Validity::Partial(_) => &has_shape,
        Validity::Invalid(_) => &|_| true,
    };
    let object = search_among(&best.input, budget(&best.input), may_be_tried, &mut again).object;
    let confirmed = last.act(&inputs.version, vec![like(&best, &object, whole)]).pop();
    if !confirmed.is_some_and(|confirmed| shown.replace_run(evidence, &confirmed)) {
        shown.conversion_run = Some(best);
    }
}

/// Returns true if the same top-level parts are present, and the same of them are empty: messages about partial objects
/// name them.
fn has_shape_of(partial: &Value, object: &Value) -> bool {
    let is_empty = |value: &Value| value.as_object().is_some_and(serde_json::Map::is_empty);
    let (Some(partial), Some(object)) = (partial.as_object(), object.as_object()) else { return false };
    partial.len() == object.len()
        && partial.iter().all(|(name, was)| object.get(name).is_some_and(|now| is_empty(was) == is_empty(now)))
}

/// An input like that of a conversion run, with another object; with edits and repetitions if it is tried as a whole.
fn like(conversion_run: &ConversionRun, object: &Value, whole: bool) -> Input {
    Input {
        origin: conversion_run.origin.clone(),
        fit: conversion_run.fit.clone(),
        object: object.clone(),
        again: whole,
        edits: if whole { Edits::Many } else { Edits::Nowhere },
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case(json!({"kind": "A", "metadata": {}}), false)]
    #[case(json!({"kind": "A", "metadata": {"name": "a"}}), false)]
    #[case(json!({"kind": "A", "metadata": {}, "spec": {}}), false)]
    #[case(json!({"kind": "A", "metadata": {}, "spec": {"b": 1}}), true)]
    fn partial_objects_keep_the_shape_that_messages_name(#[case] smaller: Value, #[case] is_kept: bool) {
        let partial = json!({"kind": "A", "metadata": {}, "spec": {"a": 1, "b": 1}});
        assert_eq!(has_shape_of(&partial, &smaller), is_kept);
    }
}
