//! What `catalog add` does not take from a bundle.

use crate::support;

#[test]
fn a_default_channel_that_a_catalog_does_not_take_is_told() {
    let dir = support::fresh("effects/default-channel");
    support::done(&dir, "init --domain example.com --project-name channels");
    support::done(&dir, "create api --group cache --kind Memcached");
    support::done(
        &dir,
        "bundle --image quay.io/a/b:v1 --channels stable,fast --default-channel fast",
    );
    let add = "catalog add bundle --image quay.io/a/bundle:v1 --channels stable";
    for _ in 0..2 {
        let output = support::operator_rs(&dir, add);
        let output = support::said(&output);
        let warning = "warning: the bundle's default channel is `fast`, and that of the package `channels` is `stable`\n\
                       hint: to change it, set `defaultChannel` of the package in catalog/channels.yaml";
        assert!(output.contains(warning), "{output}");
    }
    support::done(
        &dir,
        "catalog add bundle --image quay.io/a/bundle:v1 --channels fast --catalog-dir other",
    );
}
