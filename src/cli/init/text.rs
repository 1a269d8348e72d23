//! The subject file that `init` writes.

use std::path::Path;

use serde_json::Value;

use super::find::{Found, as_text};
use crate::subject::Crd;

/// The address of the schema of the file, for editors.
pub(super) const SCHEMA: &str =
    "https://raw.githubusercontent.com/crdproof/crdproof/main/docs/subject-file.schema.json";

/// A way to reach the conversion webhook.
pub(super) struct Proposal {
    /// The name for people.
    pub(super) title: &'static str,
    /// The keys of the subject file.
    pub(super) yaml: String,
}

/// Writes the subject file for CRDs as they will be read, including conversion webhooks that patches add. The chosen
/// proposal is written as YAML, all others as comments.
pub(super) fn subject_file(
    base: &Path,
    found: &Found,
    crds: &[Crd],
    proposals: &[Proposal],
    chosen: Option<usize>,
) -> String {
    let mut text = format!(
        "# yaml-language-server: $schema={SCHEMA}\n\
         # What is under test. All keys: `crdproof schema subject`.\n\
         apiVersion: crdproof/v1alpha1\nkind: Subject\nmetadata: {{name: {}}}\n\n",
        quoted(&name(base, crds)),
    );
    match &found.chart {
        Some(chart) => text.push_str(&format!(
            "# The CRDs are templates of this chart.\n\
             crds:\n  command: [helm, template, --include-crds, {}]\n",
            quoted(chart)
        )),
        None => text.push_str(&format!(
            "# Files, folders, kustomizations, multi-document YAML; or `command: [helm, template, --include-crds, CHART]`.\n\
             crds:\n  paths: [{}]\n",
            list(&found.crd_paths)
        )),
    }
    text.push_str(&format!("  minimumCount: {}   # an empty render must not pass\n\n", crds.len()));
    text.push_str("# Objects that must be valid and survive conversion.\n");
    if found.sample_paths.is_empty() {
        text.push_str("# samples: [config/samples]\n\n");
    } else {
        text.push_str(&format!("samples: [{}]\n\n", list(&found.sample_paths)));
    }
    let path = found.crd_paths.first().map_or("config/crd", String::as_str);
    text.push_str(&format!(
        "# The state that users have, to compare with.\n# baseline: {{git: v1.0.0, paths: [{}]}}\n\n\
         # The lowest Kubernetes release that you claim to support.\n# kubernetes: {{minimum: \"1.31\"}}\n\n",
        quoted(path)
    ));
    text.push_str(&converter(crds, proposals, chosen));
    text.push_str(
        "# Accepted findings, each with a reason and an end.\n\
         # waivers: [{check: manifest/size-applicable, reason: \"installed by server-side apply\", expires: 2027-12-31}]\n",
    );
    text
}

/// The plural of the only CRD, or the name of the folder.
fn name(base: &Path, crds: &[Crd]) -> String {
    if let [crd] = crds {
        return crd.names.plural.clone();
    }
    let folder = base.canonicalize().ok();
    let folder = folder.as_deref().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    folder.filter(|name| !name.is_empty()).unwrap_or_else(|| "crds".into())
}

/// Returns ways to reach the conversion webhook. Nothing is started without the user's consent.
pub(super) fn proposals(base: &Path, found: &Found, crds: &[Crd], installed: &[Crd]) -> Vec<Proposal> {
    let Some(crd) = crds.iter().find(|crd| crd.conversion.strategy == "Webhook") else { return Vec::new() };
    let service = crd.conversion.client.as_ref().and_then(|client| client.service.as_ref());
    let path = service.and_then(|service| service.path.as_ref()).map_or("/convert", |(path, _)| path.as_str());
    let main = found.projects.iter().find_map(|(folder, main)| Some((folder, main.as_ref()?)));
    let own = main.map(|(folder, main)| {
        let source = std::fs::read_to_string(base.join(main)).unwrap_or_default();
        let title = "your own manager, started for the run (needsCluster: with an API server that has the CRDs)";
        Proposal { title, yaml: process(folder, main, &source, path) }
    });
    let deployed = installed.iter().find(|other| other.name == crd.name).unwrap_or(crd);
    let title = "the one that is deployed in a cluster";
    own.into_iter().chain([Proposal { title, yaml: webhook(deployed, path) }]).collect()
}

