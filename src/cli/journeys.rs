//! Journeys on API servers, for the checks that judge them.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;
use crdproof::checks::{Check, Need};
use crdproof::cluster::{ClusterError, Server, runtime};
use crdproof::convert::endpoint::Endpoint;
use crdproof::convert::{self, Declared, Maps};
use crdproof::input::{InputError, Trouble};
use crdproof::journey::{self, Journey, Migrators};
use crdproof::observe::Trace;
use crdproof::run::Settings;
use crdproof::subject::{self, Crd, Subject};

use super::args::RunArgs;
use super::args::env::{Provider, ServerArgs};
use super::console::Console;
use super::env;
use super::env::run::{Wanted, shown, told};

/// Makes the journeys that the selected checks need, on every release that is asked for. `None` where it was interrupted.
pub(crate) fn make(
    subject: &Subject,
    settings: &Settings,
    args: &RunArgs,
    console: Console,
) -> Result<Option<Vec<Trace>>> {
    let journeys = needed(settings);
    let claimed: Vec<String> = subject.file.kubernetes.versions.iter().map(ToString::to_string).collect();
    let releases = if args.kubernetes.is_empty() { &claimed } else { &args.kubernetes };
    if journeys.is_empty() || releases.is_empty() {
        return Ok(Some(Vec::new()));
    }
    let provider = args.server.provider.unwrap_or(match subject.file.kubernetes.provider {
        subject::Provider::Local => Provider::Local,
        subject::Provider::K3s => Provider::K3s,
        subject::Provider::Kind => Provider::Kind,
        subject::Provider::Kubeconfig => Provider::Kubeconfig,
    });
    if provider == Provider::Kubeconfig {
        let error =
            InputError::new(Trouble::Wrong, "journeys change CRDs, so they are made on servers of our own only");
        return Err(error.help("take --provider local, k3s or kind").into());
    }
    let server = ServerArgs { provider: Some(provider), ..args.server.clone() };
    // Opened once: what it stands for may be a process that takes its time to start.
    let migrators = Migrators { in_tree: args.in_tree_migration };
    let converters = converters(subject, console)?;
    let tour = Tour { subject, journeys, seed: settings.seed, converters, migrators };
    let mut traces = Vec::new();
    for release in releases {
        let Some(seen) = tour.on_release(release, &server, console)? else { return Ok(None) };
        traces.extend(seen);
    }
    Ok(Some(traces))
}

/// What answers the reviews of a CRD; nothing where the server converts by itself.
type Converter = Option<Arc<dyn Endpoint>>;

/// What is the same on every release.
struct Tour<'a> {
    subject: &'a Subject,
    journeys: Vec<Journey>,
    seed: u64,
    converters: Vec<(&'a Crd, Converter)>,
    migrators: Migrators,
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
                journey::travel_by(server, self.subject, crd, converter, &self.journeys, self.seed, migrators);
            match runtime::unless_interrupted(travelled).await {
                None => return Ok(None),
                Some(trace) => traces.push(trace?),
            }
        }
        Ok(Some(traces))
    }

    fn on_release(&self, release: &str, server: &ServerArgs, console: Console) -> Result<Option<Vec<Trace>>> {
        let mut wanted = Wanted::of(&env::store()?, release, server, false, console)?;
        if self.migrators.in_tree {
            wanted = wanted.migrating().map_err(told)?;
        }
        let seen = runtime::block_on(async {
            let started = Instant::now();
            let Some(server) = runtime::unless_interrupted(wanted.start()).await else { return Ok(None) };
            let server = server?;
            console.say(&format!("► {} after {:.1} s", shown(&server), started.elapsed().as_secs_f64()));
            let seen = self.on(&server).await;
            server.stop().await?;
            console.say(&format!("✔ journeys on {release} after {:.1} s", started.elapsed().as_secs_f64()));
            seen
        });
        Ok(seen.map_err(told)?.map_err(told)?)
    }
}

/// What answers the reviews of each CRD.
fn converters(subject: &Subject, console: Console) -> Result<Vec<(&Crd, Converter)>> {
    let (mut maps, mut wire): (Converter, Converter) = (None, None);
    let mut converters = Vec::new();
    for crd in &subject.crds {
        let wrong = |why: String| InputError::new(Trouble::Environment, format!("{}: {why}", crd.name));
        let converter = match convert::declared(subject, crd) {
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
                    wire = convert::open(subject, &means).map_err(wrong)?.map(Arc::from);
                }
                wire.clone()
            }
        };
        converters.push((crd, converter));
    }
    Ok(converters)
}
