//! Tests that need no API server: one binary, because each links the whole tree.
#![cfg(test)]

mod binaries;
mod certificates;
mod ci_example;
mod cli;
mod declared;
mod defects;
mod definitions;
mod diff;
mod diff_findings;
mod docs;
mod environment;
mod facade;
mod field_maps;
#[path = "../fixtures/fixture.rs"]
#[expect(dead_code, reason = "shared with the tests of fixtures, which use all of it")]
mod fixture;
mod house;
mod idle;
mod kustomize;
mod loaders;
mod mutants;
mod preflight;
mod process;
mod registry;
mod hostile;
mod releases;
mod reports;
mod reproduce;
mod robust;
mod secrets;
mod service;
mod stand_in;
mod tutorial;
mod typed_webhook;
mod verdicts;
mod webhook;
