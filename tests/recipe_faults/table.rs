//! The faults, and the tests that must find them.

/// A controller with a fault in it.
pub struct Fault {
    /// The module of the controller.
    pub controller: &'static str,
    /// What to replace in its source.
    pub edits: &'static [(&'static str, &'static str)],
    /// The tests that fail, and a part of their messages.
    pub found_by: &'static [(&'static str, &'static str)],
}

const fn fault(
    controller: &'static str,
    edits: &'static [(&'static str, &'static str)],
    found_by: &'static [(&'static str, &'static str)],
) -> Fault {
    Fault { controller, edits, found_by }
}

/// The message of an assertion that compares two values.
const DIFFERS: &str = "left == right";
/// The message of `faults` where nothing follows from a step.
const NOTHING: &str = "nothing follows from step 1";
/// The message of `faults` where the outcome differs.
const OUTCOME: &str = "the state is not the one of the undisturbed run";

pub const FAULTS: &[Fault] = &[
    fault(
        "add_metrics",
        &[(
            "manager.metrics.register(\"site_checks\", \"Checks of sites\", Counter::default())",
            "Counter::default()",
        )],
        &[("the_metric_is_exported", "counted"), ("controllers_share_the_metric", "counted")],
    ),
    fault(
        "clean_up_outside_the_cluster",
        &[("ctx.dns.remove(&site.uid().unwrap_or_default()).await?", "drop(site)")],
        &[
            ("a_deleted_site_is_removed_from_the_provider", "is_empty()"),
            ("a_site_never_goes_before_its_records", "is_empty()"),
        ],
    ),
    fault(
        "create_objects_in_another_namespace",
        &[("ctx.dependents.prune(&site).await?,", "drop(site),")],
        &[
            ("a_change_is_undone_and_a_deleted_site_leaves_nothing", DIFFERS),
            ("nothing_is_left_whatever_goes_wrong", "is_empty()"),
        ],
    ),
    fault(
        "grant_permissions",
        &[("subjects: Some(vec![subject])", "subjects: None")],
        &[("the_account_of_a_site_is_bound_to_its_role", DIFFERS)],
    ),
    fault(
        "leave_replicas_to_an_autoscaler",
        &[("FieldManager::new(\"sites/replicas\").force().apply(&deployments, &present).await?;", "")],
        &[("the_number_stays_when_it_is_left_and_the_autoscaler_changes_it", DIFFERS)],
    ),
    fault(
        "own_large_objects",
        &[(
            "    configs.apply(&site, &config).await?;",
            "    if configs.get(site.namespace().as_deref(), &site.name_any()).is_none() {
        configs.apply(&site, &config).await?;
    }",
        )],
        &[("a_change_by_somebody_else_is_undone", "undone")],
    ),
    fault(
        "own_several_kinds",
        &[("ctx.dependents.prune(&site).await?;", "")],
        &[
            ("an_object_that_is_no_longer_wanted_is_deleted", "pruned"),
            ("the_outcome_is_the_same_whatever_goes_wrong", NOTHING),
        ],
    ),
    fault(
        "own_several_kinds",
        &[("ctx.configs.apply(&site, &config_for(&site, domain)).await?;", "let _ = ctx.configs.apply(&site, &config_for(&site, domain)).await;")],
        &[
            ("an_object_of_somebody_else_is_left_alone", DIFFERS),
            ("the_outcome_is_the_same_whatever_goes_wrong", OUTCOME),
        ],
    ),
    fault(
        "react_to_a_secret",
        &[("|site: &Site| site.spec.certificate.clone()", "|_: &Site| None::<String>")],
        &[("a_secret_that_is_created_or_changed_reaches_the_config_map", "not within")],
    ),
    fault(
        "react_to_other_objects",
        &[("names.split(',').map", "names.split(',').take(1).map")],
        &[("a_change_reaches_every_site_that_the_object_names", "b: not within")],
    ),
    fault(
        "react_to_other_systems",
        &[(
            "controller.reconcile_on(changes);",
            "controller.reconcile_on(futures::StreamExt::filter(changes, |_| std::future::ready(false)));",
        )],
        &[("a_site_is_reconciled_when_it_is_named", "triggered")],
    ),
    fault(
        "reconcile_again_after_a_time",
        &[("Action::requeue(Duration::from_secs(60 * 60))", "Action::await_change()")],
        &[("a_site_is_queued_again", "reconciled")],
    ),
    fault(
        "recreate_a_dependent",
        &[(
            "api.delete(&found.name_any(), &DeleteParams::background().preconditions(this)).await?;",
            "drop((api, this));",
        )],
        &[("a_job_whose_template_changes_is_another_one", "recreated")],
    ),
    fault(
        "replace_pods_when_a_secret_changes",
        &[("secret.as_ref().and_then(secret_hash)", "secret.as_ref().and_then(|it| it.metadata.resource_version.clone())")],
        &[("the_template_changes_with_the_data_and_with_nothing_else", DIFFERS)],
    ),
    fault(
        "report_a_condition_of_your_own",
        &[("status_for(&site, failure)", "status_for(&site, None)")],
        &[("the_site_is_not_ready_as_long_as_it_fails", "not ready")],
    ),
    fault(
        "report_the_status",
        &[(".await? && is_new {", ".await? && !is_new {")],
        &[("the_site_is_available_once_the_service_has_an_address", DIFFERS)],
    ),
    fault(
        "report_what_is_missing",
        &[("|site: &Site| site.spec.certificate.clone()", "|_: &Site| None::<String>")],
        &[("a_condition_names_the_secret_until_it_is_created", "available")],
    ),
    fault(
        "select_objects_and_changes",
        &[("predicates::generation::<Site>.combine(predicates::annotations)", "predicates::generation::<Site>")],
        &[("only_what_is_selected_is_reconciled", "annotated")],
    ),
    fault(
        "share_an_object",
        &[("true => json!({}),", "true => json!({ site.name_any(): \"\" }),")],
        &[("each_site_has_its_key_as_long_as_it_exists", "given up")],
    ),
    fault(
        "site",
        &[("ctx.configs.apply(&site, &config).await?;", "let _ = ctx.configs.apply(&site, &config).await;")],
        &[("the_outcome_is_the_same_whatever_goes_wrong", OUTCOME)],
    ),
    fault(
        "site",
        &[("format!(\"{}.{}\", site.name_any(), ctx.settings.domain_suffix)", "site.name_any()")],
        &[("a_site_gets_a_config_map", DIFFERS)],
    ),
    // It remembers that it has created the ConfigMap.
    fault(
        "site",
        &[
            ("struct Context {", "struct Context {\n    sites: operator_rs_runtime::Primary<Site>,"),
            ("let ctx = Context {", "let ctx = Context { sites: controller.primary(),"),
            (
                "    ctx.configs.apply(&site, &config).await?;",
                "    let mut status = site.status.clone().unwrap_or_default();
    if status.conditions.is_empty() {
        ctx.configs.apply(&site, &config).await?;
        let created = operator_rs_runtime::conditions::new(\"Created\", true, \"Created\", \"\");
        operator_rs_runtime::conditions::set(&mut status.conditions, None, created);
        ctx.sites.update_status(&site, status).await?;
    }",
            ),
        ],
        &[(
            "a_deleted_config_map_is_created_again_whatever_goes_wrong",
            "configmaps default/shop, which the controller has created, stays deleted after step 1",
        )],
    ),
    // What `create api` writes, with and without an image.
    fault(
        "bucket",
        &[("new(\"Available\", true,", "new(\"Available\", false,")],
        &[("a_new_object_gets_a_status", "is_true")],
    ),
    fault("bucket", &[(".await? && is_new {", ".await? || is_new || true {")], &[("a_settled_object_costs_no_write", DIFFERS)]),
    fault(
        "bucket",
        &[(".await? && is_new {", ".await.unwrap_or(false) && is_new {")],
        &[("the_outcome_is_the_same_whatever_goes_wrong", OUTCOME)],
    ),
    fault(
        "bucket",
        &[("cleanup(obj, &ctx).await,", "std::future::pending().await,")],
        &[("a_clean_up_is_finished_whatever_goes_wrong", NOTHING)],
    ),
    fault(
        "store",
        &[("new(\"Progressing\", !settled,", "new(\"Progressing\", settled,")],
        &[("a_new_object_gets_a_deployment_and_a_status", DIFFERS), ("the_status_is_a_function_of_what_runs", DIFFERS)],
    ),
    fault(
        "store",
        &[("    let image = ctx.image", "    ctx.manager.event(&*obj).normal(\"Seen\", \"It was reconciled\").await;\n    let image = ctx.image")],
        &[("a_settled_object_costs_no_write", DIFFERS), ("a_failure_is_reported_once_and_retried", DIFFERS)],
    ),
    fault(
        "store",
        &[("if conditions::became_true(&before, &after, \"Available\") {", "if false {")],
        &[("availability_is_reported_once", DIFFERS)],
    ),
    fault(
        "store",
        &[(
            "let deployment = ctx.deployments.apply(&obj, &deployment_for(&obj, image)).await?;",
            "let deployment = match ctx.deployments.get(obj.namespace().as_deref(), &obj.name_any()) {
        Some(found) => found,
        None => ctx.deployments.apply(&obj, &deployment_for(&obj, image)).await?,
    };",
        )],
        &[("hand_edits_are_put_back", "")],
    ),
    fault(
        "store",
        &[(".ok_or(Error::MissingEnvVar(IMAGE))?", ".unwrap_or(\"none\")")],
        &[("without_an_image_the_object_is_degraded", DIFFERS)],
    ),
    fault(
        "store",
        &[(".update_status(&obj, status).await? {", ".update_status(&obj, status).await.unwrap_or(false) {")],
        &[("the_outcome_is_the_same_whatever_goes_wrong", OUTCOME)],
    ),
    fault(
        "store",
        &[("cleanup(obj, &ctx).await,", "std::future::pending().await,")],
        &[("a_clean_up_is_finished_whatever_goes_wrong", NOTHING)],
    ),
    fault(
        "store",
        &[
            ("run_as_non_root: Some(true)", "run_as_non_root: Some(false)"),
            ("label_value(name)", "name.to_owned()"),
        ],
        &[("pods_pass_pod_security_restricted", DIFFERS), ("long_names_make_valid_labels", "app.kubernetes.io/instance")],
    ),
];
