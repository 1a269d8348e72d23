//! Probes: small series of requests that show if a server has a known defect. Each uses a separate CRD, in a group that
//! nobody else uses, and removes it afterwards.

mod applies;
mod bench;
mod owners;
pub(crate) mod rules;
mod schemas;
mod subresources;
mod versions;
mod webhooks;

use self::bench::Bench;
pub use crate::evidence::ProbeResult;
use crdproof_envtest::{ClusterError, Server};

/// A probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Probe {
    /// The name by which rules refer to it.
    pub name: &'static str,
    /// The description, for people who must know what happens on their cluster.
    pub does: &'static str,
    needs: Needs,
    kind: Kind,
}

/// The requirements of a probe on a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Needs {
    /// Nothing is stored.
    DryRun,
    /// Permission to install a CRD for a moment.
    Crd,
    /// The server must be able to call a webhook of ours.
    Webhook,
    /// A server of our own: the defect itself may leave something behind.
    OwnServer,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    PutOfNothing,
    StrippedEntries,
    EmptiedEntries,
    ApplyApiService,
    StatusOwners,
    SteadyGeneration,
    IntOrString,
    ScaleDefault,
    WholeNumbers,
    BrokenByAdmission,
    SubmittedOrder,
    NullInEnum,
    PreservedArray,
    PublishedRules,
    NoneConverts,
    JoinedList,
    RuleCosts,
    DuplicateItems,
    Reapply,
    CidrContainment,
    StatusRatcheting,
    BareStatus,
    FormatWarnings,
    ApplyWhileTerminating,
    EmptiedParent,
    Outage,
    RetiredEntry,
    WholeObjects,
}

/// All probes, in the order of their rules.
pub const PROBES: [Probe; 28] = [
    Probe::new(
        "put-of-nothing",
        Needs::Crd,
        Kind::PutOfNothing,
        "replaces an object that does not exist; 404 is right",
    ),
    Probe::new(
        "stripped-entries",
        Needs::Crd,
        Kind::StrippedEntries,
        "applies, writes the object back as an old client does, applies as somebody else; a conflict is right",
    ),
    Probe::new(
        "emptied-entries",
        Needs::Crd,
        Kind::EmptiedEntries,
        "applies, writes the object back with one empty entry in managedFields, which must take all others away",
    ),
    Probe::new("apply-apiservice", Needs::DryRun, Kind::ApplyApiService, "applies an APIService in a dry run"),
    Probe::new(
        "status-owners",
        Needs::Crd,
        Kind::StatusOwners,
        "applies, writes the status, applies as somebody else; a conflict is right",
    ),
    Probe::new(
        "steady-generation",
        Needs::Crd,
        Kind::SteadyGeneration,
        "writes an object back unchanged, three times, at a version that is not stored",
    ),
    Probe::new(
        "int-or-string",
        Needs::OwnServer,
        Kind::IntOrString,
        "installs a CRD with an int-or-string field, and writes a number and a text there",
    ),
    Probe::new(
        "scale-default",
        Needs::Crd,
        Kind::ScaleDefault,
        "reads and writes the scale of an object whose replicas come from a default",
    ),
    Probe::new("whole-numbers", Needs::Crd, Kind::WholeNumbers, "applies 1, 1.5 and 2 to a number field"),
    Probe::new(
        "broken-by-admission",
        Needs::Webhook,
        Kind::BrokenByAdmission,
        "has an admission webhook strip managedFields of its own kind, and applies twice",
    ),
    Probe::new(
        "submitted-order",
        Needs::Crd,
        Kind::SubmittedOrder,
        "applies a keyed list, and the same in another order",
    ),
    Probe::new("null-in-enum", Needs::Crd, Kind::NullInEnum, "installs a CRD whose enum lists null"),
    Probe::new(
        "preserved-array",
        Needs::Crd,
        Kind::PreservedArray,
        "creates an object with an array below preserve-unknown-fields, and reads it back",
    ),
    Probe::new("published-rules", Needs::Crd, Kind::PublishedRules, "reads a rule back from the published OpenAPI"),
    Probe::new(
        "none-converts",
        Needs::Crd,
        Kind::NoneConverts,
        "applies as two managers at two versions of a CRD with strategy None",
    ),
    Probe::new("joined-list", Needs::Crd, Kind::JoinedList, "creates an object that a rule with join() must admit"),
    Probe::new("rule-costs", Needs::Crd, Kind::RuleCosts, "installs a CRD with a rule about the result of split()"),
    Probe::new(
        "duplicate-items",
        Needs::Crd,
        Kind::DuplicateItems,
        "writes two items of one key through a version without keys, and applies again at the version with keys",
    ),
    Probe::new(
        "reapply",
        Needs::Crd,
        Kind::Reapply,
        "applies the same three times within three seconds, with a default inside an atomic map",
    ),
    Probe::new(
        "cidr-containment",
        Needs::Crd,
        Kind::CidrContainment,
        "creates an object that a rule about CIDR containment must admit",
    ),
    Probe::new(
        "status-ratcheting",
        Needs::Crd,
        Kind::StatusRatcheting,
        "tightens an enum of the status, then writes another field of the status",
    ),
    Probe::new(
        "bare-status",
        Needs::OwnServer,
        Kind::BareStatus,
        "writes the status of an object whose schema has none",
    ),
    Probe::new(
        "format-warnings",
        Needs::DryRun,
        Kind::FormatWarnings,
        "creates a CRD with formats of numbers in a dry run, and reads the warnings",
    ),
    Probe::new(
        "apply-while-terminating",
        Needs::OwnServer,
        Kind::ApplyWhileTerminating,
        "applies a new object of a CRD that is being deleted",
    ),
    Probe::new(
        "emptied-parent",
        Needs::Crd,
        Kind::EmptiedParent,
        "applies an object in a nullable field, then null in its place",
    ),
    Probe::new(
        "outage",
        Needs::Webhook,
        Kind::Outage,
        "has two versions own fields, makes the converter fail, and labels the object",
    ),
    Probe::new(
        "retired-entry",
        Needs::Crd,
        Kind::RetiredEntry,
        "applies at a version, removes the version, and applies at the other",
    ),
    Probe::new(
        "whole-objects",
        Needs::Webhook,
        Kind::WholeObjects,
        "applies as two managers at three versions, and looks at what the converter is sent",
    ),
];

