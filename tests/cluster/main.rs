//! Trials of the operator that users are handed, on a real control plane: etcd, kube-apiserver and
//! kube-controller-manager, with a simulated node. The operator runs as a process beside them, under the account that its
//! `config/rbac` makes, with what its `config/manager` gives it.
//!
//! `tests/control-plane/build` builds the programs. `cargo test --features originals --test cluster -- tutorial` runs what is named so;
//! what a trial leaves (logs, the audit log, the operator's) is in `target/tmp/suites/cluster/`.

#![allow(clippy::disallowed_methods, reason = "the walls stand in src; a test looks from outside")]
#![allow(clippy::print_stdout, reason = "it says what it has tried")]

mod control_plane;
mod ground;
mod lab;
mod operator;
mod project;
mod runner;
mod server;
#[path = "../support/mod.rs"]
mod support;

mod broken;
mod deleted;
mod dry_run;
mod edits;
mod ends;
mod limits;
mod outage;
mod paused;
mod rbac;
mod refusals;
mod replicas;
mod scripts;
mod security;
mod throttled;
mod token;
mod tutorial;
mod webhooks;
mod website;
mod wishes;

use std::process::ExitCode;

/// Each by its own name.
macro_rules! trials {
    ($($room:ident::$trial:ident,)*) => {
        &[$((stringify!($trial), |lab| Box::pin($room::$trial(lab)))),*]
    };
}

/// Those that wait the longest come first, and those that load the machine last: others have to be answered in time.
const TRIALS: &[(&str, runner::Trial)] = trials![
    token::a_token_that_is_rotated_on_disk_is_taken_up,
    outage::an_api_server_that_comes_back_is_found_again,
    replicas::of_two_replicas_one_writes_and_the_other_follows,
    limits::three_hundred_large_config_maps_fill_no_memory,
    refusals::a_server_that_is_silent_is_reported_and_waited_for,
    throttled::calls_that_are_turned_away_are_made_again,
    tutorial::the_tutorial_holds_from_install_to_delete,
    broken::an_object_that_cannot_be_decoded_stops_no_other,
    broken::a_reconcile_that_panics_stops_no_other,
    security::metrics_are_read_over_tls_by_those_who_may,
    security::all_that_is_installed_is_admitted_where_pods_are_restricted,
    rbac::every_right_is_used_and_no_call_is_refused,
    paused::a_paused_object_is_left_alone_until_it_is_resumed,
    dry_run::a_dry_run_reports_every_change_and_stores_none,
    deleted::an_object_deleted_in_mid_reconcile_leaves_nothing,
    deleted::forty_objects_deleted_at_once_leave_nothing,
    scripts::a_control_plane_ends_with_who_holds_it,
    scripts::a_control_plane_that_fails_to_start_leaves_nothing,
    limits::twenty_thousand_random_tokens_fill_no_memory,
    refusals::a_right_that_is_missing_ends_the_operator_and_deploy_shows_it,
    refusals::names_of_any_length_are_reconciled_or_reported,
    refusals::probes_and_metrics_answer_on_ipv6_too,
    wishes::what_is_not_desired_any_more_is_gone_on_the_server,
    wishes::a_failed_step_keeps_the_status_that_the_step_before_wrote,
    wishes::a_child_whose_labels_or_owner_change_is_put_back,
    wishes::what_others_add_to_our_lists_goes_and_what_is_theirs_stays,
    wishes::an_object_of_somebody_else_is_not_touched,
    website::a_website_follows_its_spec_and_leaves_no_record,
    wishes::a_mapper_that_panics_stops_nothing,
    wishes::a_kind_of_kubernetes_is_reconciled_with_the_role_of_its_markers,
    edits::a_deployment_edited_by_hand_is_put_back,
    webhooks::an_operator_starts_that_has_to_convert_what_it_reads,
    webhooks::objects_are_written_and_read_in_each_version,
    webhooks::an_operator_that_is_gone_stops_writes_and_no_deletion,
    ends::without_its_crd_the_operator_says_so_and_ends,
    ends::the_operator_ends_well_in_the_middle_of_work,
    webhooks::no_request_fails_while_the_operator_renews_its_own_certificate,
    webhooks::no_request_fails_while_certificates_and_replicas_are_replaced,
    webhooks::three_thousand_objects_are_converted_in_little_memory,
];

/// Those that measure memory under load. They take minutes of CPU time.
const LOAD: &[&str] = &[
    "three_hundred_large_config_maps_fill_no_memory",
    "three_thousand_objects_are_converted_in_little_memory",
    "twenty_thousand_random_tokens_fill_no_memory",
];

fn main() -> ExitCode {
    let ignored = if cfg!(feature = "exhaustive") { &[][..] } else { LOAD };
    runner::run(TRIALS, ignored, control_plane::is_there)
}
