//! Compares the flags that `bundle.Dockerfile` records with the files of the project: a flag of an earlier release
//! would silently replace what a file says for the next one.

use super::{Args, DOCKERFILE};
use crate::{app::cluster_access::shipped, plan::WorkTree};
use diagnostics::Diagnostic;
use go_data::yaml::{self, Value};
use model::{Image, ProjectPath, Tree};
use olm::bundle::CargoPackage;

/// The version of the bundle in this folder, if it has a ClusterServiceVersion that can be read.
pub fn bundle_version(tree: &impl Tree, folder: &ProjectPath) -> anyhow::Result<Option<String>> {
    for path in tree.list_files(&folder.join("manifests")?)? {
        if path.as_str().ends_with(".clusterserviceversion.yaml") {
            let text = tree.read_text(&path)?.unwrap_or_default();
            let csv = yaml::from_text(&text, yaml::Dialect::Kubernetes).unwrap_or_default();
            return Ok(csv["spec"]["version"].as_str().map(str::to_owned));
        }
    }
    Ok(None)
}

/// Warnings of recorded flags whose values are older than what the files say now.
///
/// `dockerfile` is the `bundle.Dockerfile` that recorded `args`, and `former` the version of its bundle.
pub fn outdated_flags(
    tree: &WorkTree<'_>,
    args: &Args,
    dockerfile: &str,
    former: Option<&str>,
) -> anyhow::Result<Vec<Diagnostic>> {
    let cargo_toml = tree.read_text(&ProjectPath::fixed("Cargo.toml"))?.unwrap_or_default();
    let cargo_version = CargoPackage::from_text(&cargo_toml)?.version;
    let version = args.version.as_ref().or(cargo_version.as_ref());
    let mut warnings = Vec::new();
    if let (Some(given), Some(current)) = (&args.version, &cargo_version)
        && given < current
    {
        warnings.push((
            format!("the bundle has the version {given}, which `--version` gave, and Cargo.toml has {current}"),
            "run `operator-rs bundle` for the one in Cargo.toml, or `operator-rs bundle --version VERSION`",
        ));
    }
    if let Some(given) = &args.image {
        let configured = configured_image(tree, given)?;
        match (configured, version.map(ToString::to_string)) {
            (Some(configured), _) if configured != shipped::PLACEHOLDER => warnings.push((
                format!("the bundle has the image `{given}`, which `--image` gave, and not `{configured}`, which config/ names"),
                "run `operator-rs bundle` for the one in config/, or `operator-rs bundle --image IMAGE`",
            )),
            (_, Some(version)) if former.is_some_and(|former| former != version) => {
                let former = former.unwrap_or_default();
                warnings.push((
                    format!("the bundle of {version} has the image `{given}`, which `--image` gave for {former}"),
                    "run `operator-rs bundle --image IMAGE`, or set the image in config/manager/kustomization.yaml and run `operator-rs bundle`",
                ));
            }
            _ => {}
        }
    }
    let line = dockerfile
        .lines()
        .position(|line| line.starts_with("# Generated with "))
        .map_or(1, |index| index + 1);
    let warning = |(message, hint): (String, &str)| {
        Diagnostic::in_file(DOCKERFILE, message).at_position(line, 1).with_hint(hint)
    };
    Ok(warnings.into_iter().map(warning).collect())
}

/// The image that the manager has without `--image`, if it is another one.
fn configured_image(tree: &impl Tree, given: &Image) -> anyhow::Result<Option<String>> {
    let folder = ProjectPath::fixed("config/manifests");
    let configured = container_images(&kustomize::build(tree, &folder, &[])?);
    let overridden = kustomize::build(tree, &folder, &[kustomize::Image::of_manager(given)])?;
    let mut pairs = configured.into_iter().zip(container_images(&overridden));
    Ok(pairs.find(|(configured, overridden)| configured != overridden).map(|pair| pair.0))
}

fn container_images(objects: &[Value]) -> Vec<String> {
    let containers = objects
        .iter()
        .filter_map(|object| object["spec"]["template"]["spec"]["containers"].as_array());
    let images = containers.flatten().filter_map(|container| container["image"].as_str());
    images.map(str::to_owned).collect()
}
