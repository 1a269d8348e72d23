//! Tests that need no API server: one binary, because each links the whole tree.
#![cfg(test)]

mod checks;
mod definitions;
mod diff;
mod fixture;
mod registry;
mod hostile;
mod releases;
mod reports;
mod verdicts;
