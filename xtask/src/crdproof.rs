//! Runs the crdproof binary and reads its JSON output.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};
use serde::de::DeserializeOwned;

/// Runs crdproof and parses its standard output. Its messages go to standard error.
pub(crate) fn json<T: DeserializeOwned>(command: &mut Command) -> anyhow::Result<T> {
    let program = Path::new(command.get_program()).display().to_string();
    let output = command.stderr(Stdio::inherit()).output().with_context(|| format!("cannot run {program}"))?;
    if !output.status.success() {
        let arguments: Vec<_> = command.get_args().map(OsStr::to_string_lossy).collect();
        bail!("{program} {} failed: {}", arguments.join(" "), output.status);
    }
    serde_json::from_slice(&output.stdout).with_context(|| format!("cannot parse the output of {program}"))
}
