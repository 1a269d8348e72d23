//! `audit` on saved lists, and on servers that misbehave.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};

use crdproof::converter::proxy::{Call, Credentials, Listener, Reply};
use serde_json::{Value, json};

use super::{Ended, crdproof, crdproof_fed, folder, listing};
use crate::stand_in::{failure, kubeconfig};

fn definition(stored: &Value) -> Value {
    let schema = json!({"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object", "properties": {
        "size": {"type": "integer"}, "password": {"type": "string"}}}}}});
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"}, "spec": {"group": "example.com", "scope": "Namespaced",
            "names": {"kind": "Widget", "plural": "widgets"}, "versions": [
                {"name": "v1", "served": true, "storage": false, "schema": schema},
                {"name": "v2", "served": true, "storage": true, "schema": schema}]},
        "status": {"storedVersions": stored, "conditions": [{"type": "Established", "status": "True"}]}})
}

fn widget(name: &str, version: &str) -> Value {
    json!({"apiVersion": "example.com/v2", "kind": "Widget", "metadata": {"name": name, "namespace": "shop", "uid": "u-1",
        "managedFields": [{"manager": "alice", "apiVersion": format!("example.com/{version}")}]},
        "spec": {"size": 1, "password": "hunter2-hunter2"}})
}

fn dumps(stored: &Value, objects: &[Value]) -> tempfile::TempDir {
    let crds = json!({"apiVersion": "v1", "kind": "List", "items": [definition(stored)]}).to_string();
    let objects = json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string();
    folder(&[("crds.json", &crds), ("widgets.json", &objects)])
}

const DUMP: [&str; 4] = ["audit", "--dump", "crds.json", "widgets.json"];

/// Asserts the exit code, and that stdout has these lines.
#[track_caller]
fn prints(ended: Ended, code: i32, lines: &[&str]) -> Ended {
    let ended = ended.says(code, &[]);
    for line in lines {
        assert!(ended.stdout.contains(line), "it does not print {line:?}:\n{}", ended.stdout);
    }
    ended
}

#[test]
fn a_clean_dump_passes_and_others_name_the_next_step() {
    let clean = dumps(&json!(["v2"]), &[widget("a", "v2")]);
    let ended = prints(
        crdproof(clean.path(), &DUMP),
        0,
        &["✔ managedFields at v2: alice 1", "✔ 1 CRD, 1 object: no problems found"],
    );
    assert!(!ended.stdout.contains("next:"), "{}", ended.stdout);

    let mind = dumps(&json!(["v1", "v2"]), &[widget("a", "v2")]);
    let words =
        ["⚠ objects may still be stored at v1", "next: crdproof migrate widgets.example.com --trim", "1 warning"];
    prints(crdproof(mind.path(), &DUMP), 0, &words);

    let wrong = dumps(&json!(["v2"]), &[widget("a", "v0"), widget("b", "v0")]);
    let words = [
        "✗ managedFields at v0, which is gone, block server-side apply: alice 2",
        "shop/a, shop/b",
        "next: crdproof retire widgets.example.com v0",
    ];
    prints(crdproof(wrong.path(), &DUMP), 1, &words);
    let data = crdproof(wrong.path(), &[&DUMP[..], &["--format", "json"]].concat()).says(1, &[]).json();
    assert_eq!(data["crds"][0]["next"], json!(["crdproof retire widgets.example.com v0"]));
    assert_eq!(data["summary"]["errors"], 1);
}

#[test]
fn malformed_dumps_are_refused() {
    let folder = dumps(&json!(["v2"]), &[]);
    prints(
        crdproof(folder.path(), &["audit", "--dump", "crds.json"]),
        0,
        &["○ objects were not read: the dump has none"],
    );
    let near = crdproof(folder.path(), &["audit", "widget.example.com", "--dump", "crds.json"]);
    near.says(2, &["there is no CRD \"widget.example.com\"", "did you mean `widgets.example.com`?"]);
    crdproof(folder.path(), &["audit", "--dump", "widgets.json"]).says(4, &["no CRDs found; nothing to audit"]);
    crdproof(folder.path(), &["audit", "--dump", "none.json"]).says(2, &["cannot read none.json"]);
    crdproof_fed(folder.path(), &["audit", "--dump", "-"], "a: [").says(2, &["error"]);
    for odd in
        ["3", "[]", "{\"kind\": \"List\", \"items\": 7}", "{\"kind\": \"CustomResourceDefinition\", \"spec\": []}"]
    {
        assert!(matches!(crdproof_fed(folder.path(), &["audit", "--dump", "-"], odd).code, 1 | 4), "{odd}");
    }
    crdproof(folder.path(), &["audit", "--expires-within", "soon"]).says(2, &["write days, such as 30d"]);
    crdproof(folder.path(), &["audit", "--samples", "out"]).says(2, &["--crd"]);
    crdproof(folder.path(), &["audit", "--kubeconfig", "nowhere.yaml"]).says(5, &["nowhere.yaml"]);
}

