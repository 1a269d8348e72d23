//! The subject's own manager as a child process: started, called and stopped. It never outlives this process.

mod log;

use std::ffi::OsString;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use self::log::Log;
use super::endpoint::{Endpoint, Request};
use super::review;
use super::webhook::Webhook;
use crate::evidence::{Outcome, Transport};
use crate::subject::{Crd, ProcessConfig, Subject};
use crdproof_envtest::binaries::Assets;
use crdproof_envtest::guard::{Guard, Guarded, Output, Spec};
use crdproof_envtest::local::{Binaries, Local};
use crdproof_envtest::{Authority, ClusterError, RunId, error_chain, guarded_folder, runtime, write_private};

/// The default timeout of the first response of a process.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// The timeout of the process to exit after SIGTERM.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);

/// A kubeconfig for a process that has no API server: otherwise it would use the one of the user.
const NO_CLUSTER: &str = "{apiVersion: v1, kind: Config}\n";

/// A webhook that runs as a child process.
pub struct Process {
    webhook: Webhook,
    program: String,
    log: Log,
    guarded: Mutex<Guarded>,
    #[expect(dead_code, reason = "held: the process ends before the server that it needs")]
    server: Option<Local>,
    #[expect(dead_code, reason = "held: dropped last, it kills what is left and removes the certificates")]
    guard: Guard,
}

/// The environment of a process: its port, and the folders of its files.
struct ProcessEnvironment {
    port: u16,
    certificates: PathBuf,
    kubeconfig: PathBuf,
}

impl ProcessEnvironment {
    fn variables(&self) -> [(&'static str, String); 3] {
        [
            ("PORT", self.port.to_string()),
            ("CERT_DIR", self.certificates.display().to_string()),
            ("KUBECONFIG", self.kubeconfig.display().to_string()),
        ]
    }

    /// Replaces our own `$NAME` and `${NAME}` in a text. Other variables are left to the process.
    fn fill(&self, text: &str) -> String {
        let mut filled = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('$') {
            filled.push_str(before);
            let word = |after: &str| after.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
            let (name, next) = match after.strip_prefix('{').and_then(|inner| inner.split_once('}')) {
                Some(braced) => braced,
                None => after.split_at(word(after).unwrap_or(after.len())),
            };
            if let Some((_, value)) = self.variables().into_iter().find(|(known, _)| *known == name) {
                filled.push_str(&value);
                rest = next;
            } else {
                filled.push('$');
                rest = after;
            }
        }
        filled.push_str(rest);
        filled
    }
}

impl Process {
    /// Starts the process, after an API server if it needs one, and returns when it answers. `Err` says why it does
    /// not, with the end of its log.
    pub fn start(subject: &Subject, config: &ProcessConfig, server: Option<&Assets>) -> Result<Self, String> {
        let made = guarded_folder(None, &RunId::new(), |_| Vec::new());
        let (folder, guard) = made.map_err(|error| describe_error(&error))?;
        let authority = certificates(subject, &folder).map_err(|error| describe_error(&error))?;
        let port = port(config)?;
        let scheme = if config.tls { "https" } else { "http" };
        let url = format!("{scheme}://127.0.0.1:{port}{}", config.path.as_deref().unwrap_or("/convert"));
        let mut kubeconfig = folder.join("no.kubeconfig");
        write(&kubeconfig, NO_CLUSTER).map_err(|error| describe_error(&error))?;
        let server = match (config.needs_cluster, server) {
            (false, _) => None,
            (true, None) => {
                return Err("needsCluster is set, but no API server is installed; run `crdproof env use 1.36`".into());
            }
            (true, Some(assets)) => {
                let client = json!({"url": url, "caBundle": STANDARD.encode(&authority)});
                Some(start_server(subject, assets, config.tls.then_some(&client))?)
            }
        };
        if let Some(server) = &server {
            server.kubeconfig().clone_into(&mut kubeconfig);
        }
        let surroundings = ProcessEnvironment { port, certificates: folder, kubeconfig };
        let spec = spec(config, &surroundings, &subject.folder())?;
        let mut guarded = guard.spawn(&spec).map_err(|error| describe_error(&ClusterError::Guard(error)))?;
        let log = Log::keep(&subject.folder(), guarded.take_stdout().ok_or("its output cannot be read")?)?;
        let mut webhook = Webhook::new(&url, Some(authority.as_bytes()))?.trusting("the authority of $CERT_DIR");
        if let Some(timeout) = config.timeout {
            webhook = webhook.timeout(timeout.0);
        }
        let program = config.run.first().cloned().unwrap_or_default();
        let mut process = Self { webhook, program, log, guarded: Mutex::new(guarded), server, guard };
        process.until_ready(config, port, &first_review(subject))?;
        if let Some(file) = &config.ca_file {
            process.trust(&subject.folder().join(surroundings.fill(file)))?;
        }
        Ok(process)
    }

