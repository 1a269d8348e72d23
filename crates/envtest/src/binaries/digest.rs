//! Digests of files, as lower-case hexadecimal digits.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use sha2::{Digest, Sha256};

/// The digest of a file, read in pieces.
pub(super) fn of_file<D: Digest>(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut digest = D::new();
    let mut piece = vec![0; 1 << 17];
    loop {
        let count = file.read(&mut piece)?;
        if count == 0 {
            return Ok(hex(&digest.finalize()));
        }
        digest.update(&piece[..count]);
    }
}

/// The SHA-256 of texts, each preceded by its length, so that different lists never have the same digest.
pub(super) fn of_texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let mut digest = Sha256::new();
    for text in texts {
        digest.update((text.len() as u64).to_be_bytes());
        digest.update(text.as_bytes());
    }
    hex(&digest.finalize())
}

/// Bytes in hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
