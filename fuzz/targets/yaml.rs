//! Reads any text as YAML, and what was read as a schema.

#![no_main]

use crdproof_schema::document::{Sources, parse};
use crdproof_schema::structural::{Schema, rule_costs};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let mut sources = Sources::default();
    let id = sources.add("input", text);
    for document in parse(&sources, id).iter().flatten() {
        let _value = document.to_value();
        let schema = Schema::read(document);
        let _costs = rule_costs(&schema);
    }
});
