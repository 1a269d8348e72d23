//! Journeys on API servers, for the checks that judge them.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use crate::act::scenarios::{self, Journey, Migrators};
use crate::checks::{Check, Need};
use crate::converter::endpoint::Endpoint;
use crate::converter::{self, Declared, Maps};
use crate::evidence::{Record, Seen, Trace};
use crate::run::{Absent, Settings};
use crate::subject::load::{InputError, Trouble};
use crate::subject::{self, Crd, Subject};
use anyhow::Result;
use crdproof_envtest::{ClusterError, Server, runtime};
use futures::{StreamExt as _, stream};

use super::args::RunArgs;
use super::args::env::{Provider, ServerArgs};
use super::budget;
use super::console::Console;
use super::env;
use super::env::run::{Wanted, shown, told};
use super::stops::{Itinerary, Stop, lack};

/// What was seen, and on which releases nothing could be.
#[derive(Default)]
pub(crate) struct Travelled {
    pub(crate) traces: Vec<Trace>,
    pub(crate) absent: Vec<Absent>,
}

/// Makes the journeys that the selected checks need, on every release that is asked for. `None` where it was interrupted.
pub(crate) fn make(
    subject: &Subject,
    settings: &Settings,
    args: &RunArgs,
    console: Console,
) -> Result<Option<Travelled>> {
    let mut journeys = needed(settings);
    let provider = args.server.provider.unwrap_or(match subject.file.kubernetes.provider {
        subject::Provider::Local => Provider::Local,
        subject::Provider::K3s => Provider::K3s,
        subject::Provider::Kind => Provider::Kind,
        subject::Provider::Kubeconfig => Provider::Kubeconfig,
    });
    let claimed: Vec<String> = match provider {
        // It has the release that it has.
        Provider::Kubeconfig => {
            vec![args.server.cluster.context.clone().unwrap_or_else(|| "the current context".into())]
        }
        _ => subject.file.kubernetes.versions.iter().map(ToString::to_string).collect(),
    };
    let releases = if args.kubernetes.is_empty() { &claimed } else { &args.kubernetes };
    if journeys.is_empty() || releases.is_empty() {
        return Ok(Some(Travelled::default()));
    }
    if provider == Provider::Kubeconfig {
        as_guests(subject, args, &mut journeys, console)?;
        if journeys.is_empty() {
            return Ok(Some(Travelled::default()));
        }
    }
    let server = ServerArgs { provider: Some(provider), ..args.server.clone() };
    // Opened once: what it stands for may be a process that takes its time to start.
    let converters = converters(subject, console)?;
    let (over, verbose) = (AtomicBool::new(false), args.report.verbose);
    let migrators = Migrators { in_tree: args.in_tree_migration };
    let tour = Tour { subject, journeys, seed: settings.seed, converters, migrators, over, verbose };
    // What can be wrong with a release, or must be built for it, is known before the first server starts.
    let Itinerary { stops, mut absent, ranges } = Itinerary::of(releases, &server, migrators.in_tree, console)?;
    let at_once = budget::servers(args.servers, provider, stops.len());
    if stops.len() > 1 {
        console.say(&format!("○ {} releases, {at_once} at once", stops.len()));
    }
    let visits = stops.into_iter().map(|(stop, wanted)| tour.on_release(stop, wanted, console));
    // In the order of the releases, whichever is ready first.
    let visits = stream::iter(visits).buffered(at_once).collect::<Vec<_>>();
    let mut traces = Vec::new();
    for visit in runtime::block_on(visits).map_err(told)? {
        match visit.map_err(told)? {
            Visit::Interrupted => return Ok(None),
            Visit::Absent(one) => absent.push(one),
            Visit::Seen(seen) => traces.extend(seen),
        }
    }
    ranges.check(&absent)?;
    Ok(Some(Travelled { traces, absent }))
}

/// What can be done on a cluster that was there before us: nothing that needs a converter, which it could not reach, and
/// nothing that needs to look into its storage.
fn as_guests(subject: &Subject, args: &RunArgs, journeys: &mut Vec<Journey>, console: Console) -> Result<()> {
    let wrong = |why: String, help: &str| Err(InputError::new(Trouble::Wrong, why).help(help).into());
    if !args.kubernetes.is_empty() {
        return wrong("a cluster that is there has the release that it has".into(), "leave --kubernetes out");
    }
    if let Some(crd) = subject.crds.iter().find(|crd| crd.conversion.strategy == "Webhook") {
        let why = format!("{} converts by a webhook, and that cluster cannot reach one on this machine", crd.name);
        return wrong(why, "take --provider local, k3s or kind");
    }
    let hidden = |journey: &Journey| matches!(journey, Journey::Storage | Journey::Retire);
    if journeys.iter().any(hidden) {
        journeys.retain(|journey| !hidden(journey));
        console.say("○ the storage of that cluster cannot be looked into: journeys through it are left out");
    }
    Ok(())
}

/// What answers the reviews of a CRD; nothing where the server converts by itself.
type Converter = Option<Arc<dyn Endpoint>>;

/// What came of one release.
enum Visit {
    /// It was interrupted, or did not begin because another one was, or failed.
    Interrupted,
    /// Its server did not start, and the run goes on without it.
    Absent(Absent),
    Seen(Vec<Trace>),
}

