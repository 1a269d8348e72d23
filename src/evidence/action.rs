//! Purposes of requests and lists of names in a scenario.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::named::{UnknownName, as_text, named};

named! {
    /// The purpose of a request.
    #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
    Action, "action" {
        /// Installs the CRD.
        Install => "install",
        /// Creates an object.
        Create => "create",
        /// Creates an object that cannot be shown to an admission webhook.
        CreateUnshown => "create unshown",
        /// Reads or creates an object after another client changed it.
        Created => "created",
        /// Reads an object.
        Get => "get",
        /// Reads an object.
        Read => "read",
        /// Lists objects.
        List => "list",
        /// Adds a label.
        Label => "label",
        /// Writes back an object that was read.
        Rewrite => "rewrite",
        /// Applies the same content at another version.
        SameContent => "same content",
        /// Writes with the current resource version.
        FreshLock => "fresh lock",
        /// Writes with an outdated resource version.
        StaleLock => "stale lock",
        /// Lists as a table.
        Table => "table",
        /// Reads the object before a write.
        Before => "before",
        /// Reads the object after a write.
        After => "after",
        /// Writes the status.
        Status => "status",
        /// Writes the status together with a label, which must not stay.
        StatusWithALabel => "status with a label",
        /// Writes the object without its status, which must stay.
        ObjectWithoutStatus => "object without status",
        /// Reads the scale.
        GetScale => "get scale",
        /// Writes the scale.
        SetScale => "set scale",
        /// Reads the scale after writing it.
        GetScaleAgain => "get scale again",
        /// Writes the scale as another manager.
        Scale => "scale",
        /// Reads the object after that.
        Scaled => "scaled",
        /// Writes known fields with strict validation.
        KnownFields => "known fields",
        /// Writes an unknown field with strict validation.
        UnknownField => "unknown field",
        /// Creates an object as a dry run.
        DryRun => "dry run",
        /// Reads the object that a dry run created.
        AfterDryRun => "after dry run",
        /// Reads the discovery document of the group.
        Group => "group",
        /// Reads the resources of a version.
        Resources => "resources",
        /// Reads aggregated discovery.
        Aggregated => "aggregated",
        /// Reads the published OpenAPI v2 schema.
        OpenapiV2 => "openapi v2",
        /// Reads the published OpenAPI v3 schema.
        OpenapiV3 => "openapi v3",
        /// Adds a transition rule to the CRD.
        WithARule => "with a rule",
        /// Removes the transition rules.
        WithoutRules => "without rules",
        /// Changes a field, or reads an object after that.
        Changed => "changed",
        /// Writes without changing the field that a rule guards.
        Unchanged => "unchanged",
        /// Changes the guarded field through another version.
        ChangedThroughAnotherVersion => "changed through another version",
        /// Writes without changing the field after that.
        UnchangedAfterwards => "unchanged afterwards",
        /// Changes an object through a version.
        Change => "change",
        /// Deletes an object.
        Delete => "delete",
        /// Deletes a delivered object as another client.
        Deleted => "deleted",
        /// Stops serving a version.
        Unserve => "unserve",
        /// Serves the version again.
        Serve => "serve",
        /// Lists at the version that is not served.
        ListUnserved => "list unserved",
        /// Lists at that version afterwards.
        ListServedAgain => "list served again",
        /// Makes the new version the storage version.
        Flip => "flip",
        /// Makes the old version the storage version.
        FlipBack => "flip back",
        /// Removes a version that is still stored.
        RemoveWhileStored => "remove while stored",
        /// Removes a version.
        Remove => "remove",
        /// Lists at the removed version.
        ListRemoved => "list removed",
        /// Applies an object.
        Apply => "apply",
        /// Applies it again.
        Reapply => "reapply",
        /// Applies at the first version again.
        Back => "back",
        /// Applies a label only.
        ApplyALabel => "apply a label",
        /// Updates an object.
        Update => "update",
        /// Clears managedFields.
        Remedy => "remedy",
        /// Applies after that.
        ApplyAfterTheRemedy => "apply after the remedy",
        /// Withdraws applied fields.
        WithdrawAfterTheRemedy => "withdraw after the remedy",
        /// Removes a version from `storedVersions`.
        Trim => "trim",
        /// Reads an object that other clients wrote during a migration.
        WrittenByOthers => "written by others",
        /// Reports an object as ready.
        Ready => "ready",
        /// Reports an object as not ready.
        NotReady => "not ready",
    }
    with {
        /// Applies a field that another manager owns.
        ConflictOver => "conflict over ",
        /// Tries to take over a field, as a dry run.
        Claim => "claim ",
        /// Changes a field as another manager.
        Edit => "edit ",
        /// Applies as this manager.
        ApplyAs => "apply as ",
        /// Lists by this field selector.
        Selectable => "selectable ",
        /// Withdraws a field.
        Withdraw => "withdraw ",
    }
}

named! {
    /// The content of a list of names.
    #[derive(Debug, Clone, PartialEq, Eq)]
    Listing, "listing" {
        /// All objects, listed page by page.
        Pages => "pages",
        /// All objects, as metadata only.
        Metadata => "metadata",
        /// The steps that a retirement completed.
        RetirementSteps => "steps",
        /// The reasons why a retirement was refused.
        Refused => "refused",
        /// Objects that were withdrawn from a source.
        Withdrawn => "withdrawn",
        /// Objects that admission refuses to update.
        Unmovable => "cannot be moved",
    }
    with {
        /// The objects created through this version, selected by their label.
        Label => "label born=",
        /// The object of this name, selected by its field.
        Name => "field name=",
        /// The objects that this selector of a selectable field names.
        Selectable => "selectable ",
    }
}
