//! The demo, and a run that is interrupted in the middle of its scenarios.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crdproof_envtest::local::Binaries;
use libtest_mimic::Failed;

use crate::endings::{nothing_is_left, release, signal};
use crate::support::check;

/// The demo on this server, in a folder.
fn demo(binaries: &Binaries, folder: &Path) -> Result<Command, Failed> {
    let assets = binaries.apiserver.parent().unwrap_or(Path::new("/"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_crdproof"));
    command.args(["demo", "--offline", "--kubernetes", &release(binaries)?, "--assets"]).arg(assets);
    command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    Ok(command)
}

pub(crate) fn the_demo_runs_everything(binaries: &Binaries) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let output = demo(binaries, folder.path())?.output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    check(output.status.success(), said.clone())?;
    for words in ["✔ scenarios on ", "✔ passed: no findings", "crdproof-demo/report.html"] {
        check(said.contains(words), format!("{words}: {said}"))?;
    }
    let page = std::fs::read_to_string(folder.path().join("crdproof-demo/report.html"))?;
    for words in ["Scenarios, step by step", "storage&#x2f;flip", "who owned which field"] {
        check(page.contains(words), format!("the page does not show {words}"))?;
    }
    check(page.len() < 2_000_000, format!("{} bytes", page.len()))
}

pub(crate) fn an_interrupted_run_reports_what_is_known(binaries: &Binaries) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let mut child = demo(binaries, folder.path())?.spawn()?;
    let mut lines = BufReader::new(child.stderr.take().ok_or("no stderr")?).lines();
    let mut said = String::new();
    for line in lines.by_ref() {
        said.push_str(&(line? + "\n"));
        // The server runs: from here on there are scenarios to interrupt.
        if said.contains(" runs after ") {
            break;
        }
    }
    std::thread::sleep(Duration::from_secs(2));
    signal("INT", child.id())?;
    for line in lines {
        said.push_str(&(line? + "\n"));
    }
    check(child.wait()?.code() == Some(6), said.clone())?;
    for words in ["interrupted: reporting what is known", "checks passed", "the run was interrupted before that"] {
        check(said.contains(words), format!("{words}: {said}"))?;
    }
    nothing_is_left(child.id())
}
