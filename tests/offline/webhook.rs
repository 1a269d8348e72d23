//! The command line against real webhooks: correct, wrong and unreachable ones.

use std::io::{BufRead as _, Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crdproof::converter::proxy::{Call, Listener, Reply};
use crdproof::converter::review;
use crdproof_envtest::HostAccess;
use serde_json::{Value, json};

use crate::cli::{BINARY, Ended, crdproof, repository};

const SAMPLE: &str =
    "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a, namespace: default}\nspec: {size: 1}\n";

/// A subject whose converter is the webhook at this address.
pub(crate) fn subject(url: &str, authority: Option<&str>) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let crd = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/checks/webhook/uid-echoed/pass/crd.yaml");
    write("crd.yaml", &std::fs::read_to_string(crd).unwrap());
    write("sample.yaml", SAMPLE);
    let ca = authority.map_or("", |_| ", caFile: ca.crt");
    write("ca.crt", authority.unwrap_or_default());
    let file = format!(
        "apiVersion: crdproof/v1alpha1\nkind: Subject\ncrds: {{paths: [crd.yaml]}}\nsamples: [sample.yaml]\n\
         converter: {{webhook: {{url: '{url}'{ca}}}}}\n"
    );
    write("crdproof.yaml", &file);
    folder
}

/// Runs the checks of converter and wire against a handler that is served over TLS.
fn judged(handler: impl Fn(Call) -> Reply + Send + Sync + 'static) -> Ended {
    judged_with(handler, &[])
}

/// Does the same with other arguments.
pub(crate) fn judged_with(handler: impl Fn(Call) -> Reply + Send + Sync + 'static, arguments: &[&str]) -> Ended {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let access = HostAccess { listen: "127.0.0.1".into(), name: "127.0.0.1".into() };
    let listener = runtime.block_on(Listener::start(&access, handler)).unwrap();
    let folder = subject(&format!("https://{}/convert", listener.address()), Some(listener.authority()));
    let suites = ["run", "--suite", "webhook", "--suite", "converter", "--report", "json"];
    crdproof(folder.path(), &[&suites, arguments].concat())
}

/// Answers reviews correctly.
pub(crate) fn right(call: &Call) -> Reply {
    if call.method != "POST" {
        return Reply::text(405, "POST only");
    }
    let Ok(request) = serde_json::from_slice::<Value>(&call.body) else { return Reply::text(400, "no JSON") };
    let convert = |object: &Value, to: &str| {
        if object["kind"] != "Widget" || !["example.com/v1", "example.com/v2"].contains(&to) {
            return Err(format!("{} cannot be converted to {to}", object["kind"]));
        }
        let mut object = object.clone();
        object["apiVersion"] = json!(to);
        // Server-side apply sends objects without metadata, and requires metadata in the response.
        if object["metadata"].is_null() {
            object["metadata"] = json!({});
        }
        Ok(object)
    };
    match review::answer(&request, convert) {
        Ok(answer) => Reply::json(&answer),
        Err(why) => Reply::text(400, why),
    }
}

pub(crate) fn broken(ended: &Ended) -> Vec<String> {
    let report = ended.json();
    let mut checks: Vec<String> = report["findings"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|finding| finding["check"].as_str().map(str::to_owned))
        .collect();
    checks.sort();
    checks.dedup();
    checks
}

#[test]
fn a_correct_webhook_passes_every_check() {
    let ended = judged(|call| right(&call)).says(0, &[]);
    assert_eq!(broken(&ended), Vec::<String>::new());
    let report = ended.json();
    let held = report["results"].as_array().unwrap().iter().filter(|result| result["outcome"] == "passed").count();
    assert!(held >= 18, "only {held} held: {}", ended.stderr);
}

