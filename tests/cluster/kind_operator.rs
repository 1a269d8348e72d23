//! A kind cluster with a conversion webhook in a pod, made of the image of `scripts/image`, is tested where it runs.

use std::path::Path;
use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use crdproof_envtest::Authority;
use crdproof_envtest::kind::Kind;
use libtest_mimic::{Completion, Failed};
use serde_json::json;

use crate::containers::{RELEASE, docker, kind_program, nothing_is_left_of, release, skip_if_missing};
use crate::staging::{document, subject};
use crate::support::{check, said};

/// The image of `scripts/image`.
const IMAGE: &str = "crdproof:dev";

/// The port of the webhook on the node, where the API server is, too.
const PORT: u16 = 9443;

/// Fills the cluster as an operator's own scripts do, and tests it. Pods of these nodes have no network of their own, so the
/// webhook is a static pod with the network of its node.
const SCRIPT: &str = r#"
node=$CRDPROOF_KIND_CLUSTER-control-plane
"$KIND" load docker-image "$IMAGE" --name "$CRDPROOF_KIND_CLUSTER" >&2
docker cp . "$node:/subject" >&2
docker cp pod.yaml "$node:/etc/kubernetes/manifests/hook.yaml" >&2
tries=0
until docker exec "$node" bash -c "exec 3<>/dev/tcp/127.0.0.1/$PORT" 2>/dev/null; do
  tries=$((tries + 1))
  [ $tries -lt 120 ] || { docker exec "$node" crictl ps -a >&2; echo 'the webhook does not listen' >&2; exit 9; }
  sleep 0.5
done
echo "$CRDPROOF_KIND_CLUSTER" >cluster
exec "$CRDPROOF" run --suite serving --suite apply --provider kubeconfig --deployed --allow-changes --no-counterexamples
"#;

pub(crate) fn a_webhook_in_a_pod_is_tested_where_it_runs() -> Result<Completion, Failed> {
    let builder = Kind::builder(release()).program(kind_program());
    if let Some(skip) = skip_if_missing(builder.check())? {
        return Ok(skip);
    }
    if docker(&["images", "--quiet", IMAGE]).is_empty() {
        let why = format!("the image {IMAGE} is missing; `scripts/image PROGRAM` makes it of a static program");
        return Ok(Completion::ignored_with(why));
    }
    let folder = tempfile::tempdir()?;
    prepare(folder.path())?;
    let output = Command::new(env!("CARGO_BIN_EXE_crdproof"))
        .args(["env", "run", RELEASE, "--provider", "kind", "--crd", "crd.yaml", "--kind"])
        .arg(kind_program())
        .args(["--", "sh", "-ec", SCRIPT])
        .env("CRDPROOF", env!("CARGO_BIN_EXE_crdproof"))
        .env("KIND", kind_program())
        .env("IMAGE", IMAGE)
        .env("PORT", PORT.to_string())
        .current_dir(folder.path())
        .output()?;
    let cluster = std::fs::read_to_string(folder.path().join("cluster")).unwrap_or_default();
    check(output.status.success() && said(&output).contains("✔ passed"), said(&output))?;
    nothing_is_left_of(cluster.trim())?;
    Ok(Completion::Completed)
}

/// Writes the subject, the certificate of its webhook, the CRD that names it, and the pod.
fn prepare(folder: &Path) -> Result<(), Failed> {
    subject(folder, "Namespaced")?;
    let authority = Authority::new()?;
    let pair = authority.server("hook", &["127.0.0.1"])?;
    for (name, text) in [("tls.crt", &pair.certificate), ("tls.key", &pair.key), ("ca.crt", &authority.certificate)] {
        std::fs::write(folder.join(name), text)?;
    }
    let mut crd = document(&std::fs::read_to_string(folder.join("crds/databases.yaml"))?, 0)?;
    let (url, bundle) = (format!("https://127.0.0.1:{PORT}/convert"), STANDARD.encode(&authority.certificate));
    crd["spec"]["conversion"]["webhook"]["clientConfig"] = json!({"url": url, "caBundle": bundle});
    std::fs::write(folder.join("crd.yaml"), crd.to_string())?;
    let arguments =
        ["serve", "-f", "/subject/crdproof.yaml", "--cert", "/subject/tls.crt", "--key", "/subject/tls.key"];
    let listen = format!("127.0.0.1:{PORT}");
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "hook", "namespace": "kube-system"}, "spec": {
        "hostNetwork": true, "priorityClassName": "system-node-critical",
        "volumes": [{"name": "subject", "hostPath": {"path": "/subject"}}],
        "containers": [{"name": "hook", "image": IMAGE, "imagePullPolicy": "Never",
            "args": arguments.into_iter().chain(["--listen", &listen]).collect::<Vec<_>>(),
            "volumeMounts": [{"name": "subject", "mountPath": "/subject", "readOnly": true}]}]}});
    std::fs::write(folder.join("pod.yaml"), pod.to_string())?;
    Ok(())
}
