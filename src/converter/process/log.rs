//! The output of a process in a file beside the subject file, which is kept.

use std::io::{Read, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crdproof_envtest::write_private;

/// The folder of the output, beside the subject file. It is kept.
const FOLDER: &str = ".crdproof";
const NAME: &str = "process.log";

/// The size limit of the log.
const MAX_LOG: u64 = 64 << 20;

/// The size of the log excerpt in lines, and in bytes if lines are long.
const TAIL_LINES: usize = 15;
const TAIL_BYTES: u64 = 16 << 10;

/// The timeout of the last output to reach the log after the process ended.
const COMPLETE_TIMEOUT: Duration = Duration::from_secs(1);

/// The log of a process.
#[derive(Debug)]
pub(super) struct Log {
    /// The file.
    pub(super) path: PathBuf,
    /// Signals the end of the output.
    written: Mutex<Receiver<()>>,
}

impl Log {
    /// Creates an empty log that only its owner can read, and copies the output of a process into it, up to a limit.
    pub(super) fn keep(folder: &Path, mut pipe: impl Read + Send + 'static) -> Result<Self, String> {
        let path = open(&folder.join(FOLDER))?;
        let file = std::fs::File::options().append(true).open(&path);
        let mut file = file.map_err(|error| failed(&path, &error))?;
        let (ended, written) = channel();
        std::thread::spawn(move || {
            let copied = std::io::copy(&mut pipe.by_ref().take(MAX_LOG), &mut file);
            // An unwritable log must not stop the process.
            if matches!(copied, Ok(MAX_LOG)) {
                let _ = file.write_all(b"\ncrdproof: the log is full, the rest is not kept\n");
            }
            let _ = std::io::copy(&mut pipe, &mut std::io::sink());
            let _ = ended.send(());
        });
        Ok(Self { path, written: Mutex::new(written) })
    }

    /// Waits until the whole output of an ended process is written.
    pub(super) fn complete(&self) {
        let written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        // Another process may hold the stream; then the log is as complete as it will be.
        let _ = written.recv_timeout(COMPLETE_TIMEOUT);
    }

    /// Returns the last lines.
    pub(super) fn tail(&self) -> Vec<String> {
        let text = tail_of(&self.path).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(TAIL_LINES)..].iter().map(|line| (*line).to_owned()).collect()
    }
}

/// Reads the end of a file.
fn tail_of(path: &Path) -> std::io::Result<Vec<u8>> {
    use std::io::{Seek as _, SeekFrom};
    let mut file = std::fs::File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn open(folder: &Path) -> Result<PathBuf, String> {
    std::fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
    let (ignored, log) = (folder.join(".gitignore"), folder.join(NAME));
    std::fs::write(&ignored, "*\n").map_err(|error| failed(&ignored, &error))?;
    // The log of an earlier run may be readable by others.
    match std::fs::remove_file(&log) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(failed(&log, &error)),
        _ => {}
    }
    write_private(&log, "").map_err(|error| failed(&log, &error))?;
    Ok(log)
}

fn failed(path: &Path, error: &std::io::Error) -> String {
    format!("{} cannot be written: {error}", path.display())
}