#[test]
fn samples_are_redacted_private_and_never_overwritten() {
    let folder = dumps(&json!(["v2"]), &[widget("a", "v2"), widget("b", "v2"), widget("c", "v2")]);
    let words = [&DUMP[..], &["--crd", "widgets.example.com", "--count", "2", "--samples"]].concat();
    let run = |more: &[&str]| crdproof(folder.path(), &[&words[..], more].concat());
    run(&["out"]).says(0, &["2 samples of widgets.example.com"]);
    let written = listing(&folder.path().join("out"));
    assert_eq!(written.len(), 2);
    let first: Value = serde_json::from_slice(&written[0].1).unwrap();
    let wanted = json!({"apiVersion": "example.com/v2", "kind": "Widget", "metadata": {"name": "a", "namespace": "shop"},
        "spec": {"size": 1, "password": "•••"}});
    assert_eq!(first, wanted);
    #[cfg(unix)]
    for (path, _) in &written {
        let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(path).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600, "{}", path.display());
    }
    run(&["out"]).says(2, &["exists already", "nothing was written"]);
    assert_eq!(listing(&folder.path().join("out")), written);
    let ended = run(&["other", "--anonymous"]).says(0, &[]);
    assert!(ended.stdout.contains("widget_sample-1.json") && !ended.stdout.contains("shop"), "{}", ended.stdout);
    let none = dumps(&json!(["v2"]), &[]);
    crdproof(none.path(), &[&words[..], &["out"]].concat()).says(4, &["there are no objects"]);
}

/// Answers as a server without problems. Lists of widgets have two pages.
fn healthy_server(path: &str) -> Reply {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    match path {
        "/version" => Reply::json(&json!({"gitVersion": "v1.36.4"})),
        "/apis" => Reply::json(&json!({"kind": "APIGroupList", "groups": []})),
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions" => {
            let items = [definition(&json!(["v2"]))];
            Reply::json(&json!({"kind": "CustomResourceDefinitionList", "metadata": {}, "items": items}))
        }
        "/apis/example.com/v2/widgets" => {
            let last = query.contains("continue=more");
            let (name, token) = if last { ("b", "") } else { ("a", "more") };
            let meta = json!({"continue": token});
            Reply::json(&json!({"kind": "PartialObjectMetadataList", "metadata": meta, "items": [widget(name, "v2")]}))
        }
        _ => failure(404, "not found"),
    }
}

/// Audits a TLS server with these responses, and asserts that it received only reads.
fn audit_server(answer: impl Fn(&str) -> Reply + Send + Sync + 'static) -> Ended {
    audit_server_as("config", &[], answer)
}

