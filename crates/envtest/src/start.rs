//! What the start of every server needs: a folder of its own, private files, readiness by real calls.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::api::Api;
use super::run_id::RunId;
use super::{ClusterError, wait};

/// Ready means what the next step needs: CRDs can be listed, and the default namespace is there.
pub(super) const ASKED: [&str; 2] =
    ["/apis/apiextensions.k8s.io/v1/customresourcedefinitions?limit=1", "/api/v1/namespaces/default"];

/// Where folders may be made: in memory, where there is such a place, or among temporary files.
pub(super) fn parents(below: Option<&Path>) -> Vec<PathBuf> {
    match below {
        Some(folder) => vec![folder.to_owned()],
        None => vec!["/dev/shm".into(), std::env::temp_dir()],
    }
}

/// A folder of our own, which says whose it is.
pub fn make_folder(below: Option<&Path>, run: &RunId) -> Result<PathBuf, ClusterError> {
    let mut last = None;
    for parent in parents(below) {
        match tempfile::Builder::new().prefix(&format!("{}-", run.name())).tempdir_in(&parent) {
            // From here on the guard removes it, also when we are killed.
            Ok(folder) => return Ok(folder.keep()),
            Err(source) => last = Some(ClusterError::File { path: parent, source }),
        }
    }
    Err(last.unwrap_or_else(|| ClusterError::Port(std::io::ErrorKind::NotFound.into())))
}

/// A program as it can be called from every folder. A name without a folder is looked up in `PATH`.
pub(super) fn program(path: &Path) -> Result<PathBuf, ClusterError> {
    if path.components().count() == 1 {
        return Ok(path.to_owned());
    }
    std::path::absolute(path).map_err(|source| ClusterError::File { path: path.to_owned(), source })
}

/// Keys are nobody else's business.
pub fn write_private(path: &Path, text: &str) -> std::io::Result<()> {
    use std::io::Write as _;
    let mut options = std::fs::File::options();
    options.create_new(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(text.as_bytes())
}

/// Waits until a server that others started answers what the next step needs. What it said last is the
/// error.
pub(super) async fn until_answers(api: &Api, deadline: Duration) -> Result<(), ClusterError> {
    for path in ["/readyz"].into_iter().chain(ASKED) {
        let last = Mutex::new(None);
        let answered = wait::until(deadline, Duration::from_millis(200), || async {
            let said = api.get(path).await.and_then(super::api::Answer::ok);
            said.map_err(|error| *last.lock().unwrap_or_else(PoisonError::into_inner) = Some(error)).ok()
        });
        if answered.await.is_none() {
            let late = || ClusterError::Deadline { call: format!("GET {path}"), seconds: deadline.as_secs() };
            return Err(last.into_inner().unwrap_or_else(PoisonError::into_inner).unwrap_or_else(late));
        }
    }
    Ok(())
}
