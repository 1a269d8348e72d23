//! A converter process that needs an API server gets one, with the CRDs of its subject.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crdproof_envtest::existing::{Access, Existing};
use crdproof_envtest::local::Binaries;
use libtest_mimic::Failed;

use crate::endings::within;
use crate::support::{block, check, describe};

const CRD: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/databases.example.com";

/// Objects on the manager's server: a kind of another project with an object, and settings in a namespace.
const MANIFESTS: &str = r"
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: operators}
data: {mode: fast}
---
apiVersion: other.example.org/v1
kind: Issuer
metadata: {name: own}
---
apiVersion: v1
kind: Namespace
metadata: {name: operators}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: issuers.other.example.org}
spec:
  group: other.example.org
  scope: Cluster
  names: {kind: Issuer, listKind: IssuerList, plural: issuers, singular: issuer}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
";

/// Copies the databases of the fixtures, with this process as the converter.
fn subject(folder: &Path, release: &str) -> Result<(), Failed> {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/crds/databases");
    let copied = Command::new("cp").arg("-r").arg(from.join(".")).arg(folder).status()?;
    check(copied.success(), "no copy")?;
    let text = std::fs::read_to_string(folder.join("crdproof.yaml"))?;
    std::fs::write(folder.join("serve.yaml"), &text)?;
    // Writes its kubeconfig to a file, and continues when the test has looked at the server.
    let script = "echo \"$KUBECONFIG\" > config.part; mv config.part config; while ! [ -e go ]; do sleep 0.1; done; \
                  exec \"$0\" serve -f serve.yaml --listen 127.0.0.1:$PORT --cert $CERT_DIR/tls.crt \
                  --key $CERT_DIR/tls.key --ca $CERT_DIR/ca.crt";
    let tool = env!("CARGO_BIN_EXE_crdproof");
    std::fs::write(folder.join("manifests.yaml"), MANIFESTS)?;
    let process =
        format!("process: {{needsCluster: true, manifests: [manifests.yaml], run: [sh, -c, '{script}', '{tool}']}}");
    check(text.contains("fieldMap: {}") && text.contains("minimum: \"1.31\""), "the subject file is another")?;
    let text = text.replace("fieldMap: {}", &process).replace("minimum: \"1.31\"", &format!("minimum: \"{release}\""));
    Ok(std::fs::write(folder.join("crdproof.yaml"), text)?)
}

pub(crate) fn a_manager_gets_an_api_server(binaries: &Binaries) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let said = Command::new(&binaries.apiserver).arg("--version").output()?.stdout;
    let release = String::from_utf8_lossy(&said).trim().replace("Kubernetes v", "");
    subject(folder.path(), &release)?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_crdproof"));
    command.args(["run", "--suite", "webhook"]).current_dir(folder.path()).stdin(Stdio::null());
    command.env("KUBEBUILDER_ASSETS", binaries.apiserver.parent().unwrap_or(Path::new("/")));
    let tool = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
    let config = within(Duration::from_secs(90), || std::fs::read_to_string(folder.path().join("config")).ok());
    let asked = config.map(|config| {
        let access = Access { kubeconfig: vec![config.trim().into()], dry_run: true, ..Access::default() };
        block(async {
            let cluster = Existing::connect(&access).await.map_err(|error| describe(&error))?;
            let crd = cluster.api().get(CRD).await?.ok()?.json();
            let url = crd["spec"]["conversion"]["webhook"]["clientConfig"]["url"].as_str().unwrap_or_default();
            check(url.starts_with("https://127.0.0.1:"), format!("another converter: {url}"))?;
            let settings = cluster.api().get("/api/v1/namespaces/operators/configmaps/settings").await?.ok()?.json();
            check(settings["data"]["mode"] == "fast", settings.to_string())?;
            let issuer = cluster.api().get("/apis/other.example.org/v1/issuers/own").await?;
            check(issuer.is_success(), issuer.message())
        })
    });
    // Let the tool end by itself, whatever the test saw.
    std::fs::write(folder.path().join("go"), "")?;
    let ended = tool.wait_with_output()?;
    let stderr = String::from_utf8_lossy(&ended.stderr).into_owned();
    asked.ok_or_else(|| Failed::from(format!("it was never started: {stderr}")))??;
    check(ended.status.success(), stderr)?;
    let config = std::fs::read_to_string(folder.path().join("config"))?;
    check(!Path::new(config.trim()).exists(), format!("{config} is left"))
}
