//! Building releases before 1.24, whose modules lack a generated file: the `OpenAPI` definitions of all built-in types.
//! They are built with the Go of their time, because newer ones refuse some of their modules.

use std::fs;
use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::build::{Steps, folder_of, version_flags};
use super::error::BinariesError;
use super::golang::{Go, Toolchain, at_least};
use super::releases::Release;
use crdproof_schema::kubernetes::KubeVersion;

/// The folders of the release that contain the server.
const PARTS: &[&str] = &["cmd", "pkg", "plugin", "third_party"];

/// The package that is generated.
const DEFINITIONS: &str = "k8s.io/kubernetes/pkg/generated/openapi";

/// The generator. Releases name its version in their own go.mod.
pub(super) const GENERATOR: &str = "k8s.io/kube-openapi/cmd/openapi-gen";

/// A module in the output of `go mod download -json`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Module {
    pub(super) dir: PathBuf,
    pub(super) go_mod: PathBuf,
    pub(super) sum: String,
}

/// Builds in a copy of the release.
pub(super) fn build(
    steps: &Steps<'_>,
    go: &Go,
    release: &Release,
    work: &Path,
    out: &Path,
) -> Result<Toolchain, BinariesError> {
    let toolchain = old_toolchain(steps, go, &release.file.toolchain, work)?;
    let source = source(steps, go, release.file.kubernetes, work)?;
    if release.file.source.as_ref() != Some(&source.sum) {
        let said = format!("the module is {} and not the one of the lock", source.sum);
        return Err(steps.failed("the check of the source", vec![said]));
    }
    copy(&source.dir, work)?;
    let tags = release.file.tags.join(",");
    generate(steps, go, &toolchain, work, &tags)?;
    let spec = go.spec(&toolchain).folder(work).args(["build", "-v", "-mod=readonly", "-trimpath", "-tags", &tags]);
    let spec = spec.arg("-ldflags").arg(version_flags(release)).arg("-o").arg(folder_of(out));
    let commands = release.file.commands.iter().map(|command| format!("./cmd/{command}"));
    steps.run("the compilation", spec.args(commands), None)?;
    Ok(toolchain)
}

/// Downloads an old Go. Its files become executable when the installed Go has run it once.
pub(super) fn old_toolchain(
    steps: &Steps<'_>,
    go: &Go,
    version: &str,
    work: &Path,
) -> Result<Toolchain, BinariesError> {
    let switched = go.spec(&Toolchain::Fetched(version.to_owned())).arg("version").folder(work.join(".."));
    steps.run("the download of an older Go", switched, None)?;
    Ok(go.old(version))
}

/// Downloads the release's own module.
pub(super) fn source(steps: &Steps<'_>, go: &Go, version: KubeVersion, work: &Path) -> Result<Module, BinariesError> {
    let answer = work.join("source.json");
    let spec = go.spec(&go.at_least("1.21", "1.21")).folder(work.join(".."));
    let spec = spec.args(["mod", "download", "-json"]).arg(format!("k8s.io/kubernetes@v{version}"));
    let ran = steps.run("the download of the source", spec, Some(&answer));
    let text = fs::read_to_string(&answer).map_err(BinariesError::files("read", &answer))?;
    ran.map_err(|error| match error_of(&text) {
        Some(said) => steps.failed("the download of the source", vec![said]),
        None => error,
    })?;
    serde_json::from_str(&text).map_err(|error| steps.failed("the download of the source", vec![error.to_string()]))
}

/// Returns the error in the output of `go mod download -json`.
fn error_of(answer: &str) -> Option<String> {
    let answer: serde_json::Value = serde_json::from_str(answer).ok()?;
    answer.get("Error")?.as_str().map(str::to_owned)
}

/// Copies the sources of the server to a writable folder, without tests.
pub(super) fn copy(source: &Path, work: &Path) -> Result<(), BinariesError> {
    for part in PARTS {
        copy_folder(&source.join(part), &work.join(part)).map_err(BinariesError::files("copy", &source.join(part)))?;
    }
    Ok(())
}

fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    if !from.is_dir() {
        return Ok(());
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (name, path) = (entry.file_name(), entry.path());
        if entry.file_type()?.is_dir() {
            if name != "testdata" {
                copy_folder(&path, &to.join(name))?;
            }
        } else if !name.to_string_lossy().ends_with("_test.go") {
            fs::copy(&path, to.join(name))?;
        }
    }
    Ok(())
}

/// Generates the definitions of every type that requests one.
fn generate(steps: &Steps<'_>, go: &Go, toolchain: &Toolchain, work: &Path, tags: &str) -> Result<(), BinariesError> {
    let Toolchain::Old(_, root) = toolchain else {
        return Err(steps.failed("the generation", vec!["it needs the Go of its day".into()]));
    };
    let listed = work.join("packages.txt");
    let spec = go.spec(toolchain).folder(work).args(["list", "-mod=readonly", "-e", "-deps", "-tags", tags, "-f"]);
    let spec = spec.args(["{{.ImportPath}}\t{{.Dir}}", "./cmd/kube-apiserver"]);
    steps.run("the list of packages", spec, Some(&listed))?;
    let inputs = packages_to_generate(&listed).map_err(BinariesError::files("read", &listed))?;

    let generator = work.join("bin/openapi-gen");
    let spec =
        go.spec(toolchain).folder(work).args(["build", "-v", "-mod=readonly", "-o"]).arg(&generator).arg(GENERATOR);
    steps.run("the compilation of the generator", spec, None)?;

    let (header, made) = (work.join("header.txt"), work.join("made"));
    fs::write(&header, "// Generated for a build of this release.\n")
        .map_err(BinariesError::files("write", &header))?;
    let spec = go.with_old(toolchain, root, &generator).folder(work);
    let spec = spec.args(["-i", &inputs.join(","), "-p", DEFINITIONS, "-O", "zz_generated.openapi"]);
    let spec = spec.arg("-h").arg(&header).arg("-o").arg(&made).arg("-r").arg(work.join("violations.txt"));
    steps.run("the generation", spec, None)?;

    let (from, to) = (made.join(DEFINITIONS), work.join("pkg/generated/openapi"));
    let file = "zz_generated.openapi.go";
    fs::create_dir_all(&to).map_err(BinariesError::files("create", &to))?;
    fs::rename(from.join(file), to.join(file)).map_err(BinariesError::files("move", &from.join(file)))
}

/// The packages with a file that requests definitions.
fn packages_to_generate(listed: &Path) -> io::Result<Vec<String>> {
    let mut packages = Vec::new();
    for line in BufReader::new(fs::File::open(listed)?).lines() {
        let line = line?;
        if let Some((package, folder)) = line.split_once('\t')
            && package.starts_with("k8s.io/")
            && package != DEFINITIONS
            && !folder.is_empty()
            && requests_definitions(Path::new(folder))?
        {
            packages.push(package.to_owned());
        }
    }
    packages.sort();
    Ok(packages)
}

fn requests_definitions(folder: &Path) -> io::Result<bool> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "go")
            && fs::read_to_string(&path)?.contains("+k8s:openapi-gen=")
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The flag that lets Go write go.mod and go.sum; before 1.14 there is no flag, and Go always does.
pub(super) fn may_write(version: &str) -> Option<&'static str> {
    at_least(version, "1.14").then_some("-mod=mod")
}
