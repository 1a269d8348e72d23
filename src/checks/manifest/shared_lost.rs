//! One field that strategy None loses, with all versions that are involved.

use crate::checks::{Failure, Severity};
use crate::subject::Version;
use crdproof_schema::structural::{Path, Schema, Type};

use super::shared_loss::Loss;

/// A field that is lost between versions.
pub(super) struct Lost<'a> {
    pub(super) path: Path,
    /// The first loss.
    pub(super) loss: Loss<'a>,
    /// The versions that have the field, or the first of two types.
    pub(super) owners: Vec<&'a Version>,
    /// The versions through which it is lost.
    pub(super) others: Vec<&'a Version>,
}

impl Lost<'_> {
    /// The finding, placed at the first version that has the field.
    pub(super) fn failure(&self) -> Failure {
        let Self { path, loss, .. } = self;
        let (owners, others) = (names(&self.owners), names(&self.others));
        let consequence = self.consequence();
        let failure = match loss {
            Loss::Unknown { rich, poor } => {
                let message =
                    format!("{path} exists in {owners} but not in {others}: lost through {others}; {consequence}");
                Failure::new(message)
                    .at(rich.span)
                    .related(poor.span, format!("{} has no such field here", self.others[0].name))
                    .key("unknown")
            }
            Loss::Closed { rich, poor } => {
                let message = format!(
                    "{path} keeps unknown fields in {owners} but not in {others}: they are lost through {others}; {consequence}"
                );
                let failure = Failure::new(message).at(rich.span).key("closed");
                failure.related(poor.span, format!("{} prunes here", self.others[0].name))
            }
            Loss::Retyped { rich, poor, from, to } => {
                let (what, severity) = if self.is_gone() {
                    ("API servers prune the fields of the object, and `{}` is left of it", Severity::Error)
                } else {
                    ("strategy None copies the value, so clients read one of another type", Severity::Warning)
                };
                let message = format!("{path} is {from} in {owners} and {to} in {others}; {what}");
                let failure = Failure::new(message).at(rich.span).related(poor.span, format!("{to} here"));
                let help = "give the field the same type in all versions, or convert by webhook";
                failure.severity(severity).key("retyped").help(help)
            }
        };
        let failure = failure.version(&self.owners[0].name).path(path);
        // Only objects that were stored at such a version, and not migrated since, lose something.
        if self.live_owners().is_empty() { failure.severity(Severity::Warning) } else { failure }
    }

    /// Returns true if the value is gone; otherwise it has a type that clients do not expect.
    pub(super) fn is_gone(&self) -> bool {
        match self.loss {
            Loss::Unknown { .. } | Loss::Closed { .. } => true,
            Loss::Retyped { rich, poor, .. } => is_emptied_by(rich, poor) || is_emptied_by(poor, rich),
        }
    }

    fn live_owners(&self) -> Vec<&Version> {
        self.owners.iter().copied().filter(|version| version.served || version.storage).collect()
    }

    /// Returns a description of when the value is lost, and what replaces it.
    fn consequence(&self) -> String {
        let live = self.live_owners();
        let default = match &self.loss {
            Loss::Unknown { rich, .. } => rich.default.as_ref(),
            Loss::Closed { .. } | Loss::Retyped { .. } => None,
        };
        let loses = match default {
            Some(default) => format!("has it replaced by the default {default}"),
            None => "loses it".to_owned(),
        };
        if live.is_empty() {
            let owners = names(&self.owners);
            return format!(
                "what is still stored as {owners}, which is neither served nor the storage version, loses it when it is read"
            );
        }
        match self.others.iter().find(|version| version.storage) {
            Some(stored) => {
                format!("{} is stored, so what is written through {} {loses} at once", stored.name, names(&live))
            }
            None if default.is_some() => format!("what is written through {} {loses}", names(&self.others)),
            None => format!("any write through {} drops it", names(&self.others)),
        }
    }
}

fn names(versions: &[&Version]) -> String {
    versions.iter().map(|version| version.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// Returns true if an object loses its fields because another version has another type in its place.
fn is_emptied_by(object: &Schema, other: &Schema) -> bool {
    object.ty == Some(Type::Object) && other.ty.is_some_and(|ty| ty != Type::Object) && !other.preserves_unknown()
}