/// What is the same on every release.
struct Tour<'a> {
    subject: &'a Subject,
    journeys: Vec<Journey>,
    seed: u64,
    converters: Vec<(&'a Crd, Converter)>,
    migrators: Migrators,
    /// Whether no further server is to be started.
    over: AtomicBool,
    /// Whether everything that was delivered is told.
    verbose: bool,
}

/// The journeys whose steps a selected check reads.
fn needed(settings: &Settings) -> Vec<Journey> {
    let selected = settings.selection.checks();
    let traced = selected.iter().filter(|(check, _)| check.needs.contains(&Need::Trace));
    let wanted: BTreeSet<Journey> = traced.flat_map(|(check, _)| of(check)).collect();
    wanted.into_iter().collect()
}

fn of(check: &Check) -> Vec<Journey> {
    match (check.family(), check.name()) {
        ("serving", _) | ("apply", "dry-run-changes-nothing") => vec![Journey::Serve],
        ("apply", "ownership-survives-retirement" | "retired-entries-cleaned")
        | ("storage", "old-version-retires" | "retirement-keeps-content") => vec![Journey::Retire],
        ("apply", "ownership-survives-flip" | "ownership-survives-migration" | "retired-version-blocks-nobody")
        | ("storage", _) => {
            vec![Journey::Storage]
        }
        _ => vec![Journey::Apply],
    }
}

impl Tour<'_> {
    /// `None` where it was interrupted.
    async fn on(&self, server: &Server) -> Result<Option<Vec<Trace>>, ClusterError> {
        let mut traces = Vec::new();
        for (crd, converter) in &self.converters {
            let (converter, migrators) = (converter.clone(), self.migrators);
            let travelled =
                scenarios::travel(server, self.subject, crd, converter, &self.journeys, self.seed, migrators);
            match runtime::unless_interrupted(travelled).await {
                None => return Ok(None),
                Some(trace) => traces.push(trace?),
            }
        }
        Ok(Some(traces))
    }

    async fn on_release(&self, stop: Stop, wanted: Wanted, console: Console) -> Result<Visit, ClusterError> {
        if self.over.load(Ordering::Relaxed) {
            return Ok(Visit::Interrupted);
        }
        let seen = self.visit(&stop, wanted, console).await;
        if matches!(seen, Ok(Visit::Interrupted) | Err(_)) {
            self.over.store(true, Ordering::Relaxed);
        }
        seen
    }

    async fn visit(&self, stop: &Stop, wanted: Wanted, console: Console) -> Result<Visit, ClusterError> {
        let (started, release) = (Instant::now(), &stop.release);
        let server = match runtime::unless_interrupted(wanted.start()).await {
            None => return Ok(Visit::Interrupted),
            Some(Err(error)) if !stop.must => {
                return Ok(Visit::Absent(lack(release, &error.to_string(), console)));
            }
            Some(server) => server?,
        };
        console.say(&format!("► {} after {:.1} s", shown(&server), started.elapsed().as_secs_f64()));
        let seen = self.on(&server).await;
        server.stop().await?;
        let Some(seen) = seen? else { return Ok(Visit::Interrupted) };
        let took = started.elapsed().as_secs_f64();
        let requests: u64 = seen.iter().map(|trace| trace.requests).sum();
        console.say(&format!("✔ journeys on {release} after {took:.1} s, {requests} requests"));
        if self.verbose {
            seen.iter().flat_map(log).for_each(|line| console.say(&format!("  {release}: {line}")));
        }
        Ok(Visit::Seen(seen))
    }
}

/// What was delivered, line by line. Values may be secret, so that drift is told by its places.
fn log(trace: &Trace) -> Vec<String> {
    let line = |record: &Record| match &record.seen {
        Seen::Delivered(delivered) => {
            let places: Vec<&str> = delivered.differences.iter().map(|differs| differs.at.as_str()).collect();
            Some(format!("{delivered} {}", places.join(" ")).trim_end().to_owned())
        }
        Seen::Health(health) => Some(health.to_string()),
        _ => None,
    };
    trace.records.iter().filter_map(line).collect()
}

/// What answers the reviews of each CRD.
fn converters(subject: &Subject, console: Console) -> Result<Vec<(&Crd, Converter)>> {
    let (mut maps, mut wire): (Converter, Converter) = (None, None);
    let mut converters = Vec::new();
    for crd in &subject.crds {
        let wrong = |why: String| InputError::new(Trouble::Environment, format!("{}: {why}", crd.name));
        let converter = match converter::declared(subject, crd) {
            // Strategy None, one version, or a webhook that nobody named: the server is asked as it is.
            Ok(Declared::None) | Err(_) => None,
            Ok(Declared::FieldMap) => {
                if maps.is_none() {
                    maps = Some(Arc::new(Maps::new(Arc::new(subject.clone())).map_err(wrong)?));
                }
                maps.clone()
            }
            Ok(Declared::Exec(_) | Declared::Webhook(_)) => {
                if wire.is_none() {
                    let means = env::means(subject, console)?;
                    wire = converter::open(subject, &means).map_err(wrong)?.map(Arc::from);
                }
                wire.clone()
            }
        };
        converters.push((crd, converter));
    }
    Ok(converters)
}