/// Behaves like the webhook of many tutorials: returns the first object unchanged, no uid, and the old review version.
#[test]
fn the_tutorial_webhook_fails_many_checks() {
    let ended = judged(|call| {
        let review: Value = serde_json::from_slice(&call.body).unwrap_or_default();
        let objects = json!([review["request"]["objects"][0]]);
        Reply::json(&json!({"apiVersion": "apiextensions.k8s.io/v1beta1", "kind": "ConversionReview",
            "response": {"convertedObjects": objects, "result": {"status": "Success"}}}))
    })
    .says(1, &["the request's uid is", "copy request.uid into response.uid"]);
    let broken = broken(&ended);
    for check in ["uid-echoed", "envelope-kept", "identity-kept", "count-and-order-kept", "refusal-explained"] {
        assert!(broken.contains(&format!("webhook/{check}")), "{check} is not among {broken:?}");
    }
}

#[test]
fn a_field_that_a_webhook_drops_is_found() {
    let ended = judged(|call| {
        let mut reply = right(&call);
        if let Ok(mut answer) = serde_json::from_slice::<Value>(&reply.body)
            && let Some(objects) = answer["response"]["convertedObjects"].as_array_mut()
        {
            for object in objects.iter_mut().filter(|object| object["apiVersion"] == "example.com/v2") {
                if let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) {
                    spec.clear();
                }
            }
            reply.body = answer.to_string().into_bytes();
        }
        reply
    })
    .says(1, &[".spec.size"]);
    assert_eq!(broken(&ended), ["converter/round-trip-lossless"]);
}

#[test]
fn secrets_of_samples_stay_out_of_findings() {
    let secret = "hunter2-hunter2";
    let handler = |call: Call| {
        // A response with several mistakes that echoes the request.
        let body = String::from_utf8_lossy(&call.body).into_owned();
        Reply { status: 200, content_type: "text/plain", body: body.into_bytes() }
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let access = HostAccess { listen: "127.0.0.1".into(), name: "127.0.0.1".into() };
    let listener = runtime.block_on(Listener::start(&access, handler)).unwrap();
    let folder = subject(&format!("https://{}/convert", listener.address()), Some(listener.authority()));
    let crd = folder.path().join("crd.yaml");
    let text = std::fs::read_to_string(&crd).unwrap();
    std::fs::write(
        &crd,
        text.replace("size: {type: integer}", "size: {type: integer}\n              password: {type: string}"),
    )
    .unwrap();
    std::fs::write(
        folder.path().join("sample.yaml"),
        SAMPLE.replace("size: 1", &format!("size: 1, password: {secret}")),
    )
    .unwrap();
    let ended =
        crdproof(folder.path(), &["run", "--suite", "webhook", "--report", "json", "--report", "html=out.html"]);
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    assert!(ended.stdout.contains("•••"), "nothing was redacted: {}", ended.stdout);
    let page = std::fs::read_to_string(folder.path().join("out.html")).unwrap();
    for text in [&ended.stdout, &ended.stderr, &page] {
        assert!(!text.contains(secret), "a secret is shown");
    }
}

#[test]
fn an_unreachable_webhook_is_not_a_finding() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let folder = subject(&format!("https://{free}/convert"), None);
    crdproof(folder.path(), &["run", "--suite", "webhook"])
        .says(5, &["error: the converter cannot be called", "refused", "= help: start it, or correct `converter`"]);
}

/// Answers every connection with these bytes, and closes it.
fn raw(answer: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/convert", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { continue };
            std::thread::spawn(move || {
                let mut request = [0; 1024];
                let _ = stream.read(&mut request);
                let _ = stream.write_all(answer);
            });
        }
    });
    url
}