/// Does the same with a kubeconfig of this name, and more arguments.
fn audit_server_as(config: &str, more: &[&str], answer: impl Fn(&str) -> Reply + Send + Sync + 'static) -> Ended {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let calls = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&calls);
    let handler = move |call: Call| {
        seen.lock().unwrap().push(call.method.clone());
        answer(&call.path)
    };
    let address = SocketAddr::from(([127, 0, 0, 1], 0));
    let listener = runtime.block_on(Listener::bind(address, Credentials::Own(Vec::new()), handler)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    kubeconfig(folder.path(), &format!("https://{}", listener.address()), listener.authority());
    std::fs::rename(folder.path().join("config"), folder.path().join(config)).unwrap();
    let ended = crdproof(folder.path(), &[&["audit", "--kubeconfig", config], more].concat());
    let calls = calls.lock().unwrap();
    assert!(!calls.is_empty() && calls.iter().all(|method| method == "GET"), "{calls:?}\n{}", ended.stderr);
    ended
}

#[test]
fn a_healthy_server_is_read_page_by_page() {
    prints(audit_server(healthy_server), 0, &["✔ 2 objects", "✔ managedFields at v2: alice 2", "no problems found"]);
}

/// The next command can be pasted: it names the audited cluster, quoted for a shell.
#[test]
fn the_next_command_names_the_audited_cluster() {
    let unmigrated = |path: &str| {
        if path.contains("customresourcedefinitions") {
            let items = [definition(&json!(["v1", "v2"]))];
            return Reply::json(&json!({"kind": "CustomResourceDefinitionList", "metadata": {}, "items": items}));
        }
        healthy_server(path)
    };
    let next = "next: crdproof migrate widgets.example.com --trim --kubeconfig";
    prints(audit_server_as("config", &[], unmigrated), 0, &[&format!("{next} config\n")]);
    let both = audit_server_as("my config", &["--context", "stand-in"], unmigrated);
    prints(both, 0, &[&format!("{next} 'my config' --context stand-in\n")]);
}

#[test]
fn unreadable_servers_exit_with_5() {
    audit_server(|_| Reply { content_type: "text/html", ..Reply::text(200, "<html>welcome</html>") })
        .says(5, &["the response is not that of a Kubernetes API server", "something else listens there"]);
    audit_server(|_| failure(403, "forbidden: User \"u\" cannot")).says(5, &["403", "User \"u\" cannot"]);
    audit_server(|_| failure(401, "Unauthorized")).says(5, &["did not accept the credentials"]);
    audit_server(|path| if path == "/apis" { failure(500, "etcd is away") } else { healthy_server(path) })
        .says(5, &["500", "etcd is away"]);
    let crds = |reply: fn() -> Reply| {
        audit_server(
            move |path| if path.contains("customresourcedefinitions") { reply() } else { healthy_server(path) },
        )
    };
    crds(|| failure(403, "cannot list")).says(5, &["not allowed to read CRDs: cannot list", "needs get and list"]);
    crds(|| Reply::text(200, "welcome")).says(5, &["the response is not that of a Kubernetes API server: welcome"]);
    crds(|| Reply::json(&json!({"items": "none"}))).says(5, &["the response is not that of a Kubernetes API server"]);
    crds(|| {
        let endless = json!({"kind": "CustomResourceDefinitionList", "metadata": {"continue": "again"}, "items": []});
        Reply::json(&endless)
    })
    .says(5, &["the response is not that of a Kubernetes API server"]);
}

#[test]
fn an_unreadable_kind_is_listed() {
    let widgets = |reply: fn() -> Reply| {
        audit_server(move |path| if path.contains("/widgets") { reply() } else { healthy_server(path) })
    };
    let words = ["○ objects were not read: cannot list", "○ 1 kind was not read"];
    prints(widgets(|| failure(403, "cannot list")), 0, &words);
    prints(
        widgets(|| failure(500, "conversion webhook failed")),
        1,
        &["✗ objects cannot be listed: 500 conversion webhook"],
    );
    prints(widgets(|| failure(410, "too old")), 0, &["the list expired on the server before it was complete"]);
    prints(widgets(|| failure(404, "not found")), 0, &["the server does not serve it"]);
}

#[test]
fn a_server_without_tls_is_audited() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let folder = tempfile::tempdir().unwrap();
    kubeconfig(folder.path(), &format!("http://{}", listener.local_addr().unwrap()), "");
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut head = [0; 4096];
            let length = stream.read(&mut head).unwrap_or_default();
            let head = String::from_utf8_lossy(&head[..length]).into_owned();
            let reply = healthy_server(head.split(' ').nth(1).unwrap_or_default());
            let line = format!("HTTP/1.1 {} X\r\ncontent-type: application/json\r\n", reply.status);
            let rest = format!("content-length: {}\r\nconnection: close\r\n\r\n", reply.body.len());
            let _ = stream.write_all(&[line.as_bytes(), rest.as_bytes(), &reply.body].concat());
        }
    });
    prints(crdproof(folder.path(), &["audit", "--kubeconfig", "config"]), 0, &["✔ 2 objects"]);
}
