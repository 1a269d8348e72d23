//! Building a release from its modules.

use std::collections::VecDeque;
use std::fs;
use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::error::BinariesError;
use super::generated;
use super::golang::{Go, Toolchain};
use super::probe::{self, APISERVER, ETCD, Machine};
use super::releases::{Etcd, Kind, Locks, Release};
use super::store::{CacheArea, Care, Entry, Store};
use super::{Origin, Progress, Sources};
use crate::guard::{Guard, Output, Spec};
use crdproof_schema::kubernetes::KubeVersion;

/// The folder of the results, inside the folder of a build.
const RESULTS_FOLDER: &str = "out";

/// The number of last lines of a step that are shown when it fails.
const MAX_SHOWN: usize = 12;

/// The interval of progress while nothing else happens.
const TICK: Duration = Duration::from_secs(1);

/// Variables that get the version. No release has all of them: 1.16 prints its version from the last one, and servers
/// up to 1.24 answer `/version` from the second.
const VERSION_VARIABLES: &[&str] =
    &["k8s.io/component-base/version", "k8s.io/client-go/pkg/version", "k8s.io/kubernetes/pkg/version"];

/// The steps of one build, under one guard.
pub(super) struct Steps<'a> {
    guard: Guard,
    what: String,
    since: Instant,
    offline: bool,
    progress: &'a dyn Fn(Progress),
}

/// The key of a build: its name, the machine, and the digest of its lock.
pub(super) fn key(name: &str, digest: &str) -> String {
    let Machine { os, arch } = Machine::here();
    format!("{name}-{os}-{arch}-{}", digest.get(..12).unwrap_or(digest))
}

/// Builds a release and its etcd, unless another process did so meanwhile.
pub(super) fn release(
    store: &Store,
    locks: &Locks,
    release: &Release,
    sources: &Sources,
    progress: &dyn Fn(Progress),
) -> Result<Entry, BinariesError> {
    let version = release.file.kubernetes;
    let digest = locks.digest(release)?;
    let key = key(&version.to_string(), &digest);
    let etcd = etcd(store, locks.etcd_of(release)?, sources, progress)?;
    let held = store.lock(CacheArea::Builds, &key, progress)?;
    if let Some(entry) = sound(store, CacheArea::Builds, &key) {
        return Ok(entry);
    }
    let what = format!("Kubernetes {version}");
    let go = Go::find(&what, sources)?;
    let work = store.work(&key)?;
    let steps = Steps::new(&work, what, sources, progress)?;
    let made = lay_out(&work, &release.go_mod, &release.go_sum)?;
    let toolchain = match release.file.kind {
        Kind::Wrapper => wrapper(&steps, &go, release, &work, &made)?,
        Kind::Generated => generated::build(&steps, &go, release, &work, &made)?,
    };
    unchanged(&steps, &work, &release.go_sum)?;
    expect_release(&made, version)?;
    link(&etcd.folder.join(ETCD), &made.join(ETCD))?;
    held.take(&made)?;
    let origin = Origin::Built { go: toolchain.version().to_owned(), lock: digest };
    held.finish(Some(version), origin, steps.since.elapsed())?;
    finished(store, CacheArea::Builds, &key)
}

