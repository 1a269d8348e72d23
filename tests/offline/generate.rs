//! Objects for real CRDs: our own validator admits them, refuses the invalid ones, and every leaf that
//! can be reached is. The folder is named by `CRDPROOF_CORPUS`; `scripts/admission` asks a server.

use std::path::PathBuf;

use crdproof::subject::load;
use crdproof_schema::generate::{Case, Generator, Options, Phase};
use crdproof_schema::kubernetes::KubeVersion;
use crdproof_schema::structural::Outcome;

/// Random and invalid objects of each version.
const OBJECTS: usize = 12;

/// The objects that set many leaves together; they come first.
fn together(case: &Case) -> bool {
    case.meant.as_ref().is_some_and(|meant| matches!(meant.keyword.as_str(), "required" | "properties"))
}

#[test]
fn objects_of_real_crds_are_valid_and_reach_every_leaf() {
    let Some(folder) = std::env::var_os("CRDPROOF_CORPUS").map(PathBuf::from) else {
        eprintln!("skipped: CRDPROOF_CORPUS names no folder with real CRDs");
        return;
    };
    let subject = load::from_paths(vec![folder.display().to_string()]).unwrap_or_else(|error| panic!("{error}"));
    let (mut leaves, mut reached, mut objects, mut invalid) = (0, 0, 0, 0);
    for crd in &subject.crds {
        for version in crd.versions.iter().filter(|version| version.served) {
            let Some(schema) = &version.schema else { continue };
            let name = format!("{}/{}", crd.name, version.name);
            let generator = Generator::new(schema, KubeVersion::minor(36), &crd.context(version), Options::default());
            let generator = generator.unwrap_or_else(|fault| panic!("{name}: {fault}"));
            let mut coverage = generator.coverage();
            let edges = generator.cases(Phase::Boundary, 1).take_while(together);
            for case in generator.cases(Phase::Random, 1).take(OBJECTS).chain(edges) {
                let answer = generator.judge(&case.object);
                assert_eq!(answer.outcome, Outcome::Admitted, "{name}: {}", case.object);
                assert!(answer.pruned.is_empty(), "{name}: {:?}", answer.pruned);
                coverage.observe(&case.object);
                objects += 1;
            }
            let left: Vec<_> = coverage.unreached().cloned().collect();
            left.iter().filter_map(|path| generator.reach(path, 1)).for_each(|object| coverage.observe(&object));
            leaves += coverage.leaves();
            reached += coverage.reached();
            let count = generator.count(Phase::Negative).unwrap_or_default();
            let step = usize::try_from(count).unwrap_or(usize::MAX).div_ceil(OBJECTS).max(1);
            for index in (0..count).step_by(step) {
                let Some(case) = generator.case(Phase::Negative, 1, index) else { continue };
                let answer = generator.judge(&case.object);
                let refused = matches!(answer.outcome, Outcome::Refused(_)) || !answer.pruned.is_empty();
                assert!(refused, "{name}: {:?}: {}", case.meant, case.object);
                invalid += 1;
            }
        }
    }
    println!("{objects} valid and {invalid} invalid objects, {reached} of {leaves} leaves reached");
    assert!(reached * 100 >= leaves * 99, "{reached} of {leaves} leaves reached");
}
