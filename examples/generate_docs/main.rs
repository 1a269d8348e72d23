//! Writes the pages that are made from the code: `scripts/generate-docs`.

mod pages;

use std::fs;
use std::io;
use std::path::Path;

fn main() -> io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let subject_file = fs::read_to_string(root.join(pages::SUBJECT_FILE))?;
    fs::create_dir_all(root.join("docs/checks"))?;
    for (path, text) in pages::pages(&subject_file) {
        fs::write(root.join(path), text)?;
    }
    Ok(())
}
