//! CRDs that are installed on an existing cluster, and convert by a webhook that runs beside it. A local API server is prepared
//! as a stranger would prepare it: the CRD names the webhook by its address, and `crdproof serve` runs in a process of its own.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crdproof_envtest::LABEL;
use crdproof_envtest::api::{Api, PatchKind, Query, Resource, definitions};
use crdproof_envtest::existing::Existing;
use crdproof_envtest::local::{Binaries, Local};
use crdproof_schema::document::{Sources, parse};
use libtest_mimic::{Completion, Failed};
use serde_json::{Value, json};

use crate::endings::signal;
use crate::existing::access;
use crate::support::{block, check, describe, said};

const NAME: &str = "databases.example.com";

/// A cluster with a CRD and its webhook, and a user who has the printed role only.
struct Cluster {
    server: Local,
    api: Api,
    webhook: Child,
    folder: tempfile::TempDir,
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let _ = self.webhook.kill();
        let _ = self.webhook.wait();
    }
}

/// A defect of a deployed webhook.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Defect {
    None,
    /// It forgets the password at v1.
    Loss,
    /// It renames a field at v2, and does not rename it back.
    OneWayRename,
}

impl Defect {
    /// Changes the subject, and returns the subject file that the webhook is made of.
    fn plant(self, folder: &Path) -> Result<String, Failed> {
        let map = std::fs::read_to_string(folder.join("crdproof.yaml"))?;
        match self {
            Self::None => Ok(map),
            Self::Loss => Ok(map.split("  stash:").next().unwrap_or_default().to_owned()),
            Self::OneWayRename => {
                for (file, second) in [("crds/databases.yaml", "- name: v2"), ("samples/databases.yaml", "---")] {
                    let text = std::fs::read_to_string(folder.join(file))?;
                    let (first, rest) = text.split_once(second).ok_or("no second part")?;
                    let renamed = format!("{first}{second}{}", rest.replace("username:", "user:"));
                    std::fs::write(folder.join(file), renamed)?;
                }
                let right = "  rename:\n  - {v1: .spec.username, v2: .spec.user}\n  stash:";
                std::fs::write(folder.join("crdproof.yaml"), map.replace("  stash:", right))?;
                // Both ways read the name that only v1 has.
                let name = r#"expression: "has(self.spec.username) ? self.spec.username : null""#;
                let wrong = format!(
                    "  compute:\n  - v1: {{path: .spec.username, {name}}}\n    v2: {{path: .spec.user, {name}}}\n  stash:"
                );
                Ok(map.replace("  stash:", &wrong))
            }
        }
    }
}

/// Copies the example subject; its CRD has this scope.
fn subject(folder: &Path, scope: &str) -> Result<(), Failed> {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/crds/databases");
    for name in ["crds/databases.yaml", "samples/databases.yaml", "crdproof.yaml"] {
        let to = folder.join(name);
        std::fs::create_dir_all(to.parent().unwrap_or(folder))?;
        let text = std::fs::read_to_string(from.join(name))?;
        std::fs::write(to, text.replace("scope: Namespaced", &format!("scope: {scope}")))?;
    }
    Ok(())
}

