//! Trials of the operator that users are handed, on a real control plane: etcd, kube-apiserver,
//! kube-controller-manager and kube-scheduler, with kwok for nodes. The operator runs as a process beside them, under
//! the account that its `config/rbac` makes, with what its `config/manager` gives it.
//!
//! `tests/control-plane/build` builds the programs. `cargo test --test cluster -- tutorial` runs what is named so;
//! what a trial leaves (logs, the audit log, the operator's) is in `target/tmp/cluster/`.

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
mod edits;
mod ends;
mod outage;
mod rbac;
mod replicas;
mod scripts;
mod security;
mod throttled;
mod token;
mod tutorial;

use std::process::ExitCode;

/// Each by its own name.
macro_rules! trials {
    ($($room:ident::$trial:ident,)*) => {
        &[$((stringify!($trial), |lab| Box::pin($room::$trial(lab)))),*]
    };
}

/// Those that wait the longest come first.
const TRIALS: &[(&str, runner::Trial)] = trials![
    token::a_token_that_is_rotated_on_disk_is_taken_up,
    outage::an_api_server_that_comes_back_is_found_again,
    replicas::of_two_replicas_one_writes_and_the_other_follows,
    throttled::calls_that_are_turned_away_are_made_again,
    tutorial::the_tutorial_holds_from_install_to_delete,
    broken::an_object_that_cannot_be_decoded_stops_no_other,
    broken::a_reconcile_that_panics_stops_no_other,
    security::metrics_are_read_over_tls_by_those_who_may,
    security::all_that_is_installed_is_admitted_where_pods_are_restricted,
    rbac::every_right_is_used_and_no_call_is_refused,
    deleted::an_object_deleted_in_mid_reconcile_leaves_nothing,
    deleted::forty_objects_deleted_at_once_leave_nothing,
    scripts::a_control_plane_ends_with_who_holds_it,
    scripts::a_control_plane_that_fails_to_start_leaves_nothing,
    edits::a_deployment_edited_by_hand_is_put_back,
    ends::without_its_crd_the_operator_says_so_and_ends,
    ends::the_operator_ends_well_in_the_middle_of_work,
];

fn main() -> ExitCode {
    runner::run(TRIALS, control_plane::is_there)
}