/// Returns the converter section of the subject file.
fn converter(crds: &[Crd], proposals: &[Proposal], chosen: Option<usize>) -> String {
    let Some(crd) = crds.iter().find(|crd| crd.conversion.strategy == "Webhook") else { return String::new() };
    let others = crds.iter().filter(|other| other.conversion.strategy == "Webhook").count() - 1;
    let more = if others == 0 { String::new() } else { format!(" and {others} more") };
    let until = if chosen.is_some() { "" } else { " Conversion is not tested until you say how to reach it." };
    let mut text = format!("# {}{more}: converted by a webhook.{until}\n", crd.name);
    for (index, proposal) in proposals.iter().enumerate() {
        let or = if index == 0 { "This is" } else { "Or" };
        text.push_str(&format!("# {or} {}:\n", proposal.title));
        if chosen == Some(index) { text.push_str(&proposal.yaml) } else { text.push_str(&commented(&proposal.yaml)) }
    }
    text.push_str(&format!(
        "# Or the declared relation of the versions instead of a webhook:\n\
         # converter: {{fieldMap: {{}}}}\n# fieldMaps:\n# - crd: {}\n#   between: [{}]\n\
         #   stash: [{{from: {last}, to: {first}, path: .spec.field, annotation: example.com/field}}]\n\n",
        crd.name,
        crd.versions.iter().take(2).map(|version| version.name.as_str()).collect::<Vec<_>>().join(", "),
        first = crd.versions.first().map_or("v1", |version| version.name.as_str()),
        last = crd.versions.get(1).map_or("v2", |version| version.name.as_str()),
    ));
    text
}

fn commented(yaml: &str) -> String {
    yaml.lines().map(|line| format!("# {line}\n")).collect()
}

/// The project's own manager as a process.
fn process(folder: &Path, main: &Path, source: &str, path: &str) -> String {
    let inside = main.strip_prefix(folder).unwrap_or(main).parent().map(as_text).unwrap_or_default();
    let mut words = vec!["go".to_owned(), "run".to_owned()];
    if !folder.as_os_str().is_empty() {
        words.extend(["-C".to_owned(), as_text(folder)]);
    }
    words.push(if inside == "." { inside } else { format!("./{inside}") });
    for (flag, value) in [
        ("webhook-cert-path", "$CERT_DIR"),
        ("webhook-cert-dir", "$CERT_DIR"),
        ("webhook-port", "$PORT"),
        ("metrics-bind-address", "0"),
        ("health-probe-bind-address", "0"),
    ] {
        if source.contains(&format!("\"{flag}\"")) {
            words.push(format!("--{flag}={value}"));
        }
    }
    let port = if source.contains("\"webhook-port\"") {
        String::new()
    } else {
        "    port: 9443   # where controller-runtime listens, if the manager has no flag for it\n".to_owned()
    };
    let certificate = if source.contains("\"webhook-cert-") {
        ""
    } else {
        "    # The manager has no flag for its certificate: give it one that sets CertDir, and pass $CERT_DIR.\n"
    };
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    format!(
        "converter:\n  process:\n    run: [{}]\n{certificate}{port}    path: {}\n    needsCluster: true\n",
        words.join(", "),
        quoted(path)
    )
}

/// The webhook that the CRD itself names.
fn webhook(crd: &Crd, path: &str) -> String {
    let client = crd.conversion.client.as_ref();
    let (service, url) =
        (client.and_then(|client| client.service.as_ref()), client.and_then(|client| client.url.as_ref()));
    match (service, url) {
        (Some(service), _) => {
            let port = service.port.map_or_else(String::new, |(port, _)| format!(", port: {port}"));
            format!(
                "converter:\n  webhook:\n    service: {{name: {}, namespace: {}{port}, path: {}}}\n",
                quoted(&service.name),
                quoted(&service.namespace),
                quoted(path)
            )
        }
        (None, Some((url, _))) => format!("converter:\n  webhook: {{url: {}}}\n", quoted(url)),
        (None, None) => "converter:\n  webhook: {url: \"https://localhost:9443/convert\"}\n".to_owned(),
    }
}

fn list(paths: &[String]) -> String {
    paths.iter().map(|path| quoted(path)).collect::<Vec<_>>().join(", ")
}

/// A word as YAML: plain if that is safe inside of brackets.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-$=".contains(c);
    let starts_well = word.starts_with(|c: char| c.is_ascii_alphabetic() || "./$".contains(c));
    let is_word =
        !["true", "false", "null", "yes", "no", "on", "off", "y", "n"].contains(&word.to_lowercase().as_str());
    if starts_well && is_word && word.chars().all(is_plain) { word.to_owned() } else { Value::from(word).to_string() }
}
