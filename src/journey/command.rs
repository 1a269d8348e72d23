//! Storage migration by a command of the subject.

use std::process::Stdio;
use std::time::Duration;

use super::stage::Stage;
use crate::cluster::ClusterError;
use crate::observe::Driven;

/// How long a command may take where the subject does not say.
const PATIENCE: Duration = Duration::from_secs(120);

/// So many characters of what it said are kept.
const KEPT: usize = 4000;

/// Runs the command of the subject beside the server, and waits for its end.
pub(super) async fn migrate(stage: &Stage<'_>, storage: &str) -> Result<Driven, ClusterError> {
    let config = stage.subject.file.migration.as_ref();
    let words = config.map(|config| config.command.as_slice()).unwrap_or_default();
    let missing = |why: String| ClusterError::Missing {
        what: format!("the command of migration.command, {}", words.first().map_or("none", String::as_str)),
        why,
        help: "check its name and PATH; it runs in the folder of the subject file".into(),
    };
    let [program, arguments @ ..] = words else { return Err(missing("no command is given".into())) };
    let mut command = tokio::process::Command::new(program);
    command.args(arguments).stdin(Stdio::null()).kill_on_drop(true);
    let folder = stage.subject.folder();
    if !folder.as_os_str().is_empty() {
        command.current_dir(folder);
    }
    if let Some(kubeconfig) = stage.server.kubeconfig() {
        // It is told by an absolute path, since it runs elsewhere.
        command.env("KUBECONFIG", std::path::absolute(kubeconfig).unwrap_or_else(|_| kubeconfig.to_owned()));
    }
    command.env("CRDPROOF_CRD", &stage.crd.name).env("CRDPROOF_STORAGE_VERSION", storage);
    let patience = config.and_then(|config| config.timeout).map_or(PATIENCE, |period| period.0);
    let Ok(ended) = tokio::time::timeout(patience, command.output()).await else {
        let said = format!("{program} did not end within {} s", patience.as_secs_f32());
        return Ok(Driven { done: false, ended: false, said });
    };
    let output = ended.map_err(|error| missing(error.to_string()))?;
    let both = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&both);
    let skipped = said.chars().count().saturating_sub(KEPT);
    let said: String = said.chars().skip(skipped).collect();
    Ok(Driven { done: output.status.success(), ended: true, said: format!("{}: {}", output.status, said.trim()) })
}
