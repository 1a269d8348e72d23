//! k3s as a process. The stand-in of `scripts/airgapped` takes its place: it starts and answers like k3s, which no registry of
//! programs offers.

use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use crdproof::evidence::Scenario;
use crdproof_envtest::Server;
use crdproof_envtest::k3s::K3s;
use crdproof_envtest::local::Binaries;
use crdproof_schema::kubernetes::KubeVersion;
use libtest_mimic::{Completion, Failed};

use crate::containers::converts;
use crate::endings::{self, nothing_is_left, release, within};
use crate::scenarios::hold_on;
use crate::support::{block, check, describe, said};

/// A folder with the program `k3s`, and what that starts.
struct StandIn {
    folder: tempfile::TempDir,
    release: String,
}

impl StandIn {
    /// Builds it; `None` without Go.
    fn build(binaries: &Binaries) -> Result<Option<Self>, Failed> {
        let (folder, release) = (tempfile::tempdir()?, release(binaries)?);
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/airgapped/k3s-stand-in.d");
        let built = Command::new("go")
            .args(["build", "-ldflags", &format!("-X main.release={release}"), "-o"])
            .arg(folder.path().join("k3s"))
            .arg(".")
            .current_dir(source)
            .envs([("GOWORK", "off"), ("GOFLAGS", "-mod=mod"), ("CGO_ENABLED", "0")])
            .output();
        let Ok(built) = built else { return Ok(None) };
        check(built.status.success(), said(&built))?;
        symlink(&binaries.etcd, folder.path().join("etcd"))?;
        symlink(&binaries.apiserver, folder.path().join("kube-apiserver"))?;
        Ok(Some(Self { folder, release }))
    }

    fn program(&self) -> PathBuf {
        self.folder.path().join("k3s")
    }

    fn tool(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_crdproof"));
        // Settings of a k3s of this machine must not count.
        command.args(arguments).env("K3S_BIN", self.program()).env("K3S_DATASTORE_ENDPOINT", "http://127.0.0.1:1");
        command
    }
}

fn skipped() -> Completion {
    Completion::ignored_with("only Go builds the stand-in for k3s; install Go 1.21 or later")
}

pub(crate) fn k3s_runs_as_a_process(binaries: &Binaries) -> Result<Completion, Failed> {
    let Some(stand_in) = StandIn::build(binaries)? else { return Ok(skipped()) };
    let folder = block(async {
        let version: KubeVersion = stand_in.release.parse()?;
        let builder = K3s::builder(version).program(stand_in.program()).apiserver_arg("max-requests-inflight=401");
        builder.check().map_err(|error| describe(&error))?;
        let k3s = builder.start().await.map_err(|error| describe(&error))?;
        let folder = k3s.kubeconfig().parent().ok_or("no folder")?.to_owned();
        let server = Server::K3s(Box::new(k3s));
        check(server.version() == version, format!("it says {}", server.version()))?;
        converts(&server).await?;
        hold_on(&server, &[Scenario::Serving], 18).await?;
        server.stop().await.map_err(|error| describe(&error))?;
        Ok::<_, Failed>(folder)
    })?;
    check(!folder.exists(), format!("{} is left", folder.display()))?;
    Ok(Completion::Completed)
}

pub(crate) fn runs_use_the_k3s_program(binaries: &Binaries) -> Result<Completion, Failed> {
    let Some(stand_in) = StandIn::build(binaries)? else { return Ok(skipped()) };
    let subject = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/crds/databases/crdproof.yaml");
    let run = ["run", "-f", subject, "--suite", "serving", "--only", "serving/*", "--no-counterexamples"];
    let k3s = ["--provider", "k3s", "--kubernetes"];
    let output = stand_in.tool(&[&run[..], &k3s, &["1.36"]].concat()).output()?;
    check(output.status.success(), said(&output))?;
    let runs = format!("Kubernetes {} runs in k3s", stand_in.release);
    check(said(&output).contains(&runs), said(&output))?;

    let refused = |output: &Output, words: &str| {
        check(output.status.code() == Some(5) && said(output).contains(words), format!("{words}: {}", said(output)))
    };
    let output = stand_in.tool(&[&run[..], &k3s, &["1.20"]].concat()).output()?;
    refused(&output, "is not k3s of Kubernetes 1.20")?;
    let output = stand_in.tool(&[&run[..], &k3s, &["1.36", "--k3s", "/bin/sh"]].concat()).output()?;
    refused(&output, "is not a k3s program")?;
    Ok(Completion::Completed)
}

pub(crate) fn nothing_is_left_of_a_k3s_process(binaries: &Binaries) -> Result<Completion, Failed> {
    let Some(stand_in) = StandIn::build(binaries)? else { return Ok(skipped()) };
    let folder = stand_in.folder.path().display().to_string();
    for name in ["KILL", "INT"] {
        let run = ["env", "run", "1.36", "--provider", "k3s", "--assets", &folder, "--", "sleep", "319"];
        let mut tool = stand_in.tool(&run).env_remove("K3S_BIN").stderr(Stdio::null()).spawn()?;
        let owner = tool.id().to_string();
        let works = || {
            let children = Command::new("ps").args(["--ppid", &owner, "-o", "args="]).output().ok()?;
            String::from_utf8_lossy(&children.stdout).contains("sleep 319").then_some(())
        };
        check(within(Duration::from_secs(60), works).is_some(), "the command never ran")?;
        endings::signal(name, tool.id())?;
        let status = tool.wait()?;
        check(name == "KILL" || status.code() == Some(6), format!("{name}: ended with {status}"))?;
        nothing_is_left(tool.id())?;
    }
    Ok(Completion::Completed)
}
