//! Bundles for templates: small ones of any version.

use std::{fs, path::Path};

/// Writes a bundle of the package `memcached`.
pub fn write(dir: &Path, package: &str, name: &str, version: &str) {
    for folder in ["manifests", "metadata"] {
        fs::create_dir_all(dir.join(folder)).expect("it can be made");
    }
    let csv = format!(
        "apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nmetadata:\n  name: {name}\n  annotations: {{olm.skipRange: '<{version}'}}\nspec:\n  version: '{version}'\n  displayName: Memcached\n  description: Version {version} <b>&amp;\n  icon: [{{base64data: aWNvbg==, mediatype: image/svg+xml}}]\n  install:\n    strategy: deployment\n    spec:\n      deployments:\n      - name: manager\n        spec:\n          template:\n            spec:\n              containers: [{{name: manager, image: 'quay.io/example/memcached:v1'}}]\n"
    );
    fs::write(dir.join("manifests/csv.yaml"), csv).expect("it can be written");
    let annotations = format!(
        "annotations:\n  operators.operatorframework.io.bundle.package.v1: {package}\n  operators.operatorframework.io.bundle.channels.v1: stable\n"
    );
    fs::write(dir.join("metadata/annotations.yaml"), annotations).expect("it can be written");
}
