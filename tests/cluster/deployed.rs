//! CRDs that are installed on an existing cluster are tested through the webhook that is really there.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crdproof_envtest::LABEL;
use crdproof_envtest::api::{FieldValidation, PatchKind, Query, Resource, definitions};
use crdproof_envtest::local::{Binaries, Local};
use libtest_mimic::{Completion, Failed};
use serde_json::{Value, json};

use crate::endings::signal;
use crate::staging::{Cluster, Defect, NAME, document, own_address, until, without_controllers};
use crate::support::{block, check, describe, said};

pub(crate) fn a_deployed_webhook_is_tested_where_it_runs(binaries: &Binaries) -> Result<Completion, Failed> {
    if let Some(ignored) = without_controllers(binaries) {
        return Ok(ignored);
    }
    block(async {
        let cluster = Cluster::prepare(binaries, "Namespaced", Defect::None).await?;
        let before = cluster.definition().await?;
        let output = cluster.run("tester", &["--allow-changes", "--report", "json=report.json"]).output()?;
        check(output.status.code() == Some(0), said(&output))?;
        let report: Value = serde_json::from_slice(&std::fs::read(cluster.folder.path().join("report.json"))?)?;
        let results = report["results"].as_array().ok_or("no results")?;
        let passed = results.iter().filter(|result| result["outcome"] == "passed").count();
        check(passed > 15, format!("{passed} checks passed: {}", said(&output)))?;
        let steps = report["scenarios"][0]["steps"].as_array().ok_or("no steps")?;
        let inferred = steps.iter().find(|step| step["step"] == "serving/stored-inferred").ok_or("nothing inferred")?;
        let stored = inferred["stored"].as_object().ok_or("nothing stored")?;
        check(stored.contains_key("v1") && !stored.contains_key("unknown"), format!("{stored:?}"))?;
        cluster.is_as_it_was(&before).await?;

        let refusals: [(&str, &[&str], &str); 4] = [
            ("tester", &[], "without --allow-changes"),
            ("production", &["--allow-changes"], "looks like production"),
            (
                "nobody",
                &["--allow-changes"],
                "may not get customresourcedefinitions.apiextensions.k8s.io, create databases",
            ),
            (
                "tester",
                &["--allow-changes", "--suite", "storage", "--only", "storage"],
                "the selection leaves nothing to test",
            ),
        ];
        for (user, flags, words) in refusals {
            let output = cluster.run(user, flags).output()?;
            check([Some(4), Some(5)].contains(&output.status.code()), format!("{words}: {}", said(&output)))?;
            check(said(&output).contains(words), format!("{words}: {}", said(&output)))?;
            cluster.is_as_it_was(&before).await?;
        }
        Ok(Completion::Completed)
    })
}

pub(crate) fn defects_of_a_deployed_webhook_are_found(binaries: &Binaries) -> Result<Completion, Failed> {
    if let Some(ignored) = without_controllers(binaries) {
        return Ok(ignored);
    }
    for (defect, field) in [(Defect::Loss, ".spec.password"), (Defect::OneWayRename, ".spec.user")] {
        block(async {
            let cluster = Cluster::prepare(binaries, "Namespaced", defect).await?;
            let before = cluster.definition().await?;
            let output = cluster.run("tester", &["--allow-changes"]).output()?;
            check(output.status.code() == Some(1), said(&output))?;
            check(said(&output).contains("serving/writes-lose-nothing"), said(&output))?;
            check(said(&output).contains(field), said(&output))?;
            cluster.is_as_it_was(&before).await
        })?;
    }
    Ok(Completion::Completed)
}