/// Starts a webhook for a subject, and returns it with its address and its CA.
fn serve(folder: &Path, file: &str) -> Result<(Child, String, String), Failed> {
    let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let mut webhook = Command::new(env!("CARGO_BIN_EXE_crdproof"))
        .args(["serve", "-f", file, "--listen", &format!("127.0.0.1:{port}")])
        .current_dir(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut line = String::new();
    BufReader::new(webhook.stdout.take().ok_or("no output")?).read_line(&mut line)?;
    let authority = line.trim().strip_prefix("caBundle: ").ok_or_else(|| line.clone())?.to_owned();
    Ok((webhook, format!("https://127.0.0.1:{port}/convert"), authority))
}

/// Reads a document of a YAML text.
fn document(text: &str, number: usize) -> Result<Value, Failed> {
    let mut sources = Sources::default();
    let id = sources.add("text", text);
    let documents = parse(&sources, id).map_err(|error| error.message)?;
    Ok(documents.get(number).ok_or("too few documents")?.to_value())
}

impl Cluster {
    /// Prepares a cluster whose webhook has this defect.
    async fn prepare(binaries: &Binaries, scope: &str, defect: Defect) -> Result<Self, Failed> {
        let server = Local::builder(binaries.clone()).controllers(["namespace"]).start().await;
        let server = server.map_err(|error| describe(&error))?;
        let (api, folder) = (server.api(), tempfile::tempdir()?);
        subject(folder.path(), scope)?;
        let webhook = defect.plant(folder.path())?;
        std::fs::write(folder.path().join("webhook.yaml"), webhook)?;
        let (webhook, url, authority) = serve(folder.path(), "webhook.yaml")?;
        let cluster = Self { server, api, webhook, folder };
        let mut crd = document(&std::fs::read_to_string(cluster.folder.path().join("crds/databases.yaml"))?, 0)?;
        crd["spec"]["conversion"]["webhook"]["clientConfig"] = json!({"url": url, "caBundle": authority});
        cluster.api.install_crds(&[crd]).await?;
        cluster.grant().await?;
        Ok(cluster)
    }

    /// Creates the printed role, and a kubeconfig of a user who has it and nothing else.
    async fn grant(&self) -> Result<(), Failed> {
        let printed = self.tool(&["env", "rbac", "-f", "crdproof.yaml"])?;
        check(printed.status.success(), said(&printed))?;
        let role = document(&String::from_utf8_lossy(&printed.stdout), 0)?;
        let base = "/apis/rbac.authorization.k8s.io/v1";
        self.api.post(&format!("{base}/clusterroles"), &role).await?.ok()?;
        let binding = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
            "metadata": {"name": "tester"}, "subjects": [{"kind": "User", "name": "tester", "apiGroup": "rbac.authorization.k8s.io"}],
            "roleRef": {"kind": "ClusterRole", "name": "crdproof", "apiGroup": "rbac.authorization.k8s.io"}});
        self.api.post(&format!("{base}/clusterrolebindings"), &binding).await?.ok()?;
        let mut config: Value = serde_json::from_slice(&std::fs::read(self.server.kubeconfig())?)?;
        for user in ["tester", "nobody"] {
            config["users"][0]["user"]["as"] = user.into();
            std::fs::write(self.folder.path().join(user), config.to_string())?;
        }
        config["contexts"][0]["name"] = "eu-prod".into();
        config["current-context"] = "eu-prod".into();
        config["users"][0]["user"]["as"] = "tester".into();
        std::fs::write(self.folder.path().join("production"), config.to_string())?;
        // The server gives everybody the right to ask for its version soon after it has started.
        let end = Instant::now() + Duration::from_secs(30);
        while let Err(error) = Existing::connect(&access(self.folder.path().join("tester"))).await {
            check(Instant::now() < end, error.to_string())?;
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        Ok(())
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_crdproof"));
        command.args(arguments).current_dir(self.folder.path());
        command
    }

    fn tool(&self, arguments: &[&str]) -> Result<Output, Failed> {
        Ok(self.command(arguments).output()?)
    }

    /// The command that tests the CRD where it is, as a user.
    fn run(&self, user: &str, more: &[&str]) -> Command {
        let mut command =
            self.command(&["run", "--suite", "serving", "--suite", "apply", "--deployed", "--no-counterexamples"]);
        command.args(["--provider", "kubeconfig", "--kubeconfig", user]).args(more);
        command
    }

    async fn definition(&self) -> Result<Value, Failed> {
        Ok(self.api.get(&definitions().path_of(NAME)).await?.ok()?.json())
    }

    /// Everything that carries the label of a run.
    async fn left(&self) -> Result<Vec<Value>, Failed> {
        let kind = Resource::cluster_wide("example.com", "v1", "databases");
        let mut left = Vec::new();
        for path in [definitions().path(), "/api/v1/namespaces".into(), kind.path()] {
            let listed = self.api.get(&Query::new().labels(LABEL).on(path)).await?.ok()?.json();
            let items = listed["items"].as_array().cloned().unwrap_or_default();
            left.extend(items.into_iter().map(|item| item["metadata"]["name"].clone()));
        }
        Ok(left)
    }

    /// Checks that nothing is left of a run, and that the CRD is what it was.
    async fn is_as_it_was(&self, before: &Value) -> Result<(), Failed> {
        let left = self.left().await?;
        check(left.is_empty(), format!("left: {left:?}"))?;
        let after = self.definition().await?;
        let version = |crd: &Value| crd["metadata"]["resourceVersion"].clone();
        check(version(before) == version(&after), format!("the CRD was changed: {after}"))
    }
}

fn without_controllers(binaries: &Binaries) -> Option<Completion> {
    let why = "only a controller lets a namespace go, and this release has none";
    binaries.controller_manager.is_none().then(|| Completion::ignored_with(why))
}

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

/// When a run is killed.
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

/// Waits until this many objects of runs are there.
async fn until(cluster: &Cluster, objects: usize) -> Result<bool, Failed> {
    let end = Instant::now() + Duration::from_secs(60);
    while Instant::now() < end {
        if cluster.left().await.is_ok_and(|left| left.len() >= objects) {
            return Ok(true);
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    Ok(false)
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
            let query = Query::new().dry_run().validation(crdproof_envtest::api::FieldValidation::Strict);
            let jobs = query.on("/apis/batch/v1/namespaces/default/jobs");
            let created = server.api().post(&jobs, &document(&text, number)?).await?.ok()?;
            check(created.warnings().is_empty(), format!("{:?}", created.warnings()))?;
        }
        Ok(())
    })
}
