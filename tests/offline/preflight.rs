//! `preflight` on servers that misbehave, and its output about rules without any server.

use crdproof::converter::proxy::{Call, Listener, Reply};
use crdproof_envtest::HostAccess;
use crdproof_schema::kubernetes::RULES;
use rstest::rstest;
use serde_json::{Value, json};

use crate::cli::{Ended, crdproof, repository};
use crate::stand_in::{failure, kubeconfig};

/// Runs preflight on a cluster whose API server is this function.
fn preflight_on(server: impl Fn(&Call) -> Reply + Send + Sync + 'static, args: &[&str]) -> Ended {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let access = HostAccess { listen: "127.0.0.1".into(), name: "127.0.0.1".into() };
    let listener = runtime.block_on(Listener::start(&access, move |call: Call| server(&call))).unwrap();
    let folder = tempfile::tempdir().unwrap();
    kubeconfig(folder.path(), &format!("https://{}", listener.address()), listener.authority());
    crdproof(folder.path(), &[&["preflight", "--kubeconfig", "config"], args].concat())
}

/// A server that reports a version, serves nothing, and allows everything or nothing. It answers writes with an error.
fn kubernetes(version: &str, allowed: bool) -> impl Fn(&Call) -> Reply + Send + Sync + use<> {
    let version = version.to_owned();
    move |call| match (call.method.as_str(), call.path.as_str()) {
        (_, "/version") => Reply::json(&json!({"major": "1", "gitVersion": version})),
        (_, "/apis") => Reply::json(&json!({"groups": []})),
        ("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews") => {
            Reply::json(&json!({"status": {"allowed": allowed}}))
        }
        ("PATCH", path) if path.contains("dryRun=All") => Reply::json(&json!({})),
        (method, path) => failure(418, &format!("nobody may {method} {path}")),
    }
}

#[rstest]
#[case::nonsense(|_: &Call| Reply::text(200, "<html>hello</html>"), &["the response is not that of a Kubernetes API server", "<html>hello</html>"])]
#[case::not_kubernetes(|_: &Call| Reply::json(&json!({"gitVersion": "nginx/1.27"})), &["the response is not that of a Kubernetes API server", "nginx"])]
#[case::forbidden(|_: &Call| failure(403, "who are you?"), &["403", "who are you?"])]
#[case::broken(|_: &Call| failure(500, "etcd is on fire"), &["500", "etcd is on fire"])]
#[case::discovery(
    |call: &Call| match call.path.as_str() {
        "/version" => Reply::json(&json!({"major": "1", "gitVersion": "v1.31.4"})),
        _ => failure(500, "no discovery today"),
    },
    &["GET /apis", "500", "no discovery today"]
)]
fn an_unusable_server_exits_with_5(
    #[case] server: impl Fn(&Call) -> Reply + Send + Sync + 'static,
    #[case] words: &[&str],
) {
    preflight_on(server, &[]).says(5, words);
}

#[test]
fn without_permission_nothing_is_stored() {
    // Probes that would store something say that they need permission. If one wrote anyway, the stand-in would answer
    // 418.
    let ended = preflight_on(kubernetes("v1.31.4-eks-7f9249a", true), &["--format", "json"]).says(1, &[]);
    let seen = ended.json();
    assert_eq!((&seen["gitVersion"], &seen["server"]["vendor"]), (&json!("v1.31.4-eks-7f9249a"), &json!("EKS")));
    let rules = seen["rules"].as_array().unwrap();
    assert_eq!(rules.len(), RULES.len());
    let results = rules.iter().flat_map(|rule| rule["probes"].as_array().unwrap());
    let made: Vec<&Value> = results.filter(|probe| probe["result"] != "unclear").map(|probe| &probe["name"]).collect();
    assert_eq!(made, [&json!("apply-apiservice")]);
    // 1.31.4 evaluates CIDR containment wrongly, so it is not ready.
    let bad: Vec<&Value> =
        rules.iter().filter(|rule| rule["verdict"] == "bad" && rule["severity"] == "error").collect();
    assert_eq!(bad.len(), 1, "{bad:?}");
    assert_eq!(bad[0]["name"], "server/cidr-containment-right");
}

#[test]
fn each_line_shows_expected_and_observed_behaviour() {
    let ended = preflight_on(kubernetes("v1.36.2+k3s1", true), &["--no-probes"]).says(1, &[]);
    for line in [
        "✔ Kubernetes v1.36.2+k3s1 (k3s)",
        "✗ V34 server/empty-containers-apply: needs >=1.36.3, is 1.36.2",
        "⚠ V37 server/retired-version-blocks-nobody: no release has a fix, is 1.36.2",
        "✗ not ready",
    ] {
        assert!(ended.stdout.lines().any(|said| said == line), "{line}: {}", ended.stdout);
    }
    preflight_on(kubernetes("v1.37.1", true), &["--no-probes"]).says(0, &[]);
    let forbidden = preflight_on(kubernetes("v1.37.1", false), &["--no-probes"]).says(1, &[]);
    assert!(forbidden.stdout.contains("✗ not allowed: create customresourcedefinitions.apiextensions.k8s.io"));
}

#[test]
fn rules_are_explained_with_their_patches() {
    let fields = crdproof(repository(), &["preflight", "--explain", "managed-fields"]).says(0, &[]).stdout;
    for release in ["1.16.11", "1.17.7", "1.18.4", "1.19.0"] {
        assert!(fields.lines().any(|line| line.trim().starts_with(&format!(">={release} "))), "{release}: {fields}");
    }
    let service = crdproof(repository(), &["explain", "server/apiservice-applies"]).says(0, &[]).stdout;
    for release in ["1.18.18", "1.19.10", "1.20.6", "1.21.0"] {
        assert!(service.lines().any(|line| line.trim().starts_with(&format!(">={release} "))), "{release}: {service}");
    }
    let data = crdproof(repository(), &["preflight", "--explain", "V13", "--format", "json"]).says(0, &[]).json();
    assert_eq!(data[0]["fixedIn"], json!([{"release": "1.23.3", "why": ""}]));
    // Rules without a probe say why.
    let why = "needs a restart of the server";
    let restart = crdproof(repository(), &["explain", "server/restart-keeps-groups"]).says(0, &[]).stdout;
    assert!(restart.contains(&format!("none, the version decides: {why}\n")), "{restart}");
    let data = crdproof(repository(), &["preflight", "--explain", "V18", "--format", "json"]).says(0, &[]).json();
    assert_eq!((&data[0]["probes"], &data[0]["untested"]), (&json!([]), &json!(why)));
    crdproof(repository(), &["preflight", "--explain", "managed-feilds"]).says(2, &["no rule is named"]);
}
