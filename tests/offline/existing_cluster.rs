//! A cluster that was there before us, played by a stand-in that notes every request: what is refused is refused before
//! anything is created, and a failed clean-up does not hide why a run failed.

use std::sync::{Arc, Mutex};

use crdproof::converter::proxy::{Call, Listener, Reply};
use crdproof_envtest::HostAccess;
use serde_json::{Value, json};

use crate::cli::{Ended, crdproof, subject};
use crate::stand_in::{failure, kubeconfig};

const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// The behaviour of a stand-in.
#[derive(Debug, Clone, Copy, Default)]
struct Cluster {
    /// The CRD that is there.
    has: Option<&'static str>,
    /// Verb and resource that are not allowed.
    forbids: Option<(&'static str, &'static str)>,
    /// Refuses to create this resource, and to delete anything.
    breaks_at: Option<&'static str>,
}

impl Cluster {
    fn answer(self, call: &Call) -> Reply {
        let path = call.path.split('?').next().unwrap_or_default();
        let body: Value = serde_json::from_slice(&call.body).unwrap_or_default();
        match (call.method.as_str(), path) {
            ("GET", "/version") => Reply::json(&json!({"major": "1", "minor": "36", "gitVersion": "v1.36.4"})),
            ("GET", "/apis") => Reply::json(&json!({"groups": []})),
            ("GET", CRDS) => Reply::json(&json!({"items": []})),
            ("GET", path) if self.has.is_some_and(|name| path.ends_with(name)) => Reply::json(&json!({"metadata": {}})),
            ("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews") => {
                let asked = &body["spec"]["resourceAttributes"];
                let forbidden = |(verb, resource): (&str, &str)| asked["verb"] == verb && asked["resource"] == resource;
                Reply::json(&json!({"status": {"allowed": !self.forbids.is_some_and(forbidden)}}))
            }
            ("POST", path) if self.breaks_at.is_some_and(|resource| path.ends_with(resource)) => {
                failure(500, "etcd is out of space")
            }
            ("DELETE", _) if self.breaks_at.is_some() => failure(403, "nobody may delete here"),
            ("GET", path) if path.starts_with("/apis/example.com/") => Reply::json(&json!({"items": []})),
            ("POST", _) => Reply::json(&body),
            _ => failure(404, "there is no such thing"),
        }
    }

    /// Runs the tool on this cluster in the folder of a subject, and returns the requests that store something as well.
    fn on(self, name: &str, context: &str, arguments: &[&str]) -> (Ended, Vec<String>) {
        let writes: Arc<Mutex<Vec<String>>> = Arc::default();
        let noted = Arc::clone(&writes);
        let handler = move |call: Call| {
            if call.method != "GET" && !call.path.contains("selfsubjectaccessreviews") {
                noted.lock().unwrap().push(format!("{} {}", call.method, call.path));
            }
            self.answer(&call)
        };
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let access = HostAccess { listen: "127.0.0.1".into(), name: "127.0.0.1".into() };
        let listener = runtime.block_on(Listener::start(&access, handler)).unwrap();
        let folder = subject(name);
        kubeconfig(folder.path(), &format!("https://{}", listener.address()), listener.authority());
        let config = folder.path().join("config");
        let text = std::fs::read_to_string(&config).unwrap().replace("stand-in", context);
        std::fs::write(&config, text).unwrap();
        let ended = crdproof(folder.path(), arguments);
        let writes = writes.lock().unwrap().clone();
        (ended, writes)
    }
}

const EXISTING: [&str; 4] = ["--provider", "kubeconfig", "--kubeconfig", "config"];

