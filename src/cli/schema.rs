//! `schema`.

use crate::report::Report;
use crate::run::SuiteFile;
use crate::subject::SubjectFile;
use anyhow::Result;
use schemars::schema_for;

use super::args::about::{SchemaArgs, SchemaOf};
use super::console::Console;
use super::exit::Exit;

/// Prints a JSON Schema.
pub(crate) fn schema(args: &SchemaArgs, console: Console) -> Result<Exit> {
    let schema = match args.of {
        SchemaOf::Subject => schema_for!(SubjectFile),
        SchemaOf::Suite => schema_for!(SuiteFile),
        SchemaOf::Report => schema_for!(Report),
    };
    console.print(&format!("{}\n", serde_json::to_string_pretty(&schema)?))?;
    Ok(Exit::Success)
}
