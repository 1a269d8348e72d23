//! Writes the pages that are generated from the code: `scripts/generate-docs`. The argument is the built program; one
//! page contains its help.

mod pages;

use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

fn main() -> io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = std::env::args_os().nth(1).ok_or_else(|| io::Error::other("name the built program"))?;
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap_or_default();
    let help = |command: &[&str]| {
        let output = Command::new(&program).args(command).arg("--help").env_remove("COLUMNS").output();
        output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default()
    };
    for (path, text) in pages::pages(read, &help) {
        let path = root.join(path);
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(path, text)?;
    }
    Ok(())
}
