//! Starts etcd and kube-apiserver, and measures how long they take and how much memory they need.

use std::fs::{self, File};
use std::io;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use serde::Deserialize;
use ureq::Agent;

use crate::http::{self, Trust};
use crate::interrupt::Interrupt;

/// The timeout for a control plane to become ready.
const READY_TIMEOUT: Duration = Duration::from_secs(120);

pub(super) struct Measured {
    pub(super) ready_seconds: f64,
    pub(super) apiserver_rss_mb: u64,
    pub(super) etcd_rss_mb: u64,
}

/// Starts a release on loopback, waits for `/readyz`, and stops it again.
pub(super) fn start(release: &str, assets: &Path, interrupt: &Interrupt) -> anyhow::Result<Measured> {
    let folder = scratch_folder()?;
    let folder = folder.path();
    let [client, peer, port] = free_ports()?;
    let token = random_token()?;
    fs::write(folder.join("tokens.csv"), format!("{token},admin,admin,system:masters\n"))?;
    fs::write(folder.join("sa.key"), rcgen::KeyPair::generate()?.serialize_pem())?;
    let log = folder.join("log");
    let begin = Instant::now();
    let mut processes = Processes::default();
    let output = File::create(&log)?;
    processes.spawn(&assets.join("etcd"), &etcd_flags(folder, client, peer), &output)?;
    processes.spawn(&assets.join("kube-apiserver"), &apiserver_flags(folder, release, client, port)?, &output)?;

    let server = Server { agent: http::agent(Trust::Anything, Duration::from_secs(5)), port, token };
    while !server.get("/readyz").is_ok_and(|body| body == "ok") {
        interrupt.check()?;
        if processes.any_exited()? || begin.elapsed() > READY_TIMEOUT {
            let text = fs::read_to_string(&log).unwrap_or_default();
            let lines: Vec<&str> = text.lines().collect();
            bail!("{release} does not become ready:\n{}", lines[lines.len().saturating_sub(15)..].join("\n"));
        }
        thread::sleep(Duration::from_millis(50));
    }
    let ready_seconds = (begin.elapsed().as_secs_f64() * 10.0).round() / 10.0;
    let version: Version = serde_json::from_str(&server.get("/version")?)?;
    if version.git_version != format!("v{release}") {
        bail!("{release} says that it is {}", version.git_version);
    }
    let [etcd_rss_mb, apiserver_rss_mb] = processes.memory()?;
    Ok(Measured { ready_seconds, apiserver_rss_mb, etcd_rss_mb })
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Version {
    git_version: String,
}

/// Creates a temporary folder, in memory where possible.
fn scratch_folder() -> io::Result<tempfile::TempDir> {
    let mut builder = tempfile::Builder::new();
    let builder = builder.prefix("release-table.");
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { builder.tempdir_in(memory) } else { builder.tempdir() }
}

fn free_ports() -> io::Result<[u16; 3]> {
    // All are bound before the first is released, so that they differ.
    let listen = || TcpListener::bind("127.0.0.1:0");
    let listeners = [listen()?, listen()?, listen()?];
    let mut ports = [0; 3];
    for (port, listener) in ports.iter_mut().zip(&listeners) {
        *port = listener.local_addr()?.port();
    }
    Ok(ports)
}

fn random_token() -> anyhow::Result<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).context("cannot read random bytes")?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bytes)))
}

fn etcd_flags(folder: &Path, client: u16, peer: u16) -> Vec<String> {
    let folder = folder.display();
    vec![
        format!("--data-dir={folder}/etcd"),
        format!("--listen-client-urls=http://127.0.0.1:{client}"),
        format!("--advertise-client-urls=http://127.0.0.1:{client}"),
        format!("--listen-peer-urls=http://127.0.0.1:{peer}"),
        format!("--initial-advertise-peer-urls=http://127.0.0.1:{peer}"),
        format!("--initial-cluster=default=http://127.0.0.1:{peer}"),
        "--unsafe-no-fsync".to_owned(),
    ]
}

