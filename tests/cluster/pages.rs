//! The pages of the documentation whose commands need an API server.

use std::process::Command;

use crdproof_envtest::local::Binaries;
use libtest_mimic::{Completion, Failed};

use crate::console::{ON_SERVERS, Page};
use crate::endings::release;
use crate::support::check;

pub(crate) fn pages_show_real_runs(binaries: &Binaries) -> Result<Completion, Failed> {
    if !release(binaries)?.starts_with("1.36.") {
        return Ok(Completion::ignored_with("the pages name Kubernetes 1.36; `crdproof env use 1.36` installs it"));
    }
    if Command::new("kubectl").args(["version", "--client"]).output().is_err() {
        return Ok(Completion::ignored_with("kubectl is not installed"));
    }
    for path in ON_SERVERS {
        let page = Page::read(path)?;
        check(page.needs_server && !page.steps.is_empty(), format!("{path} needs no server"))?;
        page.run()?;
    }
    Ok(Completion::Completed)
}
