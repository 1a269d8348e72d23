//! Tests on real API servers: one set of trials for each release at hand, in the cache or in
//! `KUBEBUILDER_ASSETS`. Where there is none, one skipped trial says how to get one.

mod local;
mod support;
mod verbs;

use std::path::PathBuf;
use std::process::ExitCode;

use crdproof::cluster::binaries::Store;
use crdproof::cluster::local::Binaries;
use libtest_mimic::{Arguments, Completion, Failed, Trial};

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // Each trial starts a control plane of its own; two at a time is what a small machine carries.
    arguments.test_threads = arguments.test_threads.or(Some(2));
    let mut trials: Vec<Trial> = releases().into_iter().flat_map(|(name, binaries)| trials(&name, &binaries)).collect();
    if trials.is_empty() {
        let skip = || Ok(Completion::ignored_with("no API server at hand; `crdproof env use 1.36` builds one"));
        trials.push(Trial::ignorable_test("releases_at_hand", skip));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// The releases that need no network to be had.
fn releases() -> Vec<(String, Binaries)> {
    let env = |name: &str| std::env::var_os(name);
    let assets =
        env("KUBEBUILDER_ASSETS").map(|folder| ("assets".to_owned(), Binaries::in_folder(PathBuf::from(folder))));
    let store = Store::default_root(&env).and_then(|root| Store::open(root).ok());
    let cached = store.map(|store| store.entries()).unwrap_or_default();
    let cached = cached
        .into_iter()
        .filter_map(|entry| Some((entry.manifest.kubernetes?.to_string(), Binaries::in_folder(entry.folder))));
    assets.into_iter().chain(cached).collect()
}

fn trials(name: &str, binaries: &Binaries) -> Vec<Trial> {
    let trial = |what: &str, test: fn(Binaries) -> Result<(), Failed>| {
        let binaries = binaries.clone();
        Trial::test(format!("{name}::{what}"), move || test(binaries))
    };
    vec![
        trial("every_verb_works", verbs::every_verb_works),
        trial("two_api_servers_share_a_store", local::two_api_servers_share_a_store),
        trial("audited_and_controlled", local::audited_and_controlled),
        trial("starts_answers_and_leaves_nothing", local::starts_answers_and_leaves_nothing),
        trial("serves_every_version_of_a_crd", local::serves_every_version_of_a_crd),
        trial("a_component_is_paused_and_restarted", local::a_component_is_paused_and_restarted),
    ]
}
