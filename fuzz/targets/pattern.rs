//! Compiles any pattern, looks for it in a text, and makes values that match it.

#![no_main]

use crdproof_schema::document::{Sources, parse};
use crdproof_schema::generate::{Context, Generator, Options, Phase};
use crdproof_schema::kubernetes::KubeVersion;
use crdproof_schema::structural::{Pattern, Schema};
use libfuzzer_sys::fuzz_target;
use serde_json::json;

fuzz_target!(|text: &str| {
    // The first line is the pattern, the others are where it is looked for.
    let (pattern, text) = text.split_once('\n').unwrap_or((text, ""));
    let compiled = Pattern::new(pattern);
    if compiled.fault().is_none() {
        let _found = compiled.matches(text);
    }
    generate(pattern);
});

/// Values are generated for any pattern, and those that are meant to match do.
fn generate(pattern: &str) {
    let text = json!({"type": "string", "pattern": pattern});
    let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {"text": text}}}});
    let mut sources = Sources::default();
    let id = sources.add("schema", schema.to_string());
    let Ok(documents) = parse(&sources, id) else { return };
    let schema = Schema::read(&documents[0]);
    let context = Context::new("example.com", "v1", "Widget");
    if let Ok(generator) = Generator::new(&schema, KubeVersion::NEWEST, &context, Options::default()) {
        for case in generator.cases(Phase::Random, 1).take(3) {
            let _verdict = generator.judge(&case.object);
        }
    }
}
