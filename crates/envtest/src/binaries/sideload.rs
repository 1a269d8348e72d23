//! Loading archives from files, and unpacking of all archives.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::time::Instant;

use flate2::read::MultiGzDecoder;
use sha2::Sha256;

use super::error::BinariesError;
use super::probe::{self, APISERVER, CONTROLLER_MANAGER, ETCD};
use super::store::{CacheArea, Entry, Store};
use super::{Origin, Progress, build, digest};
use crdproof_schema::kubernetes::KubeVersion;

/// Maximum size of a binary.
const MAX_BINARY_BYTES: u64 = 1 << 30;

/// Puts an archive into the cache: a tar.gz with `etcd` and `kube-apiserver` of this release.
pub fn sideload(
    store: &Store,
    version: KubeVersion,
    archive: &mut dyn Read,
    progress: &dyn Fn(Progress),
) -> Result<Entry, BinariesError> {
    let since = Instant::now();
    let part = store.download(&format!("sideload-{version}-{}.part", std::process::id()))?;
    let result = keep(archive, &part).and_then(|sha256| {
        let key = build::key(&version.to_string(), &sha256);
        let held = store.lock(CacheArea::Builds, &key, progress)?;
        let file = File::open(&part).map_err(BinariesError::files("read", &part))?;
        unpack("the archive", file, held.start()?, version)?;
        held.finish(Some(version), Origin::Sideloaded { sha256 }, since.elapsed())?;
        build::finished(store, CacheArea::Builds, &key)
    });
    // This copy is no longer needed, whether the unpacking worked or not.
    let _ = fs::remove_file(&part);
    result
}

fn keep(archive: &mut dyn Read, part: &Path) -> Result<String, BinariesError> {
    let mut file = File::create(part).map_err(BinariesError::files("create", part))?;
    io::copy(archive, &mut file).map_err(BinariesError::files("write", part))?;
    digest::of_file::<Sha256>(part).map_err(BinariesError::files("read", part))
}

/// Extracts the known binaries from an archive, wherever in it they are, and checks their version. Writes nothing else,
/// and uses no path of the archive.
pub(super) fn unpack(name: &str, archive: File, folder: &Path, version: KubeVersion) -> Result<(), BinariesError> {
    let broken = |error: &io::Error| BinariesError::Archive { name: name.to_owned(), reason: plain(error) };
    let mut tar = tar::Archive::new(MultiGzDecoder::new(archive));
    for entry in tar.entries().map_err(|error| broken(&error))? {
        let entry = entry.map_err(|error| broken(&error))?;
        let path = entry.path().map_err(|error| broken(&error))?.into_owned();
        let known =
            [ETCD, APISERVER, CONTROLLER_MANAGER].into_iter().find(|known| path.file_name() == Some(known.as_ref()));
        if let Some(known) = known.filter(|_| entry.header().entry_type().is_file()) {
            write(entry, &folder.join(known)).map_err(|error| broken(&error))?;
        }
    }
    let files = probe::files(folder).map_err(|_| BinariesError::Archive {
        name: name.to_owned(),
        reason: format!("it holds no {ETCD} or no {APISERVER}"),
    })?;
    probe::etcd_version(&files.etcd)?;
    build::expect_release(folder, version)
}

fn write(entry: impl Read, path: &Path) -> io::Result<()> {
    // Only the first one counts; a second one of the same name is an attack or a mistake.
    let mut file = File::options().write(true).create_new(true).open(path)?;
    let written = io::copy(&mut entry.take(MAX_BINARY_BYTES + 1), &mut file)?;
    if written > MAX_BINARY_BYTES {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "a file in it is larger than any binary"));
    }
    executable(&file)
}

#[cfg(unix)]
fn executable(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    file.set_permissions(fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn executable(_file: &File) -> io::Result<()> {
    Ok(())
}

fn plain(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => "it ends early".into(),
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => format!("it is damaged or no tar.gz ({error})"),
        _ => error.to_string(),
    }
}
