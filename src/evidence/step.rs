//! The steps of scenarios, which scenarios and checks share.
//!
//! All are enums, so that a step which is renamed without its check does not compile. In recordings each value is a
//! text, such as `storage/migrate`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::named::{UnknownName, as_text, named};

named! {
    /// A scripted sequence of steps on an API server.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    Scenario, "scenario" {
        /// Reads and writes at every version.
        Serving => "serving",
        /// Flips the storage version, migrates objects, and removes the old version.
        Storage => "storage",
        /// Lets several managers apply at several versions.
        Apply => "apply",
        /// Retires a version as `crdproof retire` does it.
        Retirement => "retirement",
    }
}

impl Scenario {
    /// All scenarios, in the order in which they run.
    pub const ALL: [Self; 4] = [Self::Serving, Self::Storage, Self::Apply, Self::Retirement];
}

named! {
    /// Steps of the serving scenario.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    ServingStep, "step of the serving scenario" {
        /// Installs the CRD.
        Install => "install",
        /// Creates objects through every version.
        Create => "create",
        /// Lists all objects at every version.
        Read => "read",
        /// Lists them from the server's cache.
        Cached => "cached",
        /// Reads them one by one.
        Single => "single",
        /// Writes back objects that were read.
        Rewrite => "rewrite",
        /// Infers the stored version of objects from writes that change nothing.
        StoredInferred => "stored-inferred",
        /// Writes with fresh and stale resource versions.
        Locks => "locks",
        /// Lists page by page, each page at another version.
        Pages => "pages",
        /// Lists by label and by field.
        Selectors => "selectors",
        /// Lists as tables.
        Tables => "tables",
        /// Lists metadata only.
        Metadata => "metadata",
        /// Watches every version while objects change.
        Watch => "watch",
        /// Writes the status subresource.
        Status => "status",
        /// Writes the scale subresource.
        Scale => "scale",
        /// Writes with strict field validation.
        Strict => "strict",
        /// Writes as dry runs.
        DryRun => "dry-run",
        /// Reads discovery documents.
        Discovery => "discovery",
        /// Reads published schemas.
        Openapi => "openapi",
        /// Lists at deprecated versions.
        Warnings => "warnings",
        /// Adds transition rules and writes through every version.
        Rules => "rules",
        /// Writes while admission webhooks are registered for single versions.
        Admission => "admission",
        /// Writes while an admission webhook cannot get the object at its version.
        AdmissionBlind => "admission-blind",
        /// Stops serving each version, and serves it again.
        Unserve => "unserve",
        /// Deletes objects through other versions.
        Delete => "delete",
    }
}

named! {
    /// Steps of the storage scenario.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    StorageStep, "step of the storage scenario" {
        /// Installs the CRD and creates objects.
        Install => "install",
        /// Makes another version the storage version.
        Flip => "flip",
        /// Reads while objects are stored at both versions.
        Mixed => "mixed",
        /// Tries to remove a version that is still stored.
        Refusal => "refusal",
        /// Applies at the old version, so that managedFields name it.
        Entries => "entries",
        /// Records the state before the built-in migration.
        Ready => "ready",
        /// Runs the built-in migration.
        Migrate => "migrate",
        /// Runs it again.
        MigrateAgain => "migrate-again",
        /// Returns all objects to the old version.
        Rewind => "rewind",
        /// Interrupts the built-in migration.
        Cut => "cut",
        /// Resumes it after the interruption.
        Resume => "resume",
        /// Runs the built-in migration while one object cannot be written.
        Unmovable => "unmovable",
        /// Records the state before the subject's own migration command.
        CommandReady => "migrate-command/ready",
        /// Runs that command.
        CommandDone => "migrate-command/done",
        /// Runs the built-in migration after it.
        CommandAgain => "migrate-command/again",
        /// Runs that command while one object cannot be written.
        CommandUnmovable => "migrate-command/unmovable",
        /// Starts a second migration by that command that cannot make progress.
        CommandSecond => "migrate-command/second",
        /// Records the state before the control plane migrates.
        InTreeReady => "migrate-in-tree/ready",
        /// Lets the control plane migrate.
        InTreeDone => "migrate-in-tree/done",
        /// Runs the built-in migration after it.
        InTreeAgain => "migrate-in-tree/again",
        /// Lets the control plane migrate while one object cannot be written.
        InTreeUnmovable => "migrate-in-tree/unmovable",
        /// Lets the control plane start a second migration that cannot make progress.
        InTreeSecond => "migrate-in-tree/second",
        /// Migrates while others write.
        Busy => "busy",
        /// Removes the old version from `storedVersions`.
        Trim => "trim",
        /// Removes the old version from the CRD.
        Retire => "retire",
        /// Applies to an object whose managedFields name the removed version.
        RetiredEntries => "retired-entries",
        /// Installs the old CRD again.
        Back => "back",
    }
}

