//! Tests on real API servers: one set of tests for each installed release, in the cache or in `KUBEBUILDER_ASSETS`.
//! Releases that could be built but are not installed are skipped with a hint how to install them.

mod audit;
#[path = "../offline/console.rs"]
mod console;
mod containers;
mod converter;
mod drivers;
mod deliver;
mod demo;
mod deployed;
mod endings;
mod existing;
mod features;
mod flip;
mod in_tree;
mod k3s_process;
mod kind_operator;
mod scenarios;
mod shards;
mod staging;
mod library;
mod local;
mod migrate;
mod minimum;
#[path = "../offline/nested_cargo.rs"]
mod nested_cargo;
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

use crdproof_envtest::binaries::{Care, Store, buildable_releases};
use crdproof_envtest::local::Binaries;
use crdproof_schema::kubernetes::KubeVersion;
use libtest_mimic::{Arguments, Completion, Failed, Trial};

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // Each test starts a control plane; a small machine can run two at a time.
    arguments.test_threads = arguments.test_threads.or(Some(2));
    let releases = releases();
    let mut trials: Vec<Trial> = releases.iter().flat_map(|(name, binaries)| trials(name, binaries)).collect();
    let in_tree: [(&str, Skippable); 4] = [
        ("the_control_plane_is_judged", drivers::the_control_plane_is_judged),
        ("the_control_plane_migrates", in_tree::the_control_plane_migrates),
        ("a_failed_migration_trims_stored_versions", in_tree::a_failed_migration_trims_stored_versions),
        ("a_second_migration_changes_stored_versions", in_tree::a_second_migration_changes_stored_versions),
    ];
    for (name, binaries) in &releases {
        for (what, test) in in_tree {
            let binaries = binaries.clone();
            trials.push(Trial::ignorable_test(format!("{name}::{what}"), move || test(&binaries)));
        }
    }
    // Tests that do not depend on the release run once.
    if let Some((name, binaries)) =
        releases.iter().rev().find(|(name, _)| name.starts_with(DEFAULT)).or(releases.last())
    {
        trials.extend(once(name, binaries));
        let skippable: [(&str, Skippable); 13] = [
            (
                "a_deployed_webhook_is_asked_through_its_service",
                deployed::a_deployed_webhook_is_asked_through_its_service,
            ),
            ("k3s_runs_as_a_process", k3s_process::k3s_runs_as_a_process),
            ("runs_use_the_k3s_program", k3s_process::runs_use_the_k3s_program),
            ("nothing_is_left_of_a_k3s_process", k3s_process::nothing_is_left_of_a_k3s_process),
            ("a_deployed_webhook_is_tested_where_it_runs", deployed::a_deployed_webhook_is_tested_where_it_runs),
            ("defects_of_a_deployed_webhook_are_found", deployed::defects_of_a_deployed_webhook_are_found),
            ("a_deployed_crd_that_disappears_leaves_nothing", deployed::a_deployed_crd_that_disappears_leaves_nothing),
            ("an_ended_run_on_a_deployed_crd_is_swept", deployed::an_ended_run_on_a_deployed_crd_is_swept),
            (
                "deployed_kinds_without_a_namespace_keep_the_objects_of_others",
                deployed::deployed_kinds_without_a_namespace_keep_the_objects_of_others,
            ),
            ("pages_show_real_runs", pages::pages_show_real_runs),
            ("etcd_on_a_full_disk_is_reported", endings::etcd_on_a_full_disk_is_reported),
            ("scenarios_do_not_change_existing_objects", existing::scenarios_do_not_change_existing_objects),
            (
                "interrupted_runs_on_existing_clusters_leave_nothing",
                existing::interrupted_runs_on_existing_clusters_leave_nothing,
            ),
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

/// The release that the tool uses by default.
const DEFAULT: &str = "1.36.";

/// The releases that need no download.
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

/// A skipped test for each release that could be built but is not installed.
fn absent(installed: &[(String, Binaries)]) -> Vec<Trial> {
    let releases =
        buildable_releases(None).unwrap_or_default().into_iter().map(|release| release.kubernetes.to_string());
    let missing = releases.filter(|version| installed.iter().all(|(name, _)| name != version));
    let skip = |version: String| {
        let reason = format!("not available; `crdproof env use {version}` builds it");
        Trial::ignorable_test(format!("{version}::all"), move || Ok(Completion::ignored_with(reason)))
    };
    missing.map(skip).collect()
}

type Test = fn(&Binaries) -> Result<(), Failed>;

/// A test that is skipped if this machine or release does not support it.
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
        ("an_external_crate_starts_a_server", library::an_external_crate_starts_a_server),
        ("shards_of_scenarios_merge_to_the_whole_report", shards::shards_of_scenarios_merge_to_the_whole_report),
        ("the_example_operator_reconciles", library::the_example_operator_reconciles),
        ("a_server_starts_in_one_line", library::a_server_starts_in_one_line),
        ("a_storage_suite_runs_in_one_line", library::a_storage_suite_runs_in_one_line),
        ("a_manager_gets_an_api_server", converter::a_manager_gets_an_api_server),
        ("broken_admission_webhooks_fail", drivers::broken_admission_webhooks_fail),
        ("broken_rules_fail", drivers::broken_rules_fail),
        ("commands_that_migrate_are_judged", drivers::commands_that_migrate_are_judged),
        ("broken_converters_fail", scenarios::broken_converters_fail),
        ("a_range_skips_releases_that_are_not_installed", scenarios::a_range_skips_releases_that_are_not_installed),
        ("an_unstable_converter_loses_ownership", scenarios::an_unstable_converter_loses_ownership),
        ("a_killed_migration_is_resumed_and_verified", migrate::a_killed_migration_is_resumed_and_verified),
        ("objects_that_cannot_be_migrated_are_reported", migrate::objects_that_cannot_be_migrated_are_reported),
        ("an_added_default_changes_read_objects", upgrade::an_added_default_changes_read_objects),
        ("a_field_that_is_no_longer_selectable_is_refused", upgrade::a_field_that_is_no_longer_selectable_is_refused),
        ("a_looser_rule_accepts_what_the_old_rule_accepted", upgrade::a_looser_rule_accepts_what_the_old_rule_accepted),
        (
            "an_object_with_another_type_in_another_version_is_lost",
            upgrade::an_object_with_another_type_in_another_version_is_lost,
        ),
        ("a_removed_subresource_answers_404", upgrade::a_removed_subresource_answers_404),
        ("an_invalid_value_may_stay_but_not_change", upgrade::an_invalid_value_may_stay_but_not_change),
        ("an_unchanged_invalid_value_is_accepted", upgrade::an_unchanged_invalid_value_is_accepted),
        (
            "an_added_status_subresource_ignores_status_in_normal_writes",
            upgrade::an_added_status_subresource_ignores_status_in_normal_writes,
        ),
        ("a_scale_with_another_path_reads_another_field", upgrade::a_scale_with_another_path_reads_another_field),
        (
            "a_map_that_becomes_atomic_is_owned_as_a_whole",
            upgrade_ownership::a_map_that_becomes_atomic_is_owned_as_a_whole,
        ),
        (
            "a_map_with_one_applier_becomes_atomic_without_conflict",
            upgrade_ownership::a_map_with_one_applier_becomes_atomic_without_conflict,
        ),
        (
            "a_list_that_becomes_atomic_is_owned_as_a_whole",
            upgrade_ownership::a_list_that_becomes_atomic_is_owned_as_a_whole,
        ),
        ("a_key_of_a_map_that_becomes_granular_stays", upgrade_ownership::a_key_of_a_map_that_becomes_granular_stays),
        ("an_audit_finds_and_changes_nothing", audit::an_audit_finds_and_changes_nothing),
        ("an_audit_without_rights_says_so", audit::an_audit_without_rights_says_so),
        ("failed_preconditions_keep_a_version", retire::failed_preconditions_keep_a_version),
        ("scenarios_pass_on_two_servers", flip::scenarios_pass_on_two_servers),
        ("an_expired_client_certificate_is_reported", existing::an_expired_client_certificate_is_reported),
        ("a_source_is_delivered", deliver::a_source_is_delivered),
        ("an_interrupted_run_reports_what_is_known", demo::an_interrupted_run_reports_what_is_known),
        ("eight_servers_start_in_parallel", endings::eight_servers_start_in_parallel),
        ("runs_on_existing_clusters_leave_nothing", existing::runs_on_existing_clusters_leave_nothing),
        ("refusals_write_nothing", existing::refusals_write_nothing),
        ("nothing_is_left_after_a_panic", endings::nothing_is_left_after_a_panic),
        ("nothing_is_left_after_signals", endings::nothing_is_left_after_signals),
        ("findings_of_scenarios_are_reproduced", reproduce::findings_of_scenarios_are_reproduced),
        ("the_server_explains_why_an_object_is_left_out", scenarios::the_server_explains_why_an_object_is_left_out),
        ("the_demo_runs_everything", demo::the_demo_runs_everything),
        ("the_printed_job_is_accepted", deployed::the_printed_job_is_accepted),
        ("two_tools_share_a_cache", endings::two_tools_share_a_cache),
    ];
    named(name, binaries, tests)
}