fn run(more: &[&'static str]) -> Vec<&'static str> {
    [&["run", "--suite", "serving", "--suite", "apply"], &EXISTING[..], more].concat()
}

fn env_run(more: &[&'static str]) -> Vec<&'static str> {
    let end = ["--crd", "crds", "--", "touch", "ran"];
    [&["env", "run"], &EXISTING[..], more, &end].concat()
}

/// A cluster, the subject, its context, flags, the exit code and a part of the message.
type Case<'a> = (Cluster, &'a str, &'a str, &'a [&'static str], i32, &'a str);

#[test]
fn every_refusal_comes_before_the_first_write() {
    let free = Cluster::default();
    let taken = Cluster { has: Some("databases.example.com"), ..free };
    let without = |verb, resource| Cluster { forbids: Some((verb, resource)), ..free };
    let cases: [Case<'_>; 7] = [
        (free, "databases-none", "test", &[], 5, "refusing to change context \"test\""),
        (free, "databases-none", "eu-prod", &["--allow-changes"], 5, "looks like production"),
        (taken, "databases-none", "test", &["--allow-changes"], 5, "databases.example.com exists already"),
        (
            without("create", "namespaces"),
            "databases-none",
            "test",
            &["--allow-changes"],
            5,
            "may not create namespaces",
        ),
        (
            without("delete", "namespaces"),
            "databases-none",
            "test",
            &["--allow-changes"],
            5,
            "may not delete namespaces",
        ),
        (
            without("delete", "customresourcedefinitions"),
            "databases-none",
            "test",
            &["--allow-changes"],
            5,
            "may not delete customresourcedefinitions.apiextensions.k8s.io",
        ),
        (free, "databases", "test", &["--allow-changes"], 2, "converts by a webhook"),
    ];
    for (cluster, name, context, flags, code, words) in cases {
        let (ended, writes) = cluster.on(name, context, &run(flags));
        assert_eq!(writes, Vec::<String>::new(), "{cluster:?}: {}", ended.stderr);
        ended.says(code, &[words, "= help: "]);
        // Only scenarios need a converter, and `env run` runs none.
        if name != "databases" {
            let (ended, writes) = cluster.on(name, context, &env_run(flags));
            assert_eq!(writes, Vec::<String>::new(), "{cluster:?}: {}", ended.stderr);
            ended.says(code, &[words, "= help: "]);
        }
    }
    // Objects of the CRD are for scenarios only.
    let (ended, writes) = without("watch", "databases").on("databases-none", "test", &run(&["--allow-changes"]));
    assert_eq!(writes, Vec::<String>::new());
    ended.says(5, &["may not watch databases.example.com"]);
}

#[test]
fn a_probe_that_is_not_allowed_is_not_tried() {
    let probing = ["preflight", "--kubeconfig", "config", "--allow-changes", "--format", "json"];
    let forbidden = Cluster { forbids: Some(("create", "customresourcedefinitions")), ..Cluster::default() };
    let (ended, writes) = forbidden.on("databases-none", "test", &probing);
    assert!(writes.iter().all(|write| write.contains("dryRun=All")), "{writes:?}");
    assert!(ended.stdout.contains("no permission to create and delete CRDs"), "{}", ended.stdout);
    let taken = Cluster { has: Some("scaledefaults.probe.crdproof.dev"), ..Cluster::default() };
    let (ended, writes) = taken.on("databases-none", "test", &probing);
    ended.says(5, &["scaledefaults.probe.crdproof.dev exists already"]);
    assert_eq!(writes, Vec::<String>::new());
}

#[test]
fn a_failed_clean_up_does_not_hide_the_reason() {
    // The CRD is created, the namespace is refused, and then the CRD cannot be deleted.
    let broken = Cluster { breaks_at: Some("namespaces"), ..Cluster::default() };
    let (ended, _) = broken.on("databases-none", "test", &env_run(&["--allow-changes"]));
    let words = ["etcd is out of space", "then, left behind: ", "databases.example.com (", "nobody may delete here"];
    let ended = ended.says(5, &words);
    let at = |word: &str| ended.stderr.find(word).unwrap();
    assert!(at(words[0]) < at(words[1]), "the reason comes first: {}", ended.stderr);

    // The namespace is created, the CRD is refused, which is a finding, and then the namespace cannot be deleted.
    let broken = Cluster { breaks_at: Some("customresourcedefinitions"), ..Cluster::default() };
    let (ended, _) = broken.on("databases-none", "test", &run(&["--allow-changes"]));
    ended.says(1, &["etcd is out of space", "left behind: /api/v1/namespaces/crdproof-", "`crdproof env sweep`"]);
}
