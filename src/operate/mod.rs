//! Tools for clusters: migrate, retire, audit, preflight and minimum. Scenarios exercise the same code that users run.

pub mod audit;
pub mod in_tree;
pub mod migrate;
pub mod minimum;
pub mod preflight;
pub mod probe;
pub mod proof;
pub mod retire;
pub mod samples;
pub mod settle;
pub mod subprocess;
