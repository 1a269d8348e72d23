//! What an inventory means: one fact for each thing that is worth a line, and what to do next. Pure: the day is given.

mod webhook;

use std::collections::BTreeSet;

use jiff::civil::Date;
use serde::Serialize;

use crate::evidence::inventory::{Condition, Count, Holding, Unseen};

/// How a fact is to be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Sign {
    /// As it should be.
    Good,
    /// Could not be looked at.
    Unseen,
    /// Nothing is wrong yet; an upgrade or a day may make it so.
    Mind,
    /// Something is wrong now.
    Wrong,
}

impl Sign {
    /// How it is shown.
    pub fn as_char(self) -> char {
        match self {
            Self::Good => '✔',
            Self::Unseen => '○',
            Self::Mind => '⚠',
            Self::Wrong => '✗',
        }
    }
}

/// One thing that was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// How it is to be taken.
    pub sign: Sign,
    /// What it is about, for programs.
    pub about: &'static str,
    /// The version that it is about, where it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// In words.
    pub text: String,
    /// How many objects it is about, and the first of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub objects: Option<Count>,
}

/// One CRD, judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Audited {
    /// The CRD.
    pub crd: String,
    /// Its storage version.
    pub storage: Option<String>,
    /// Its versions that are served.
    pub served: Vec<String>,
    /// All its versions.
    pub versions: Vec<String>,
    /// `status.storedVersions`.
    pub stored_versions: Vec<String>,
    /// How many objects were looked at; nothing where they were not.
    pub objects: Option<u64>,
    /// Entries of managedFields.
    pub entries: Vec<Entries>,
    /// What there is to say.
    pub facts: Vec<Fact>,
    /// Commands that mend it.
    pub next: Vec<String>,
}

/// Objects with entries of one manager at one version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Entries {
    /// The version.
    pub version: String,
    /// The manager.
    pub manager: String,
    /// How many objects have them.
    pub objects: u64,
}

impl Audited {
    /// The worst of its facts.
    pub fn worst(&self) -> Sign {
        self.facts.iter().map(|fact| fact.sign).max().unwrap_or(Sign::Good)
    }
}

/// How a CRD offers a version.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    Served,
    Unserved,
    Gone,
}

/// A judge at work.
struct Judge<'h> {
    holding: &'h Holding,
    facts: Vec<Fact>,
    /// Versions that are to be retired, and whether everything is to be migrated.
    retire: BTreeSet<String>,
    migrate: bool,
}

/// Judges one CRD. A certificate that ends within `notice` days is reported before it does.
pub fn judge(holding: &Holding, today: Date, notice: i64) -> Audited {
    let mut judge = Judge { holding, facts: Vec::new(), retire: BTreeSet::new(), migrate: false };
    judge.versions();
    judge.conditions();
    if let Some(called) = &holding.webhook {
        judge.facts.extend(webhook::facts(called, today, notice));
    } else if holding.versions.len() > 1 {
        judge.say(Sign::Good, "conversion", "converts by strategy None: apiVersion alone is changed");
    }
    judge.objects();
    judge.entries();
    judge.applied();
    judge.owners();
    let names = |served: bool| {
        let versions = holding.versions.iter().filter(|version| version.served || !served);
        versions.map(|version| version.name.clone()).collect::<Vec<_>>()
    };
    let mut next = Vec::new();
    if judge.migrate {
        next.push(format!("crdproof migrate {} --trim", holding.name));
    }
    next.extend(judge.retire.iter().map(|version| format!("crdproof retire {} {version}", holding.name)));
    let entries = holding.objects.entries.iter().map(|((version, manager), count)| Entries {
        version: version.clone(),
        manager: manager.clone(),
        objects: count.objects,
    });
    Audited {
        crd: holding.name.clone(),
        storage: holding.storage().map(|version| version.name.clone()),
        served: names(true),
        versions: names(false),
        stored_versions: holding.stored.clone(),
        objects: holding.unseen.is_none().then_some(holding.objects.seen),
        entries: entries.collect(),
        facts: judge.facts,
        next,
    }
}

