//! `audit`: which versions a cluster still holds, without a single write.

use std::fmt::Write as _;

use crate::evidence::inventory::{Holding, Unseen};
use crate::operate::audit::{self, Seen, Wish};
use crate::report::audit::{Audited, Sign, judge};
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

/// Looks at a cluster, or at what was saved of one.
pub(crate) fn audit(args: &AuditArgs, console: Console) -> Result<Exit> {
    let access = if args.dump.is_empty() { Some(reading(args)?) } else { None };
    if let Some(folder) = &args.samples {
        return samples(args, folder, access.as_ref(), console);
    }
    let seen = match &access {
        None => dumped(args)?,
        Some(access) => match looked(args, access, console)? {
            Some(seen) => seen,
            None => return Ok(Exit::Incomplete),
        },
    };
    if let Some(name) = seen.absent.first() {
        let near = names::closest(name, seen.holdings.iter().map(|holding| holding.name.as_str()));
        let help = near.map_or_else(
            || "name it in full, such as widgets.example.com; `kubectl get crd` lists them".to_owned(),
            |near| format!("did you mean `{near}`?"),
        );
        return Err(InputError::new(Trouble::Wrong, format!("there is no CRD {name:?}")).help(help).into());
    }
    if seen.holdings.is_empty() {
        let error = InputError::new(Trouble::Nothing, "there are no CRDs");
        return Err(error.help("nothing was looked at, so nothing is said").into());
    }
    let today = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date();
    let mut crds: Vec<Audited> =
        seen.holdings.iter().map(|holding| judge(holding, today, args.expires_within)).collect();
    let cluster = same_cluster(args);
    crds.iter_mut().flat_map(|crd| &mut crd.next).for_each(|command| command.push_str(&cluster));
    let wrong = crds.iter().any(|crd| crd.worst() == Sign::Wrong);
    let summary = Summary::of(&seen, &crds);
    let shown: Vec<&Audited> = crds.iter().filter(|crd| args.all || !args.names.is_empty() || tells(crd)).collect();
    console.print(&match args.format {
        TextFormat::Json => format!("{}\n", serde_json::to_string_pretty(&summary.data(&shown, &seen))?),
        TextFormat::Text => summary.text(&shown, &seen),
    })?;
    Ok(if wrong { Exit::Findings } else { Exit::Success })
}

/// The words by which what is to be done next is done to the same cluster.
fn same_cluster(args: &AuditArgs) -> String {
    let kubeconfig = args.kubeconfig.as_ref().map(|path| ("--kubeconfig", path.to_string_lossy().into_owned()));
    let context = args.context.as_ref().map(|name| ("--context", name.clone()));
    kubeconfig.into_iter().chain(context).map(|(flag, value)| format!(" {flag} {}", quoted(&value))).collect()
}

/// Whether there is anything to say about a CRD.
fn tells(crd: &Audited) -> bool {
    crd.versions.len() > 1 || crd.worst() != Sign::Good
}

/// The cluster, without leave to change anything.
fn reading(args: &AuditArgs) -> Result<Access> {
    let cluster = ClusterArgs {
        kubeconfig: args.kubeconfig.clone(),
        context: args.context.clone(),
        allow_changes: false,
        confirm: None,
    };
    access(&cluster, true)
}

fn looked(args: &AuditArgs, access: &Access, console: Console) -> Result<Option<Seen>> {
    let wish = Wish { names: args.names.clone(), owners: args.owners };
    let seen = runtime::block_on(async {
        let looking = async {
            let cluster = Existing::connect(access).await?;
            console.say(&format!(
                "► {} is Kubernetes {}; it is only read",
                cluster.shown(),
                cluster.identity().version
            ));
            let live = Live::new(console, false);
            let mut progress = |kind: &str, count: u64| live.show(format!("{kind}: {count} objects so far"));
            audit::look(cluster.api(), &wish, &mut progress).await
        };
        runtime::unless_interrupted(looking).await.transpose()
    });
    let seen: Option<Seen> = seen.and_then(|seen: Result<_, ClusterError>| seen).map_err(cluster_error)?;
    if seen.is_none() {
        console.say("○ interrupted; nothing was changed");
    }
    Ok(seen)
}

