//! Downloading release archives: verified by the index, resumed after an interruption.

use std::fs::{self, File};
use std::io::{Read, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sha2::Sha512;
use ureq::tls::{Certificate, RootCerts, TlsConfig, TlsProvider};

use super::error::BinariesError;
use super::index::{Archive, Index};
use super::probe::Machine;
use super::sideload::unpack;
use super::store::{CacheArea, Care, Entry, Store};
use super::{DEFAULT_INDEX, Origin, Progress, Sources, build, digest};

/// The number of attempts to download an archive.
const TRIES: usize = 4;

/// Maximum size of an index, which has a few hundred kilobytes.
const MAX_INDEX_BYTES: u64 = 16 << 20;

/// Fetches the index.
pub(super) fn index(sources: &Sources) -> Result<Index, BinariesError> {
    let url = sources.index.as_deref().unwrap_or(DEFAULT_INDEX);
    let failed = |error: ureq::Error| BinariesError::Fetch { url: url.to_owned(), reason: error.to_string() };
    let request = agent(Some(Duration::from_secs(20))).get(url).call();
    let mut answer = request.map_err(failed)?;
    let text = answer.body_mut().with_config().limit(MAX_INDEX_BYTES).read_to_string().map_err(failed)?;
    Index::read(url, &text, Machine::here())
}

/// Downloads and unpacks an archive, unless another process did so meanwhile.
pub(super) fn fetch(
    store: &Store,
    archive: &Archive,
    sources: &Sources,
    progress: &dyn Fn(Progress),
) -> Result<Entry, BinariesError> {
    let since = Instant::now();
    let key = build::key(&archive.version.to_string(), &archive.sha512);
    let held = store.lock(CacheArea::Builds, &key, progress)?;
    if let Some(entry) = store.entry(CacheArea::Builds, &key).filter(|entry| entry.fault(Care::Quick).is_none()) {
        return Ok(entry);
    }
    let url = match &sources.mirror {
        Some(mirror) => format!("{}/{}", mirror.trim_end_matches('/'), archive.name),
        None => archive.url.clone(),
    };
    let part = store.download(&format!("{key}.part"))?;
    download(&url, archive, &part, &|done, total| {
        progress(Progress::Fetching { name: archive.name.clone(), done, total, elapsed: since.elapsed() });
    })?;
    check(archive, &part)?;
    let draft = held.start()?;
    let file = File::open(&part).map_err(BinariesError::files("read", &part))?;
    unpack(&archive.name, file, draft, archive.version)?;
    let origin = Origin::Archive { url, sha512: archive.sha512.clone() };
    held.finish(Some(archive.version), origin, since.elapsed())?;
    // It was unpacked and is no longer needed.
    let _ = fs::remove_file(&part);
    build::finished(store, CacheArea::Builds, &key)
}

fn download(url: &str, archive: &Archive, part: &Path, told: &dyn Fn(u64, Option<u64>)) -> Result<(), BinariesError> {
    let agent = agent(None);
    let mut last = String::new();
    for _ in 0..TRIES {
        match attempt(&agent, url, part, told) {
            Ok(()) => return Ok(()),
            Err(Cut::Refused(reason)) => return Err(BinariesError::Fetch { url: url.to_owned(), reason }),
            Err(Cut::Short(reason)) => last = reason,
        }
    }
    Err(BinariesError::Fetch { url: url.to_owned(), reason: format!("{} is not complete: {last}", archive.name) })
}

/// The reason why an attempt did not download the whole archive.
enum Cut {
    /// A retry will not help.
    Refused(String),
    /// The received part is kept, and the next attempt resumes there.
    Short(String),
}

/// Requests the missing part, and appends it.
fn attempt(agent: &ureq::Agent, url: &str, part: &Path, told: &dyn Fn(u64, Option<u64>)) -> Result<(), Cut> {
    let refused = |error: std::io::Error| Cut::Refused(format!("{}: {error}", part.display()));
    let have = fs::metadata(part).map_or(0, |metadata| metadata.len());
    let mut request = agent.get(url);
    if have > 0 {
        request = request.header("Range", format!("bytes={have}-"));
    }
    let answer = request.call().map_err(|error| Cut::Short(error.to_string()))?;
    let status = answer.status().as_u16();
    let mut done = match status {
        206 => have,
        200 => 0,
        // The file is complete or too long; the digest will tell.
        416 => return Ok(()),
        500.. => return Err(Cut::Short(format!("the server answers {status}"))),
        _ => return Err(Cut::Refused(format!("the server answers {status}"))),
    };
    let mut options = File::options();
    let opened =
        if done == 0 { options.write(true).create(true).truncate(true) } else { options.append(true) }.open(part);
    let mut file = opened.map_err(refused)?;
    let total = answer.body().content_length().map(|rest| done + rest);
    let mut body = answer.into_body().into_reader();
    let mut piece = vec![0; 1 << 16];
    loop {
        told(done, total);
        let count = body.read(&mut piece).map_err(|error| Cut::Short(error.to_string()))?;
        if count == 0 {
            break;
        }
        file.write_all(&piece[..count]).map_err(refused)?;
        done += count as u64;
    }
    match total {
        Some(total) if done < total => Err(Cut::Short(format!("{done} of {total} bytes came"))),
        _ => Ok(()),
    }
}

/// Deletes a download with a wrong digest, because it cannot be resumed.
fn check(archive: &Archive, part: &Path) -> Result<(), BinariesError> {
    let found = digest::of_file::<Sha512>(part).map_err(BinariesError::files("read", part))?;
    if found == archive.sha512 {
        return Ok(());
    }
    let _ = fs::remove_file(part);
    Err(BinariesError::Checksum { name: archive.name.clone(), expected: archive.sha512.clone(), found })
}

fn agent(deadline: Option<Duration>) -> ureq::Agent {
    let roots: Vec<Certificate<'static>> = rustls_native_certs::load_native_certs()
        .certs
        .iter()
        .map(|root| Certificate::from_der(root).to_owned())
        .collect();
    let tls = TlsConfig::builder()
        .provider(TlsProvider::Rustls)
        .root_certs(RootCerts::from(roots))
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .build();
    let config = ureq::Agent::config_builder().tls_config(tls).timeout_global(deadline);
    let config = config.timeout_connect(Some(Duration::from_secs(5))).http_status_as_error(deadline.is_some());
    config.timeout_recv_response(Some(Duration::from_secs(30))).build().into()
}
