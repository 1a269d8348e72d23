//! Tests on real API servers: one set of tests for each installed release, in the cache or in
//! `KUBEBUILDER_ASSETS`. Those that could be built and are not available are skips that say how to get them.

mod audit;
#[path = "../offline/console.rs"]
mod console;
mod containers;
mod converter;
mod drivers;
mod deliver;
mod demo;
mod endings;
mod existing;
mod features;
mod flip;
mod in_tree;
mod scenarios;
mod library;
mod local;
mod migrate;
mod minimum;
mod pages;
mod probes;
mod reproduce;
mod retire;
mod support;
mod upgrade;
mod upgrade_ownership;
mod verbs;

use std::path::PathBuf;
use std::process::ExitCode;

use crdproof_envtest::binaries::{Care, Store, listed};
use crdproof_envtest::local::Binaries;
use crdproof_schema::kubernetes::KubeVersion;
use libtest_mimic::{Arguments, Completion, Failed, Trial};

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // Each test starts a control plane of its own; two at a time is what a small machine carries.
    arguments.test_threads = arguments.test_threads.or(Some(2));
    let releases = releases();
    let mut trials: Vec<Trial> = releases.iter().flat_map(|(name, binaries)| trials(name, binaries)).collect();
    let in_tree: [(&str, Skippable); 4] = [
        ("the_control_plane_is_judged", drivers::the_control_plane_is_judged),
        ("the_control_plane_migrates", in_tree::the_control_plane_migrates),
        ("a_failed_migration_and_stored_versions", in_tree::a_failed_migration_and_stored_versions),
        ("a_second_migration_and_stored_versions", in_tree::a_second_migration_and_stored_versions),
    ];
    for (name, binaries) in &releases {
        for (what, test) in in_tree {
            let binaries = binaries.clone();
            trials.push(Trial::ignorable_test(format!("{name}::{what}"), move || test(&binaries)));
        }
    }
    // What does not depend on the release is tried once.
    if let Some((name, binaries)) =
        releases.iter().rev().find(|(name, _)| name.starts_with(DEFAULT)).or(releases.last())
    {
        trials.extend(once(name, binaries));
        let skippable: [(&str, Skippable); 4] = [
            ("pages_show_real_runs", pages::pages_show_real_runs),
            ("a_full_disk_is_named", endings::a_full_disk_is_named),
            ("scenarios_are_guests", existing::scenarios_are_guests),
            ("guests_leave_nothing_when_interrupted", existing::guests_leave_nothing_when_interrupted),
        ];
        for (what, test) in skippable {
            let binaries = binaries.clone();
            trials.push(Trial::ignorable_test(format!("{name}::{what}"), move || test(&binaries)));
        }
    }
    trials.extend(minimum::trials(&cached()));
    trials.extend(containers::trials());
    trials.extend(absent(&releases));
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// The release that the tool takes where none is named.
const DEFAULT: &str = "1.36.";

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

/// The releases in the cache.
fn cached() -> Vec<KubeVersion> {
    let store = Store::default_root(&|name| std::env::var_os(name)).and_then(|root| Store::open(root).ok());
    let entries = store.map(|store| store.entries()).unwrap_or_default();
    let sound = entries.into_iter().filter(|entry| entry.fault(Care::Quick).is_none());
    let mut versions: Vec<KubeVersion> = sound.filter_map(|entry| entry.manifest.kubernetes).collect();
    versions.sort();
    versions.dedup();
    versions
}

/// A skip for each release that could be built and is not available.
fn absent(installed: &[(String, Binaries)]) -> Vec<Trial> {
    let listed = listed(None).unwrap_or_default().into_iter().map(|release| release.kubernetes.to_string());
    let missing = listed.filter(|version| installed.iter().all(|(name, _)| name != version));
    let skip = |version: String| {
        let reason = format!("not available; `crdproof env use {version}` builds it");
        Trial::ignorable_test(format!("{version}::all"), move || Ok(Completion::ignored_with(reason)))
    };
    missing.map(skip).collect()
}

type Test = fn(&Binaries) -> Result<(), Failed>;

/// A test that may find that this machine or release does not allow it.
type Skippable = fn(&Binaries) -> Result<Completion, Failed>;

fn named(name: &str, binaries: &Binaries, tests: &[(&str, Test)]) -> Vec<Trial> {
    let trial = |(what, test): &(&str, Test)| {
        let (binaries, test) = (binaries.clone(), *test);
        Trial::test(format!("{name}::{what}"), move || test(&binaries))
    };
    tests.iter().map(trial).collect()
}

