//! A canary value in every place where a secret may be: no output may contain it.

mod fixtures;
mod hostile_webhooks;

use std::path::Path;

use crdproof::converter::proxy::{Call, Listener, Reply};
use crdproof::converter::review;
use crdproof_envtest::HostAccess;
use serde_json::{Value, json};

use crate::cli::{crdproof, listing};

const FORMATS: [&str; 7] = ["terminal", "json", "junit", "sarif", "html", "markdown", "github"];

/// Checks that print objects, responses, refusals and excerpts. Running only these is faster.
const RUN: [&str; 11] = [
    "run",
    "--only",
    "webhook",
    "--only",
    "manifest/samples-valid",
    "--only",
    "converter/round-trip-lossless",
    "--only",
    "converter/valid-always-converts",
    "--time",
    "1s",
];

const CRD: &str = "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget}
  conversion:
    strategy: Webhook
    webhook:
      conversionReviewVersions: [v1]
      clientConfig: {url: 'https://widgets.example.com/convert'}
  versions:
  - name: v1
    served: true
    storage: true
    schema: &schema
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: integer, maximum: 10}
              password: {type: string, maxLength: 40}
              pin: {type: string, format: password, pattern: '^[a-z]+-[a-z]+$'}
              tokens: {type: array, items: {type: string}}
              template: {type: object, x-kubernetes-preserve-unknown-fields: true}
  - {name: v2, served: true, storage: false, schema: *schema}
";

/// The same CRD without YAML aliases.
fn crd() -> String {
    let (head, schema) = CRD.split_once("    schema: &schema\n").unwrap();
    let (schema, _) = schema.split_once("  - {name: v2").unwrap();
    format!("{head}    schema:\n{schema}  - name: v2\n    served: true\n    storage: false\n    schema:\n{schema}")
}

const SAMPLE: &str = r#"
apiVersion: example.com/v1
kind: Widget
metadata:
  name: a
  namespace: default
  annotations:
    example.com/auth-token: canary-in-an-annotation
    kubectl.kubernetes.io/last-applied-configuration: "{\"spec\":{\"password\":\"canary-applied\",\"pin\":\"canary-pin\"}}"
spec:
  size: 1
  password: canary-password
  pin: canary-pin
  tokens: [canary-token-1, canary-token-2]
  template: {apiVersion: v1, kind: Secret, data: {key: canary-data}, stringData: {other: canary-string}}
"#;

/// A subject whose converter drops everything below `spec`, and whose refusals quote the request.
fn leaking_subject() -> (tokio::runtime::Runtime, Listener, tempfile::TempDir) {
    let handler = |call: Call| {
        let Ok(request) = serde_json::from_slice::<Value>(&call.body) else { return Reply::text(400, "no JSON") };
        let answer = review::answer(&request, |object, to| {
            if object["spec"]["size"] == 2 {
                return Err(format!("do not like {} and {}", object["spec"]["pin"], object["spec"]["password"]));
            }
            let mut object = object.clone();
            object["apiVersion"] = json!(to);
            object["metadata"]["annotations"]["example.com/stash"] = json!(object["spec"].to_string());
            object["spec"] = json!({});
            Ok(object)
        });
        answer.map_or_else(|why| Reply::text(400, why), |answer| Reply::json(&answer))
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let access = HostAccess { listen: "127.0.0.1".into(), name: "127.0.0.1".into() };
    let listener = runtime.block_on(Listener::start(&access, handler)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("crd.yaml", &crd());
    let refused = SAMPLE.replace("name: a\n", "name: b\n").replace("size: 1", "size: 2");
    // This object is not admitted either, and the reasons quote its values.
    let invalid = SAMPLE.replace("name: a\n", "name: c\n").replace("pin: canary-pin", "pin: canary-99");
    write("sample.yaml", &format!("{SAMPLE}---{refused}---{invalid}"));
    write("refused.yaml", &refused);
    write("ca.crt", listener.authority());
    let file = format!(
        "apiVersion: crdproof/v1alpha1\nkind: Subject\ncrds: {{paths: [crd.yaml]}}\nsamples: [sample.yaml]\n\
         converter: {{webhook: {{url: 'https://{}/convert', caFile: ca.crt}}}}\n",
        listener.address()
    );
    write("crdproof.yaml", &file);
    (runtime, listener, folder)
}

/// Runs a command with all reports, and returns everything that it printed and wrote, by name.
fn all_output(folder: &Path, arguments: &[&str]) -> Vec<(String, String)> {
    let out = folder.join("out");
    let _ = std::fs::remove_dir_all(&out);
    let mut all: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
    if ["run", "judge"].contains(&arguments[0]) {
        all.extend(FORMATS.iter().flat_map(|format| ["--report".into(), format!("{format}=out/{format}")]));
        all.push("--verbose".into());
    }
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let ended = crdproof(folder, &all);
    assert_eq!(ended.code, 1, "{arguments:?}: {}", ended.stderr);
    let mut texts = vec![("stderr".to_owned(), ended.stderr), ("stdout".to_owned(), ended.stdout)];
    if out.exists() {
        let files = listing(&out).into_iter();
        texts.extend(files.map(|(path, text)| {
            (path.file_name().unwrap().to_string_lossy().into_owned(), String::from_utf8(text).unwrap())
        }));
    }
    texts
}

/// Asserts that a text shows no canary, and no beginning of one.
#[track_caller]
fn is_mute(what: &str, text: &str) {
    let shown = text.lines().find(|line| line.contains("canary"));
    assert!(shown.is_none(), "{what}: {}", shown.unwrap_or_default());
}

#[test]
fn no_command_or_format_prints_secrets() {
    let (_runtime, _listener, folder) = leaking_subject();
    let commands: [&[&str]; 4] = [
        &[&RUN[..], &["--record", "seen", "--har", "out/wire.har"]].concat(),
        &["judge", "seen"],
        &["replay"],
        &["convert", "refused.yaml", "--to", "v2"],
    ];
    for command in commands {
        for (what, text) in all_output(folder.path(), command) {
            is_mute(&format!("{command:?} in {what}"), &text);
            let mute = ["stdout", "github"].contains(&what.as_str());
            assert!(mute || text.contains("•••"), "{command:?} in {what}: nothing was redacted:\n{text}");
        }
    }
    // Saved files hold the objects unredacted, for their owner.
    let kept = listing(&folder.path().join("seen")).into_iter().chain(listing(&folder.path().join(".crdproof")));
    assert!(kept.into_iter().any(|(_, text)| String::from_utf8_lossy(&text).contains("canary-pin")));
}

#[cfg(unix)]
#[test]
fn what_is_kept_as_it_is_can_be_read_by_its_owner_only() {
    let (_runtime, _listener, folder) = leaking_subject();
    crdproof(folder.path(), &[&RUN[..], &["-q", "--record", "seen"]].concat()).says(1, &[]);
    let kept: Vec<_> = ["seen", ".crdproof"].iter().flat_map(|name| listing(&folder.path().join(name))).collect();
    assert!(kept.len() > 3, "{kept:?}");
    for (path, _) in kept.into_iter().filter(|(path, _)| !path.ends_with(".gitignore")) {
        let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&path).unwrap().permissions());
        assert_eq!(mode & 0o077, 0, "{} has mode {mode:o}", path.display());
    }
}