impl StorageStep {
    /// Returns true if the control plane migrates in this step.
    pub fn is_in_tree(self) -> bool {
        matches!(
            self,
            Self::InTreeReady | Self::InTreeDone | Self::InTreeAgain | Self::InTreeUnmovable | Self::InTreeSecond
        )
    }
}

named! {
    /// Steps of the apply scenario.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    ApplyStep, "step of the apply scenario" {
        /// Installs the CRD.
        Install => "install",
        /// Applies objects.
        Apply => "apply",
        /// Applies them again.
        Reapply => "reapply",
        /// Lets another manager apply owned fields at another version.
        Conflict => "conflict",
        /// Applies the same content at another version.
        Follow => "follow",
        /// Applies at the first version again.
        Back => "back",
        /// Records who owns which field.
        Owners => "owners",
        /// Writes the status through another version.
        StatusOwners => "status-owners",
        /// Writes the scale through another version.
        ScaleOwners => "scale-owners",
        /// Withdraws a field at another version.
        Withdraw => "withdraw",
        /// Records the reviews that the converter received.
        Reviews => "reviews",
        /// Delivers CRD and objects together, as GitOps tools do.
        DeliverFirst => "deliver/first",
        /// Writes the conditions that the schema promises.
        DeliverReady => "deliver/ready",
        /// Delivers the same again.
        DeliverAgain => "deliver/again",
        /// Lets another client change delivered objects.
        DeliverDrift => "deliver/drift",
        /// Detects the drift by a dry run.
        DeliverDetect => "deliver/detect",
        /// Delivers again to correct the drift.
        DeliverCorrect => "deliver/correct",
        /// Detects drift after the correction.
        DeliverCorrected => "deliver/corrected",
        /// Delivers with some objects withdrawn.
        DeliverWithdraw => "deliver/withdraw",
    }
}

impl ApplyStep {
    /// The steps in which a whole source is delivered, from the first delivery to the last.
    pub const DELIVERY: [Self; 8] = [
        Self::DeliverFirst,
        Self::DeliverReady,
        Self::DeliverAgain,
        Self::DeliverDrift,
        Self::DeliverDetect,
        Self::DeliverCorrect,
        Self::DeliverCorrected,
        Self::DeliverWithdraw,
    ];
}

named! {
    /// Steps of the retirement scenario.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    RetirementStep, "step of the retirement scenario" {
        /// Installs the CRD.
        Install => "install",
        /// Lets several managers own fields.
        Own => "own",
        /// Records who owns which field before.
        OwnersBefore => "owners-before",
        /// Records the objects before.
        Before => "before",
        /// Makes the version that stays the storage version.
        Flip => "flip",
        /// Retires the other version.
        Work => "work",
        /// Records the objects after.
        After => "after",
        /// Records who owns which field after.
        OwnersAfter => "owners-after",
        /// Lets every manager apply at the version that stays.
        Apply => "apply",
    }
}

/// One action of a scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// A step of the serving scenario.
    Serving(ServingStep),
    /// A step of the storage scenario.
    Storage(StorageStep),
    /// A step of the apply scenario.
    Apply(ApplyStep),
    /// A step of the retirement scenario.
    Retirement(RetirementStep),
}

impl Step {
    /// Returns the scenario that the step belongs to.
    pub fn scenario(self) -> Scenario {
        match self {
            Self::Serving(_) => Scenario::Serving,
            Self::Storage(_) => Scenario::Storage,
            Self::Apply(_) => Scenario::Apply,
            Self::Retirement(_) => Scenario::Retirement,
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/", self.scenario())?;
        match self {
            Self::Serving(step) => step.fmt(f),
            Self::Storage(step) => step.fmt(f),
            Self::Apply(step) => step.fmt(f),
            Self::Retirement(step) => step.fmt(f),
        }
    }
}

impl FromStr for Step {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        let (scenario, step) = text.split_once('/').unwrap_or((text, ""));
        match scenario.parse()? {
            Scenario::Serving => step.parse().map(Self::Serving),
            Scenario::Storage => step.parse().map(Self::Storage),
            Scenario::Apply => step.parse().map(Self::Apply),
            Scenario::Retirement => step.parse().map(Self::Retirement),
        }
    }
}

as_text!(Step);

impl From<ServingStep> for Step {
    fn from(step: ServingStep) -> Self {
        Self::Serving(step)
    }
}

impl From<StorageStep> for Step {
    fn from(step: StorageStep) -> Self {
        Self::Storage(step)
    }
}

impl From<ApplyStep> for Step {
    fn from(step: ApplyStep) -> Self {
        Self::Apply(step)
    }
}

impl From<RetirementStep> for Step {
    fn from(step: RetirementStep) -> Self {
        Self::Retirement(step)
    }
}
