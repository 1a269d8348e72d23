//! Cargo, called by a test.

use std::process::Command;

/// Returns a call of the cargo that runs this test, without the variables that it sets for tests: they would make it build
/// everything again.
pub(crate) fn nested_cargo() -> Command {
    let mut command = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".into()));
    for (name, _) in
        std::env::vars().filter(|(name, _)| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_"))
    {
        command.env_remove(name);
    }
    command
}