    /// Trusts the authority in a file that the process wrote during its start, and no other.
    fn trust(&mut self, file: &Path) -> Result<(), String> {
        let pem = std::fs::read(file).map_err(|error| {
            let what = format!("is ready, but caFile {} cannot be read: {error}", file.display());
            self.describe(&what)
        })?;
        self.webhook.trust(&pem)
    }

    /// Waits for any response; checks judge its content.
    fn until_ready(&self, config: &ProcessConfig, port: u16, hello: &Request) -> Result<(), String> {
        let ready = config.ready.clone().unwrap_or_default();
        let within = ready.within.map_or(START_TIMEOUT, |within| within.0);
        let end = Instant::now() + within;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let mut pause = Duration::from_millis(10);
        loop {
            let left = end.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
            let last = if ready.tcp {
                TcpStream::connect_timeout(&address, left).err().map(|error| error.to_string())
            } else {
                match self.webhook.send_within(hello, left).0 {
                    Outcome::Answered { .. } | Outcome::Met(_) => None,
                    Outcome::Failed(why) => Some(why),
                }
            };
            let Some(last) = last else {
                // What it needed to start says nothing about how it answers.
                self.webhook.forget_timeouts();
                return Ok(());
            };
            if let Some(ended) = self.ended() {
                return Err(self.describe(&format!("{ended} before it answered")));
            }
            if Instant::now() + pause > end {
                let within = within.as_secs_f32();
                return Err(self.describe(&format!("did not answer at port {port} within {within} s ({last})")));
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(200));
        }
    }

    /// Returns its exit status, if it has ended.
    fn ended(&self) -> Option<String> {
        let mut guarded = self.guarded.lock().unwrap_or_else(PoisonError::into_inner);
        match guarded.try_wait() {
            Ok(None) => None,
            Ok(Some(status)) => Some(format!("ended ({status})")),
            Err(error) => Some(format!("cannot be watched ({error})")),
        }
    }

    /// Returns a message with the end of its log and the path of the rest.
    fn describe(&self, what: &str) -> String {
        self.complete_log();
        let said: String = match self.log.tail().as_slice() {
            [] => "; it wrote nothing".into(),
            tail => format!("; it wrote last:\n{}", tail.iter().map(|line| format!("  {line}\n")).collect::<String>()),
        };
        let said = said.trim_end();
        format!("{} {what}{said}\n  all that it wrote: {}", self.program, self.log.path.display())
    }

    /// Waits until its whole output is in its log, if it has ended.
    fn complete_log(&self) {
        if self.ended().is_some() {
            self.log.complete();
        }
    }

    /// Sends SIGTERM.
    fn terminate(&self) {
        let group = format!("-{}", self.guarded.lock().unwrap_or_else(PoisonError::into_inner).id());
        // The shell's `kill` does it, because calling the kernel directly needs unsafe code. If it fails, the process
        // is killed a moment later.
        let _ = Command::new("/bin/sh").args(["-c", "kill -s TERM -- \"$1\" 2>/dev/null", "kill", &group]).status();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.webhook.close_idle_connections();
        if self.ended().is_none() {
            self.terminate();
        }
        let end = Instant::now() + SHUTDOWN_TIMEOUT;
        while self.ended().is_none() && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(10));
        }
        // The guard kills the process if it has not ended by now.
        self.complete_log();
    }
}

impl Endpoint for Process {
    fn send(&self, request: &Request) -> (Outcome, Duration) {
        let (outcome, took) = self.webhook.send(request);
        (self.add_reason(outcome), took)
    }

    fn hangs(&self) -> bool {
        self.webhook.hangs()
    }

    fn transport(&self, bundle: Option<&[u8]>) -> Option<Transport> {
        self.webhook.transport(bundle)
    }

    fn send_together(&self, requests: &[Request]) -> Vec<(Outcome, Duration)> {
        let answers = self.webhook.send_together(requests);
        answers.into_iter().map(|(outcome, took)| (self.add_reason(outcome), took)).collect()
    }
}

impl Process {
    /// Adds the reason to a missing response, if the process has ended.
    fn add_reason(&self, outcome: Outcome) -> Outcome {
        match (outcome, self.ended()) {
            (Outcome::Failed(why), Some(ended)) => Outcome::Failed(format!(
                "{why}; {} {ended}, all that it wrote is in {}",
                self.program,
                self.log.path.display()
            )),
            (outcome, _) => outcome,
        }
    }
}

impl std::fmt::Debug for Process {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Process").field("program", &self.program).finish_non_exhaustive()
    }
}

fn describe_error(error: &ClusterError) -> String {
    let log = error.log().map(|log| format!("\n{log}")).unwrap_or_default();
    format!("{} ({}){log}", error_chain(error), error.help())
}