#[test]
fn show_secrets_prints_secrets() {
    let (_runtime, _listener, folder) = leaking_subject();
    crdproof(folder.path(), &[&RUN[..], &["-q", "--record", "seen"]].concat()).says(1, &[]);
    // A counterexample was minimized, so it may have lost its secrets.
    for command in [&RUN[..], &["judge", "seen"], &["convert", "refused.yaml", "--to", "v2"]] {
        let texts = all_output(folder.path(), &[command, &["--show-secrets"]].concat());
        assert!(texts.iter().any(|(_, text)| text.contains("canary-pi")), "{command:?}: {texts:?}");
    }
}

/// Returns true if a value has a type.
type Kind = fn(&Value) -> bool;

/// Required fields of a HAR 1.2 entry, by JSON pointer and type.
const REQUIRED: [(&str, Kind); 24] = [
    ("/startedDateTime", Value::is_string),
    ("/time", Value::is_number),
    ("/request/method", Value::is_string),
    ("/request/url", Value::is_string),
    ("/request/httpVersion", Value::is_string),
    ("/request/cookies", Value::is_array),
    ("/request/headers", Value::is_array),
    ("/request/queryString", Value::is_array),
    ("/request/headersSize", Value::is_i64),
    ("/request/bodySize", Value::is_i64),
    ("/response/status", Value::is_u64),
    ("/response/statusText", Value::is_string),
    ("/response/httpVersion", Value::is_string),
    ("/response/cookies", Value::is_array),
    ("/response/headers", Value::is_array),
    ("/response/content/size", Value::is_u64),
    ("/response/content/mimeType", Value::is_string),
    ("/response/redirectURL", Value::is_string),
    ("/response/headersSize", Value::is_i64),
    ("/response/bodySize", Value::is_i64),
    ("/cache", Value::is_object),
    ("/timings/send", Value::is_number),
    ("/timings/wait", Value::is_number),
    ("/timings/receive", Value::is_number),
];

#[test]
fn the_recorded_wire_is_an_http_archive_readable_by_its_owner_only() {
    let (_runtime, _listener, folder) = leaking_subject();
    let run = ["run", "-q", "--only", "webhook", "--har", "wire.har"];
    crdproof(folder.path(), &run).says(1, &[]);
    let path = folder.path().join("wire.har");
    let archive: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    assert_eq!((&archive["log"]["version"], &archive["log"]["creator"]["name"]), (&json!("1.2"), &json!("crdproof")));
    let entries = archive["log"]["entries"].as_array().unwrap();
    assert!(entries.len() > 20, "{} entries", entries.len());
    let mut before = jiff::Timestamp::UNIX_EPOCH;
    for entry in entries {
        for (pointer, is_right) in REQUIRED {
            assert!(entry.pointer(pointer).is_some_and(is_right), "{pointer} in {entry:#}");
        }
        let begun: jiff::Timestamp = entry["startedDateTime"].as_str().unwrap().parse().unwrap();
        assert!(begun >= before);
        before = begun;
    }
    let reviews = entries.iter().filter_map(|entry| entry["request"]["postData"]["text"].as_str());
    let reviews: Vec<Value> = reviews.filter_map(|text| serde_json::from_str(text).ok()).collect();
    assert!(reviews.iter().any(|review| review["request"]["objects"][0]["spec"]["password"] == "•••"), "{reviews:?}");
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&path).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600);
    }
    crdproof(folder.path(), &[&run[..], &["--show-secrets"]].concat()).says(1, &[]);
    assert!(std::fs::read_to_string(&path).unwrap().contains("canary-password"));

    let folder = crate::cli::subject("databases-none");
    crdproof(folder.path(), &["run", "--har", "wire.har"]).says(1, &["○ no HTTP requests were sent, so wire.har"]);
    let text = std::fs::read_to_string(folder.path().join("wire.har")).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap()["log"]["entries"], json!([]));
}
