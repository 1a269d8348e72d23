//! Speed of the checks on a converter, compared with the throughput of its endpoint: a load generator sends the same
//! reviews and ignores the responses. Both call `crdproof serve` in a separate process. A third client only reads the
//! responses, which is the least that a judge must do. The difference between it and the load generator is the cost of
//! reading; the difference between the checks and it is the cost of generating and judging objects.
//!
//! If `taskset` is available, this is measured twice: with half of the cores for the server and half for the client, as
//! if the webhook ran elsewhere, and with all cores for both, where the client competes with the server. The clients
//! take turns, and ratios are medians of rounds. Asserts nothing about time.
//!
//! ```sh
//! cargo bench --bench converter            # 4000 objects of each version
//! cargo bench --bench converter -- 10000   # more objects
//! cargo bench --bench converter -- checks    # only the checks, for a profiler
//! ```
#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use std::error::Error;
use std::io::BufRead as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use base64::Engine as _;
use crdproof::converter::endpoint::{Endpoint, ReplacementEndpoint, Request};
use crdproof::converter::webhook::Webhook;
use crdproof::evidence::Outcome;
use crdproof::report::Outcome as Judged;
use crdproof::run::{Observations, Options, SUITES, Selection, ServerMatrix, Settings, load_suite, plan};
use crdproof::subject::Subject;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

type Fallible<T> = Result<T, Box<dyn Error>>;

/// Requests that the load generator has in flight.
const IN_FLIGHT: usize = 8;

/// Rounds of measurements.
const ROUNDS: usize = 9;

/// Environment variable that names the server's cores to the process that has the others.
const SERVER_CORES: &str = "CRDPROOF_BENCH_SERVER_CORES";

fn main() -> Fallible<()> {
    // `cargo bench` adds its own flags.
    let given: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let alone = given.iter().any(|word| word == "checks");
    let objects = given.iter().find(|word| *word != "checks").map_or(Ok(4000), |number| number.parse())?;
    let cores = std::env::var(SERVER_CORES).ok();
    if cores.is_none() && !alone {
        on_separate_cores(objects)?;
        println!("\nall cores for both:");
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/mutants/subjects/gateways/crdproof.yaml");
    let subject = crdproof::subject::load::from_file(&file)?;
    let served = Served::start(&file, cores.as_deref())?;
    let endpoint: Arc<dyn Endpoint> = Arc::new(Webhook::new(&served.url, Some(&served.authority))?);
    if alone {
        return (0..ROUNDS).try_for_each(|_| run_checks(&subject, Arc::clone(&endpoint), objects).map(drop));
    }
    compare(&subject, &served, &endpoint, objects)
}

/// Runs the benchmark in a process that has half of the cores; the server has the others.
fn on_separate_cores(objects: usize) -> Fallible<()> {
    let cores = std::thread::available_parallelism()?.get();
    let known = Command::new("taskset").arg("--version").stdout(Stdio::null()).status();
    if cores < 2 || known.is_err() {
        println!("no cores for each: there is one core, or no taskset");
        return Ok(());
    }
    let (server, client) = (format!("0-{}", cores / 2 - 1), format!("{}-{}", cores / 2, cores - 1));
    println!("half of {cores} cores for each:");
    let mut again = Command::new("taskset");
    again.args(["--cpu-list", &client]).arg(std::env::current_exe()?).arg(objects.to_string());
    let status = again.env(SERVER_CORES, server).status()?;
    if status.success() { Ok(()) } else { Err("the measurement on cores apart failed".into()) }
}

fn compare(subject: &Subject, served: &Served, endpoint: &Arc<dyn Endpoint>, objects: usize) -> Fallible<()> {
    let recorder = Arc::new(Recorder { inner: Arc::clone(endpoint), bodies: Mutex::default() });
    run_checks(subject, recorder.clone(), objects)?;
    let bodies: Vec<Bytes> = std::mem::take(&mut *recorder.bodies.lock().map_err(|error| error.to_string())?);
    let sent: usize = bodies.iter().map(|body| count(body)).sum();
    println!("{objects} objects of each version: {sent} conversions in {} reviews", bodies.len());

    let (mut ours, mut plain, mut reading) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        ours.push(served.measure(|| run_checks(subject, Arc::clone(endpoint), objects))?);
        plain.push(served.measure(|| load(served, &bodies, Answers::Forgotten))?);
        reading.push(served.measure(|| load(served, &bodies, Answers::Read))?);
    }
    let ratio = |others: &[Cost]| {
        let rounds = plain.iter().zip(others);
        median(rounds.map(|(plain, other)| plain.took / other.took).collect())
    };
    println!(
        "{:<16}{:>14}{:>10}{:>20}{:>20}{:>12}",
        "", "conversions/s", "ratio", "client, µs CPU each", "server, µs CPU each", "cores busy"
    );
    for (name, all) in [("checks", &ours), ("load generator", &plain), ("reading answers", &reading)] {
        let each = |cost: fn(&Cost) -> f64| median(all.iter().map(cost).collect());
        let (took, here, there) = (each(|one| one.took), each(|one| one.client), each(|one| one.server));
        let sent = as_float(sent);
        println!(
            "{name:<16}{:>14.0}{:>10.2}{:>20.1}{:>20.1}{:>12.2}",
            sent / took,
            ratio(all),
            here * 1e6 / sent,
            there * 1e6 / sent,
            (here + there) / took
        );
    }
    Ok(())
}

