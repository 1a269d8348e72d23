//! Making the lock of a release: its modules, each with its digest.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::build::Steps;
use super::error::BinariesError;
use super::generated::{self, GENERATOR, Module, may_write};
use super::golang::{Go, Toolchain};
use super::releases::{Kind, Locks};
use super::store::{CacheArea, Store};
use super::{Progress, Sources};
use crdproof_schema::kubernetes::KubeVersion;

/// The first minor release whose module is complete.
const FIRST_COMPLETE_MINOR: u32 = 24;

/// The Go that wrapper locks name for machines with an older Go.
const TOOLCHAIN: &str = "1.26.8";

/// A module that no longer resolves, and the same code under another name.
const MOVED_MODULE: (&str, &str) = ("vbom.ml/util", "github.com/fvbommel/util v0.0.0-20180919145318-efcd4e0f9787");

/// Makes the lock of a release in a new folder below `out`, and returns that folder. `modules` overrides versions of
/// staging modules by path, for releases of which a registry lacks one.
pub fn lock(
    store: &Store,
    version: KubeVersion,
    out: &Path,
    modules: &BTreeMap<String, String>,
    sources: &Sources,
    progress: &dyn Fn(Progress),
) -> Result<PathBuf, BinariesError> {
    let what = format!("the lock of Kubernetes {version}");
    let key = format!("lock-{version}");
    let _held = store.lock(CacheArea::Parts, &key, progress)?;
    let go = Go::find(&what, sources)?;
    let work = store.work(&key)?;
    let steps = Steps::new(&work, what, sources, progress)?;
    let source = generated::source(&steps, &go, version, &work)?;
    let staging = Staging { version: format!("v0.{}.{}", version.minor, version.patch.unwrap_or_default()), modules };
    let made = if version.at_least(FIRST_COMPLETE_MINOR) {
        lock_of_wrapper(&steps, &go, &source, version, &staging, &work)?
    } else {
        lock_of_source_copy(&steps, &go, &source, version, &staging, &work)?
    };
    let file = made.file(version, &Locks::read(None)?);
    let folder = out.join(version.to_string());
    fs::create_dir_all(&folder).map_err(BinariesError::files("create", &folder))?;
    for name in ["go.mod", "go.sum"] {
        fs::copy(work.join(name), folder.join(name)).map_err(BinariesError::files("write", &folder.join(name)))?;
    }
    fs::write(folder.join("release.yaml"), file).map_err(BinariesError::files("write", &folder))?;
    Ok(folder)
}

/// The header of a lock file.
struct Made {
    kind: Kind,
    go: String,
    toolchain: String,
    tags: &'static [&'static str],
    commands: &'static str,
    source: Option<String>,
}

impl Made {
    fn file(&self, version: KubeVersion, locks: &Locks) -> String {
        let kind = match self.kind {
            Kind::Wrapper => "wrapper",
            Kind::Generated => "generated",
        };
        let source = self.source.as_ref().map(|source| format!("source: \"{source}\"\n")).unwrap_or_default();
        format!(
            "kubernetes: \"{version}\"\nkind: {kind}\ngo: \"{}\"\ntoolchain: \"{}\"\netcd: \"{}\"\ntags: [{}]\ncommands: [{}]\n{source}",
            self.go,
            self.toolchain,
            locks.newest_etcd(),
            self.tags.join(", "),
            self.commands
        )
    }
}

