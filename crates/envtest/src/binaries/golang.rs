//! Go: finding it, reading its settings, and running it so that builds are the same everywhere.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::Sources;
use super::error::BinariesError;
use crate::guard::Spec;

/// The first Go that can download another Go.
const FIRST_GO_WITH_TOOLCHAINS: &str = "1.21";

/// Settings for the sources and caches of modules, which builds keep. All other settings must not change the result.
const KEPT_SETTINGS: &[&str] = &[
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

/// Flags of `GOFLAGS` that do not change the result of a build.
const HARMLESS_FLAGS: &[&str] = &["-modcacherw", "-p", "-x"];

/// The installed Go.
#[derive(Debug, Clone)]
pub(super) struct Go {
    program: PathBuf,
    version: String,
    settings: BTreeMap<String, String>,
    offline: bool,
}

/// The Go that builds a release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Toolchain {
    /// The installed one.
    Installed(String),
    /// Another one, which the installed one downloads.
    Fetched(String),
    /// An old one, unpacked in this folder, which cannot download others.
    Old(String, PathBuf),
}

impl Toolchain {
    pub(super) fn version(&self) -> &str {
        match self {
            Self::Installed(version) | Self::Fetched(version) | Self::Old(version, _) => version,
        }
    }
}

impl Go {
    /// Finds Go and reads its settings.
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
        let version = version.filter(|version| at_least(version, FIRST_GO_WITH_TOOLCHAINS));
        let version =
            version.ok_or_else(|| none(format!("{} is older than {FIRST_GO_WITH_TOOLCHAINS}", program.display())))?;
        Ok(Self { program, version, settings, offline: sources.offline })
    }

    /// The Go for a build that needs at least `least`, or `fetched` if the installed one is older.
    pub(super) fn at_least(&self, least: &str, fetched: &str) -> Toolchain {
        if at_least(&self.version, least) {
            Toolchain::Installed(self.version.clone())
        } else {
            Toolchain::Fetched(fetched.to_owned())
        }
    }

    /// Returns the folder where the installed Go unpacks another one.
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
            Toolchain::Installed(_) => (Spec::new(&self.program), "local".to_owned()),
            Toolchain::Fetched(version) => (Spec::new(&self.program), format!("go{version}")),
            Toolchain::Old(_, root) => {
                (old_first(root).arg(root.join("bin/go")).env("GOROOT", root), "local".to_owned())
            }
        };
        self.apply_settings(spec, toolchain).env("GOTOOLCHAIN", switch)
    }

    /// Another program, such as a generator, that calls the `go` of an old toolchain.
    pub(super) fn with_old(&self, toolchain: &Toolchain, root: &Path, program: &Path) -> Spec {
        let spec = old_first(root).arg(program).env("GOROOT", root).env("GOTOOLCHAIN", "local");
        self.apply_settings(spec, toolchain)
    }

    fn apply_settings(&self, mut spec: Spec, toolchain: &Toolchain) -> Spec {
        // Go would read a file of saved settings even if a variable is empty.
        spec = spec.env("GOENV", "off").env("GOWORK", "off").env("GO111MODULE", "on").env("CGO_ENABLED", "0");
        spec = spec.env("GOOS", self.setting("GOHOSTOS")).env("GOARCH", self.setting("GOHOSTARCH"));
        spec = spec
            .env("GOFLAGS", keep_harmless(self.setting("GOFLAGS"), toolchain))
            .env("GOEXPERIMENT", "")
            .env("GODEBUG", "");
        for name in KEPT_SETTINGS {
            if let Some(value) = self.settings.get(*name) {
                spec = spec.env(name, value);
            }
        }
        if self.offline { spec.env("GOPROXY", "off").env("GOVCS", "*:off") } else { spec }
    }
}

/// Puts the programs of an old toolchain first on `PATH`, because its tools call `go` by name.
fn old_first(root: &Path) -> Spec {
    Spec::new("/bin/sh").args(["-c", r#"PATH="$0:$PATH" exec "$@""#]).arg(root.join("bin"))
}

fn keep_harmless(flags: &str, toolchain: &Toolchain) -> String {
    let kept = flags.split_whitespace().filter(|flag| {
        let name = flag.split('=').next().unwrap_or(flag);
        let known = name != "-modcacherw" || at_least(toolchain.version(), "1.14");
        known && HARMLESS_FLAGS.iter().any(|harmless| name == *harmless || name == format!("-{harmless}"))
    });
    kept.collect::<Vec<_>>().join(" ")
}

/// Compares versions of Go by number; a release candidate counts as its release.
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
        let new = Toolchain::Installed("1.26.8".into());
        let old = Toolchain::Old("1.13.15".into(), "/go".into());
        assert_eq!(keep_harmless("-mod=vendor -p=2 --modcacherw -tags=x -buildvcs=false", &new), "-p=2 --modcacherw");
        assert_eq!(keep_harmless("-modcacherw -p=2", &old), "-p=2");
    }
}
