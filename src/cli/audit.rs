//! `audit`: the versions that a cluster still stores and names. Only reads.

use std::fmt::Write as _;

use crate::checks::audit::{Audited, Level, judge};
use crate::evidence::inventory::{CrdInventory, NotRead};
use crate::operate::audit::{self, Inventory, Scope};
use crate::report::plural;
use crate::subject::load::{InputError, Trouble, read_dump};
use anyhow::Result;
use crdproof_envtest::existing::{Access, Existing};
use crdproof_envtest::{ClusterError, runtime};
use crdproof_schema::names;
use serde_json::{Value, json};

use super::args::TextFormat;
use super::args::audit::AuditArgs;
use super::args::env::ClusterArgs;
use super::console::Console;
use super::env::run::access;
use super::exit::Exit;
use super::progress::Live;
use super::samples::samples;
use super::servers::cluster_error;
use crate::run::quoted;

/// Audits a cluster, or a dump of one.
pub(crate) fn audit(args: &AuditArgs, console: Console) -> Result<Exit> {
    let access = if args.dump.is_empty() { Some(reading(args)?) } else { None };
    if let Some(folder) = &args.samples {
        return samples(args, folder, access.as_ref(), console);
    }
    let seen = match &access {
        None => read_dumps(args)?,
        Some(access) => match read_cluster(args, access, console)? {
            Some(seen) => seen,
            None => return Ok(Exit::Incomplete),
        },
    };
    if let Some(name) = seen.absent.first() {
        let near = names::closest(name, seen.inventories.iter().map(|inventory| inventory.name.as_str()));
        let help = near.map_or_else(
            || "name it in full, such as widgets.example.com; `kubectl get crd` lists them".to_owned(),
            |near| format!("did you mean `{near}`?"),
        );
        return Err(InputError::new(Trouble::Wrong, format!("there is no CRD {name:?}")).help(help).into());
    }
    if seen.inventories.is_empty() {
        let error = InputError::new(Trouble::Nothing, "no CRDs found; nothing to audit");
        return Err(error.help("check the context, or pass a dump that contains CRDs").into());
    }
    let today = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date();
    let mut crds: Vec<Audited> =
        seen.inventories.iter().map(|inventory| judge(inventory, today, args.expires_within)).collect();
    let cluster = same_cluster(args);
    crds.iter_mut().flat_map(|crd| &mut crd.next).for_each(|command| command.push_str(&cluster));
    let wrong = crds.iter().any(|crd| crd.worst() == Level::Error);
    let summary = Summary::of(&seen, &crds);
    let shown: Vec<&Audited> = crds.iter().filter(|crd| args.all || !args.names.is_empty() || is_shown(crd)).collect();
    console.print(&match args.format {
        TextFormat::Json => format!("{}\n", serde_json::to_string_pretty(&summary.data(&shown, &seen))?),
        TextFormat::Text => summary.text(&shown, &seen),
    })?;
    Ok(if wrong { Exit::Findings } else { Exit::Success })
}

/// Returns the flags that name the same cluster, for the commands to run next.
fn same_cluster(args: &AuditArgs) -> String {
    let kubeconfig = args.kubeconfig.as_ref().map(|path| ("--kubeconfig", path.to_string_lossy().into_owned()));
    let context = args.context.as_ref().map(|name| ("--context", name.clone()));
    kubeconfig.into_iter().chain(context).map(|(flag, value)| format!(" {flag} {}", quoted(&value))).collect()
}

/// Returns true if a CRD is worth showing.
fn is_shown(crd: &Audited) -> bool {
    crd.versions.len() > 1 || crd.worst() != Level::Ok
}

/// Returns read-only access to the cluster.
fn reading(args: &AuditArgs) -> Result<Access> {
    let cluster = ClusterArgs {
        kubeconfig: args.kubeconfig.clone(),
        context: args.context.clone(),
        allow_changes: false,
        confirm: None,
    };
    access(&cluster, true)
}

fn read_cluster(args: &AuditArgs, access: &Access, console: Console) -> Result<Option<Inventory>> {
    let scope = Scope { names: args.names.clone(), owners: args.owners };
    let seen = runtime::block_on(async {
        let reading = async {
            let cluster = Existing::connect(access).await?;
            console.say(&format!("► {} is Kubernetes {} (read-only)", cluster.shown(), cluster.identity().version));
            let live = Live::new(console, false);
            let mut progress = |kind: &str, count: u64| live.show(format!("{kind}: {count} objects so far"));
            audit::read(cluster.api(), &scope, &mut progress).await
        };
        runtime::unless_interrupted(reading).await.transpose()
    });
    let seen: Option<Inventory> = seen.and_then(|seen: Result<_, ClusterError>| seen).map_err(cluster_error)?;
    if seen.is_none() {
        console.say("○ interrupted; nothing was changed");
    }
    Ok(seen)
}

