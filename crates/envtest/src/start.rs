//! Shared parts of starting servers: a private folder, private files, readiness by real calls.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::api::Api;
use super::guard::Guard;
use super::run_id::RunId;
use super::{ClusterError, wait};

/// A server is ready when CRDs can be listed and the default namespace exists.
pub(super) const READY_PATHS: [&str; 2] =
    ["/apis/apiextensions.k8s.io/v1/customresourcedefinitions?limit=1", "/api/v1/namespaces/default"];

/// The disk space that one control plane needs: etcd allocates its log in advance, in pieces of 64 MB.
const NEEDED_BYTES: u64 = 400 << 20;

/// Returns true if a file system has space for a control plane. Docker gives `/dev/shm` 64 MB.
fn has_room(folder: &Path) -> bool {
    let output = Command::new("df").args(["-P", "-k"]).arg(folder).stdin(Stdio::null()).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let free = text.lines().nth(1).and_then(|line| line.split_whitespace().nth(3)).and_then(|free| free.parse().ok());
    // If the free space is unknown, try it.
    free.is_none_or(|kilobytes: u64| kilobytes << 10 >= NEEDED_BYTES)
}

/// Returns the folders in which a run may create its own: in memory, if possible, or among temporary files.
pub(super) fn parents(below: Option<&Path>) -> Vec<PathBuf> {
    match below {
        Some(folder) => vec![folder.to_owned()],
        None => vec!["/dev/shm".into(), std::env::temp_dir()],
    }
}

/// Creates a folder whose name identifies the run, and the guard that removes it. The guard starts first, so that the
/// folder never exists without one. `cleanup` returns the command that the guard runs before, see
/// [`Guard::with_cleanup`].
pub fn guarded_folder(
    below: Option<&Path>,
    run: &RunId,
    cleanup: impl Fn(&Path) -> Vec<OsString>,
) -> Result<(PathBuf, Guard), ClusterError> {
    let mut last = None;
    let places = parents(below);
    // The last candidate is used in any case.
    let end = places.len().saturating_sub(1);
    let places = places.into_iter().enumerate().filter(|(index, place)| *index == end || has_room(place));
    for (_, parent) in places {
        let folder = std::path::absolute(parent.join(run.name()));
        let folder = folder.map_err(|source| ClusterError::File { path: parent.clone(), source })?;
        let guard = Guard::with_cleanup(Some(&folder), &cleanup(&folder)).map_err(ClusterError::Guard)?;
        match make_private(&folder) {
            Ok(()) => return Ok((folder, guard)),
            Err(source) => last = Some(ClusterError::File { path: parent, source }),
        }
    }
    Err(last.unwrap_or_else(|| ClusterError::Port(std::io::ErrorKind::NotFound.into())))
}

/// Creates a folder that only its owner can read: it holds keys and all stored data.
fn make_private(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Makes the path of a program absolute. A name without a folder is looked up in `PATH`.
pub(super) fn program(path: &Path) -> Result<PathBuf, ClusterError> {
    if path.components().count() == 1 {
        return Ok(path.to_owned());
    }
    std::path::absolute(path).map_err(|source| ClusterError::File { path: path.to_owned(), source })
}

/// Writes a file that only its owner may read.
pub fn write_private(path: &Path, text: &str) -> std::io::Result<()> {
    use std::io::Write as _;
    let mut options = std::fs::File::options();
    options.create_new(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(text.as_bytes())
}

/// Waits until a server that others started is ready. Its last response is the error.
pub(super) async fn until_answers(api: &Api, deadline: Duration) -> Result<(), ClusterError> {
    for path in ["/readyz"].into_iter().chain(READY_PATHS) {
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

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_for_its_owner_only_and_has_room() {
        let (folder, guard) = guarded_folder(None, &RunId::new(), |_| Vec::new()).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&folder).unwrap().permissions());
        drop(guard);
        assert!(!folder.exists());
        assert_eq!(mode & 0o777, 0o700);
        assert!(has_room(Path::new("/no/such/folder")), "unknown space counts as enough");
        // A file system in memory that is always full.
        assert!(!has_room(Path::new("/proc")), "nothing fits there");
    }
}