fn write(path: &Path, text: &str) -> Result<(), ClusterError> {
    write_private(path, text).map_err(|source| ClusterError::File { path: path.to_owned(), source })
}

/// Writes the certificate for the process, and returns the authority that signed it.
fn certificates(subject: &Subject, folder: &Path) -> Result<String, ClusterError> {
    let authority = Authority::new()?;
    let services = subject.crds.iter().filter_map(|crd| crd.conversion.client.as_ref()?.service.as_ref());
    let services: Vec<String> = services.map(|service| format!("{}.{}.svc", service.name, service.namespace)).collect();
    let mut names: Vec<&str> = services.iter().map(String::as_str).collect();
    names.extend(["localhost", "127.0.0.1"]);
    names.sort_unstable();
    names.dedup();
    let pair = authority.server("crdproof", &names)?;
    for (name, text) in [("tls.crt", &pair.certificate), ("tls.key", &pair.key), ("ca.crt", &authority.certificate)] {
        write(&folder.join(name), text)?;
    }
    Ok(authority.certificate)
}

/// The port to listen on, which must be free: only the process may answer there.
fn port(config: &ProcessConfig) -> Result<u16, String> {
    let wanted = config.port.unwrap_or(0);
    let held = TcpListener::bind((Ipv4Addr::LOCALHOST, wanted)).and_then(|held| held.local_addr());
    held.map(|address| address.port()).map_err(|error| {
        let what = if wanted == 0 { "no port is free".to_owned() } else { format!("port {wanted} cannot be used") };
        format!("{what} ({error}); end what holds it, or leave `port` out")
    })
}

fn spec(config: &ProcessConfig, surroundings: &ProcessEnvironment, folder: &Path) -> Result<Spec, String> {
    let absolute =
        |path: &Path| std::path::absolute(path).map_err(|error| format!("{} cannot be used: {error}", path.display()));
    let mut words = config.run.iter().map(|word| OsString::from(surroundings.fill(word)));
    let program = words.next().ok_or("no command is given")?;
    let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let mut spec = Spec::new(program).args(words).folder(absolute(here)?).output(Output::Merged);
    for (name, value) in surroundings.variables() {
        spec = spec.env(name, value);
    }
    for (name, value) in &config.env {
        spec = spec.env(name, surroundings.fill(value));
    }
    Ok(spec)
}

/// An API server with the subject's CRDs; the process converts if the server can call it.
fn start_server(subject: &Subject, assets: &Assets, client: Option<&Value>) -> Result<Local, String> {
    let crds: Vec<Value> = subject.crds.iter().map(|crd| installable(crd, client)).collect();
    let started = runtime::block_on(async {
        let server = Local::builder(Binaries::from(assets.clone())).start().await?;
        server.install_crds(&crds).await?;
        server.api().apply_objects(&subject.prerequisites, "crdproof").await?;
        Ok(server)
    });
    started
        .and_then(|started| started)
        .map_err(|error| format!("the API server that it needs: {}", describe_error(&error)))
}

fn installable(crd: &Crd, client: Option<&Value>) -> Value {
    let mut value = crd.node.to_value();
    if crd.conversion.strategy == "Webhook" {
        match client {
            Some(client) => value["spec"]["conversion"]["webhook"]["clientConfig"] = client.clone(),
            // API servers never call webhooks without TLS.
            None => value["spec"]["conversion"] = json!({"strategy": "None"}),
        }
    }
    value
}

/// A review of the first CRD with something to convert.
fn first_review(subject: &Subject) -> Request {
    let review = subject.crds.iter().find_map(|crd| {
        let [first, second, ..] = crd.versions.as_slice() else { return None };
        let own = |name: &str| format!("{}/{name}", crd.group);
        let bare = || {
            json!({"apiVersion": own(&first.name), "kind": crd.names.kind,
                   "metadata": {"name": "probe", "uid": "7c9e6679-7425-40de-944b-e07fc1f90ae7"}})
        };
        let object = subject.samples_of(crd).next().map_or_else(bare, |sample| sample.object.clone());
        let to = if object["apiVersion"] == own(&second.name) { first } else { second };
        Some(review::request("v1", &own(&to.name), &[object]))
    });
    Request::post(review.unwrap_or_else(|| review::request("v1", "", &[])).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_variables_are_filled_in_and_others_are_left() {
        let surroundings = ProcessEnvironment { port: 7, certificates: "/c".into(), kubeconfig: "/k".into() };
        for (text, filled) in [
            ("--port=$PORT", "--port=7"),
            ("${CERT_DIR}/tls.crt", "/c/tls.crt"),
            ("$CERT_DIR/$KUBECONFIG", "/c//k"),
            ("$PORTS $HOME $ ${PORT", "$PORTS $HOME $ ${PORT"),
            ("plain", "plain"),
        ] {
            assert_eq!(surroundings.fill(text), filled, "{text}");
        }
    }
}