#[test]
fn malformed_answers_are_findings() {
    let cases: [(&str, &[u8]); 5] = [
        ("an empty 200", b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
        ("HTTP/1.0", b"HTTP/1.0 200 OK\r\n\r\n{}"),
        ("a redirect", b"HTTP/1.1 302 Found\r\nLocation: https://example.com/\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
        ("half a body", b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"half"),
        ("gzip that nobody asked for", b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\nConnection: close\r\n\r\n\x1f\x8b\x08\x00"),
    ];
    for (what, answer) in cases {
        let folder = subject(&raw(answer), None);
        let ended = crdproof(folder.path(), &["run", "--suite", "webhook", "--report", "json"]);
        // Half a body already fails the first call.
        if ended.code != 5 {
            assert_eq!(ended.code, 1, "{what}: {}", ended.stderr);
            assert!(
                broken(&ended).contains(&"webhook/large-batch-converted".into()) || !broken(&ended).is_empty(),
                "{what}"
            );
        }
        assert!(!ended.stderr.contains("panicked"), "{what}: {}", ended.stderr);
    }
}

/// `crdproof serve` for a subject of the repository, until it is dropped.
struct Served {
    process: Child,
    url: String,
    authority: String,
}

impl Served {
    fn start(subject: &str) -> Self {
        use base64::Engine as _;
        let file = repository().join("fixtures/crds").join(subject).join("crdproof.yaml");
        let mut command = Command::new(BINARY);
        command.arg("serve").arg("-f").arg(file).args(["--listen", "127.0.0.1:0"]);
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let line = |pipe: &mut dyn std::io::Read| {
            let mut text = String::new();
            std::io::BufReader::new(pipe).read_line(&mut text).unwrap();
            text
        };
        let said = line(process.stderr.as_mut().unwrap());
        let url = said.split('"').nth(1).unwrap_or_else(|| panic!("no address in {said:?}")).to_owned();
        let bundle = line(process.stdout.as_mut().unwrap());
        let bundle = bundle.strip_prefix("caBundle: ").unwrap().trim();
        let authority = base64::engine::general_purpose::STANDARD.decode(bundle).unwrap();
        Self { process, url, authority: String::from_utf8(authority).unwrap() }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Writes the first object of the samples, which has version v1, to a separate file.
fn first_sample(folder: &Path) {
    let text = std::fs::read_to_string(folder.join("samples/databases.yaml")).unwrap();
    let first = text.split("---\n").find(|text| text.contains("/v1\n")).unwrap();
    std::fs::write(folder.join("one.yaml"), first).unwrap();
}

#[test]
fn served_field_maps_pass_every_check_and_stop_gracefully() {
    let mut served = Served::start("databases");
    let folder = crate::cli::subject("databases");
    let file = folder.path().join("crdproof.yaml");
    let text = std::fs::read_to_string(&file).unwrap();
    let webhook = format!("webhook: {{url: '{}', caFile: ca.crt}}", served.url);
    assert!(text.contains("fieldMap: {}"), "{text}");
    std::fs::write(&file, text.replace("fieldMap: {}", &webhook)).unwrap();
    std::fs::write(folder.path().join("ca.crt"), &served.authority).unwrap();
    let ended = crdproof(folder.path(), &["run", "--suite", "webhook", "--suite", "converter", "--report", "json"]);
    assert_eq!(broken(&ended.says(0, &[])), Vec::<String>::new());

    first_sample(folder.path());
    let ended = crdproof(folder.path(), &["convert", "one.yaml", "--to", "v2"]);
    let ended = ended.says(0, &["✔ webhook/uid-echoed", "✔ webhook/large-batch-converted"]);
    assert!(ended.json()["apiVersion"].as_str().unwrap().ends_with("/v2"), "{}", ended.stdout);
    crdproof(folder.path(), &["convert", "one.yaml", "--to", "v9"])
        .says(2, &["has no version \"v9\"", "its versions: "]);

    let sent = Command::new("sh").args(["-c", &format!("kill -s TERM {}", served.process.id())]).status().unwrap();
    assert!(sent.success());
    assert!(served.process.wait().unwrap().success(), "it did not end in peace");
}

#[test]
fn a_subject_without_a_map_cannot_be_served() {
    let folder = subject("https://127.0.0.1:1/convert", None);
    crdproof(folder.path(), &["serve"]).says(2, &["no field map to serve", "= help: declare `converter"]);
}

#[test]
fn convert_needs_no_webhook() {
    let folder = crate::cli::subject("databases-none");
    first_sample(folder.path());
    let ended = crdproof(folder.path(), &["convert", "one.yaml", "--to", "v2"]);
    assert!(
        ended.says(0, &["○ the converter has no HTTP endpoint"]).json()["apiVersion"]
            .as_str()
            .unwrap()
            .ends_with("/v2")
    );
    crdproof(folder.path(), &["convert", "crds/databases.yaml", "--to", "v1"]).says(2, &["the subject has no CRD for"]);
}

#[test]
fn a_counterexample_is_replayed_on_another_converter() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let access = HostAccess { listen: "127.0.0.1".into(), name: "127.0.0.1".into() };
    let lossy = |call: Call| {
        let body = String::from_utf8_lossy(&right(&call).body).replace("\"size\":", "\"sze\":");
        Reply { status: 200, content_type: "application/json", body: body.into_bytes() }
    };
    let old = runtime.block_on(Listener::start(&access, lossy)).unwrap();
    let new = runtime.block_on(Listener::start(&access, |call: Call| right(&call))).unwrap();
    let folder = subject(&format!("https://{}/convert", old.address()), Some(old.authority()));
    let run = |arguments: &[&str]| crdproof(folder.path(), arguments);
    run(&["run", "-q", "--only", "converter/round-trip-lossless"]).says(1, &[]);
    run(&["replay"]).says(1, &["✗ .crdproof/counterexamples/", "converter/round-trip-lossless still fails"]);
    std::fs::write(folder.path().join("new.crt"), new.authority()).unwrap();
    let url = format!("https://{}/convert", new.address());
    run(&["replay", "--target", &url, "--ca", "new.crt"]).says(0, &["converter/round-trip-lossless passes now"]);
    run(&["replay", "--target", &url, "--ca", "crd.yaml"]).says(2, &["the CA holds no certificate", "help:"]);
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    run(&["replay", "--target", &format!("http://{free}/")])
        .says(5, &["the converter cannot be called", "= help: start it, or correct --target"]);
    runtime.block_on(old.stop());
    run(&["replay"]).says(5, &["the converter cannot be called", "correct `converter` in the subject file"]);
}

#[test]
fn a_recorded_webhook_is_judged_without_it() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let access = HostAccess { listen: "127.0.0.1".into(), name: "127.0.0.1".into() };
    // Numbers lose digits, an unexpected annotation appears, and refusals have no message.
    let wrong = |call: Call| {
        let mut reply = right(&call);
        let Ok(mut answer) = serde_json::from_slice::<Value>(&reply.body) else { return reply };
        for object in answer["response"]["convertedObjects"].as_array_mut().into_iter().flatten() {
            object["metadata"]["annotations"]["example.com/seen"] = json!(object.to_string());
            if let Some(size) = object["spec"]["size"].as_i64() {
                object["spec"]["size"] = json!(size % 1000);
            }
        }
        answer["response"]["result"]["message"] = Value::Null;
        reply.body = answer.to_string().into_bytes();
        reply
    };
    let listener = runtime.block_on(Listener::start(&access, wrong)).unwrap();
    let folder = subject(&format!("https://{}/convert", listener.address()), Some(listener.authority()));
    let told = |arguments: &[&str]| {
        let mut report =
            crdproof(folder.path(), &[arguments, &["-q", "--report", "json"]].concat()).says(1, &[]).json();
        report["findings"].as_array_mut().unwrap().iter_mut().for_each(|finding| finding["reproduce"] = Value::Null);
        report
    };
    let run = told(&["run", "--suite", "webhook", "--suite", "converter", "--objects", "60", "--record", "seen"]);
    // Each finding must be reproduced by its counterexample alone; otherwise pruning would remove the broken field.
    let replayed = crdproof(folder.path(), &["replay"]).says(1, &["still fails"]).stderr;
    assert!(!replayed.contains("passes now") && !replayed.contains("not tried"), "{replayed}");
    runtime.block_on(listener.stop());
    let families = |family: &str| {
        let findings = run["findings"].as_array().unwrap().iter();
        findings.filter(|finding| finding["check"].as_str().unwrap().starts_with(family)).count()
    };
    assert!(families("converter/") > 3 && families("webhook/") > 0, "{run}");
    assert!(run["conversions"][0]["timings"].as_array().is_some_and(|timings| !timings.is_empty()), "{run}");
    assert_eq!(run, told(&["judge", "seen"]));
    assert!(folder.path().join("seen/0.exchanges.jsonl").is_file());
}
