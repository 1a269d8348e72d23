//! Journeys on API servers, for the checks that judge them.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;
use crdproof::checks::{Check, Need};
use crdproof::cluster::runtime;
use crdproof::convert::endpoint::Endpoint;
use crdproof::convert::{self, Declared, Maps};
use crdproof::input::{InputError, Trouble};
use crdproof::journey::{self, Journey};
use crdproof::observe::Trace;
use crdproof::run::Settings;
use crdproof::subject::{self, Crd, Subject};

use super::args::RunArgs;
use super::args::env::{Provider, ServerArgs};
use super::console::Console;
use super::env;
use super::env::run::{Wanted, shown, told};

/// Makes the journeys that the selected checks need, on every release that is asked for.
pub(crate) fn make(subject: &Subject, settings: &Settings, args: &RunArgs, console: Console) -> Result<Vec<Trace>> {
    let journeys = needed(settings);
    let claimed: Vec<String> = subject.file.kubernetes.versions.iter().map(ToString::to_string).collect();
    let releases = if args.kubernetes.is_empty() { &claimed } else { &args.kubernetes };
    if journeys.is_empty() || releases.is_empty() {
        return Ok(Vec::new());
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
    let mut traces = Vec::new();
    for release in releases {
        traces.extend(on_release(subject, settings, release, &server, &journeys, console)?);
    }
    Ok(traces)
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
        ("apply", "ownership-survives-flip" | "ownership-survives-migration" | "retired-version-blocks-nobody")
        | ("storage", _) => {
            vec![Journey::Storage]
        }
        _ => vec![Journey::Apply],
    }
}

fn on_release(
    subject: &Subject,
    settings: &Settings,
    release: &str,
    server: &ServerArgs,
    journeys: &[Journey],
    console: Console,
) -> Result<Vec<Trace>> {
    let wanted = Wanted::of(&env::store()?, release, server, false, console)?;
    runtime::block_on(async {
        let started = Instant::now();
        let Some(server) = runtime::unless_interrupted(wanted.start()).await else { return Err(interrupted()) };
        let server = server.map_err(told)?;
        console.say(&format!("► {} after {:.1} s", shown(&server), started.elapsed().as_secs_f64()));
        let mut traces = Vec::new();
        let mut result = Ok(());
        for crd in &subject.crds {
            let converter = converter(subject, crd, console)?;
            let travelled = journey::travel(&server, subject, crd, converter, journeys, settings.seed);
            match runtime::unless_interrupted(travelled).await {
                None => result = Err(interrupted()),
                Some(Err(error)) => result = Err(told(error).into()),
                Some(Ok(trace)) => traces.push(trace),
            }
            if result.is_err() {
                break;
            }
        }
        server.stop().await.map_err(told)?;
        console.say(&format!("✔ journeys on {release} after {:.1} s", started.elapsed().as_secs_f64()));
        result.map(|()| traces)
    })
    .map_err(told)?
}

/// What answers the reviews of a CRD; nothing where the server converts by itself.
fn converter(subject: &Subject, crd: &Crd, console: Console) -> Result<Option<Arc<dyn Endpoint>>> {
    let wrong = |why: String| InputError::new(Trouble::Environment, format!("{}: {why}", crd.name));
    match convert::declared(subject, crd) {
        Ok(Declared::FieldMap) => Ok(Some(Arc::new(Maps::new(Arc::new(subject.clone())).map_err(wrong)?))),
        // Strategy None, one version, or a webhook that nobody named: the server is asked as it is.
        Ok(Declared::None) | Err(_) => Ok(None),
        Ok(_) => Ok(convert::open(subject, &env::means(subject, console)?).map_err(wrong)?.map(Arc::from)),
    }
}

fn interrupted() -> anyhow::Error {
    InputError::new(Trouble::Environment, "interrupted").help("nothing is left behind").into()
}
