//! Inspecting binaries: their platform, and the version that they print.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use super::error::BinariesError;
use crdproof_schema::kubernetes::KubeVersion;

/// The API server's file name.
pub(super) const APISERVER: &str = "kube-apiserver";
/// etcd's file name.
pub(super) const ETCD: &str = "etcd";
/// The controller manager's file name; not every source has it.
pub(super) const CONTROLLER_MANAGER: &str = "kube-controller-manager";

/// A platform, in Go's terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Machine {
    pub(super) os: &'static str,
    pub(super) arch: &'static str,
}

impl Machine {
    /// The platform that we were compiled for.
    pub(super) fn here() -> Self {
        let os = match std::env::consts::OS {
            "macos" => "darwin",
            os => os,
        };
        let arch = match std::env::consts::ARCH {
            "x86_64" => "amd64",
            "aarch64" => "arm64",
            "powerpc64" => "ppc64le",
            arch => arch,
        };
        Self { os, arch }
    }

    pub(super) fn name(self) -> String {
        format!("{}/{}", self.os, self.arch)
    }
}

/// The binaries of a folder, and the release that its API server prints.
pub(super) fn folder(folder: &Path) -> Result<(KubeVersion, Files), BinariesError> {
    let files = files(folder)?;
    let version = apiserver_version(&files.apiserver)?;
    Ok((version, files))
}

/// The binaries of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Files {
    pub(super) etcd: PathBuf,
    pub(super) apiserver: PathBuf,
    pub(super) controller_manager: Option<PathBuf>,
}

/// Finds the binaries of a folder without running them.
pub(super) fn files(folder: &Path) -> Result<Files, BinariesError> {
    let need = |missing: &'static str| {
        let path = folder.join(missing);
        if path.is_file() { Ok(path) } else { Err(BinariesError::Incomplete { folder: folder.to_owned(), missing }) }
    };
    let controller_manager = Some(folder.join(CONTROLLER_MANAGER)).filter(|path| path.is_file());
    Ok(Files { etcd: need(ETCD)?, apiserver: need(APISERVER)?, controller_manager })
}

/// Runs an API server to read its release.
pub(super) fn apiserver_version(file: &Path) -> Result<KubeVersion, BinariesError> {
    let said = ask(file)?;
    let release = said.lines().find_map(|line| line.strip_prefix("Kubernetes v"));
    match release.and_then(|release| release.trim().parse::<KubeVersion>().ok()) {
        Some(version) if version.patch.is_some() => Ok(version),
        _ => Err(wrong(file, "a released kube-apiserver", &said)),
    }
}

/// Runs k3s to read the Kubernetes release inside.
pub fn k3s_version(file: &Path) -> Result<KubeVersion, BinariesError> {
    let said = ask(file)?;
    let release = said.lines().find_map(|line| line.strip_prefix("k3s version v"));
    let release = release.and_then(|release| release.split(['+', ' ']).next());
    let version = release.and_then(|release| release.parse::<KubeVersion>().ok());
    version.ok_or_else(|| wrong(file, "a k3s program", &said))
}

/// Runs etcd to check that it is etcd.
pub(super) fn etcd_version(file: &Path) -> Result<String, BinariesError> {
    let said = ask(file)?;
    let version = said.lines().find_map(|line| line.strip_prefix("etcd Version: "));
    version.map(|version| version.trim().to_owned()).ok_or_else(|| wrong(file, "etcd", &said))
}

fn wrong(file: &Path, wanted: &str, said: &str) -> BinariesError {
    let says = said.lines().next().unwrap_or_default().chars().take(120).collect();
    BinariesError::WrongVersion { file: file.to_owned(), wanted: wanted.into(), says }
}

fn ask(file: &Path) -> Result<String, BinariesError> {
    // Some systems would run a file for another platform as a script; its header tells without running it.
    if let Some(found) = other_platform(file, Machine::here()) {
        return Err(BinariesError::WrongMachine { file: file.to_owned(), machine: Machine::here().name(), found });
    }
    let mut output = run(file);
    // A file that was just written is busy while a new process of another thread holds a copy of its handle.
    for _ in 0..20 {
        if !matches!(&output, Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy) {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
        output = run(file);
    }
    match output {
        Ok(output) => {
            Ok(format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr)))
        }
        Err(error) if error.raw_os_error() == Some(8) => Err(BinariesError::WrongMachine {
            file: file.to_owned(),
            machine: Machine::here().name(),
            found: "it is not a program".into(),
        }),
        Err(error) => Err(BinariesError::files("run", file)(error)),
    }
}

fn run(file: &Path) -> io::Result<Output> {
    Command::new(file).arg("--version").stdin(Stdio::null()).output()
}

/// Returns the platform of a file if it is not this one.
fn other_platform(file: &Path, machine: Machine) -> Option<String> {
    let mut header = [0; 20];
    File::open(file).ok()?.read_exact(&mut header).ok()?;
    let (os, arch) = match header {
        [0x7f, b'E', b'L', b'F', ..] => ("linux", elf_machine(&header)),
        [0xcf, 0xfa, 0xed, 0xfe, cpu, ..] => ("darwin", if cpu == 0x0c { "arm64" } else { "amd64" }),
        [b'M', b'Z', ..] => ("windows", "amd64"),
        _ => return None,
    };
    // Other systems use ELF too, and their own files must run there.
    let same_os = os == machine.os || (os == "linux" && !matches!(machine.os, "darwin" | "windows"));
    (!same_os || arch != machine.arch).then(|| format!("it is made for {os}/{arch}"))
}

fn elf_machine(header: &[u8; 20]) -> &'static str {
    let little = header[5] == 1;
    let code = [header[18], header[19]];
    match if little { u16::from_le_bytes(code) } else { u16::from_be_bytes(code) } {
        3 => "386",
        21 => "ppc64le",
        22 => "s390x",
        40 => "arm",
        62 => "amd64",
        183 => "arm64",
        243 => "riscv64",
        _ => "another processor",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AMD64: Machine = Machine { os: "linux", arch: "amd64" };

    fn written(bytes: &[u8]) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        file
    }

    #[test]
    fn a_header_tells_the_platform() {
        let mut elf = [0; 20];
        elf[..6].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1]);
        elf[18] = 183;
        assert_eq!(other_platform(written(&elf).path(), AMD64).unwrap(), "it is made for linux/arm64");
        elf[18] = 62;
        assert_eq!(other_platform(written(&elf).path(), AMD64), None);
        let mut mach = [0; 20];
        mach[..5].copy_from_slice(&[0xcf, 0xfa, 0xed, 0xfe, 0x0c]);
        assert_eq!(other_platform(written(&mach).path(), AMD64).unwrap(), "it is made for darwin/arm64");
        assert_eq!(other_platform(written(b"#!/bin/sh\necho 12345678901234567890").path(), AMD64), None);
    }
}
