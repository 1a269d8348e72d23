//! Tests that need no API server: one binary, because each links the whole tree.
#![cfg(test)]

mod binaries;
mod certificates;
mod checks;
mod ci_example;
mod cli;
mod corpus;
mod definitions;
mod diff;
mod docs;
mod environment;
mod facade;
mod field_maps;
mod fixture;
mod generate;
mod house;
mod loaders;
mod mutants;
mod preflight;
mod process;
mod registry;
mod hostile;
mod releases;
mod reports;
mod robust;
mod secrets;
mod service;
mod stand_in;
mod tutorial;
mod typed_webhook;
mod verdicts;
mod webhook;
