//! Probes: small experiments that show whether a server has a known defect. Each works on a CRD of its own, in a group
//! that nobody else uses, and takes it away again.

mod bench;
mod owners;
mod schemas;
mod versions;

use serde::Serialize;

use self::bench::Bench;
use crate::cluster::{ClusterError, Server};

/// An experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Probe {
    /// The name by which rules refer to it.
    pub name: &'static str,
    /// What it does, for people who must know what happens on their cluster.
    pub does: &'static str,
    needs: Needs,
    kind: Kind,
}

/// What an experiment needs of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Needs {
    /// Nothing is stored.
    DryRun,
    /// Leave to have a CRD of its own for a moment.
    Crd,
    /// That the server reaches a webhook of ours.
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
    Reapply,
    DuplicateItems,
    NullInEnum,
    PreservedArray,
    CidrContainment,
    StatusRatcheting,
    NoneConverts,
    ApplyWhileTerminating,
    RetiredEntry,
    Outage,
}

/// All experiments.
pub const PROBES: [Probe; 14] = [
    Probe {
        name: "put-of-nothing",
        does: "replaces an object that does not exist; 404 is right",
        needs: Needs::Crd,
        kind: Kind::PutOfNothing,
    },
    Probe {
        name: "stripped-entries",
        does: "applies, writes the object back as an old client does, applies as somebody else; a conflict is right",
        needs: Needs::Crd,
        kind: Kind::StrippedEntries,
    },
    Probe {
        name: "emptied-entries",
        does: "applies, writes the object back with one empty entry in managedFields, which must take all others away",
        needs: Needs::Crd,
        kind: Kind::EmptiedEntries,
    },
    Probe {
        name: "apply-apiservice",
        does: "applies an APIService in a dry run",
        needs: Needs::DryRun,
        kind: Kind::ApplyApiService,
    },
    Probe {
        name: "null-in-enum",
        does: "installs a CRD whose enum lists null",
        needs: Needs::Crd,
        kind: Kind::NullInEnum,
    },
    Probe {
        name: "preserved-array",
        does: "creates an object with an array below preserve-unknown-fields, and reads it back",
        needs: Needs::Crd,
        kind: Kind::PreservedArray,
    },
    Probe {
        name: "none-converts",
        does: "applies as two managers at two versions of a CRD with strategy None",
        needs: Needs::Crd,
        kind: Kind::NoneConverts,
    },
    Probe {
        name: "duplicate-items",
        does: "writes two items of one key through a version without keys, and applies again at the version with keys",
        needs: Needs::Crd,
        kind: Kind::DuplicateItems,
    },
    Probe {
        name: "reapply",
        does: "applies the same three times within three seconds, with a default inside an atomic map",
        needs: Needs::Crd,
        kind: Kind::Reapply,
    },
    Probe {
        name: "cidr-containment",
        does: "creates an object that a rule about CIDR containment must admit",
        needs: Needs::Crd,
        kind: Kind::CidrContainment,
    },
    Probe {
        name: "status-ratcheting",
        does: "tightens an enum of the status, then writes another field of the status",
        needs: Needs::Crd,
        kind: Kind::StatusRatcheting,
    },
    Probe {
        name: "apply-while-terminating",
        does: "applies a new object of a CRD that is being deleted",
        needs: Needs::OwnServer,
        kind: Kind::ApplyWhileTerminating,
    },
    Probe {
        name: "outage",
        does: "has two versions own fields, makes the converter fail, and labels the object",
        needs: Needs::Webhook,
        kind: Kind::Outage,
    },
    Probe {
        name: "retired-entry",
        does: "applies at a version, removes the version, and applies at the other",
        needs: Needs::Crd,
        kind: Kind::RetiredEntry,
    },
];

/// What an experiment showed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "sight", content = "seen")]
pub enum Sight {
    /// The server does right: what was seen.
    Good(String),
    /// The server has the defect: what was seen.
    Bad(String),
    /// The experiment does not tell here, and why.
    Unclear(String),
}

impl Sight {
    fn of(good: bool, seen: impl Into<String>) -> Self {
        if good { Self::Good(seen.into()) } else { Self::Bad(seen.into()) }
    }
}

/// The experiment of this name.
pub fn find(name: &str) -> Option<&'static Probe> {
    PROBES.iter().find(|probe| probe.name == name)
}

impl Probe {
    /// Why it cannot be made on this server, where that is so.
    pub fn hindrance(&self, server: &Server, may_change: bool) -> Option<&'static str> {
        match (self.needs, server) {
            (Needs::DryRun, _) => None,
            (Needs::Webhook, _) if server.host_access().is_none() => Some("the server cannot reach a webhook of ours"),
            (Needs::OwnServer, Server::Existing(_)) => Some("it is only made on servers of our own"),
            (_, Server::Existing(_)) if !may_change => Some("it needs leave: add --allow-changes"),
            _ => None,
        }
    }

    /// Makes the experiment. Its CRD is gone afterwards, whatever happened.
    pub async fn run(&self, server: &Server) -> Result<Sight, ClusterError> {
        let bench = Bench::new(server, self.name);
        let seen = match self.kind {
            Kind::PutOfNothing => owners::put_of_nothing(&bench).await,
            Kind::StrippedEntries => owners::stripped_entries(&bench).await,
            Kind::EmptiedEntries => owners::emptied_entries(&bench).await,
            Kind::ApplyApiService => owners::apply_api_service(&bench).await,
            Kind::Reapply => owners::reapply(&bench).await,
            Kind::NullInEnum => schemas::null_in_enum(&bench).await,
            Kind::PreservedArray => schemas::preserved_array(&bench).await,
            Kind::CidrContainment => schemas::cidr_containment(&bench).await,
            Kind::StatusRatcheting => schemas::status_ratcheting(&bench).await,
            Kind::DuplicateItems => versions::duplicate_items(&bench).await,
            Kind::NoneConverts => versions::none_converts(&bench).await,
            Kind::ApplyWhileTerminating => versions::apply_while_terminating(&bench).await,
            Kind::RetiredEntry => versions::retired_entry(&bench).await,
            Kind::Outage => versions::outage(&bench).await,
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
    use crate::kubernetes::RULES;

    #[test]
    fn rules_and_probes_know_each_other() {
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
