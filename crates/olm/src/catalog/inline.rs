//! Catalogs of one package, with the manifests of their bundles or with a bundle image.

use super::{
    Bundle,
    blob::{ChannelBlob, Entry, PackageBlob},
    migrate,
};
use go_data::yaml::Value;

/// The blobs of one package with one channel, which is the default one: the package, the channel, and each bundle with
/// its manifests inside. The entries of the channel are those that are given with the bundles.
pub fn catalog_with_manifests(channel: &str, bundles: &[(Bundle, Entry)]) -> Vec<Value> {
    let Some((first, _)) = bundles.first() else { return Vec::new() };
    let package = PackageBlob {
        name: first.package.clone(),
        default_channel: channel.to_owned(),
        ..PackageBlob::default()
    };
    let channel = ChannelBlob {
        name: channel.to_owned(),
        package: first.package.clone(),
        entries: Some(bundles.iter().map(|pair| pair.1.clone()).collect()),
        properties: Vec::new(),
    };
    let mut blobs = vec![package.to_value(), channel.to_value()];
    blobs.extend(bundles.iter().map(|pair| pair.0.to_blob("").to_value()));
    blobs
}

/// The blobs of one package with one bundle, whose manifests are pulled with its image. Of the manifests, the catalog
/// has the metadata of the ClusterServiceVersion.
pub fn catalog_with_image(
    channel: &str,
    bundle: &Bundle,
    entry: Entry,
    image: &str,
) -> Result<Vec<Value>, String> {
    let mut blob = bundle.to_blob(image);
    migrate(&mut blob)?;
    let package = PackageBlob {
        name: bundle.package.clone(),
        default_channel: channel.to_owned(),
        ..PackageBlob::default()
    };
    let entries = Some(vec![entry]);
    let channel = ChannelBlob {
        name: channel.to_owned(),
        package: bundle.package.clone(),
        entries,
        properties: Vec::new(),
    };
    Ok(vec![package.to_value(), channel.to_value(), blob.to_value()])
}

#[test]
fn a_catalog_carries_the_manifests_of_its_bundles() {
    use go_data::yaml::json;
    use model::ProjectPath;
    let csv = "kind: ClusterServiceVersion\nmetadata: {name: a.v1.0.0}\nspec: {version: 1.0.0}\n";
    let annotations = "annotations: {operators.operatorframework.io.bundle.package.v1: a}\n";
    let files = [("manifests/a.yaml", csv), ("metadata/annotations.yaml", annotations)];
    let files = files.map(|it| (ProjectPath::fixed(it.0), it.1.as_bytes().to_vec()));
    let bundle = Bundle::read(&files.into_iter().collect(), "bundle").expect("a bundle");
    let entry = Entry { name: bundle.name.clone(), ..Entry::default() };
    let data = "eyJraW5kIjoiQ2x1c3RlclNlcnZpY2VWZXJzaW9uIiwibWV0YWRhdGEiOnsibmFtZSI6ImEudjEuMC4wIn0sInNwZWMiOnsidmVyc2lvbiI6IjEuMC4wIn19";
    assert_eq!(
        catalog_with_manifests("stable", &[(bundle, entry)]),
        [
            json!({"schema": "olm.package", "name": "a", "defaultChannel": "stable"}),
            json!({"schema": "olm.channel", "name": "stable", "package": "a", "entries": [{"name": "a.v1.0.0"}]}),
            json!({"schema": "olm.bundle", "name": "a.v1.0.0", "package": "a", "image": "", "properties": [
                {"type": "olm.package", "value": {"packageName": "a", "version": "1.0.0"}},
                {"type": "olm.bundle.object", "value": {"data": data}},
            ]}),
        ]
    );
}