pub(crate) fn a_deployed_webhook_is_asked_through_its_service(binaries: &Binaries) -> Result<Completion, Failed> {
    if let Some(ignored) = without_controllers(binaries) {
        return Ok(ignored);
    }
    let Some(address) = own_address() else {
        return Ok(Completion::ignored_with("endpoints of Services need an address that is not on loopback"));
    };
    for (defect, code) in [(Defect::None, 0), (Defect::Loss, 1)] {
        block(async {
            let cluster = Cluster::prepare_at(binaries, "Namespaced", defect, Some(address)).await?;
            let before = cluster.definition().await?;
            let asked = || {
                let suites = ["run", "--suite", "converter", "--suite", "webhook", "--objects", "50", "--deployed"];
                let mut command = cluster.command(&suites);
                command.args(["--provider", "kubeconfig", "--kubeconfig", "tester", "--no-counterexamples"]);
                command.args(["--report", "json=report.json"]).output()
            };
            let refused = asked()?;
            check(refused.status.code() == Some(5), said(&refused))?;
            check(said(&refused).contains("you may not get services/proxy in system"), said(&refused))?;
            check(said(&refused).contains("crdproof env rbac --proxy"), said(&refused))?;

            // Scenarios go through the Service, whether the user may call it or not.
            let mixed = cluster.run("tester", &["--allow-changes", "--suite", "converter"]).output()?;
            check(mixed.status.code() == Some(code), said(&mixed))?;
            check(
                said(&mixed).contains("the webhook is not asked itself, only through objects: you may not"),
                said(&mixed),
            )?;

            let printed = cluster.tool(&["env", "rbac", "-f", "crdproof.yaml", "--proxy"])?;
            let role = document(&String::from_utf8_lossy(&printed.stdout), 0)?;
            cluster.api.put("/apis/rbac.authorization.k8s.io/v1/clusterroles/crdproof", &role).await?.ok()?;
            let granted = Instant::now();
            let output = loop {
                let output = asked()?;
                // The API server reads new rules a moment later.
                if output.status.code() != Some(5) || granted.elapsed() > Duration::from_secs(10) {
                    break output;
                }
            };
            check(output.status.code() == Some(code), said(&output))?;
            check(said(&output).contains("the webhook that is asked: the Service system/hook"), said(&output))?;
            let report: Value = serde_json::from_slice(&std::fs::read(cluster.folder.path().join("report.json"))?)?;
            let results = report["results"].as_array().ok_or("no results")?;
            let passed = results.iter().filter(|result| result["outcome"] == "passed").count();
            check(passed > 25, format!("{passed} checks passed: {}", said(&output)))?;
            if defect == Defect::Loss {
                let findings = report["findings"].as_array().ok_or("no findings")?;
                let lost = findings.iter().find(|finding| finding["check"] == "converter/round-trip-lossless");
                let line = lost.and_then(|lost| lost["reproduce"].as_str()).ok_or("nothing is lost")?;
                check(line.contains("--deployed --provider kubeconfig --kubeconfig tester"), line)?;
            }

            cluster.is_as_it_was(&before).await
        })?;
    }
    Ok(Completion::Completed)
}

pub(crate) fn a_deployed_crd_that_disappears_leaves_nothing(binaries: &Binaries) -> Result<Completion, Failed> {
    if let Some(ignored) = without_controllers(binaries) {
        return Ok(ignored);
    }
    block(async {
        let cluster = Cluster::prepare(binaries, "Namespaced", Defect::None).await?;
        let run = cluster.run("tester", &["--allow-changes"]).stderr(Stdio::piped()).spawn()?;
        check(until(&cluster, 3).await?, "there were never 3 objects")?;
        cluster.api.delete(&definitions().path_of(NAME)).await?.ok()?;
        let output = run.wait_with_output()?;
        check([Some(1), Some(5)].contains(&output.status.code()), said(&output))?;
        check(said(&output).contains("404") || said(&output).contains("not found"), said(&output))?;
        let namespaces = cluster.api.get(&Query::new().labels(LABEL).on("/api/v1/namespaces")).await?.ok()?.json();
        check(namespaces["items"] == json!([]), format!("left: {namespaces}"))
    })?;
    Ok(Completion::Completed)
}

/// The moment at which a run is killed.
#[derive(Debug, Clone, Copy)]
enum Moment {
    /// As soon as this many of its objects are in the cluster, the namespace included.
    Objects(usize),
    /// This long after its first object.
    After(Duration),
}

impl Moment {
    async fn comes(self, cluster: &Cluster) -> Result<bool, Failed> {
        match self {
            Self::Objects(count) => until(cluster, count).await,
            Self::After(time) => {
                let begun = until(cluster, 1).await?;
                tokio::time::sleep(time).await;
                Ok(begun)
            }
        }
    }
}

pub(crate) fn deployed_kinds_without_a_namespace_keep_the_objects_of_others(
    binaries: &Binaries,
) -> Result<Completion, Failed> {
    if let Some(ignored) = without_controllers(binaries) {
        return Ok(ignored);
    }
    block(async {
        let cluster = Cluster::prepare(binaries, "Cluster", Defect::None).await?;
        let kind = Resource::cluster_wide("example.com", "v2", "databases");
        let theirs = json!({"apiVersion": "example.com/v2", "kind": "Database", "metadata": {"name": "v2-0"},
            "spec": {"databaseName": "theirs", "password": "theirs"}});
        let theirs = cluster.api.post(&kind.path(), &theirs).await?.ok()?.json();
        let before = cluster.definition().await?;
        let output = cluster.run("tester", &["--allow-changes"]).output()?;
        check(output.status.code() == Some(0), said(&output))?;
        cluster.is_as_it_was(&before).await?;
        let after = cluster.api.get(&kind.path_of("v2-0")).await?.ok()?.json();
        check(after == theirs, format!("an object of others was changed: {after}"))
    })?;
    Ok(Completion::Completed)
}