impl Judge<'_> {
    fn say(&mut self, sign: Sign, about: &'static str, text: impl Into<String>) -> &mut Fact {
        self.facts.push(Fact { sign, about, version: None, text: text.into(), objects: None });
        let last = self.facts.len() - 1;
        &mut self.facts[last]
    }

    fn standing(&self, version: &str) -> Standing {
        match self.holding.version(version) {
            Some(offer) if offer.served => Standing::Served,
            Some(_) => Standing::Unserved,
            None => Standing::Gone,
        }
    }

    fn versions(&mut self) {
        let holding = self.holding;
        let served: Vec<&str> =
            holding.versions.iter().filter(|version| version.served).map(|version| version.name.as_str()).collect();
        let Some(storage) = holding.storage() else {
            self.say(Sign::Wrong, "storage", "no version is the storage version");
            return;
        };
        let stored = if holding.stored.is_empty() {
            "storedVersions is not known".to_owned()
        } else {
            format!("storedVersions is [{}]", holding.stored.join(", "))
        };
        let offered = if served.is_empty() { "nothing".to_owned() } else { served.join(", ") };
        self.say(Sign::Good, "versions", format!("stores {}, serves {offered}; {stored}", storage.name));
        if served.is_empty() {
            self.say(Sign::Wrong, "served", "no version is served: nobody reads or writes its objects");
        }
        for version in holding.stored.iter().filter(|version| **version != storage.name) {
            let (sign, text) = match self.standing(version) {
                Standing::Gone => (
                    Sign::Wrong,
                    format!(
                        "storedVersions names {version}, which the CRD does not have: what is stored there cannot be read"
                    ),
                ),
                Standing::Unserved => (
                    Sign::Mind,
                    format!(
                        "objects may still be stored at {version}, which is not served: an upgrade that removes it strands them"
                    ),
                ),
                Standing::Served => (
                    Sign::Mind,
                    format!("objects may still be stored at {version}: an upgrade that removes it strands them"),
                ),
            };
            self.migrate = true;
            if self.standing(version) == Standing::Unserved {
                self.retire.insert(version.clone());
            }
            self.say(sign, "stored", text).version = Some(version.clone());
        }
        if !holding.stored.is_empty() && !holding.stored.contains(&storage.name) {
            let text = format!("storedVersions does not name the storage version {}", storage.name);
            self.say(Sign::Wrong, "stored", text).version = Some(storage.name.clone());
        }
    }

    fn conditions(&mut self) {
        for Condition { name, status, why } in &self.holding.conditions {
            let why = if why.is_empty() { String::new() } else { format!(" ({why})") };
            match (name.as_str(), status.as_str()) {
                ("Established" | "NamesAccepted" | "KubernetesAPIApprovalPolicyConformant", "True")
                | ("NonStructuralSchema" | "Terminating", "False") => {}
                ("Established" | "NamesAccepted", _) => {
                    self.say(Sign::Wrong, "condition", format!("is not {name}{why}"));
                }
                ("NonStructuralSchema", _) => {
                    let text = format!("its schema is not structural{why}: fields are not pruned, and v1 refuses it");
                    self.say(Sign::Wrong, "condition", text);
                }
                ("Terminating", _) => {
                    self.say(Sign::Wrong, "condition", format!("is being deleted, with all its objects{why}"));
                }
                ("KubernetesAPIApprovalPolicyConformant", _) => {
                    self.say(Sign::Mind, "condition", format!("is in a protected group without approval{why}"));
                }
                _ => {}
            }
        }
        if self.holding.conditions.is_empty() {
            self.say(Sign::Unseen, "condition", "has no conditions: no server has taken it up");
        }
    }

    fn objects(&mut self) {
        match &self.holding.unseen {
            Some(Unseen::Forbidden(why) | Unseen::Elsewhere(why)) => {
                self.say(Sign::Unseen, "unseen", format!("objects were not looked at: {why}"));
            }
            Some(Unseen::Broken(why)) => {
                self.say(Sign::Wrong, "unlistable", format!("objects cannot be listed: {why}"));
            }
            None => {
                let tally = &self.holding.objects;
                let text = format!("{} objects", tally.seen);
                self.say(Sign::Good, "objects", text);
                if tally.seen > 0 && tally.bare == tally.seen {
                    let text = "no object has managedFields; a dump has them only with --show-managed-fields";
                    self.say(Sign::Unseen, "bare", text);
                }
            }
        }
    }

    fn entries(&mut self) {
        let mut versions: Vec<&String> = self.holding.objects.entries.keys().map(|(version, _)| version).collect();
        versions.dedup();
        for version in versions {
            let of_version = || self.holding.objects.entries.iter().filter(move |((each, _), _)| each == version);
            let managers: Vec<String> =
                of_version().map(|((_, manager), count)| format!("{manager} {}", count.objects)).collect();
            // The objects of the manager that has most stand for all: one object may have several managers.
            let most = of_version().map(|(_, count)| count).max_by_key(|count| count.objects).cloned();
            let managers = managers.join(", ");
            let (sign, text) = match self.standing(version) {
                Standing::Served => (Sign::Good, format!("managedFields at {version}: {managers}")),
                Standing::Unserved => (
                    Sign::Mind,
                    format!(
                        "managedFields at {version}, which is not served, block server-side apply once it is removed: {managers}"
                    ),
                ),
                Standing::Gone => (
                    Sign::Wrong,
                    format!("managedFields at {version}, which is gone, block server-side apply: {managers}"),
                ),
            };
            let version = version.clone();
            // A version of another group is none that `retire` could name.
            if sign != Sign::Good && !version.is_empty() && !version.contains('/') {
                self.retire.insert(version.clone());
            }
            let fact = self.say(sign, "managedFields", text);
            fact.version = Some(version);
            fact.objects = most.filter(|_| sign != Sign::Good);
        }
    }

    fn applied(&mut self) {
        for (version, count) in &self.holding.objects.applied {
            let what = match self.standing(version) {
                Standing::Served => continue,
                Standing::Unserved => "is not served",
                Standing::Gone => "is gone",
            };
            let text = format!(
                "{} objects were last applied at {version}, which {what}: applying their manifests again is refused",
                count.objects
            );
            let fact = self.say(Sign::Mind, "lastApplied", text);
            fact.version = Some(version.clone());
            fact.objects = Some(count.clone());
        }
    }

    fn owners(&mut self) {
        for (version, count) in &self.holding.owners {
            let (sign, what) = match self.standing(version) {
                Standing::Served => (Sign::Good, ""),
                Standing::Unserved => {
                    (Sign::Wrong, ", which is not served: garbage collection does not find their owner")
                }
                Standing::Gone => (Sign::Wrong, ", which is gone: garbage collection does not find their owner"),
            };
            let text = format!("{} objects name an owner at {version}{what}", count.objects);
            let fact = self.say(sign, "ownerReferences", text);
            fact.version = Some(version.clone());
            fact.objects = (sign != Sign::Good).then(|| count.clone());
        }
    }
}

#[cfg(test)]
mod tests;