fn once(name: &str, binaries: &Binaries) -> Vec<Trial> {
    let tests: &[(&str, Test)] = &[
        ("a_crate_of_others_starts_a_server", library::a_crate_of_others_starts_a_server),
        ("a_server_starts_in_one_line", library::a_server_starts_in_one_line),
        ("a_storage_suite_runs_in_one_line", library::a_storage_suite_runs_in_one_line),
        ("a_manager_gets_an_api_server", converter::a_manager_gets_an_api_server),
        ("broken_admission_is_condemned", drivers::broken_admission_is_condemned),
        ("broken_rules_are_condemned", drivers::broken_rules_are_condemned),
        ("commands_that_migrate_are_judged", drivers::commands_that_migrate_are_judged),
        ("broken_converters_are_condemned", scenarios::broken_converters_are_condemned),
        ("a_range_goes_on_without_what_cannot_be_had", scenarios::a_range_goes_on_without_what_cannot_be_had),
        ("a_restless_converter_costs_ownership", scenarios::a_restless_converter_costs_ownership),
        ("a_migration_is_proven_after_it_was_killed", migrate::a_migration_is_proven_after_it_was_killed),
        ("what_cannot_be_moved_is_named", migrate::what_cannot_be_moved_is_named),
        ("a_default_that_is_added_changes_what_is_read", upgrade::a_default_that_is_added_changes_what_is_read),
        ("a_field_that_is_no_longer_selectable_is_refused", upgrade::a_field_that_is_no_longer_selectable_is_refused),
        ("a_looser_rule_takes_what_the_old_one_took", upgrade::a_looser_rule_takes_what_the_old_one_took),
        (
            "of_an_object_with_another_type_elsewhere_nothing_is_left",
            upgrade::of_an_object_with_another_type_elsewhere_nothing_is_left,
        ),
        ("a_subresource_that_goes_answers_404", upgrade::a_subresource_that_goes_answers_404),
        ("an_invalid_value_may_stay_and_may_not_change", upgrade::an_invalid_value_may_stay_and_may_not_change),
        ("a_value_that_is_left_alone_is_excused", upgrade::a_value_that_is_left_alone_is_excused),
        (
            "a_status_subresource_that_comes_keeps_ordinary_writes_out",
            upgrade::a_status_subresource_that_comes_keeps_ordinary_writes_out,
        ),
        ("a_scale_with_another_path_reads_another_field", upgrade::a_scale_with_another_path_reads_another_field),
        (
            "a_map_that_becomes_atomic_is_owned_as_a_whole",
            upgrade_ownership::a_map_that_becomes_atomic_is_owned_as_a_whole,
        ),
        (
            "a_map_with_one_applier_becomes_atomic_unnoticed",
            upgrade_ownership::a_map_with_one_applier_becomes_atomic_unnoticed,
        ),
        (
            "a_list_that_becomes_atomic_is_owned_as_a_whole",
            upgrade_ownership::a_list_that_becomes_atomic_is_owned_as_a_whole,
        ),
        ("a_key_of_a_map_that_becomes_granular_stays", upgrade_ownership::a_key_of_a_map_that_becomes_granular_stays),
        ("an_audit_finds_and_changes_nothing", audit::an_audit_finds_and_changes_nothing),
        ("an_audit_without_rights_says_so", audit::an_audit_without_rights_says_so),
        ("gates_keep_a_version", retire::gates_keep_a_version),
        ("scenarios_hold_on_two_servers", flip::scenarios_hold_on_two_servers),
        ("an_expired_certificate_is_named", existing::an_expired_certificate_is_named),
        ("a_source_is_delivered", deliver::a_source_is_delivered),
        ("an_interrupted_run_reports_what_is_known", demo::an_interrupted_run_reports_what_is_known),
        ("eight_start_side_by_side", endings::eight_start_side_by_side),
        ("guests_leave_nothing", existing::guests_leave_nothing),
        ("refusals_write_nothing", existing::refusals_write_nothing),
        ("nothing_is_left_after_a_panic", endings::nothing_is_left_after_a_panic),
        ("nothing_is_left_after_signals", endings::nothing_is_left_after_signals),
        ("findings_of_scenarios_are_reproduced", reproduce::findings_of_scenarios_are_reproduced),
        ("the_demo_runs_everything", demo::the_demo_runs_everything),
        ("two_tools_share_a_cache", endings::two_tools_share_a_cache),
    ];
    named(name, binaries, tests)
}

fn trials(name: &str, binaries: &Binaries) -> Vec<Trial> {
    let tests: &[(&str, Test)] = &[
        ("a_right_subject_holds_on_every_scenario", scenarios::a_right_subject_holds_on_every_scenario),
        ("a_flip_is_proven_on_every_server", flip::a_flip_is_proven_on_every_server),
        ("a_version_is_retired_however_often_it_is_killed", retire::a_version_is_retired_however_often_it_is_killed),
        ("a_version_that_is_gone_blocks_nobody_any_more", retire::a_version_that_is_gone_blocks_nobody_any_more),
        ("probes_agree_with_the_table", probes::probes_agree_with_the_table),
        ("every_verb_works", verbs::every_verb_works),
        ("features_are_taken_as_the_table_says", features::features_are_taken_as_the_table_says),
        ("two_api_servers_share_a_store", local::two_api_servers_share_a_store),
        ("audited_and_controlled", local::audited_and_controlled),
        ("starts_answers_and_leaves_nothing", local::starts_answers_and_leaves_nothing),
        ("the_store_is_for_nobody_else", local::the_store_is_for_nobody_else),
        ("serves_every_version_of_a_crd", local::serves_every_version_of_a_crd),
        ("a_component_is_paused_and_restarted", local::a_component_is_paused_and_restarted),
    ];
    named(name, binaries, tests)
}