/// Duration in seconds: wall clock, and CPU time of this process and of the server, if the system reports it.
struct Cost {
    took: f64,
    client: f64,
    server: f64,
}

/// `crdproof serve` in a separate process, until it is dropped.
struct Served {
    process: Child,
    url: String,
    authority: Vec<u8>,
}

impl Served {
    fn start(subject: &Path, cores: Option<&str>) -> Fallible<Self> {
        let program = env!("CARGO_BIN_EXE_crdproof");
        let mut command = Command::new(if cores.is_some() { "taskset" } else { program });
        if let Some(cores) = cores {
            command.args(["--cpu-list", cores, program]);
        }
        command.arg("serve").arg("-f").arg(subject).args(["--listen", "127.0.0.1:0"]);
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let mut line = String::new();
        std::io::BufReader::new(process.stderr.take().ok_or("no stderr")?).read_line(&mut line)?;
        let url = line.split('"').nth(1).ok_or("no address")?.to_owned();
        line.clear();
        std::io::BufReader::new(process.stdout.take().ok_or("no stdout")?).read_line(&mut line)?;
        let bundle = line.trim().strip_prefix("caBundle: ").ok_or("no caBundle")?;
        let authority = base64::engine::general_purpose::STANDARD.decode(bundle)?;
        Ok(Self { process, url, authority })
    }

    fn measure(&self, what: impl FnOnce() -> Fallible<Duration>) -> Fallible<Cost> {
        let server = self.process.id().to_string();
        let before = (cpu_seconds("self"), cpu_seconds(&server));
        let took = what()?.as_secs_f64();
        Ok(Cost { took, client: cpu_seconds("self") - before.0, server: cpu_seconds(&server) - before.1 })
    }
}

/// The user and system CPU time of a process until now, in seconds; NaN without `/proc`.
fn cpu_seconds(process: &str) -> f64 {
    // The kernel reports hundredths of a second.
    const TICKS: f64 = 100.0;
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The name of the process may contain blanks.
    let fields: Vec<&str> = text.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|text| text.parse().ok()).unwrap_or(f64::NAN);
    (ticks(11) + ticks(12)) / TICKS
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Keeps every body that is posted.
struct Recorder {
    inner: Arc<dyn Endpoint>,
    bodies: Mutex<Vec<Bytes>>,
}

impl Endpoint for Recorder {
    fn send(&self, request: &Request) -> (Outcome, Duration) {
        if let Ok(mut bodies) = self.bodies.lock() {
            bodies.push(request.body.clone());
        }
        self.inner.send(request)
    }
}

/// Runs the converter suite once. `Err` if a check fails, because then the time would mean something else.
fn run_checks(subject: &Subject, endpoint: Arc<dyn Endpoint>, objects: usize) -> Fallible<Duration> {
    let (name, text) = SUITES.iter().find(|(name, _)| *name == "converter").ok_or("no such suite")?;
    let suite = load_suite(name, name, text).map_err(|error| error.message)?;
    let settings = Settings {
        selection: Selection { suites: vec![suite], ..Selection::default() },
        seed: 1,
        objects: Some(objects),
        endpoint: Some(ReplacementEndpoint(endpoint)),
        ..Settings::default()
    };
    let options = Options::on(jiff::civil::date(2026, 1, 1));
    let started = Instant::now();
    let plan = plan(subject, &settings, &ServerMatrix::default());
    let report = crdproof::run::judge(&plan, &Observations::default(), &options).report;
    let took = started.elapsed();
    let broken = report.results.iter().find(|result| result.outcome == Judged::Failed);
    broken.map_or(Ok(took), |result| Err(format!("{} is broken", result.check).into()))
}

/// Handling of responses by a client.
#[derive(Clone, Copy, PartialEq)]
enum Answers {
    Forgotten,
    Read,
}

/// Sends the same reviews from a client that ignores the responses, or only reads them.
fn load(served: &Served, bodies: &[Bytes], answers: Answers) -> Fallible<Duration> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(&served.authority)?)?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let mut http = HttpConnector::new();
    http.enforce_http(false);
    http.set_nodelay(true);
    let connector = hyper_rustls::HttpsConnectorBuilder::new()
        .with_tls_config(config.with_root_certificates(roots).with_no_client_auth())
        .https_only()
        .enable_http1()
        .wrap_connector(http);
    let client: Client<_, Full<Bytes>> = Client::builder(TokioExecutor::new()).build(connector);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let next = AtomicUsize::new(0);
    let started = Instant::now();
    runtime.block_on(async {
        let worker = || async {
            while let Some(body) = bodies.get(next.fetch_add(1, Ordering::Relaxed)) {
                let request = http::Request::post(&served.url).header("content-type", "application/json");
                let mut answer = client.request(request.body(Full::new(body.clone()))?).await?;
                if answers == Answers::Read {
                    let body = answer.collect().await?.to_bytes();
                    drop(serde_json::from_slice::<serde_json::Value>(&body)?);
                    continue;
                }
                while let Some(frame) = answer.frame().await {
                    drop(frame?);
                }
            }
            Ok::<(), Box<dyn Error>>(())
        };
        futures::future::try_join_all((0..IN_FLIGHT).map(|_| worker())).await
    })?;
    Ok(started.elapsed())
}

/// The number of objects in a review.
fn count(body: &[u8]) -> usize {
    let review: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
    review["request"]["objects"].as_array().map_or(0, Vec::len)
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn as_float(count: usize) -> f64 {
    count as f64
}

/// The median.
fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or(f64::NAN)
}