fn apiserver_flags(folder: &Path, release: &str, etcd: u16, port: u16) -> anyhow::Result<Vec<String>> {
    let folder = folder.display();
    let mut flags = vec![
        format!("--etcd-servers=http://127.0.0.1:{etcd}"),
        format!("--secure-port={port}"),
        "--bind-address=127.0.0.1".to_owned(),
        format!("--cert-dir={folder}/certs"),
        format!("--service-account-issuer=https://127.0.0.1:{port}"),
        format!("--service-account-key-file={folder}/sa.key"),
        format!("--service-account-signing-key-file={folder}/sa.key"),
        "--authorization-mode=RBAC".to_owned(),
        "--service-cluster-ip-range=10.0.0.0/24".to_owned(),
        "--disable-admission-plugins=ServiceAccount".to_owned(),
        format!("--token-auth-file={folder}/tokens.csv"),
    ];
    let minor = release.split('.').nth(1).and_then(|minor| minor.parse::<u32>().ok());
    // Older servers listen on an insecure port by default; newer ones do not know the flag.
    if minor.with_context(|| format!("not a release: {release}"))? < 20 {
        flags.push("--insecure-port=0".to_owned());
    }
    Ok(flags)
}

/// The API server that was started.
struct Server {
    agent: Agent,
    port: u16,
    token: String,
}

impl Server {
    fn get(&self, path: &str) -> anyhow::Result<String> {
        let url = format!("https://127.0.0.1:{}{path}", self.port);
        let request = self.agent.get(&url).header("Authorization", format!("Bearer {}", self.token));
        let mut response = request.call().with_context(|| format!("cannot fetch {url}"))?;
        if !response.status().is_success() {
            bail!("cannot fetch {url}: status {}", response.status().as_u16());
        }
        Ok(response.body_mut().read_to_string()?)
    }
}

/// Processes that are killed when the value is dropped, the last one first.
#[derive(Default)]
struct Processes(Vec<Child>);

impl Processes {
    fn spawn(&mut self, program: &Path, flags: &[String], log: &File) -> anyhow::Result<()> {
        let child = Command::new(program)
            .args(flags)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log.try_clone()?)
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        self.0.push(child);
        Ok(())
    }

    fn any_exited(&mut self) -> io::Result<bool> {
        for child in &mut self.0 {
            if child.try_wait()?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the resident memory of the first two processes, in megabytes.
    fn memory(&self) -> anyhow::Result<[u64; 2]> {
        let [first, second] = self.0.as_slice() else { bail!("two processes are measured") };
        Ok([memory_of(first)?, memory_of(second)?])
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        for child in self.0.iter_mut().rev() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn memory_of(process: &Child) -> anyhow::Result<u64> {
    let output = Command::new("ps").args(["-o", "rss=", "-p", &process.id().to_string()]).output();
    let output = output.context("cannot run ps")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let kilobytes: u64 = text.trim().parse().with_context(|| format!("ps printed {text:?}"))?;
    Ok((kilobytes + 500) / 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ports_differ() {
        let [a, b, c] = free_ports().unwrap();
        assert!(a != b && b != c && a != c);
    }

    #[test]
    fn only_old_servers_get_the_insecure_port_flag() {
        let has_flag = |release| {
            let flags = apiserver_flags(Path::new("/tmp"), release, 1, 2).unwrap();
            flags.contains(&"--insecure-port=0".to_owned())
        };
        assert!(has_flag("1.19.7"));
        assert!(!has_flag("1.20.5"));
    }

    #[test]
    fn processes_are_measured_and_killed() {
        let folder = tempfile::tempdir().unwrap();
        let log = File::create(folder.path().join("log")).unwrap();
        let mut processes = Processes::default();
        for _ in 0..2 {
            processes.spawn(Path::new("sleep"), &["60".to_owned()], &log).unwrap();
        }
        assert!(!processes.any_exited().unwrap());
        assert!(processes.memory().unwrap().iter().all(|megabytes| *megabytes < 100));
        let pid = processes.0[0].id();
        drop(processes);
        let output = Command::new("ps").args(["-p", &pid.to_string()]).output().unwrap();
        assert!(!output.status.success());
    }
}
