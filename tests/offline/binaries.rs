//! Installing binaries without a network and without Go. A script stands in for Go.

mod archives;
mod command;
mod server;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crdproof_envtest::binaries::{Assets, BinariesError, Origin, Progress, Sources, Store, resolve};
use crdproof_schema::kubernetes::Selector;
use rstest::rstest;

use crate::wait::is_alive;

/// Answers `go env`, and builds programs that only print their version. Logs each call as one line.
const GO: &str = r#"#!/bin/sh
here=$(dirname "$0")
case $1 in
env)
  case $(uname -s) in Darwin) os=darwin ;; *) os=linux ;; esac
  case $(uname -m) in x86_64) arch=amd64 ;; *) arch=arm64 ;; esac
  echo "{\"GOVERSION\": \"go1.26.8\", \"GOHOSTOS\": \"$os\", \"GOHOSTARCH\": \"$arch\", \"GOPROXY\": \"https://modules.example.com\",
         \"GOFLAGS\": \"-mod=vendor -p=2\", \"GOMODCACHE\": \"$here/modules\"}"
  exit ;;
esac
echo "$* GOPROXY=$GOPROXY GOFLAGS=$GOFLAGS GOENV=$GOENV GOTOOLCHAIN=$GOTOOLCHAIN" >> "$here/calls"
echo "go: downloading k8s.io/api v0.36.4" >&2
echo "k8s.io/api/core/v1" >&2
if [ -e "$here/slow" ]; then
  sleep 300 &
  echo "$$ $!" > "$here/pids.part"; mv "$here/pids.part" "$here/pids"
  wait
