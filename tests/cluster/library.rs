//! Starting servers in one line, for tests of other projects.

use std::path::Path;
use std::process::Command;

use crdproof_envtest::local::Binaries;
use libtest_mimic::Failed;

use crate::support::{block, check, said};

/// The release of these binaries, as it is named on a command line.
fn release(binaries: &Binaries) -> Result<String, Failed> {
    let said = Command::new(&binaries.apiserver).arg("--version").output()?.stdout;
    Ok(String::from_utf8_lossy(&said).trim().replace("Kubernetes v", ""))
}

pub(crate) fn a_storage_suite_runs_in_one_line(binaries: &Binaries) -> Result<(), Failed> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/crds/databases/crdproof.yaml");
    let report = crdproof::check(file)?.suite("storage").kubernetes(&release(binaries)?).run()?;
    report.assert_passed();
    check(report.summary.passed > 10, format!("{:?}", report.summary))
}

pub(crate) fn a_server_starts_in_one_line(binaries: &Binaries) -> Result<(), Failed> {
    let release = release(binaries)?;
    block(async {
        let server = crdproof_envtest::start(&release).await.map_err(|error| error.to_string())?;
        check(server.version().to_string() == release, format!("{} instead of {release}", server.version()))
    })
}

/// The crate has its own workspace, and depends only on `crdproof-envtest`.
pub(crate) fn an_external_crate_starts_a_server(binaries: &Binaries) -> Result<(), Failed> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/external");
    let release = release(binaries)?;
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    // Reuse the compiled dependencies: this test is <target>/debug/deps/cluster-….
    let own = std::env::current_exe()?;
    let target = own.ancestors().nth(3).ok_or("no target folder")?;
    let mut command = Command::new(cargo);
    command.args(["run", "--quiet", "--locked", "--manifest-path"]).arg(folder.join("Cargo.toml"));
    let output = command.args(["--", &release]).env("CARGO_TARGET_DIR", target).output()?;
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    check(stdout == format!("{release} \"v{release}\"\n"), format!("{stdout}{}", said(&output)))
}
