//! Shared parts of the checks of this family: finding the old state, and turning differences of schemas into failures.

use crate::checks::{Change, Evidence, Failure, Verdict};
use crate::subject::{Crd, Version};
use crdproof_schema::kubernetes::KubeVersion;
use crdproof_schema::structural::compare::Delta;

/// From this minor release on, an API server accepts an invalid value that an update does not change.
const RATCHETING: u32 = 30;

/// The CRD's old state, or the verdict if there is nothing to compare.
pub(super) fn old_state<'a>(evidence: &Evidence<'a>) -> Result<&'a Crd, Verdict> {
    match evidence.change {
        Change::Kept(old) => Ok(old),
        // A CRD that did not exist has no objects.
        Change::Added => Err(Verdict::Passed { examined: 1 }),
        Change::Removed => Err(Verdict::Inconclusive("the CRD is gone; upgrade/crd-kept says so".into())),
        Change::Unknown => Err(Verdict::Inconclusive("no baseline to compare with".into())),
    }
}

/// The versions that both states serve: the old and the new form of each.
pub(super) fn served_in_both<'a>(old: &'a Crd, new: &'a Crd) -> Vec<(&'a Version, &'a Version)> {
    let served = new.versions.iter().filter(|version| version.served);
    let pairs = served.filter_map(|after| Some((old.version(&after.name).filter(|before| before.served)?, after)));
    pairs.collect()
}

/// Judges each difference between the schemas of versions that are in both states. The judge gets a failure with
/// location and message, and returns it, amended, or `None`.
pub(super) fn judge_schemas(evidence: &Evidence<'_>, judge: impl Fn(&Delta, Failure) -> Option<Failure>) -> Verdict {
    if let Err(verdict) = old_state(evidence) {
        return verdict;
    }
    if evidence.deltas.is_empty() {
        // Nothing existed that could have changed.
        return Verdict::Passed { examined: 1 };
    }
    let failures = evidence.deltas.iter().flat_map(|(version, deltas)| {
        let judge = &judge;
        deltas.iter().filter_map(move |delta| judge(delta, failure(version, delta)))
    });
    Verdict::from_failures(failures.collect(), evidence.deltas.len())
}

/// A failure whose message is the same wherever the change was made.
pub(super) fn changed(message: impl Into<String>) -> Failure {
    let message = message.into();
    Failure::new(message.clone()).change(message)
}

fn failure(version: &str, delta: &Delta) -> Failure {
    let change = delta.to_string();
    Failure::new(format!("{version} {}: {change}", delta.path))
        .change(change)
        .at(delta.new)
        .version(version)
        .path(&delta.path)
        .related(delta.old, "this was the old state")
        .key(delta.what.key())
}

/// The effect of validation ratcheting on a difference, on the releases that the subject claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ratcheting {
    /// It does not apply to this place.
    Useless,
    /// It would help, but older releases are claimed, or none is.
    Uncertain,
    /// Every claimed release accepts an unchanged old value.
    Softens,
}

/// Returns the effect of ratcheting, see [`Ratcheting`].
pub(super) fn ratcheting(evidence: &Evidence<'_>, delta: &Delta) -> Ratcheting {
    let new_enough = |minimum: KubeVersion| minimum.at_least(RATCHETING);
    match (delta.ratchets, evidence.minimum().is_some_and(new_enough)) {
        (false, _) => Ratcheting::Useless,
        (true, false) => Ratcheting::Uncertain,
        (true, true) => Ratcheting::Softens,
    }
}
