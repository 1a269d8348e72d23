//! `version`, `man` and `completions`: for packagers and bug reports.

use std::path::Path;

use anyhow::Result;
use clap::CommandFactory as _;
use crdproof_envtest::binaries::buildable_releases;
use crdproof_schema::kubernetes::KubeVersion;

use super::args::Cli;
use super::args::about::{CompletionsArgs, ManArgs, VersionArgs};
use super::console::Console;
use super::exit::Exit;
use super::files::{self, For};

/// Prints the version; with `--verbose` also the build and the known servers.
pub(crate) fn version(args: &VersionArgs, console: Console) -> Result<Exit> {
    let mut text = format!("crdproof {}\n", env!("CARGO_PKG_VERSION"));
    if args.verbose {
        // `scripts/dist` sets both; other builds do not know their commit.
        let commit = option_env!("CRDPROOF_COMMIT").unwrap_or("unknown (not a release build)");
        let rustc = option_env!("CRDPROOF_RUSTC").unwrap_or("unknown (not a release build)");
        let releases: Vec<KubeVersion> =
            buildable_releases(None)?.into_iter().map(|release| release.kubernetes).collect();
        let (oldest, newest) = (releases.iter().min(), releases.iter().max());
        text.push_str(&format!("commit: {commit}\nrustc: {rustc}\n"));
        text.push_str(&format!("platform: {} {}\n", std::env::consts::OS, std::env::consts::ARCH));
        if let (Some(oldest), Some(newest)) = (oldest, newest) {
            let count = releases.len();
            text.push_str(&format!("kubernetes: {oldest} to {newest}; {count} releases can be built\n"));
        }
        text.push_str(&format!("checks: {}\n", crate::checks::ALL.len()));
    }
    console.print(&text)?;
    Ok(Exit::Success)
}

/// Writes a man page for each command.
pub(crate) fn man(args: &ManArgs, console: Console) -> Result<Exit> {
    let folder = args.folder.as_path();
    std::fs::create_dir_all(folder).map_err(|error| files::cannot("create", folder, &error))?;
    let mut command = Cli::command();
    command.build();
    let count = write_pages(&command, "crdproof", folder)?;
    console.say(&format!("✔ wrote {count} man pages to {}", folder.display()));
    Ok(Exit::Success)
}

/// Writes the page of a command and of its subcommands, such as `crdproof-env-use.1`, and returns their number.
fn write_pages(command: &clap::Command, name: &str, folder: &Path) -> Result<usize> {
    let page = clap_mangen::Man::new(command.clone()).title(name.to_uppercase());
    let mut text = Vec::new();
    page.render(&mut text)?;
    files::write(&folder.join(format!("{name}.1")), &String::from_utf8(text)?, For::All)?;
    let mut count = 1;
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        count += write_pages(below, &format!("{name}-{}", below.get_name()), folder)?;
    }
    Ok(count)
}

/// Prints completions for a shell.
pub(crate) fn completions(args: &CompletionsArgs, console: Console) -> Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "crdproof", &mut script);
    console.print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Success)
}
