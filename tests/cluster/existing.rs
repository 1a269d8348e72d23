//! Existing clusters; a local one stands in for them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crdproof::act::scenarios::{Setup, run as run_scenarios};
use crdproof::evidence::Scenario;
use crdproof_envtest::ClusterError;
use crdproof_envtest::LABEL;
use crdproof_envtest::Server;
use crdproof_envtest::api::{Query, definitions};
use crdproof_envtest::existing::{Access, Existing};
use crdproof_envtest::local::{Binaries, Local};
use libtest_mimic::{Completion, Failed};
use serde_json::{Value, json};

use crate::endings;
use crate::support::{block, check, crd, describe};

pub(crate) fn access(kubeconfig: PathBuf) -> Access {
    Access { kubeconfig: vec![kubeconfig], allow_changes: true, ..Access::default() }
}

pub(crate) fn runs_on_existing_clusters_leave_nothing(binaries: &Binaries) -> Result<(), Failed> {
    let managed = binaries.controller_manager.is_some();
    block(async {
        let mut builder = Local::builder(binaries.clone());
        if managed {
            builder = builder.controllers(["namespace"]);
        }
        let server = builder.start().await.map_err(|error| describe(&error))?;
        let api = server.api();
        let names = || async {
            let listed = api.get(&Query::new().labels(LABEL).on(definitions().path())).await?.ok()?.json();
            let items = listed["items"].as_array().cloned().unwrap_or_default();
            Ok::<Vec<Value>, ClusterError>(items.into_iter().map(|item| item["metadata"]["name"].clone()).collect())
        };
        let ours = access(server.kubeconfig().to_owned());

        let dry = Existing::connect(&Access { dry_run: true, allow_changes: false, ..ours.clone() }).await?;
        dry.install_crds(&[crd()]).await?;
        dry.create_namespace().await?;
        check(dry.made().len() == 2 && names().await?.is_empty(), format!("a dry run made {:?}", names().await?))?;
        dry.clean_up().await?;

        let guest = Existing::connect(&ours).await?;
        guest.install_crds(&[crd()]).await?;
        check(names().await? == ["widgets.example.com"], format!("{:?}", names().await?))?;
        // Neither another run nor ours changes existing objects.
        let other = Existing::connect(&ours).await?;
        let refused = other.install_crds(&[crd()]).await.err();
        check(matches!(refused, Some(ClusterError::Exists { .. })), format!("{refused:?}"))?;
        other.clean_up().await?;
        check(names().await?.len() == 1, "another run removed what it did not make")?;

        // Only a controller finishes the deletion of a namespace.
        if managed {
            guest.create_namespace().await?;
        }
        guest.clean_up().await?;
        check(names().await?.is_empty(), format!("left: {:?}", names().await?))
    })
}

