//! A canary in every place where a secret may stand: nothing that is rendered sings.

use std::path::Path;

use crdproof::cluster::HostAccess;
use crdproof::convert::review;
use crdproof::tap::{Call, Listener, Reply};
use serde_json::{Value, json};

use crate::cli::{crdproof, listing};

const FORMATS: [&str; 7] = ["terminal", "json", "junit", "sarif", "html", "markdown", "github"];

/// Checks that show objects, answers, refusals and excerpts; fewer of them end sooner.
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

/// The same, with nothing that YAML repeats by reference.
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

/// A subject whose converter loses everything below `spec`, and refuses in words that repeat what it got.
fn workplace() -> (tokio::runtime::Runtime, Listener, tempfile::TempDir) {
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
    // Neither is this one admitted, and the reasons name its values.
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

/// Runs a command with all reports, and gives everything that it said and wrote, by name.
fn said(folder: &Path, arguments: &[&str]) -> Vec<(String, String)> {
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

#[test]
fn no_command_and_no_format_lets_the_canary_sing() {
    let (_runtime, _listener, folder) = workplace();
    let commands: [&[&str]; 4] = [
        &[&RUN[..], &["--record", "seen"]].concat(),
        &["judge", "seen"],
        &["replay"],
        &["convert", "refused.yaml", "--to", "v2"],
    ];
    for command in commands {
        for (what, text) in said(folder.path(), command) {
            let song = text.lines().find(|line| line.contains("canary"));
            assert!(song.is_none(), "{command:?} in {what}: {}", song.unwrap_or_default());
            let mute = ["stdout", "github"].contains(&what.as_str());
            assert!(mute || text.contains("•••"), "{command:?} in {what}: nothing was masked:\n{text}");
        }
    }
    // What is kept is kept as it is, for its owner.
    let kept = listing(&folder.path().join("seen")).into_iter().chain(listing(&folder.path().join(".crdproof")));
    assert!(kept.into_iter().any(|(_, text)| String::from_utf8_lossy(&text).contains("canary-pin")));
}

#[test]
fn secrets_are_shown_to_those_who_ask() {
    let (_runtime, _listener, folder) = workplace();
    crdproof(folder.path(), &[&RUN[..], &["-q", "--record", "seen"]].concat()).says(1, &[]);
    for command in [&RUN[..], &["judge", "seen"], &["replay"], &["convert", "refused.yaml", "--to", "v2"]] {
        let texts = said(folder.path(), &[command, &["--show-secrets"]].concat());
        assert!(texts.iter().any(|(_, text)| text.contains("canary-pi")), "{command:?}: {texts:?}");
    }
}
