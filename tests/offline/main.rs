//! Tests that need no API server: one binary, because each links the whole tree.
#![cfg(test)]

mod binaries;
mod bounds;
mod certificates;
mod ci_example;
mod cli;
mod console;
mod declared;
mod defects;
mod definitions;
mod diff;
mod diff_findings;
mod discreet;
mod docs;
mod environment;
mod existing_cluster;
mod facade;
mod field_maps;
#[path = "../fixtures/fixture.rs"]
#[expect(dead_code, reason = "shared with the tests of fixtures, which use all of it")]
mod fixture;
mod git_sources;
mod house;
mod idle;
mod job;
mod kits;
mod kustomize;
mod loaders;
mod mutants;
mod nested_cargo;
mod operator;
mod packages;
mod preflight;
mod process;
mod promises;
mod registry;
mod hostile;
mod releases;
mod reports;
mod reproduce;
mod robust;
mod secrets;
mod service;
mod serving;
mod shards;
mod slow;
mod stand_in;
mod subject_commands;
mod targets;
mod tutorial;
mod typed_webhook;
mod verdicts;
mod wait;
mod webhook;