/// Builds etcd once for all releases that use it.
fn etcd(store: &Store, etcd: &Etcd, sources: &Sources, progress: &dyn Fn(Progress)) -> Result<Entry, BinariesError> {
    let key = key(&format!("etcd-{}", etcd.file.etcd), &etcd.digest);
    let held = store.lock(CacheArea::Parts, &key, progress)?;
    if let Some(entry) = sound(store, CacheArea::Parts, &key) {
        return Ok(entry);
    }
    let what = format!("etcd {}", etcd.file.etcd);
    let go = Go::find(&what, sources)?;
    let work = store.work(&key)?;
    let steps = Steps::new(&work, what, sources, progress)?;
    let file = lay_out(&work, &etcd.go_mod, &etcd.go_sum)?.join(ETCD);
    let toolchain = go.at_least(&etcd.file.go, &etcd.file.toolchain);
    let spec = go.spec(&toolchain).folder(&work).args(["build", "-v", "-mod=readonly", "-trimpath", "-buildvcs=false"]);
    let spec = spec.args(["-ldflags", "-s -w", "-o"]).arg(&file).arg("go.etcd.io/etcd/server/v3");
    steps.run("the compilation", spec, None)?;
    unchanged(&steps, &work, &etcd.go_sum)?;
    let says = probe::etcd_version(&file)?;
    if says != etcd.file.etcd {
        return Err(BinariesError::WrongVersion { file, wanted: format!("etcd {}", etcd.file.etcd), says });
    }
    held.take(&work.join(RESULTS_FOLDER))?;
    let origin = Origin::Built { go: toolchain.version().to_owned(), lock: etcd.digest.clone() };
    held.finish(None, origin, steps.since.elapsed())?;
    finished(store, CacheArea::Parts, &key)
}

/// Builds with a module that only requires the release.
fn wrapper(steps: &Steps<'_>, go: &Go, release: &Release, work: &Path, out: &Path) -> Result<Toolchain, BinariesError> {
    let toolchain = go.at_least(&release.file.go, &release.file.toolchain);
    let mut spec =
        go.spec(&toolchain).folder(work).args(["build", "-v", "-mod=readonly", "-trimpath", "-buildvcs=false"]);
    if !release.file.tags.is_empty() {
        spec = spec.arg("-tags").arg(release.file.tags.join(","));
    }
    spec = spec.arg("-ldflags").arg(version_flags(release)).arg("-o").arg(folder_of(out));
    spec = spec.args(release.file.commands.iter().map(|command| format!("k8s.io/kubernetes/cmd/{command}")));
    steps.run("the compilation", spec, None)?;
    Ok(toolchain)
}

/// Adds a trailing slash, by which `go build -o` recognises a folder.
pub(super) fn folder_of(path: &Path) -> std::ffi::OsString {
    let mut folder = path.as_os_str().to_owned();
    folder.push("/");
    folder
}

/// The linker flags that set the version of a server.
pub(super) fn version_flags(release: &Release) -> String {
    let version = release.file.kubernetes;
    let stamped = VERSION_VARIABLES.iter().map(|package| {
        let minor = version.minor;
        format!(" -X {package}.gitVersion=v{version} -X {package}.gitMajor=1 -X {package}.gitMinor={minor}")
    });
    format!("-s -w{}", stamped.collect::<String>())
}

/// Writes the modules of a lock, and creates the folder for the results.
fn lay_out(work: &Path, go_mod: &str, go_sum: &str) -> Result<PathBuf, BinariesError> {
    for (name, text) in [("go.mod", go_mod), ("go.sum", go_sum)] {
        let path = work.join(name);
        fs::write(&path, text).map_err(BinariesError::files("write", &path))?;
    }
    let made = work.join(RESULTS_FOLDER);
    fs::create_dir(&made).map_err(BinariesError::files("create", &made))?;
    Ok(made)
}

/// Checks that Go did not change the lock: old releases of Go add missing entries.
fn unchanged(steps: &Steps<'_>, work: &Path, go_sum: &str) -> Result<(), BinariesError> {
    let path = work.join("go.sum");
    let after = fs::read_to_string(&path).map_err(BinariesError::files("read", &path))?;
    let added = after.lines().find(|line| !go_sum.lines().any(|known| known == *line));
    match added {
        Some(line) => Err(steps.failed("the check against the lock", vec![format!("the lock lacks {line}")])),
        None => Ok(()),
    }
}

pub(super) fn expect_release(folder: &Path, version: KubeVersion) -> Result<(), BinariesError> {
    let file = folder.join(APISERVER);
    let says = probe::apiserver_version(&file)?;
    if says == version {
        return Ok(());
    }
    Err(BinariesError::WrongVersion { file, wanted: format!("kube-apiserver {version}"), says: says.to_string() })
}

