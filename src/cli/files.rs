//! Writing files completely or not at all. Devices, pipes and links are not replaced.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use crate::subject::load::{InputError, Trouble};
use anyhow::Result;

/// The permissions of a written file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum For {
    /// Everyone who may read other files of the user.
    All,
    /// Only the user: it may contain secrets.
    User,
}

/// Writes a text to a path. A regular file is written beside its final name and moved there, so that a reader never
/// sees half of it. A device, a pipe or a link is opened and written to.
pub(crate) fn write(path: &Path, text: &str, readers: For) -> Result<()> {
    let is_other = fs::symlink_metadata(path).is_ok_and(|metadata| !metadata.is_file());
    if is_other {
        let written = create(path, readers).and_then(|mut file| file.write_all(text.as_bytes()));
        return Ok(written.map_err(|error| cannot("write", path, &error))?);
    }
    replace(path, text, readers)
}

/// Writes a file beside its final name and moves it there.
fn replace(path: &Path, text: &str, readers: For) -> Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    let failed = |error: std::io::Error| cannot("write", path, &error);
    fs::create_dir_all(folder).map_err(failed)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let draft = folder.join(format!(".{name}.{}", std::process::id()));
    let written = create(&draft, readers).and_then(|mut file| file.write_all(text.as_bytes()));
    let moved = written.and_then(|()| fs::rename(&draft, path));
    if let Err(error) = moved {
        // The draft is useless now; report the first error.
        let _ = fs::remove_file(&draft);
        return Err(failed(error).into());
    }
    Ok(())
}

/// Creates a file, or empties an existing one.
pub(crate) fn create(path: &Path, readers: For) -> std::io::Result<fs::File> {
    let mut options = fs::File::options();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    if readers == For::User {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    options.open(path)
}

/// Creates a folder that only its owner can open, with its parents. Keeps an existing one unchanged.
pub(crate) fn private_folder(path: &Path) -> Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    Ok(builder.create(path).map_err(|error| cannot("make", path, &error))?)
}

/// Returns the error for a file or a folder that cannot be read or written.
pub(crate) fn cannot(what: &str, path: &Path, error: &std::io::Error) -> InputError {
    InputError::new(Trouble::Environment, format!("cannot {what} {}: {error}", path.display()))
        .help("check that the folder can be written to")
}