pub(crate) fn interrupted_runs_on_existing_clusters_leave_nothing(binaries: &Binaries) -> Result<Completion, Failed> {
    if binaries.controller_manager.is_none() {
        return Ok(Completion::ignored_with("only a controller lets a namespace go, and this release has none"));
    }
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("crd.json");
    std::fs::write(&file, crd().to_string())?;
    block(async {
        let server = Local::builder(binaries.clone()).controllers(["namespace"]).start().await;
        let server = server.map_err(|error| describe(&error))?;
        let (kubeconfig, crds) = (server.kubeconfig().display().to_string(), file.display().to_string());
        let mut tool = endings::tool(&[
            "env",
            "run",
            "--provider",
            "kubeconfig",
            "--kubeconfig",
            &kubeconfig,
            "--allow-changes",
            "--crd",
            &crds,
            "--",
            "sleep",
            "317",
        ])?;
        let api = server.api();
        let ours = [definitions().path(), "/api/v1/namespaces".into()];
        let count = || async {
            let mut count = 0;
            for path in &ours {
                let listed = api.get(&Query::new().labels(LABEL).on(path)).await?.ok()?.json();
                count += listed["items"].as_array().map_or(0, Vec::len);
            }
            Ok::<usize, ClusterError>(count)
        };
        let end = Instant::now() + Duration::from_secs(60);
        while count().await? < 2 {
            check(Instant::now() < end, "the tool made nothing")?;
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        endings::signal("INT", tool.id())?;
        let status = tool.wait()?;
        check(status.code() == Some(6), format!("ended with {status}"))?;
        check(count().await? == 0, format!("{} things are left", count().await?))?;
        Ok(Completion::Completed)
    })
}

/// Scenarios on an existing cluster remove everything that they created, and never change a CRD of others.
pub(crate) fn scenarios_do_not_change_existing_objects(binaries: &Binaries) -> Result<Completion, Failed> {
    if binaries.controller_manager.is_none() {
        return Ok(Completion::ignored_with("only a controller lets a namespace go, and this release has none"));
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/crds/databases-none/crdproof.yaml");
    let subject = crdproof::subject::load::from_file(&file).map_err(|error| error.to_string())?;
    let (subject, under_test) = (&subject, &subject.crds[0]);
    block(async {
        let local = Local::builder(binaries.clone()).controllers(["namespace"]).start().await;
        let local = local.map_err(|error| describe(&error))?;
        let api = local.api();
        let ours = access(local.kubeconfig().to_owned());
        let guest = || async { Ok::<_, ClusterError>(Server::Existing(Box::new(Existing::connect(&ours).await?))) };
        let run_on = |server| async move {
            let setup = Setup {
                subject,
                crd: under_test,
                converter: None,
                seed: 1,
                in_tree_migration: false,
                deployed: false,
                progress: None,
            };
            let seen = run_scenarios(&server, setup, &[Scenario::Serving, Scenario::Apply]).await;
            (seen, server.stop().await)
        };
        let left = || async {
            let mut left = Vec::new();
            for path in [definitions().path(), "/api/v1/namespaces".into()] {
                let listed = api.get(&Query::new().labels(LABEL).on(path)).await?.ok()?.json();
                left.extend(
                    listed["items"].as_array().into_iter().flatten().map(|item| item["metadata"]["name"].clone()),
                );
            }
            Ok::<_, ClusterError>(left)
        };
        let server = guest().await.map_err(|error| describe(&error))?;
        let (seen, stopped) = run_on(server).await;
        stopped.map_err(|error| describe(&error))?;
        let seen = seen.map_err(|error| describe(&error))?;
        check(seen.requests > 50 && seen.records.len() > 5, format!("{} requests", seen.requests))?;
        check(left().await?.is_empty(), format!("left: {:?}", left().await?))?;

        // Another user has a CRD of that name.
        let mut theirs = under_test.node.to_value();
        theirs["metadata"]["annotations"]["example.com/owner"] = "somebody".into();
        let made = api.post(&definitions().path(), &theirs).await?.ok()?.json();
        let server = guest().await.map_err(|error| describe(&error))?;
        let (seen, stopped) = run_on(server).await;
        stopped.map_err(|error| describe(&error))?;
        check(matches!(seen, Err(ClusterError::Exists { .. })), format!("{seen:?}"))?;
        let after = api.get(&definitions().path_of(&under_test.name)).await?.ok()?.json();
        let same = |name: &str| made["metadata"][name] == after["metadata"][name];
        check(same("uid") && same("generation") && after["metadata"]["labels"].is_null(), format!("{after}"))?;
        check(left().await?.is_empty(), format!("left: {:?}", left().await?))?;
        Ok(Completion::Completed)
    })
}

/// The requests of an audit log that store something. Permissions are asked for by creating reviews, which are not stored.
fn writes(log: &[Value]) -> Vec<String> {
    let stores = |event: &&Value| {
        let verb = event["verb"].as_str().unwrap_or_default();
        let is_review = event["objectRef"]["resource"] == "selfsubjectaccessreviews";
        ["create", "update", "patch", "delete", "deletecollection"].contains(&verb) && !is_review
    };
    let of_tool = |event: &&Value| event["userAgent"].as_str().is_none_or(|agent| !agent.contains("kube-apiserver"));
    log.iter()
        .filter(of_tool)
        .filter(stores)
        .map(|event| format!("{} {}", event["verb"], event["requestURI"]))
        .collect()
}

/// Each refusal comes before the first write, which the audit log of the server proves.
pub(crate) fn refusals_write_nothing(binaries: &Binaries) -> Result<(), Failed> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/crds");
    let folder = tempfile::tempdir()?;
    block(async {
        let policy = json!({"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"],
            "rules": [{"level": "Metadata"}]});
        let server = Local::builder(binaries.clone()).audit(policy).start().await.map_err(|error| describe(&error))?;
        let config: Value = serde_json::from_slice(&std::fs::read(server.kubeconfig())?)?;
        let write = |name: &str, change: &dyn Fn(&mut Value)| {
            let (mut changed, path) = (config.clone(), folder.path().join(name));
            change(&mut changed);
            std::fs::write(&path, changed.to_string()).map(|()| path.display().to_string())
        };
        let plain = write("plain", &|_| ())?;
        // Nobody has given this user any permission.
        let nobody = write("nobody", &|config| config["users"][0]["user"]["as"] = "nobody".into())?;
        let production = write("production", &|config| {
            config["contexts"][0]["name"] = "eu-prod".into();
            config["current-context"] = "eu-prod".into();
        })?;
        // The server gives everybody the right to ask for its version soon after it has started.
        let end = Instant::now() + Duration::from_secs(30);
        while let Err(error) = Existing::connect(&access(nobody.clone().into())).await {
            check(Instant::now() < end, error.to_string())?;
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let theirs = crdproof::subject::load::from_file(&fixtures.join("databases-lossy/crdproof.yaml"));
        let theirs = theirs.map_err(|error| error.to_string())?.crds[0].node.to_value();
        let allowed = Some("--allow-changes");
        let cases = [
            (&plain, "databases-none", None, 5, "without --allow-changes"),
            (&production, "databases-none", allowed, 5, "looks like production"),
            (&nobody, "databases-none", allowed, 5, "may not get customresourcedefinitions.apiextensions.k8s.io, list"),
            (&plain, "databases", allowed, 2, "converts by a webhook"),
            (&plain, "databases-none", allowed, 5, "exists already"),
        ];
        for (number, (kubeconfig, subject, flag, code, words)) in cases.into_iter().enumerate() {
            if number == 4 {
                server.api().post(&definitions().path(), &theirs).await?.ok()?;
            }
            let before = server.audit_log().map_err(|error| describe(&error))?.len();
            let file = fixtures.join(subject).join("crdproof.yaml");
            let mut command = Command::new(env!("CARGO_BIN_EXE_crdproof"));
            command.args(["run", "--suite", "serving", "--no-counterexamples", "--provider", "kubeconfig", "-f"]);
            command.arg(file).args(["--kubeconfig", kubeconfig]).args(flag);
            let output = command.output()?;
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            check(output.status.code() == Some(code) && said.contains(words), format!("{words}: {said}"))?;
            let log = server.audit_log().map_err(|error| describe(&error))?;
            let written = writes(&log[before..]);
            check(written.is_empty(), format!("{words}: {written:?}"))?;
        }
        Ok(())
    })
}

pub(crate) fn an_expired_client_certificate_is_reported(binaries: &Binaries) -> Result<(), Failed> {
    use base64::Engine as _;
    block(async {
        let server = Local::builder(binaries.clone()).start().await.map_err(|error| describe(&error))?;
        let mut config: Value = serde_json::from_slice(&std::fs::read(server.kubeconfig())?)?;
        let mut params = rcgen::CertificateParams::new(Vec::new())?;
        params.not_before = rcgen::date_time_ymd(2019, 1, 1);
        params.not_after = rcgen::date_time_ymd(2020, 2, 3);
        let key = rcgen::KeyPair::generate()?;
        let encoded = |text: &str| Value::from(base64::engine::general_purpose::STANDARD.encode(text));
        let user = &mut config["users"][0]["user"];
        user["client-certificate-data"] = encoded(&params.self_signed(&key)?.pem());
        user["client-key-data"] = encoded(&key.serialize_pem());
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("config");
        std::fs::write(&path, config.to_string())?;
        let error = Existing::connect(&access(path)).await.err().ok_or("it was let in")?;
        let words = error.to_string();
        check(words.contains("the client certificate ended on 2020-02-03"), words)
    })
}