fn trials(name: &str, binaries: &Binaries) -> Vec<Trial> {
    let tests: &[(&str, Test)] = &[
        ("a_correct_subject_passes_every_scenario", scenarios::a_correct_subject_passes_every_scenario),
        (
            "a_storage_version_change_is_verified_on_every_server",
            flip::a_storage_version_change_is_verified_on_every_server,
        ),
        ("a_killed_retirement_is_resumed", retire::a_killed_retirement_is_resumed),
        ("entries_of_a_removed_version_are_cleaned", retire::entries_of_a_removed_version_are_cleaned),
        ("probes_agree_with_the_table", probes::probes_agree_with_the_table),
        ("every_verb_works", verbs::every_verb_works),
        ("features_behave_as_the_table_says", features::features_behave_as_the_table_says),
        ("two_api_servers_share_a_store", local::two_api_servers_share_a_store),
        ("audit_log_and_controllers_work", local::audit_log_and_controllers_work),
        ("a_server_starts_answers_and_leaves_nothing", local::a_server_starts_answers_and_leaves_nothing),
        ("etcd_refuses_other_clients", local::etcd_refuses_other_clients),
        ("every_version_of_a_crd_is_served", local::every_version_of_a_crd_is_served),
        ("a_component_is_paused_and_restarted", local::a_component_is_paused_and_restarted),
    ];
    named(name, binaries, tests)
}