/// Creates a hard link if the file system supports it, otherwise a copy.
fn link(from: &Path, to: &Path) -> Result<(), BinariesError> {
    fs::hard_link(from, to).or_else(|_| fs::copy(from, to).map(drop)).map_err(BinariesError::files("create", to))
}

fn sound(store: &Store, shelf: CacheArea, key: &str) -> Option<Entry> {
    store.entry(shelf, key).filter(|entry| entry.fault(Care::Quick).is_none())
}

pub(super) fn finished(store: &Store, shelf: CacheArea, key: &str) -> Result<Entry, BinariesError> {
    let gone = || BinariesError::files("read", &store.root().join(key))(io::ErrorKind::NotFound.into());
    store.entry(shelf, key).ok_or_else(gone)
}

impl<'a> Steps<'a> {
    /// Starts a build in a folder that is removed when the build or this process ends.
    pub(super) fn new(
        work: &Path,
        what: String,
        sources: &Sources,
        progress: &'a dyn Fn(Progress),
    ) -> Result<Self, BinariesError> {
        let guard = Guard::new(Some(work)).map_err(BinariesError::files("guard", work))?;
        Ok(Self { guard, what, since: Instant::now(), offline: sources.offline, progress })
    }

    /// Runs one step to its end, and reports its progress.
    pub(super) fn run(&self, step: &'static str, spec: Spec, stdout: Option<&Path>) -> Result<(), BinariesError> {
        let program = spec.program.clone();
        let spec = spec.output(Output::PipedErrors(stdout.map(Path::to_owned)));
        let broken = |error| BinariesError::files("run", Path::new(&program))(error);
        let mut command = self.guard.spawn(&spec).map_err(broken)?;
        let said = match command.take_stderr() {
            Some(stderr) => self.follow(step, stderr),
            None => VecDeque::new(),
        };
        let status = command.wait().map_err(|error| BinariesError::files("run", Path::new(&program))(error))?;
        if status.success() { Ok(()) } else { Err(self.failed(step, said.into())) }
    }

    /// Reads the output of a step, reports it as progress, and keeps the last lines.
    fn follow(&self, step: &'static str, stderr: impl io::Read + Send + 'static) -> VecDeque<String> {
        let (sender, receiver) = mpsc::channel();
        let reader = std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let (mut now, mut packages, mut last) = (String::new(), 0, VecDeque::new());
        loop {
            match receiver.recv_timeout(TICK) {
                Ok(line) => {
                    if is_package(&line) {
                        packages += 1;
                        now = line;
                    } else if let Some(module) = line.strip_prefix("go: downloading ") {
                        now = format!("fetching {module}");
                    } else {
                        last.push_back(line);
                        if last.len() > MAX_SHOWN {
                            last.pop_front();
                        }
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            let (what, elapsed) = (self.what.clone(), self.since.elapsed());
            (self.progress)(Progress::Building { what, step, now: now.clone(), packages, elapsed });
        }
        // The sender is closed, so the thread is about to end.
        let _ = reader.join();
        last
    }

    pub(super) fn failed(&self, step: &'static str, said: Vec<String>) -> BinariesError {
        BinariesError::Build { what: self.what.clone(), step, said, offline: self.offline }
    }
}

/// Returns true if a line names a package: `go build -v` prints one line for each package that it compiles.
fn is_package(line: &str) -> bool {
    !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-~".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::is_package;

    #[test]
    fn packages_are_distinguished_from_errors() {
        assert!(is_package("k8s.io/apiserver/pkg/server"));
        assert!(is_package("internal/abi"));
        assert!(!is_package("# k8s.io/apiserver/pkg/server"));
        assert!(!is_package("go: downloading k8s.io/api v0.36.4"));
        assert!(!is_package("pkg/a.go:12:3: undefined: x"));
    }
}