/// A go.mod in the output of `go mod edit -json`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct GoMod {
    go: String,
    #[serde(default)]
    go_debug: Option<Vec<Setting>>,
    require: Vec<Required>,
    #[serde(default)]
    replace: Option<Vec<Replaced>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Setting {
    key: String,
    value: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Required {
    path: String,
    #[serde(default)]
    version: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Replaced {
    old: Required,
    new: Required,
}

/// The lock of a module that only requires the release, with every staging module at its own version.
fn lock_of_wrapper(
    steps: &Steps<'_>,
    go: &Go,
    source: &Module,
    version: KubeVersion,
    staging: &Staging<'_>,
    work: &Path,
) -> Result<Made, BinariesError> {
    let toolchain = go.at_least("1.23", TOOLCHAIN);
    let answer = work.join("go.mod.json");
    let spec = go.spec(&toolchain).folder(work.join("..")).args(["mod", "edit", "-json"]).arg(&source.go_mod);
    steps.run("the reading of go.mod", spec, Some(&answer))?;
    let text = fs::read_to_string(&answer).map_err(BinariesError::files("read", &answer))?;
    let release: GoMod =
        serde_json::from_str(&text).map_err(|error| steps.failed("the reading of go.mod", vec![error.to_string()]))?;
    write(&work.join("go.mod"), &wrapper_mod(&release, version, staging))?;
    write(
        &work.join("tools.go"),
        "//go:build tools\n\npackage tools\n\nimport (\n\t_ \"k8s.io/kubernetes/cmd/kube-apiserver\"\n\
         \t_ \"k8s.io/kubernetes/cmd/kube-controller-manager\"\n)\n",
    )?;
    let toolchain = go.at_least(&release.go, TOOLCHAIN);
    steps.run("the choice of modules", go.spec(&toolchain).folder(work).args(["mod", "tidy"]), None)?;
    let commands = "kube-apiserver, kube-controller-manager";
    Ok(Made { kind: Kind::Wrapper, go: release.go, toolchain: TOOLCHAIN.into(), tags: &[], commands, source: None })
}

/// The go.mod of a wrapper. Keeps replacements of the release itself, because it was tested with them.
fn wrapper_mod(release: &GoMod, version: KubeVersion, staging: &Staging<'_>) -> String {
    let mut text = format!("module crdproof/release\n\ngo {}\n", release.go);
    for setting in release.go_debug.iter().flatten() {
        text.push_str(&format!("\ngodebug {}={}\n", setting.key, setting.value));
    }
    text.push_str(&format!("\nrequire k8s.io/kubernetes v{version}\n\nreplace (\n"));
    let mut lines: Vec<String> = Vec::new();
    for Replaced { old, new } in release.replace.iter().flatten() {
        if new.path.starts_with("./staging/") {
            lines.push(format!("\t{}\n", staging.replacement(&old.path)));
        } else if !new.path.starts_with('.') {
            lines.push(format!("\t{} => {} {}\n", old.path, new.path, new.version));
        }
    }
    let staged = release.require.iter().filter(|required| required.version == "v0.0.0");
    lines.extend(staged.map(|required| format!("\t{}\n", staging.replacement(&required.path))));
    lines.sort();
    lines.dedup();
    text.push_str(&lines.concat());
    text.push_str(")\n");
    text
}

/// The lock of the release's own module, with staging modules at their versions instead of folders.
fn lock_of_source_copy(
    steps: &Steps<'_>,
    go: &Go,
    source: &Module,
    version: KubeVersion,
    staging: &Staging<'_>,
    work: &Path,
) -> Result<Made, BinariesError> {
    let (old, tags) = go_and_tags(version);
    let toolchain = generated::old_toolchain(steps, go, old, work)?;
    generated::copy(&source.dir, work)?;
    let read = |path: &Path| fs::read_to_string(path).map_err(BinariesError::files("read", path));
    write(&work.join("go.mod"), &copy_mod(&read(&source.go_mod)?, staging))?;
    write(&work.join("go.sum"), &read(&source.dir.join("go.sum")).unwrap_or_default())?;
    let spec = go.spec(&toolchain).folder(work).arg("list").args(may_write(old));
    let spec = spec.args(["-e", "-deps", "-tags", &tags.join(","), "./cmd/kube-apiserver", GENERATOR]);
    steps.run("the choice of modules", spec, Some(&work.join("packages.txt")))?;
    let Toolchain::Old(version, _) = toolchain else {
        return Err(steps.failed("the choice of modules", vec!["it needs the Go of its day".into()]));
    };
    Ok(Made {
        kind: Kind::Generated,
        go: version.clone(),
        toolchain: version,
        tags,
        commands: "kube-apiserver",
        source: Some(source.sum.clone()),
    })
}

fn copy_mod(text: &str, staging: &Staging<'_>) -> String {
    let mut made: String = text
        .lines()
        .filter(|line| !line.trim_start().starts_with(MOVED_MODULE.0) || !line.contains("=>"))
        .map(|line| match line.split_once("=> ./staging/src/") {
            Some((before, module)) => format!("{before}=> {0} {1}\n", module.trim(), staging.of(module.trim())),
            None => format!("{line}\n"),
        })
        .collect();
    if text.contains(MOVED_MODULE.0) {
        made.push_str(&format!("\nreplace {} => {}\n", MOVED_MODULE.0, MOVED_MODULE.1));
    }
    made
}

/// The Go of a release's time, and the build tags that it needs today.
fn go_and_tags(version: KubeVersion) -> (&'static str, &'static [&'static str]) {
    match version.minor {
        ..=17 => ("1.13.15", &[]),
        18 => ("1.15.15", &["providerless"]),
        19 | 20 => ("1.15.15", &[]),
        21 | 22 => ("1.16.15", &[]),
        _ => ("1.17.13", &[]),
    }
}

/// The version of each staging module that a release is built with.
struct Staging<'a> {
    version: String,
    modules: &'a BTreeMap<String, String>,
}

impl Staging<'_> {
    fn of(&self, path: &str) -> &str {
        self.modules.get(path).unwrap_or(&self.version)
    }

    fn replacement(&self, path: &str) -> String {
        format!("{path} => {path} {}", self.of(path))
    }
}

fn write(path: &Path, text: &str) -> Result<(), BinariesError> {
    fs::write(path, text).map_err(BinariesError::files("write", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrapper_pins_staging_modules_and_keeps_the_release_s_own_replacements() {
        let release = r#"{"Go": "1.22.0", "GoDebug": [{"Key": "default", "Value": "go1.22"}],
            "Require": [{"Path": "k8s.io/api", "Version": "v0.0.0"}, {"Path": "k8s.io/cri-api", "Version": "v0.0.0"}, {"Path": "example.com/a", "Version": "v1.2.3"}],
            "Replace": [{"Old": {"Path": "k8s.io/api"}, "New": {"Path": "./staging/src/k8s.io/api"}},
                        {"Old": {"Path": "example.com/a"}, "New": {"Path": "example.com/a", "Version": "v1.2.2"}}]}"#;
        let modules = BTreeMap::from([("k8s.io/cri-api".into(), "v0.31.5".into())]);
        let staging = Staging { version: "v0.31.4".into(), modules: &modules };
        let text = wrapper_mod(&serde_json::from_str(release).unwrap(), "1.31.4".parse().unwrap(), &staging);
        assert_eq!(
            text,
            "module crdproof/release\n\ngo 1.22.0\n\ngodebug default=go1.22\n\nrequire k8s.io/kubernetes v1.31.4\n\n\
             replace (\n\texample.com/a => example.com/a v1.2.2\n\tk8s.io/api => k8s.io/api v0.31.4\n\
             \tk8s.io/cri-api => k8s.io/cri-api v0.31.5\n)\n"
        );
    }

    #[test]
    fn a_copy_points_at_versions_instead_of_folders() {
        let text = "module k8s.io/kubernetes\n\nreplace (\n\tk8s.io/api => ./staging/src/k8s.io/api\n\tvbom.ml/util => vbom.ml/util v0.0.0-1\n)\n";
        assert_eq!(
            copy_mod(text, &Staging { version: "v0.18.4".into(), modules: &BTreeMap::new() }),
            "module k8s.io/kubernetes\n\nreplace (\n\tk8s.io/api => k8s.io/api v0.18.4\n)\n\n\
             replace vbom.ml/util => github.com/fvbommel/util v0.0.0-20180919145318-efcd4e0f9787\n"
        );
    }
}
