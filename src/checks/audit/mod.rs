//! Judges an inventory: one fact for each observation, and the commands that fix problems.

mod webhook;

use std::collections::BTreeSet;

use jiff::civil::Date;
use serde::Serialize;

use crate::evidence::inventory::{Condition, Count, CrdInventory, NotRead};

/// The severity of a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// No problem.
    Ok,
    /// Could not be read.
    Unknown,
    /// An upgrade or the passing of time will break it.
    Warning,
    /// Broken now.
    Error,
}

impl Level {
    /// Returns the mark of the level.
    pub fn as_char(self) -> char {
        match self {
            Self::Ok => '✔',
            Self::Unknown => '○',
            Self::Warning => '⚠',
            Self::Error => '✗',
        }
    }
}

/// One observation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// Its severity.
    pub level: Level,
    /// The identifier for programs.
    pub about: &'static str,
    /// The version that it is about, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The fact as a sentence.
    pub text: String,
    /// The number of objects that it is about, and the first ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub objects: Option<Count>,
}

/// The result for one CRD.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Audited {
    /// The CRD.
    pub crd: String,
    /// Its storage version.
    pub storage: Option<String>,
    /// Its served versions.
    pub served: Vec<String>,
    /// All its versions.
    pub versions: Vec<String>,
    /// `status.storedVersions`.
    pub stored_versions: Vec<String>,
    /// The number of objects that were read; `None` if they were not.
    pub objects: Option<u64>,
    /// Entries of managedFields.
    pub entries: Vec<Entries>,
    /// All facts.
    pub facts: Vec<Fact>,
    /// Commands that fix it.
    pub next: Vec<String>,
}

/// Objects with entries of one manager at one version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Entries {
    /// The version.
    pub version: String,
    /// The manager.
    pub manager: String,
    /// The number of objects that have them.
    pub objects: u64,
}

impl Audited {
    /// Returns the level of its most serious fact.
    pub fn worst(&self) -> Level {
        self.facts.iter().map(|fact| fact.level).max().unwrap_or(Level::Ok)
    }
}

/// The state of a version in a CRD.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    Served,
    Unserved,
    Gone,
}

/// Collects the facts about one CRD.
struct Judge<'h> {
    inventory: &'h CrdInventory,
    facts: Vec<Fact>,
    /// Versions to retire, and true if everything is to be migrated.
    retire: BTreeSet<String>,
    migrate: bool,
}

/// Judges one CRD. A certificate that expires within `notice` days is a warning.
pub fn judge(inventory: &CrdInventory, today: Date, notice: i64) -> Audited {
    let mut judge = Judge { inventory, facts: Vec::new(), retire: BTreeSet::new(), migrate: false };
    judge.versions();
    judge.conditions();
    if let Some(called) = &inventory.webhook {
        judge.facts.extend(webhook::facts(called, today, notice));
    } else if inventory.versions.len() > 1 {
        judge.say(Level::Ok, "conversion", "converts by strategy None: only apiVersion is changed");
    }
    judge.objects();
    judge.entries();
    judge.applied();
    judge.owners();
    let names = |served: bool| {
        let versions = inventory.versions.iter().filter(|version| version.served || !served);
        versions.map(|version| version.name.clone()).collect::<Vec<_>>()
    };
    let mut next = Vec::new();
    if judge.migrate {
        next.push(format!("crdproof migrate {} --trim", inventory.name));
    }
    next.extend(judge.retire.iter().map(|version| format!("crdproof retire {} {version}", inventory.name)));
    let entries = inventory.objects.entries.iter().map(|((version, manager), count)| Entries {
        version: version.clone(),
        manager: manager.clone(),
        objects: count.objects,
    });
    Audited {
        crd: inventory.name.clone(),
        storage: inventory.storage().map(|version| version.name.clone()),
        served: names(true),
        versions: names(false),
        stored_versions: inventory.stored.clone(),
        objects: inventory.not_read.is_none().then_some(inventory.objects.seen),
        entries: entries.collect(),
        facts: judge.facts,
        next,
    }
}