/// The probe of this name.
pub fn find(name: &str) -> Option<&'static Probe> {
    PROBES.iter().find(|probe| probe.name == name)
}

impl Probe {
    const fn new(name: &'static str, needs: Needs, kind: Kind, does: &'static str) -> Self {
        Self { name, does, needs, kind }
    }

    /// The name of its CRD.
    pub fn crd_name(&self) -> String {
        bench::crd_name(self.name)
    }

    /// Returns the reason why it cannot run on this server, if so. `of_changes` is the reason why an existing cluster may
    /// not be changed.
    pub fn hindrance(&self, server: &Server, of_changes: Option<&'static str>) -> Option<&'static str> {
        match (self.needs, server) {
            (Needs::DryRun, _) => None,
            (Needs::Webhook, _) if server.host_access().is_none() => {
                Some("the server cannot reach a webhook on this machine")
            }
            (Needs::OwnServer, Server::Existing(_)) => Some("it runs only on servers that crdproof starts"),
            (_, Server::Existing(_)) => of_changes,
            _ => None,
        }
    }

    /// Runs the probe. Removes its CRD afterwards in any case.
    pub async fn run(&self, server: &Server) -> Result<ProbeResult, ClusterError> {
        let bench = Bench::new(server, self.name);
        let seen = match self.kind {
            Kind::PutOfNothing => owners::empty_put(&bench).await,
            Kind::StrippedEntries => owners::stripped_entries(&bench).await,
            Kind::EmptiedEntries => owners::emptied_entries(&bench).await,
            Kind::ApplyApiService => owners::apply_api_service(&bench).await,
            Kind::StatusOwners => owners::status_owners(&bench).await,
            Kind::SteadyGeneration => versions::steady_generation(&bench).await,
            Kind::IntOrString => schemas::int_or_string(&bench).await,
            Kind::ScaleDefault => subresources::scale_default(&bench).await,
            Kind::WholeNumbers => applies::whole_numbers(&bench).await,
            Kind::BrokenByAdmission => webhooks::rejected_by_admission(&bench).await,
            Kind::SubmittedOrder => applies::submitted_order(&bench).await,
            Kind::NullInEnum => schemas::null_in_enum(&bench).await,
            Kind::PreservedArray => schemas::preserved_array(&bench).await,
            Kind::PublishedRules => rules::published_rules(&bench).await,
            Kind::NoneConverts => versions::none_converts(&bench).await,
            Kind::JoinedList => rules::joined_list(&bench).await,
            Kind::RuleCosts => rules::rule_costs(&bench).await,
            Kind::DuplicateItems => versions::duplicate_items(&bench).await,
            Kind::Reapply => owners::reapply(&bench).await,
            Kind::CidrContainment => rules::cidr_containment(&bench).await,
            Kind::StatusRatcheting => subresources::status_ratcheting(&bench).await,
            Kind::BareStatus => subresources::bare_status(&bench).await,
            Kind::FormatWarnings => schemas::format_warnings(&bench).await,
            Kind::ApplyWhileTerminating => versions::apply_while_terminating(&bench).await,
            Kind::EmptiedParent => applies::emptied_parent(&bench).await,
            Kind::Outage => webhooks::outage(&bench).await,
            Kind::RetiredEntry => versions::retired_entry(&bench).await,
            Kind::WholeObjects => webhooks::whole_objects(&bench).await,
        };
        if self.needs == Needs::DryRun {
            return seen;
        }
        let cleared = bench.clear().await;
        let seen = seen?;
        cleared?;
        Ok(seen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdproof_schema::kubernetes::RULES;

    #[test]
    fn rules_and_probes_refer_to_each_other() {
        for rule in RULES.iter() {
            for name in &rule.probes {
                assert!(find(name).is_some(), "{}: no probe is named {name}", rule.id);
            }
        }
        for probe in PROBES {
            let named = RULES.iter().filter(|rule| rule.probes.iter().any(|name| name == probe.name));
            assert_eq!(named.count(), 1, "{} belongs to one rule", probe.name);
        }
    }
}
