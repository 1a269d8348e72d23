//! `cargo xtask terminal-picture`: runs a command on a terminal and writes its output as an SVG.

mod screen;
mod svg;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context as _, bail};

use self::screen::Screen;
use self::svg::Picture;

/// Run a command on a terminal and write its output, with colours and timing, as an SVG
///
/// Needs `script` of util-linux. The pictures of the documents: cargo xtask terminal-picture docs/demo.svg --columns 124
/// --first 28 --last 4 -- crdproof demo --defect
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The SVG to write
    #[arg(value_name = "FILE")]
    out: PathBuf,
    /// Columns of the terminal
    #[arg(long, default_value_t = 100)]
    columns: usize,
    /// Lines to show from the beginning
    #[arg(long, default_value_t = 40)]
    first: usize,
    /// Lines to show from the end; the picture counts the lines in between
    #[arg(long, default_value_t = 0)]
    last: usize,
    /// The folder to run in
    #[arg(long, default_value = ".")]
    folder: PathBuf,
    /// The command, as a shell reads it
    #[arg(last = true, required = true)]
    command: Vec<String>,
}

/// Runs the command.
pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let folder = tempfile::tempdir()?;
    let (output, timing) = (folder.path().join("output"), folder.path().join("timing"));
    let shown = args.command.join(" ");
    let status = Command::new("script")
        .args(["--quiet", "--flush", "--log-out"])
        .arg(&output)
        .arg("--log-timing")
        .arg(&timing)
        .arg("--command")
        .arg(format!("stty cols {} rows 50; {shown}", args.columns))
        .current_dir(&args.folder)
        .env("COLUMNS", args.columns.to_string())
        .env("TERM", "xterm-256color")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .context("cannot start `script`: install util-linux")?;
    if !status.success() {
        bail!("`script` failed: {status}");
    }
    let mut screen = Screen::new(&shown, args.columns);
    screen.play(&fs::read(&output)?, &fs::read_to_string(&timing)?)?;
    let picture = Picture { columns: args.columns, first: args.first, last: args.last, screen: &screen };
    fs::write(&args.out, picture.svg()).with_context(|| format!("cannot write {}", args.out.display()))?;
    println!("wrote {}", args.out.display());
    Ok(ExitCode::SUCCESS)
}