fi
if [ -e "$here/broken" ]; then echo "main.go:1:1: it does not compile" >&2; exit 1; fi
version=$(echo "$*" | sed -n 's/.*gitVersion=v\([0-9.]*\).*/\1/p')
say() { printf '#!/bin/sh\necho "%s"\n' "$2" > "$1"; chmod 755 "$1"; }
out=
while [ $# -gt 0 ]; do
  case $1 in
    -o) out=$2; shift ;;
    go.etcd.io/*) say "$out" "etcd Version: 3.6.16" ;;
    k8s.io/kubernetes/cmd/*) say "$out/$(basename "$1")" "Kubernetes v$version" ;;
  esac
  shift
done
"#;

/// A cache and a stand-in for Go.
struct World {
    folder: tempfile::TempDir,
    store: Store,
    sources: Sources,
    told: Mutex<Vec<Progress>>,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().join("cache")).unwrap();
        let go = folder.path().join("go");
        script(&go, GO);
        let sources = Sources { go: Some(go), offline: true, ..Sources::default() };
        Self { folder, store, sources, told: Mutex::default() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn resolve(&self, selector: &str) -> Result<Vec<Assets>, BinariesError> {
        let selector: Selector = selector.parse().unwrap();
        resolve(&self.store, &selector, &self.sources, &|progress| self.told.lock().unwrap().push(progress))
    }

    fn calls(&self) -> Vec<String> {
        let calls = fs::read_to_string(self.path("calls")).unwrap_or_default();
        calls.lines().map(str::to_owned).collect()
    }

    fn passed(&self) -> Vec<String> {
        let told = self.told.lock().unwrap();
        let reasons = told.iter().filter_map(|progress| match progress {
            Progress::Passed { reason } => Some(reason.clone()),
            _ => None,
        });
        reasons.collect()
    }
}

/// Writes a program through a shell: Linux refuses to run a file that a thread of this process has open for writing.
pub(crate) fn script(path: &Path, text: &str) {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "cat > \"$1\" && chmod 755 \"$1\"", "write"]).arg(path).stdin(Stdio::piped());
    let mut child = command.spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), text.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
}

/// A folder as `KUBEBUILDER_ASSETS` names it.
pub(crate) fn assets_folder(folder: &Path, version: &str) {
    fs::create_dir_all(folder).unwrap();
    script(&folder.join("etcd"), "#!/bin/sh\necho 'etcd Version: 3.6.16'\n");
    script(&folder.join("kube-apiserver"), &format!("#!/bin/sh\necho 'Kubernetes v{version}'\n"));
}

#[test]
fn a_release_is_built_once_and_then_taken_from_the_cache() {
    let world = World::new();
    let built = world.resolve("1.36").unwrap().remove(0);
    assert_eq!(built.version.to_string(), "1.36.5");
    assert!(built.apiserver.is_file() && built.etcd.is_file() && built.controller_manager.is_some());
    assert!(matches!(&built.origin, Origin::Built { go, .. } if go == "1.26.8"));
    let calls = world.calls();
    assert_eq!(calls.len(), 2, "{calls:#?}");
    assert!(calls[1].contains("-mod=readonly -trimpath"), "{}", calls[1]);
    assert!(calls[1].contains("-X k8s.io/client-go/pkg/version.gitMinor=36"), "{}", calls[1]);
    assert!(calls[1].ends_with("GOPROXY=off GOFLAGS=-p=2 GOENV=off GOTOOLCHAIN=local"), "{}", calls[1]);
    assert!(world.told.lock().unwrap().iter().any(|progress| {
        matches!(progress, Progress::Building { now, packages: 1, .. } if now == "k8s.io/api/core/v1")
    }));
    assert_eq!(fs::read_dir(world.path("cache/work")).unwrap().count(), 0);

    for selector in ["1.36.5", "installed"] {
        assert_eq!(world.resolve(selector).unwrap(), std::slice::from_ref(&built));
    }
    assert_eq!(world.calls().len(), 2);
}

#[test]
fn builds_keep_the_network_settings_of_the_users_go() {
    let mut world = World::new();
    // Nobody serves this index, so the release must be built.
    world.sources.index = Some("http://127.0.0.1:1/index.yaml".into());
    world.sources.offline = false;
    world.resolve("1.36").unwrap();
    assert!(world.calls()[0].contains("GOPROXY=https://modules.example.com "), "{}", world.calls()[0]);
    assert!(
        world.passed()[0].starts_with("archives: cannot fetch http://127.0.0.1:1/index.yaml"),
        "{:?}",
        world.passed()
    );
}

#[test]
fn a_range_is_one_release_of_each_minor_and_etcd_is_built_once() {
    let world = World::new();
    let versions: Vec<_> = world.resolve("1.35..1.37").unwrap().iter().map(|assets| assets.version.minor).collect();
    assert_eq!(versions, [35, 36, 37]);
    assert_eq!(world.calls().len(), 4);
}

#[test]
fn a_damaged_cache_entry_is_reported_and_rebuilt() {
    let world = World::new();
    let built = world.resolve("1.36").unwrap().remove(0);
    fs::write(&built.apiserver, "").unwrap();
    assert_eq!(world.resolve("1.36").unwrap()[0].version, built.version);
    let passed = world.passed();
    assert!(passed[0].contains("is damaged, kube-apiserver has 0 bytes instead of"), "{passed:?}");
    assert_eq!(world.calls().len(), 3);
}

#[test]
fn a_failed_build_leaves_nothing_and_reports_its_output_and_remedies() {
    let world = World::new();
    fs::write(world.path("broken"), "").unwrap();
    let error = world.resolve("1.36").unwrap_err();
    assert!(error.to_string().contains("main.go:1:1: it does not compile"), "{error}");
    assert!(error.to_string().contains("archives: not asked, because of --offline"), "{error}");
    for way in ["--assets", "sideload", "install Go"] {
        assert!(error.help().contains(way), "{}", error.help());
    }
    assert!(world.store.entries().is_empty());
    assert_eq!(fs::read_dir(world.path("cache/work")).unwrap().count(), 0);
}

#[test]
fn without_go_and_network_the_error_says_so() {
    let mut world = World::new();
    world.sources.go = Some("/nowhere/go".into());
    let error = world.resolve("1.36").unwrap_err().to_string();
    assert!(error.contains("build: Go is needed to build etcd 3.6.16, and there is no /nowhere/go"), "{error}");
    let error = world.resolve("1.9").unwrap_err().to_string();
    assert!(error.contains("no lock for 1.9"), "{error}");
    assert!(world.resolve("installed").unwrap_err().to_string().contains("is empty"));
}

#[test]
fn an_assets_folder_is_preferred_if_its_release_matches() {
    let mut world = World::new();
    let folder = world.path("assets");
    assets_folder(&folder, "1.33.2");
    world.sources.assets = Some(folder.clone());
    let found = world.resolve("1.33").unwrap().remove(0);
    assert_eq!((found.version.to_string().as_str(), &found.folder), ("1.33.2", &folder));
    assert_eq!((found.origin, found.controller_manager), (Origin::Folder, None));

    assert_eq!(world.resolve("1.36").unwrap()[0].version.to_string(), "1.36.5");
    assert!(world.passed()[0].ends_with("is 1.33.2"), "{:?}", world.passed());

    fs::remove_file(folder.join("etcd")).unwrap();
    assert!(world.resolve("1.33").unwrap_err().to_string().ends_with("assets has no etcd"));
}

#[test]
fn a_binary_for_another_architecture_is_reported() {
    let mut world = World::new();
    let folder = world.path("assets");
    assets_folder(&folder, "1.33.2");
    let mut elf = vec![0; 64];
    elf[..6].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1]);
    elf[18] = 22;
    fs::write(folder.join("kube-apiserver"), elf).unwrap();
    world.sources.assets = Some(folder);
    let error = world.resolve("1.33").unwrap_err();
    assert!(error.to_string().ends_with("it is made for linux/s390x"), "{error}");
    assert!(error.help().starts_with("use binaries for "), "{}", error.help());
}

#[test]
fn concurrent_requests_build_a_release_once() {
    let world = World::new();
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..4).map(|_| scope.spawn(|| world.resolve("1.37").unwrap().remove(0))).collect();
        let found: Vec<Assets> = all.into_iter().map(|thread| thread.join().unwrap()).collect();
        assert!(found.iter().all(|assets| *assets == found[0]));
    });
    assert_eq!(world.calls().len(), 2, "{:#?}", world.calls());
}

fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !condition() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[rstest]
#[case::nobody_can_catch("KILL")]
#[case::ctrl_c("INT")]
#[case::of_a_service_manager("TERM")]
fn a_killed_build_leaves_no_process_and_no_folder(#[case] signal: &str) {
    let world = World::new();
    fs::write(world.path("slow"), "").unwrap();
    // A parent such as `nohup … &` may ignore signals, and children inherit that.
    let mut command = Command::new("env");
    command.args(["--default-signal", env!("CARGO_BIN_EXE_crdproof")]);
    command.args(["env", "use", "1.36", "--offline", "--go"]).arg(world.path("go"));
    command.env("CRDPROOF_CACHE", world.path("cache")).env_remove("KUBEBUILDER_ASSETS");
    let mut tool = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    eventually("the build runs", || world.path("pids").exists());
    let pids = fs::read_to_string(world.path("pids")).unwrap();
    assert!(pids.split_whitespace().all(is_alive));
    let sent = Command::new("sh").args(["-c", &format!("kill -s {signal} {}", tool.id())]).status().unwrap();
    assert!(sent.success());
    tool.wait().unwrap();
    eventually("its processes are gone", || !pids.split_whitespace().any(is_alive));
    eventually("its folder is gone", || fs::read_dir(world.path("cache/work")).unwrap().count() == 0);
    assert!(world.store.entries().is_empty());
    fs::remove_file(world.path("slow")).unwrap();
    assert_eq!(world.resolve("1.36").unwrap().len(), 1);
}
