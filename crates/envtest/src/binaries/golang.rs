//! Go: which one there is, what its owner has set, and how it is run so that a build is the same everywhere.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::Sources;
use super::error::BinariesError;
use crate::guard::Spec;

/// The first Go that can fetch another Go.
const SWITCHES: &str = "1.21";

/// Settings that say where modules come from and are kept. They stay as their owner has them; all others
/// must not change what is built.
const KEPT: &[&str] = &[
    "GOAUTH",
    "GOCACHE",
    "GOINSECURE",
    "GOMODCACHE",
    "GONOPROXY",
    "GONOSUMDB",
    "GOPATH",
    "GOPRIVATE",
    "GOPROXY",
    "GOSUMDB",
    "GOTMPDIR",
    "GOVCS",
];

/// Flags of `GOFLAGS` that do not change what is built.
const HARMLESS: &[&str] = &["-modcacherw", "-p", "-x"];

/// The Go available.
#[derive(Debug, Clone)]
pub(super) struct Go {
    program: PathBuf,
    version: String,
    settings: BTreeMap<String, String>,
    offline: bool,
}

/// The Go that builds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Toolchain {
    /// The one available.
    AtHand(String),
    /// One that the one available fetches.
    Fetched(String),
    /// An old one, unpacked in this folder, which does not know of others.
    Old(String, PathBuf),
}

impl Toolchain {
    pub(super) fn version(&self) -> &str {
        match self {
            Self::AtHand(version) | Self::Fetched(version) | Self::Old(version, _) => version,
        }
    }
}

impl Go {
    /// Finds Go and asks for its settings.
    pub(super) fn find(what: &str, sources: &Sources) -> Result<Self, BinariesError> {
        let program = sources.go.clone().unwrap_or_else(|| PathBuf::from("go"));
        let none = |reason: String| BinariesError::NoGo { what: what.to_owned(), reason };
        let output = Command::new(&program).args(["env", "-json"]).current_dir("/").stdin(Stdio::null()).output();
        let output = output.map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => none(format!("there is no {}", program.display())),
            _ => none(format!("{} does not run: {error}", program.display())),
        })?;
        let settings: BTreeMap<String, String> = serde_json::from_slice(&output.stdout)
            .map_err(|_| none(format!("{} is not Go ({})", program.display(), output.status)))?;
        let version = settings.get("GOVERSION").map(|version| version.trim_start_matches("go").to_owned());
        let version = version.filter(|version| at_least(version, SWITCHES));
        let version = version.ok_or_else(|| none(format!("{} is older than {SWITCHES}", program.display())))?;
        Ok(Self { program, version, settings, offline: sources.offline })
    }

    /// The Go for a build that needs at least `least`, and gets `fetched` where the one available is older.
    pub(super) fn at_least(&self, least: &str, fetched: &str) -> Toolchain {
        if at_least(&self.version, least) {
            Toolchain::AtHand(self.version.clone())
        } else {
            Toolchain::Fetched(fetched.to_owned())
        }
    }

    /// Returns where the Go available unpacks another one.
    pub(super) fn old(&self, version: &str) -> Toolchain {
        let name = format!("toolchain@v0.0.1-go{version}.{}-{}", self.setting("GOHOSTOS"), self.setting("GOHOSTARCH"));
        let folder = Path::new(self.setting("GOMODCACHE")).join("golang.org").join(name);
        Toolchain::Old(version.to_owned(), folder)
    }

    fn setting(&self, name: &str) -> &str {
        self.settings.get(name).map_or("", String::as_str)
    }

    /// The command `go` with arguments.
    pub(super) fn spec(&self, toolchain: &Toolchain) -> Spec {
        let (spec, switch) = match toolchain {
            Toolchain::AtHand(_) => (Spec::new(&self.program), "local".to_owned()),
            Toolchain::Fetched(version) => (Spec::new(&self.program), format!("go{version}")),
            Toolchain::Old(_, root) => {
                (old_first(root).arg(root.join("bin/go")).env("GOROOT", root), "local".to_owned())
            }
        };
        self.settle(spec, toolchain).env("GOTOOLCHAIN", switch)
    }

    /// Some other program, such as a generator, that will call the `go` of an old toolchain.
    pub(super) fn with_old(&self, toolchain: &Toolchain, root: &Path, program: &Path) -> Spec {
        let spec = old_first(root).arg(program).env("GOROOT", root).env("GOTOOLCHAIN", "local");
        self.settle(spec, toolchain)
    }

    fn settle(&self, mut spec: Spec, toolchain: &Toolchain) -> Spec {
        // A file of saved settings would be read even where a variable is empty.
        spec = spec.env("GOENV", "off").env("GOWORK", "off").env("GO111MODULE", "on").env("CGO_ENABLED", "0");
        spec = spec.env("GOOS", self.setting("GOHOSTOS")).env("GOARCH", self.setting("GOHOSTARCH"));
        spec = spec
            .env("GOFLAGS", harmless(self.setting("GOFLAGS"), toolchain))
            .env("GOEXPERIMENT", "")
            .env("GODEBUG", "");
        for name in KEPT {
            if let Some(value) = self.settings.get(*name) {
                spec = spec.env(name, value);
            }
        }
        if self.offline { spec.env("GOPROXY", "off").env("GOVCS", "*:off") } else { spec }
    }
}

/// Runs what follows with an old toolchain's programs before all others. Its tools call `go` by name.
fn old_first(root: &Path) -> Spec {
    Spec::new("/bin/sh").args(["-c", r#"PATH="$0:$PATH" exec "$@""#]).arg(root.join("bin"))
}

fn harmless(flags: &str, toolchain: &Toolchain) -> String {
    let kept = flags.split_whitespace().filter(|flag| {
        let name = flag.split('=').next().unwrap_or(flag);
        let known = name != "-modcacherw" || at_least(toolchain.version(), "1.14");
        known && HARMLESS.iter().any(|harmless| name == *harmless || name == format!("-{harmless}"))
    });
    kept.collect::<Vec<_>>().join(" ")
}

/// Compares versions of Go by their numbers; a release candidate counts as its release.
pub(super) fn at_least(version: &str, least: &str) -> bool {
    let numbers = |text: &str| {
        let digits =
            |part: &str| part.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap_or(0);
        let mut parts = text.split('.').map(digits);
        [parts.next().unwrap_or(0_u32), parts.next().unwrap_or(0), parts.next().unwrap_or(0)]
    };
    numbers(version) >= numbers(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_by_their_numbers() {
        assert!(at_least("1.26.8", "1.26.0"));
        assert!(at_least("1.26rc1", "1.26"));
        assert!(at_least("1.21 X:loopvar", "1.21"));
        assert!(!at_least("1.9", "1.21"));
        assert!(!at_least("1.25.9", "1.26.0"));
    }

    #[test]
    fn flags_that_change_a_build_are_left_out() {
        let new = Toolchain::AtHand("1.26.8".into());
        let old = Toolchain::Old("1.13.15".into(), "/go".into());
        assert_eq!(harmless("-mod=vendor -p=2 --modcacherw -tags=x -buildvcs=false", &new), "-p=2 --modcacherw");
        assert_eq!(harmless("-modcacherw -p=2", &old), "-p=2");
    }
}
