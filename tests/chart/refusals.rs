//! Projects that cannot be charts.

use std::fs;

use crate::{
    helm::{API, INIT},
    support,
};

fn project(name: &str) -> std::path::PathBuf {
    let dir = support::fresh(&format!("chart/{name}"));
    support::done(&dir, INIT);
    support::done(&dir, API);
    dir
}

fn refused(dir: &std::path::Path, reason: &str) {
    let output = support::operator_rs(dir, "generate chart");
    let said = support::said(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains(reason), "{said}");
    assert!(!dir.join("chart").exists(), "nothing is written");
}

fn edit(dir: &std::path::Path, file: &str, from: &str, to: &str) {
    let text = fs::read_to_string(dir.join(file)).unwrap();
    let edited = text.replacen(from, to, 1);
    assert_ne!(text, edited);
    fs::write(dir.join(file), edited).unwrap();
}

#[test]
fn three_megabytes_of_crds_do_not_fit_into_a_secret() {
    let dir = project("large");
    // Words that are not alike, for the Secret is compressed.
    let mut seed = 7_u64;
    let mut word = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        format!("{:x} ", seed >> 20)
    };
    let text: String = (0..260_000).map(|_| word()).collect();
    edit(
        &dir,
        "api/src/g/v1alpha1/memcached.rs",
        "    /// Number of pods.",
        &format!("    /// {text}"),
    );
    refused(&dir, "Helm could not install the chart");
}

#[test]
fn numbers_that_helm_would_change_are_refused() {
    let dir = project("numbers");
    let port = "spec:\n  healthCheckNodePort: 9007199254740993\n";
    edit(&dir, "config/default/metrics_service.yaml", "spec:\n", port);
    refused(
        &dir,
        "Service `metrics-service`: Helm would change the number 9007199254740993 of `healthCheckNodePort`",
    );
}

#[test]
fn names_that_depend_on_no_prefix_are_refused() {
    let dir = project("prefix");
    edit(&dir, "config/default/kustomization.yaml", "namePrefix: shop-operator-\n", "");
    refused(&dir, "config/default/kustomization.yaml has no `namePrefix` or no `namespace`");
}

#[test]
fn what_depends_on_a_part_of_a_name_is_refused() {
    let dir = project("part");
    let replacement = "replacements:
- source:
    kind: ServiceAccount
    name: controller-manager
    fieldPath: metadata.name
    options:
      delimiter: '-'
      index: 1
  targets:
  - select:
      kind: Service
    fieldPaths:
    - metadata.labels.control-plane
";
    edit(&dir, "config/default/kustomization.yaml", "replacements:\n", replacement);
    refused(
        &dir,
        "Service `metrics-service` would differ from the project's: something other than names depends on `namePrefix` and `namespace`",
    );
}

#[test]
fn the_placeholder_of_charts_is_refused_as_a_text() {
    let dir = project("placeholder");
    edit(
        &dir,
        "config/manager/manager.yaml",
        "        - /manager\n",
        "        - /chart-value-instance\n",
    );
    refused(
        &dir,
        "Deployment `shop-operator-controller-manager` contains `chart-value-`, which is reserved for placeholders of values",
    );
}

#[test]
fn several_deployments_and_none_is_the_manager() {
    let dir = project("deployments");
    let text = fs::read_to_string(dir.join("config/manager/manager.yaml")).unwrap();
    let deployment = text.split("---\n").nth(1).unwrap();
    let other = |name: &str| {
        deployment.replace("  name: controller-manager\n", &format!("  name: {name}\n"))
    };
    fs::write(
        dir.join("config/manager/manager.yaml"),
        format!("{}---\n{}", other("a"), other("b")),
    )
    .unwrap();
    edit(&dir, "config/default/kustomization.yaml", "name: controller-manager", "name: .*");
    refused(&dir, "config/default has 2 Deployments, and none of them is `controller-manager`");
}

#[test]
fn several_containers_and_none_is_the_manager() {
    let dir = project("containers");
    edit(
        &dir,
        "config/manager/manager.yaml",
        "default-container: manager",
        "default-container: other",
    );
    edit(
        &dir,
        "config/manager/manager.yaml",
        "      containers:\n",
        "      containers:\n      - name: a\n        image: a\n        args: []\n        ports: []\n",
    );
    refused(&dir, "the Deployment of the manager has 2 containers, and none of them is `other`");
}

#[test]
fn commands_for_a_folder_with_a_space_can_be_copied() {
    let dir = project("quoted");
    let output = support::command(support::BINARY, &dir)
        .args(["generate", "chart", "--output-dir", "my chärt"])
        .output()
        .unwrap();
    let said = support::said(&output);
    assert!(
        said.contains(
            "  helm lint --strict 'my chärt'\n  helm install shop-operator 'my chärt' --namespace"
        ),
        "{said}"
    );
}
