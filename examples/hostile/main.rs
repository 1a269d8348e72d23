//! Measures that runs against hostile webhooks end soon and stay small: `scripts/hostile`.
//!
//! Every behaviour gets a webhook of its own on this machine, and `crdproof run --suite quick` is measured against it.

#![expect(clippy::print_stdout, reason = "a program for people")]

mod behaviours;
mod server;

use std::fmt;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;
use server::Behaviour;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Every run must end within this time, and with no more memory.
const MAX_TIME: Duration = Duration::from_secs(60);
const MAX_MEGABYTES: u64 = 500;

/// Runs that are measured at once. Most wait for their webhook.
const TOGETHER: usize = 3;

/// One run.
struct Measured {
    exit: Option<i32>,
    took: Duration,
    megabytes: u64,
    findings: usize,
    stderr: usize,
}

impl Measured {
    /// A verdict, a webhook that cannot be asked, or an incomplete run; never a panic or an internal error.
    fn is_good(&self) -> bool {
        matches!(self.exit, Some(0 | 1 | 5 | 6)) && self.took < MAX_TIME && self.megabytes < MAX_MEGABYTES
    }
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let exit = self.exit.map_or_else(|| "-".to_owned(), |code| code.to_string());
        let (seconds, kilobytes) = (self.took.as_secs_f32(), self.stderr / 1000);
        let (megabytes, findings) = (self.megabytes, self.findings);
        write!(f, "{exit:>4} {seconds:>8.1} {megabytes:>6} {findings:>8} {kilobytes:>9}")?;
        if self.is_good() { Ok(()) } else { f.write_str("  ✗") }
    }
}

fn main() -> Result<ExitCode, Failure> {
    let mut words = std::env::args().skip(1);
    let program = words.next().ok_or("usage: hostile PROGRAM [TEXT]")?;
    let program = std::fs::canonicalize(program)?;
    let only = words.next().unwrap_or_default();
    let all: Vec<_> = behaviours::ALL.iter().filter(|(name, _)| name.contains(&only)).collect();
    println!("{:<42} exit  seconds     MB findings stderr kB", "behaviour");
    let (next, bad, failed) = (AtomicUsize::new(0), AtomicUsize::new(0), Mutex::new(None));
    std::thread::scope(|scope| {
        for _ in 0..TOGETHER {
            scope.spawn(|| {
                while let Some((name, behaviour)) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                    match measure(&program, *behaviour) {
                        Ok(measured) => {
                            println!("{name:<42} {measured}");
                            bad.fetch_add(usize::from(!measured.is_good()), Ordering::Relaxed);
                        }
                        Err(error) => *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error),
                    }
                }
            });
        }
    });
    if let Some(error) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    let (bad, limit) = (bad.into_inner(), MAX_TIME.as_secs());
    println!("{} behaviours, {bad} beyond {limit} s, {MAX_MEGABYTES} MB or the exit codes 0, 1, 5 and 6", all.len());
    Ok(if bad == 0 && !all.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs the program against a webhook that behaves so.
fn measure(program: &Path, behaviour: Behaviour) -> Result<Measured, Failure> {
    let server = server::start(behaviour)?;
    let folder = tempfile::tempdir()?;
    write_subject(folder.path(), &server)?;
    let errors = folder.path().join("stderr");
    let started = Instant::now();
    let mut child = Command::new(program)
        .args(["run", "--suite", "quick", "--report", "json=report.json"])
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .stderr(std::fs::File::create(&errors)?)
        .spawn()?;
    let (exit, megabytes) = watch(&mut child)?;
    let took = started.elapsed();
    let report = std::fs::read(folder.path().join("report.json")).unwrap_or_default();
    let report: Value = serde_json::from_slice(&report).unwrap_or_default();
    let findings = report["findings"].as_array().map_or(0, Vec::len);
    let stderr = usize::try_from(std::fs::metadata(&errors)?.len())?;
    Ok(Measured { exit, took, megabytes, findings, stderr })
}

/// A subject whose converter is this webhook.
fn write_subject(folder: &Path, server: &server::Server) -> Result<(), Failure> {
    let crd = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/checks/webhook/uid-echoed/pass/crd.yaml");
    std::fs::copy(crd, folder.join("crd.yaml"))?;
    let sample = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a, namespace: default}\nspec: {size: 1}\n";
    std::fs::write(folder.join("sample.yaml"), sample)?;
    let authority = match &server.authority {
        Some(pem) => {
            std::fs::write(folder.join("ca.crt"), pem)?;
            ", caFile: ca.crt"
        }
        None => "",
    };
    let url = &server.url;
    let subject = format!(
        "apiVersion: crdproof/v1alpha1\nkind: Subject\ncrds: {{paths: [crd.yaml]}}\nsamples: [sample.yaml]\n\
         converter: {{webhook: {{url: '{url}'{authority}}}}}\n"
    );
    std::fs::write(folder.join("crdproof.yaml"), subject)?;
    Ok(())
}

/// Waits for the end of a process; longer than allowed, so that the table says how long it took. Returns its exit code
/// and the most memory that it had, by `/proc`.
fn watch(child: &mut Child) -> Result<(Option<i32>, u64), Failure> {
    let status = format!("/proc/{}/status", child.id());
    let (mut most, end) = (0, Instant::now() + MAX_TIME * 3);
    loop {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let peak = text
            .lines()
            .find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
        most = most.max(peak.unwrap_or_default() / 1024);
        if let Some(status) = child.try_wait()? {
            return Ok((status.code(), most));
        }
        if Instant::now() >= end {
            child.kill()?;
            child.wait()?;
            return Ok((None, most));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}