/// What was saved. Objects belong to a CRD by group and kind, whatever their version is.
fn dumped(args: &AuditArgs) -> Result<Seen> {
    let objects = read_dump(&args.dump)?;
    let (crds, objects): (Vec<Value>, Vec<Value>) =
        objects.into_iter().partition(|object| object["kind"] == "CustomResourceDefinition");
    let mut holdings: Vec<Holding> = crds.iter().map(Holding::read).collect();
    holdings.sort_by(|left, right| left.name.cmp(&right.name));
    holdings.dedup_by(|left, right| left.name == right.name);
    let absent = args.names.iter().filter(|name| holdings.iter().all(|holding| holding.name != **name)).cloned();
    let absent: Vec<String> = absent.collect();
    for object in &objects {
        let kind = object["kind"].as_str().unwrap_or_default().to_owned();
        let group = object["apiVersion"].as_str().and_then(|text| Some(text.split_once('/')?.0)).unwrap_or_default();
        let known = holdings.iter_mut().find(|holding| holding.group == group && holding.kind == kind);
        let plural = known.map_or(kind, |holding| {
            holding.add(object);
            holding.plural.clone()
        });
        for holding in &mut holdings {
            holding.add_owned(&plural, object);
        }
    }
    for holding in holdings.iter_mut().filter(|holding| holding.objects.seen == 0) {
        holding.unseen = Some(Unseen::Elsewhere("the dump has none".into()));
    }
    if absent.is_empty() && !args.names.is_empty() {
        holdings.retain(|holding| args.names.contains(&holding.name));
    }
    Ok(Seen { holdings, absent, unread: Vec::new() })
}

/// How much there is of what.
struct Summary {
    crds: usize,
    objects: u64,
    unseen: usize,
    wrong: usize,
    mind: usize,
}

impl Summary {
    fn of(seen: &Seen, crds: &[Audited]) -> Self {
        let count = |sign: Sign| crds.iter().flat_map(|crd| &crd.facts).filter(|fact| fact.sign == sign).count();
        Self {
            crds: crds.len(),
            objects: seen.holdings.iter().map(|holding| holding.objects.seen).sum(),
            unseen: seen.holdings.iter().filter(|holding| holding.unseen.is_some()).count() + seen.unread.len(),
            wrong: count(Sign::Wrong),
            mind: count(Sign::Mind),
        }
    }

    fn data(&self, shown: &[&Audited], seen: &Seen) -> Value {
        json!({"crds": shown, "notLookedAt": seen.unread, "summary": {"crds": self.crds, "objects": self.objects,
            "kindsNotLookedAt": self.unseen, "wrong": self.wrong, "mind": self.mind}})
    }

    fn text(&self, shown: &[&Audited], seen: &Seen) -> String {
        let mut text = String::new();
        for crd in shown {
            let _ = writeln!(text, "{}", crd.crd);
            for fact in &crd.facts {
                let _ = writeln!(text, "  {} {}", fact.sign.as_char(), fact.text);
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
            let _ = writeln!(text, "○ not looked at for owners: {}", seen.unread.join(", "));
        }
        if self.unseen > 0 {
            let _ = writeln!(text, "○ {} kinds were not looked at", self.unseen);
        }
        let looked = format!("{} CRDs, {} objects", self.crds, self.objects);
        let _ = match (self.wrong, self.mind) {
            (0, 0) => writeln!(text, "✔ {looked}: nothing found"),
            (0, mind) => writeln!(text, "⚠ {looked}: nothing is wrong now, {mind} things to mind"),
            (wrong, mind) => writeln!(text, "✗ {looked}: {wrong} things are wrong, {mind} to mind"),
        };
        text
    }
}