impl Judge<'_> {
    fn say(&mut self, level: Level, about: &'static str, text: impl Into<String>) -> &mut Fact {
        self.facts.push(Fact { level, about, version: None, text: text.into(), objects: None });
        let last = self.facts.len() - 1;
        &mut self.facts[last]
    }

    fn standing(&self, version: &str) -> Standing {
        match self.inventory.version(version) {
            Some(offer) if offer.served => Standing::Served,
            Some(_) => Standing::Unserved,
            None => Standing::Gone,
        }
    }

    fn versions(&mut self) {
        let inventory = self.inventory;
        let served: Vec<&str> =
            inventory.versions.iter().filter(|version| version.served).map(|version| version.name.as_str()).collect();
        let Some(storage) = inventory.storage() else {
            self.say(Level::Error, "storage", "no version is the storage version");
            return;
        };
        let stored = if inventory.stored.is_empty() {
            "storedVersions is unknown".to_owned()
        } else {
            format!("storedVersions is [{}]", inventory.stored.join(", "))
        };
        let offered = if served.is_empty() { "nothing".to_owned() } else { served.join(", ") };
        self.say(Level::Ok, "versions", format!("stores {}, serves {offered}; {stored}", storage.name));
        if served.is_empty() {
            self.say(Level::Error, "served", "no version is served: its objects can be neither read nor written");
        }
        for version in inventory.stored.iter().filter(|version| **version != storage.name) {
            let (level, text) = match self.standing(version) {
                Standing::Gone => (
                    Level::Error,
                    format!(
                        "storedVersions names {version}, which the CRD does not have: what is stored there cannot be read"
                    ),
                ),
                Standing::Unserved => (
                    Level::Warning,
                    format!(
                        "objects may still be stored at {version}, which is not served: an upgrade that removes it strands them"
                    ),
                ),
                Standing::Served => (
                    Level::Warning,
                    format!("objects may still be stored at {version}: an upgrade that removes it strands them"),
                ),
            };
            self.migrate = true;
            if self.standing(version) == Standing::Unserved {
                self.retire.insert(version.clone());
            }
            self.say(level, "stored", text).version = Some(version.clone());
        }
        if !inventory.stored.is_empty() && !inventory.stored.contains(&storage.name) {
            let text = format!("storedVersions does not name the storage version {}", storage.name);
            self.say(Level::Error, "stored", text).version = Some(storage.name.clone());
        }
    }

    fn conditions(&mut self) {
        for Condition { name, status, why } in &self.inventory.conditions {
            let why = if why.is_empty() { String::new() } else { format!(" ({why})") };
            match (name.as_str(), status.as_str()) {
                ("Established" | "NamesAccepted" | "KubernetesAPIApprovalPolicyConformant", "True")
                | ("NonStructuralSchema" | "Terminating", "False") => {}
                ("Established" | "NamesAccepted", _) => {
                    self.say(Level::Error, "condition", format!("is not {name}{why}"));
                }
                ("NonStructuralSchema", _) => {
                    let text = format!("its schema is not structural{why}: fields are not pruned, and v1 refuses it");
                    self.say(Level::Error, "condition", text);
                }
                ("Terminating", _) => {
                    self.say(Level::Error, "condition", format!("is being deleted, with all its objects{why}"));
                }
                ("KubernetesAPIApprovalPolicyConformant", _) => {
                    self.say(Level::Warning, "condition", format!("is in a protected group without approval{why}"));
                }
                _ => {}
            }
        }
        if self.inventory.conditions.is_empty() {
            self.say(Level::Unknown, "condition", "has no conditions: no API server has processed it");
        }
    }

    fn objects(&mut self) {
        match &self.inventory.not_read {
            Some(NotRead::Forbidden(why) | NotRead::Unavailable(why)) => {
                self.say(Level::Unknown, "notRead", format!("objects were not read: {why}"));
            }
            Some(NotRead::Broken(why)) => {
                self.say(Level::Error, "unlistable", format!("objects cannot be listed: {why}"));
            }
            None => {
                let counts = &self.inventory.objects;
                let text = format!("{} objects", counts.seen);
                self.say(Level::Ok, "objects", text);
                if counts.seen > 0 && counts.bare == counts.seen {
                    let text = "no object has managedFields; a dump has them only with --show-managed-fields";
                    self.say(Level::Unknown, "bare", text);
                }
            }
        }
    }

    fn entries(&mut self) {
        let mut versions: Vec<&String> = self.inventory.objects.entries.keys().map(|(version, _)| version).collect();
        versions.dedup();
        for version in versions {
            let of_version = || self.inventory.objects.entries.iter().filter(move |((each, _), _)| each == version);
            let managers: Vec<String> =
                of_version().map(|((_, manager), count)| format!("{manager} {}", count.objects)).collect();
            // Use the objects of the manager with the most: one object may have several managers.
            let most = of_version().map(|(_, count)| count).max_by_key(|count| count.objects).cloned();
            let managers = managers.join(", ");
            let (level, text) = match self.standing(version) {
                Standing::Served => (Level::Ok, format!("managedFields at {version}: {managers}")),
                Standing::Unserved => (
                    Level::Warning,
                    format!(
                        "managedFields at {version}, which is not served, block server-side apply once it is removed: {managers}"
                    ),
                ),
                Standing::Gone => (
                    Level::Error,
                    format!("managedFields at {version}, which is gone, block server-side apply: {managers}"),
                ),
            };
            let version = version.clone();
            // `retire` cannot name a version of another group.
            if level != Level::Ok && !version.is_empty() && !version.contains('/') {
                self.retire.insert(version.clone());
            }
            let fact = self.say(level, "managedFields", text);
            fact.version = Some(version);
            fact.objects = most.filter(|_| level != Level::Ok);
        }
    }

    fn applied(&mut self) {
        for (version, count) in &self.inventory.objects.applied {
            let what = match self.standing(version) {
                Standing::Served => continue,
                Standing::Unserved => "is not served",
                Standing::Gone => "is gone",
            };
            let text = format!(
                "{} objects were last applied at {version}, which {what}: applying their manifests again is refused",
                count.objects
            );
            let fact = self.say(Level::Warning, "lastApplied", text);
            fact.version = Some(version.clone());
            fact.objects = Some(count.clone());
        }
    }

    fn owners(&mut self) {
        for (version, count) in &self.inventory.owners {
            let (level, what) = match self.standing(version) {
                Standing::Served => (Level::Ok, ""),
                Standing::Unserved => {
                    (Level::Error, ", which is not served: garbage collection does not find their owner")
                }
                Standing::Gone => (Level::Error, ", which is gone: garbage collection does not find their owner"),
            };
            let text = format!("{} objects name an owner at {version}{what}", count.objects);
            let fact = self.say(level, "ownerReferences", text);
            fact.version = Some(version.clone());
            fact.objects = (level != Level::Ok).then(|| count.clone());
        }
    }
}

#[cfg(test)]
mod tests;