/// Reads dumps. Assigns objects to CRDs by group and kind, whatever their version.
fn read_dumps(args: &AuditArgs) -> Result<Inventory> {
    let objects = read_dump(&args.dump)?;
    let (crds, objects): (Vec<Value>, Vec<Value>) =
        objects.into_iter().partition(|object| object["kind"] == "CustomResourceDefinition");
    let mut inventories: Vec<CrdInventory> = crds.iter().map(CrdInventory::read).collect();
    inventories.sort_by(|left, right| left.name.cmp(&right.name));
    inventories.dedup_by(|left, right| left.name == right.name);
    let absent = args.names.iter().filter(|name| inventories.iter().all(|inventory| inventory.name != **name)).cloned();
    let absent: Vec<String> = absent.collect();
    for object in &objects {
        let kind = object["kind"].as_str().unwrap_or_default().to_owned();
        let group = object["apiVersion"].as_str().and_then(|text| Some(text.split_once('/')?.0)).unwrap_or_default();
        let known = inventories.iter_mut().find(|inventory| inventory.group == group && inventory.kind == kind);
        let plural = known.map_or(kind, |inventory| {
            inventory.add(object);
            inventory.plural.clone()
        });
        for inventory in &mut inventories {
            inventory.add_owned(&plural, object);
        }
    }
    for inventory in inventories.iter_mut().filter(|inventory| inventory.objects.seen == 0) {
        inventory.not_read = Some(NotRead::Unavailable("the dump has none".into()));
    }
    if absent.is_empty() && !args.names.is_empty() {
        inventories.retain(|inventory| args.names.contains(&inventory.name));
    }
    Ok(Inventory { inventories, absent, unread: Vec::new() })
}

/// The counts of the last line.
struct Summary {
    crds: usize,
    objects: u64,
    not_read: usize,
    errors: usize,
    warnings: usize,
}

impl Summary {
    fn of(seen: &Inventory, crds: &[Audited]) -> Self {
        let count = |level: Level| crds.iter().flat_map(|crd| &crd.facts).filter(|fact| fact.level == level).count();
        Self {
            crds: crds.len(),
            objects: seen.inventories.iter().map(|inventory| inventory.objects.seen).sum(),
            not_read: seen.inventories.iter().filter(|inventory| inventory.not_read.is_some()).count()
                + seen.unread.len(),
            errors: count(Level::Error),
            warnings: count(Level::Warning),
        }
    }

    fn data(&self, shown: &[&Audited], seen: &Inventory) -> Value {
        json!({"crds": shown, "notRead": seen.unread, "summary": {"crds": self.crds, "objects": self.objects,
            "kindsNotRead": self.not_read, "errors": self.errors, "warnings": self.warnings}})
    }

    fn text(&self, shown: &[&Audited], seen: &Inventory) -> String {
        let mut text = String::new();
        for crd in shown {
            let _ = writeln!(text, "{}", crd.crd);
            for fact in &crd.facts {
                let _ = writeln!(text, "  {} {}", fact.level.as_char(), fact.text);
                if let Some(objects) = &fact.objects {
                    let more = if objects.objects > objects.first.len() as u64 { ", …" } else { "" };
                    let _ = writeln!(text, "      {}{more}", objects.first.join(", "));
                }
            }
            for command in &crd.next {
                let _ = writeln!(text, "  next: {command}");
            }
        }
        if !seen.unread.is_empty() {
            let _ = writeln!(text, "○ not searched for owner references: {}", seen.unread.join(", "));
        }
        if self.not_read > 0 {
            let were = if self.not_read == 1 { "was" } else { "were" };
            let _ = writeln!(text, "○ {} {were} not read", plural(self.not_read, "kind"));
        }
        let read = format!(
            "{}, {}",
            plural(self.crds, "CRD"),
            plural(usize::try_from(self.objects).unwrap_or(usize::MAX), "object")
        );
        let _ = match (self.errors, self.warnings) {
            (0, 0) => writeln!(text, "✔ {read}: no problems found"),
            (0, warnings) => writeln!(text, "⚠ {read}: {}", plural(warnings, "warning")),
            (errors, 0) => writeln!(text, "✗ {read}: {}", plural(errors, "error")),
            (errors, warnings) => {
                writeln!(text, "✗ {read}: {}, {}", plural(errors, "error"), plural(warnings, "warning"))
            }
        };
        text
    }
}
