//! Runs a plan: scenarios on API servers, conversions and requests to the converter, then judging.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures::{StreamExt as _, stream};

use super::engine::needs_programs;
use super::servers::{Observer, Prepared, skipped};
use super::shard::{Timings, Unit, start_of};
use super::{Absent, Event, FailedCleanUp, Observations, Options, Plan, Ran, RunError, Servers, budget, fold, reach};
use crate::act::{Stop, scenarios};
use crate::converter::endpoint::Endpoint;
use crate::converter::{self, Declared, Maps};
use crate::evidence::{Scenario, ScenarioStep, Trace};
use crate::subject::Crd;
use crdproof_envtest::api::Permission;
use crdproof_envtest::capture::is_program;
use crdproof_envtest::{ClusterError, Provider, Server, runtime};

/// Runs a plan. `servers` are those of the plan; without any, scenarios are left out. Calls `observer` from several
/// threads.
pub fn execute(
    plan: &Plan<'_>,
    servers: Option<&Servers>,
    options: &Options,
    observer: &(dyn Fn(&Event<'_>) + Sync),
) -> Result<(Ran, Observations), RunError> {
    if plan.planned.is_empty() && plan.share.as_ref().is_none_or(|share| share.total == 0) {
        return Err(RunError::Nothing);
    }
    check_programs(plan)?;
    let observations = match servers.filter(|_| !plan.scenarios.is_empty()) {
        Some(servers) => run_scenarios(plan, servers, options, observer)?,
        None => Observations::default(),
    };
    if !options.stop.is_requested() {
        reach(plan, &options.endpoint).map_err(RunError::Converter)?;
    }
    let ran = fold::judge_observed(plan, &observations, options, observer);
    Ok((ran, observations))
}

/// Checks that the programs that the plan needs exist, before anything starts.
fn check_programs(plan: &Plan<'_>) -> Result<(), RunError> {
    let subject = plan.subject;
    if plan.settings.endpoint.is_none() && needs_programs(plan) {
        converter::check_programs(subject).map_err(RunError::Converter)?;
    }
    let migration = subject.file.migration.as_ref().filter(|_| plan.scenarios.contains(&Scenario::Storage));
    match migration.and_then(|migration| migration.command.first()) {
        Some(program) if !is_program(program, &subject.folder()) => Err(RunError::Cluster(ClusterError::Missing {
            what: format!("the program {program:?} of migration.command"),
            why: "there is no such program".into(),
            help: "install it, or correct the command".into(),
        })),
        _ => Ok(()),
    }
}

/// Runs the scenarios of a plan on every server, and judges nothing.
pub fn run_scenarios(
    plan: &Plan<'_>,
    servers: &Servers,
    options: &Options,
    observer: Observer<'_>,
) -> Result<Observations, RunError> {
    let scenarios = if servers.options.provider == Provider::Existing && !plan.matrix.deployed {
        on_existing_cluster(plan)?
    } else {
        plan.scenarios.clone()
    };
    if scenarios.is_empty() {
        return Ok(Observations::default());
    }
    // Opened once, because it may be a process that takes long to start.
    let converters = if plan.matrix.deployed {
        plan.subject.crds.iter().map(|crd| (crd, None)).collect()
    } else {
        converters(plan, options)?
    };
    // Errors of a release, and builds, come before the first server starts.
    let matrix = plan.own_matrix();
    let (prepared, mut absent) = servers.prepare(&matrix, observer)?;
    let at_once = budget::servers(servers.at_once, servers.options.provider, prepared.len());
    observer(&Event::Servers { count: prepared.len(), at_once });
    let (failed, in_tree) = (AtomicBool::new(false), servers.in_tree_migration);
    let work = Work { plan, scenarios, converters, in_tree, failed, stop: &options.stop, observer };
    let visits = prepared.into_iter().map(|server| work.on_release(server));
    // In the order of the releases, whichever is ready first.
    let results = runtime::block_on(stream::iter(visits).buffered(at_once).collect::<Vec<_>>())?;
    let (mut traces, mut failed_clean_ups, mut timings) = (Vec::new(), Vec::new(), Timings::default());
    for result in results {
        match result? {
            OnRelease::Absent(one) => absent.push(one),
            OnRelease::Recorded { traces: recorded, clean_up, timings: measured } => {
                traces.extend(recorded);
                timings.extend(measured);
                failed_clean_ups.extend(clean_up);
            }
        }
    }
    matrix.check(&absent)?;
    let is_interrupted = options.stop.is_requested();
    Ok(Observations { traces, absent, failed_clean_ups, timings, is_interrupted, ..Observations::default() })
}

/// Returns the scenarios that can run on an existing cluster: none that needs a converter, which it could not reach,
/// and none that reads its storage.
fn on_existing_cluster(plan: &Plan<'_>) -> Result<Vec<Scenario>, RunError> {
    if let Some(crd) = plan.subject.crds.iter().find(|crd| crd.conversion.strategy == "Webhook") {
        return Err(RunError::ExistingCluster {
            why: format!("{} converts by a webhook, and that cluster cannot reach one on this machine", crd.name),
            help: "install the CRD and its webhook there and add --deployed, or take --provider local, k3s or kind",
        });
    }
    let hidden = |scenario: &Scenario| matches!(scenario, Scenario::Storage | Scenario::Retirement);
    Ok(plan.scenarios.iter().copied().filter(|scenario| !hidden(scenario)).collect())
}

/// The verbs that scenarios use on objects.
const OBJECT_VERBS: [&str; 7] = ["create", "get", "list", "watch", "update", "patch", "delete"];

/// The endpoint for the reviews of a CRD; `None` if the server converts by itself.
type Converter = Option<Arc<dyn Endpoint>>;

/// The observations on one release.
enum OnRelease {
    /// Its server did not start, and the run continues without it.
    Absent(Absent),
    /// The completed scenarios; fewer than planned if the run was interrupted.
    Recorded { traces: Vec<Trace>, clean_up: Option<FailedCleanUp>, timings: Timings },
}

impl OnRelease {
    /// Nothing was started.
    fn nothing() -> Self {
        Self::Recorded { traces: Vec::new(), clean_up: None, timings: Timings::default() }
    }
}

/// The settings that are the same on every release.
struct Work<'w, 'a> {
    plan: &'w Plan<'a>,
    scenarios: Vec<Scenario>,
    converters: Vec<(&'a Crd, Converter)>,
    in_tree: bool,
    /// True if a server failed, so that no others are started.
    failed: AtomicBool,
    stop: &'w Stop,
    observer: Observer<'w>,
}

impl Work<'_, '_> {
    async fn on_release(&self, server: Prepared) -> Result<OnRelease, ClusterError> {
        if self.failed.load(Ordering::Relaxed) || self.stop.is_requested() {
            return Ok(OnRelease::nothing());
        }
        let result = self.start_and_run(server).await;
        if result.is_err() {
            self.failed.store(true, Ordering::Relaxed);
        }
        result
    }

    async fn start_and_run(&self, Prepared { names, required, spec, .. }: Prepared) -> Result<OnRelease, ClusterError> {
        let (started, mut timings) = (Instant::now(), Timings::default());
        let release = names.first().cloned().unwrap_or_default();
        let server = match runtime::unless_interrupted(spec.start()).await {
            None => {
                self.stop.request();
                return Ok(OnRelease::nothing());
            }
            Some(Err(error)) if !required => {
                return Ok(OnRelease::Absent(skipped(&release, &error.to_string(), self.observer)));
            }
            Some(server) => server?,
        };
        (self.observer)(&Event::ServerStarted { server: &server, elapsed: started.elapsed() });
        timings.add(start_of(&release), started.elapsed());
        let recorded = self.on(&server, &names, &mut timings).await;
        let (traces, clean_up) = match recorded {
            // Scenarios that came to their end are judged, also where something of them is left.
            Ok(traces) => (traces, server.stop().await.err().map(|left| FailedCleanUp::new(&left))),
            failed => (server.stop_after(failed).await?, None),
        };
        let elapsed = started.elapsed();
        (self.observer)(&Event::ScenariosFinished { release: &release, traces: &traces, elapsed });
        Ok(OnRelease::Recorded { traces, clean_up, timings })
    }

    /// Checks, before anything is created, that the server can take the CRDs and lets us use them.
    async fn check(&self, server: &Server) -> Result<(), ClusterError> {
        let crds: Vec<&Crd> = self.converters.iter().map(|(crd, _)| *crd).collect();
        if let (Server::Existing(guest), true) = (server, self.plan.matrix.deployed) {
            return scenarios::check_deployed(guest, &crds).await;
        }
        let names: Vec<&str> = crds.iter().map(|crd| crd.name.as_str()).collect();
        let mut needed = vec![Permission::new("update", "apiextensions.k8s.io", "customresourcedefinitions")];
        for crd in crds {
            needed.extend(OBJECT_VERBS.map(|verb| Permission::new(verb, &crd.group, &crd.names.plural)));
        }
        server.check(&names, &needed).await
    }

    /// Returns the scenarios of this run with a CRD on a server, which may have several names.
    fn scenarios_of(&self, crd: &Crd, names: &[String]) -> Vec<Scenario> {
        let is_own = |scenario: &&Scenario| {
            self.plan.servers_of(&crd.name, **scenario).any(|own| names.iter().any(|name| name == own))
        };
        self.scenarios.iter().filter(is_own).copied().collect()
    }

    /// Runs all scenarios of all CRDs, or as many as possible until an interruption.
    async fn on(&self, server: &Server, names: &[String], timings: &mut Timings) -> Result<Vec<Trace>, ClusterError> {
        self.check(server).await?;
        let release = names.first().map(String::as_str).unwrap_or_default();
        let mut traces = Vec::new();
        for (crd, converter) in &self.converters {
            let scenarios = self.scenarios_of(crd, names);
            if scenarios.is_empty() {
                continue;
            }
            let watch = Stopwatch::default();
            let progress = |step: ScenarioStep, requests| {
                watch.begin(step.scenario());
                (self.observer)(&Event::Step { release, crd: &crd.name, step, requests });
            };
            let setup = scenarios::Setup {
                subject: self.plan.subject,
                crd,
                converter: converter.clone(),
                seed: self.plan.settings.seed,
                in_tree_migration: self.in_tree,
                deployed: self.plan.matrix.deployed,
                progress: Some(&progress),
            };
            match runtime::unless_interrupted(scenarios::run(server, setup, &scenarios)).await {
                Some(trace) => {
                    let ran = if self.plan.share.is_some() { scenarios } else { Vec::new() };
                    traces.push(Trace { scenarios: ran, ..trace? });
                }
                None => self.stop.request(),
            }
            for (scenario, elapsed) in watch.end() {
                timings.add(Unit::on(&crd.name, scenario, release).to_string(), elapsed);
            }
            if self.stop.is_requested() {
                break;
            }
        }
        Ok(traces)
    }
}

/// Measures the durations of scenarios by the beginnings of their steps.
#[derive(Default)]
struct Stopwatch(Mutex<Vec<(Scenario, Instant)>>);

impl Stopwatch {
    /// Begins a scenario, unless it runs.
    fn begin(&self, scenario: Scenario) {
        let mut begun = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if begun.last().is_none_or(|(last, _)| *last != scenario) {
            begun.push((scenario, Instant::now()));
        }
    }

    /// Returns the durations; the last scenario ends now.
    fn end(self) -> Vec<(Scenario, Duration)> {
        let begun = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        let ends = begun.iter().skip(1).map(|(_, at)| *at).chain([Instant::now()]);
        begun.iter().zip(ends).map(|((scenario, at), end)| (*scenario, end.duration_since(*at))).collect()
    }
}

/// Returns the endpoint for the reviews of each CRD.
fn converters<'a>(plan: &Plan<'a>, options: &Options) -> Result<Vec<(&'a Crd, Converter)>, RunError> {
    let subject = plan.subject;
    let (mut maps, mut wire): (Converter, Converter) = (None, None);
    let mut converters = Vec::new();
    for crd in &subject.crds {
        let wrong = |why: String| RunError::ConverterOf { crd: crd.name.clone(), why };
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
                    wire = options.endpoint.open(subject).map_err(wrong)?.map(Arc::from);
                }
                wire.clone()
            }
        };
        converters.push((crd, converter));
    }
    Ok(converters)
}
