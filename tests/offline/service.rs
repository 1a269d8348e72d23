//! Webhooks behind a Service: the API server forwards requests. A stand-in for it answers at the same path.

use crdproof::converter::proxy::{Call, Listener, Reply};
use crdproof_envtest::HostAccess;
use serde_json::json;

use crate::cli::{Ended, crdproof};
use crate::stand_in::{failure, kubeconfig};
use crate::webhook::{broken, right, subject};

const PROXY: &str = "/api/v1/namespaces/system/services/https:hook:443/proxy/convert";

/// Answers as an API server with one service.
fn server(call: &Call) -> Reply {
    match call.path.as_str() {
        "/version" => Reply::json(&json!({"gitVersion": "v1.36.4"})),
        "/apis" => Reply::json(&json!({"groups": []})),
        PROXY => right(call),
        path => failure(404, &format!("services \"{path}\" not found")),
    }
}

fn judged(webhook: &str) -> Ended {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let access = HostAccess { listen: "127.0.0.1".into(), name: "127.0.0.1".into() };
    let listener = runtime.block_on(Listener::start(&access, |call: Call| server(&call))).unwrap();
    let folder = subject("https://unused.example.com", None);
    kubeconfig(folder.path(), &format!("https://{}", listener.address()), listener.authority());
    let file = folder.path().join("crdproof.yaml");
    let text = std::fs::read_to_string(&file).unwrap();
    let known = "webhook: {url: 'https://unused.example.com'}";
    assert!(text.contains(known), "{text}");
    std::fs::write(&file, text.replace(known, &format!("webhook: {webhook}"))).unwrap();
    crdproof(folder.path(), &["run", "--suite", "webhook", "--suite", "converter", "--report", "json"])
}

#[test]
fn a_webhook_in_a_cluster_is_called_through_its_service() {
    let ended = judged("{service: {name: hook, namespace: system}, kubeconfig: config}").says(0, &[]);
    assert_eq!(broken(&ended), Vec::<String>::new());
    let report = ended.json();
    let of = |outcome: &str| {
        let results = report["results"].as_array().unwrap().iter();
        results.filter(|result| result["outcome"] == outcome).map(|result| result["check"].clone()).collect::<Vec<_>>()
    };
    assert!(of("passed").len() >= 17, "{}", ended.stderr);
    // TLS ends at the API server, and the kind has no keyed lists and no stash.
    let nothing_there =
        ["converter/birth-version-irrelevant", "converter/list-keys-kept", "webhook/certificate-trusted"];
    assert_eq!(of("inconclusive"), nothing_there);
}

#[test]
fn a_missing_service_is_not_a_finding() {
    judged("{service: {name: hook, namespace: other}, kubeconfig: config}")
        .says(5, &["the converter cannot be called: the API server answered 404", "not found"]);
    judged("{service: {name: hook, namespace: system}, kubeconfig: config, context: tset}")
        .says(5, &["there is no context \"tset\", only: stand-in"]);
    judged("{service: {name: hook, namespace: system}, kubeconfig: none}").says(5, &["there is no such file"]);
}

#[test]
fn url_and_service_exclude_each_other() {
    for (webhook, words) in [
        ("{}", "exactly one of url and service"),
        ("{url: 'https://a', service: {name: a, namespace: b}}", "exactly one of url and service"),
        ("{url: 'https://a', context: b}", "kubeconfig and context are for a service"),
        ("{service: {name: a, namespace: b}, caFile: c}", "does not show a service's certificate"),
        ("{service: {name: a, namespace: b, path: c}}", "\"c\" is not a path"),
    ] {
        judged(webhook).says(2, &["crdproof.yaml:5:", words]);
    }
}
