//! Storage migration by a command of the subject.

use std::time::Duration;

use super::session::Session;
use crate::evidence::Driven;
use crate::operate::subprocess::{self, Ended};
use crdproof_envtest::ClusterError;
use crdproof_envtest::guard::Spec;

/// The default timeout of a command.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Maximum number of characters of its output that are kept.
const MAX_OUTPUT_CHARS: usize = 4000;

/// Runs the subject's command, and waits for its end.
pub(super) async fn migrate(session: &Session<'_>, storage: &str) -> Result<Driven, ClusterError> {
    let config = session.subject.file.migration.as_ref();
    let words = config.map(|config| config.command.as_slice()).unwrap_or_default();
    let [program, arguments @ ..] = words else {
        return Err(ClusterError::Missing {
            what: "the command of migration.command".into(),
            why: "no command is given".into(),
            help: "name one; it runs in the folder of the subject file".into(),
        });
    };
    let mut spec = Spec::new(program).args(arguments);
    let folder = session.subject.folder();
    if !folder.as_os_str().is_empty() {
        spec = spec.folder(folder);
    }
    if let Some(kubeconfig) = session.server.kubeconfig() {
        // An absolute path, because the command runs in another folder.
        spec = spec.env("KUBECONFIG", std::path::absolute(kubeconfig).unwrap_or_else(|_| kubeconfig.to_owned()));
    }
    spec = spec.env("CRDPROOF_CRD", &session.crd.name).env("CRDPROOF_STORAGE_VERSION", storage);
    let timeout = config.and_then(|config| config.timeout).map_or(TIMEOUT, |period| period.0);
    let Ended { status, said } =
        subprocess::run(spec, timeout, MAX_OUTPUT_CHARS, &session.subject.secret_values()).await?;
    let Some(status) = status else {
        let said = format!("{program} did not end within {} s: {said}", timeout.as_secs_f32());
        return Ok(Driven { done: false, ended: false, said });
    };
    Ok(Driven { done: status.success(), ended: true, said: format!("{status}: {said}") })
}