pub(crate) fn an_ended_run_on_a_deployed_crd_is_swept(binaries: &Binaries) -> Result<Completion, Failed> {
    if let Some(ignored) = without_controllers(binaries) {
        return Ok(ignored);
    }
    block(async {
        let mut cluster = Cluster::prepare(binaries, "Namespaced", Defect::None).await?;
        let before = cluster.definition().await?;
        let late = [100, 400, 900].map(|time| Moment::After(Duration::from_millis(time)));
        for moment in (1..=7).map(Moment::Objects).chain(late) {
            let mut run = cluster.run("tester", &["--allow-changes", "--quiet"]).stderr(Stdio::null()).spawn()?;
            let came = moment.comes(&cluster).await?;
            signal("KILL", run.id())?;
            run.wait()?;
            check(came, format!("{moment:?} never came"))?;
            let sweep = ["env", "sweep", "--kubeconfig", "tester", "--allow-changes"];
            let swept = cluster.tool(&sweep)?;
            check(swept.status.success() && !swept.stdout.is_empty(), said(&swept))?;
            cluster.is_as_it_was(&before).await?;
        }
        let mut run = cluster.run("tester", &["--allow-changes", "--quiet"]).stderr(Stdio::null()).spawn()?;
        check(until(&cluster, 3).await?, "there were never 3 objects")?;
        signal("INT", run.id())?;
        check(run.wait()?.code() == Some(6), "an interrupted run is incomplete")?;
        cluster.is_as_it_was(&before).await?;

        let run = cluster.run("tester", &["--allow-changes"]).stderr(Stdio::piped()).spawn()?;
        check(until(&cluster, 3).await?, "there were never 3 objects")?;
        cluster.webhook.kill()?;
        let output = run.wait_with_output()?;
        check(output.status.code() == Some(1), format!("a webhook that dies is a finding: {}", said(&output)))?;
        cluster.is_as_it_was(&before).await?;

        // Nothing converts this object any more, so nobody knows whose it is.
        let kind = Resource::cluster_wide("example.com", "v1", "databases").within("default");
        let theirs = json!({"apiVersion": "example.com/v1", "kind": "Database", "metadata": {"name": "theirs"}});
        cluster.api.post(&kind.path(), &theirs).await?.ok()?;
        let flip = json!([{"op": "replace", "path": "/spec/versions/0/storage", "value": false},
            {"op": "replace", "path": "/spec/versions/1/storage", "value": true}]);
        cluster.api.patch(&definitions().path_of(NAME), PatchKind::Json, &flip).await?.ok()?;
        let end = Instant::now() + Duration::from_secs(30);
        loop {
            let swept = cluster.tool(&["env", "sweep", "--kubeconfig", "tester", "--allow-changes"])?;
            if swept.status.code() == Some(5) {
                return check(said(&swept).contains("databases.example.com (cannot be searched: "), said(&swept));
            }
            check(Instant::now() < end, format!("a kind that cannot be listed is passed over: {}", said(&swept)))?;
        }
    })?;
    Ok(Completion::Completed)
}

/// The manifests of `crdproof job` are accepted by a real server, with strict validation.
pub(crate) fn the_printed_job_is_accepted(binaries: &Binaries) -> Result<(), Failed> {
    let printed = Command::new(env!("CARGO_BIN_EXE_crdproof"))
        .args(["job", "--shards", "4", "--image", "registry.example.com/test:1", "--kubernetes", "1.36"])
        .args(["--", "--suite", "all", "--only", "$(HOME)"])
        .output()?;
    let text = String::from_utf8_lossy(&printed.stdout).into_owned();
    block(async {
        let server = Local::builder(binaries.clone()).start().await.map_err(|error| describe(&error))?;
        for number in [0, 1] {
            let query = Query::new().dry_run().validation(FieldValidation::Strict);
            let jobs = query.on("/apis/batch/v1/namespaces/default/jobs");
            let created = server.api().post(&jobs, &document(&text, number)?).await?.ok()?;
            check(created.warnings().is_empty(), format!("{:?}", created.warnings()))?;
        }
        Ok(())
    })
}
