//! Planted defects: compares our verdict on a CRD with each defect with that of a real server. `scripts/plant-defects`
//! asks a server, with other CRDs too.

use std::collections::BTreeMap;

use crdproof_schema::document::{Sources, parse};
use serde_json::Value;

use crate::fixture::root;

#[path = "../../examples/plant_defects/ours.rs"]
mod ours;
#[path = "../../examples/plant_defects/plant.rs"]
mod plant;

use ours::{Answer, Outcomes, verdict};

fn document(name: &str) -> Value {
    let mut sources = Sources::default();
    let text = std::fs::read_to_string(root().join("defects").join(name)).unwrap();
    let id = sources.add(name, text);
    parse(&sources, id).unwrap()[0].to_value()
}

fn defects() -> Vec<plant::Defect> {
    let mut files: Vec<String> = std::fs::read_dir(root().join("defects"))
        .unwrap()
        .flatten()
        .filter(|entry| entry.path().extension().is_some_and(|ending| ending == "yaml"))
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    files.sort();
    files.iter().flat_map(|name| plant::read(name.trim_end_matches(".yaml"), &document(name))).collect()
}

#[test]
fn planted_defects_are_judged_as_the_server_judges_them() {
    let recorded: Value =
        serde_json::from_str(&std::fs::read_to_string(root().join("defects/recorded/v1.36.4.json")).unwrap()).unwrap();
    let answers = recorded["answers"].as_array().unwrap().iter();
    let answers: BTreeMap<&str, &Value> = answers.map(|one| (one["defect"].as_str().unwrap(), one)).collect();
    let base = document("base.yaml");
    let before = verdict(&base);
    let mut counts: BTreeMap<Outcomes, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for defect in defects() {
        let name = format!("{}: {}", defect.theme, defect.name);
        let answer =
            answers.get(name.as_str()).unwrap_or_else(|| panic!("{name}: record it, see scripts/plant-defects"));
        let seen = Answer { refused: answer["refused"] == true, warned: answer["warned"] == true };
        let ours = verdict(&defect.plant(&base).unwrap());
        let outcome = ours.compare(Some(&before), &seen, &defect);
        *counts.entry(outcome).or_default() += 1;
        if outcome.is_wrong() {
            wrong.push(format!("{outcome:?} {name}: {}", ours.summary()));
        }
    }
    println!("{counts:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(counts.values().sum::<usize>() > 500 && counts[&Outcomes::LeftToTheServer] < 20);
}
