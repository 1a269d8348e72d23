//! Starting servers in one line, for tests of other projects.

use std::path::Path;
use std::process::Output;

use crdproof_envtest::local::Binaries;
use libtest_mimic::Failed;

use crate::endings::release;
use crate::nested_cargo::nested_cargo;
use crate::support::{block, check, said};

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

/// Runs a command of cargo on a crate with a workspace of its own, in this folder. Compiled dependencies are used again:
/// this test is <target>/debug/deps/cluster-….
fn cargo(command: &str, folder: &str, arguments: &[&str]) -> Result<Output, Failed> {
    let own = std::env::current_exe()?;
    let target = own.ancestors().nth(3).ok_or("no target folder")?;
    let mut cargo = nested_cargo();
    cargo.args([command, "--quiet", "--locked", "--manifest-path"]);
    cargo.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join("Cargo.toml")).args(arguments);
    Ok(cargo.env("CARGO_TARGET_DIR", target).output()?)
}

pub(crate) fn the_example_operator_reconciles(_: &Binaries) -> Result<(), Failed> {
    let output = cargo("test", "examples/operator", &["--test", "controller"])?;
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    check(output.status.success() && stdout.contains("1 passed"), format!("{stdout}{}", said(&output)))
}

/// The crate has its own workspace, and depends only on `crdproof-envtest`.
pub(crate) fn an_external_crate_starts_a_server(binaries: &Binaries) -> Result<(), Failed> {
    let release = release(binaries)?;
    let output = cargo("run", "tests/external", &["--", &release])?;
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    check(stdout == format!("{release} \"v{release}\"\n"), format!("{stdout}{}", said(&output)))
}
