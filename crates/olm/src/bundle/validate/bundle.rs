//! Checks CSV, CRDs and service accounts against each other.

use std::collections::BTreeSet;

use super::{Findings, Manifest, Rule, csv::format_kind, load::Loaded, of};
use go_data::{kubernetes, yaml::Value};
use model::Image;

pub fn check(bundle: &Loaded, findings: &mut Findings) {
    check_owned_crds(bundle, findings);
    check_service_accounts(&bundle.csv.object, &bundle.objects, findings);
    check_related_images(&bundle.csv, findings);
}

/// Group, version, kind.
type Key<'a> = [&'a str; 3];

fn check_owned_crds(bundle: &Loaded, findings: &mut Findings) {
    let csv = &bundle.csv;
    let name = of::name(&csv.object);
    let mut keys: BTreeSet<Key> = BTreeSet::new();
    for Manifest { path, object } in &bundle.crds {
        let [group, kind] =
            ["/spec/group", "/spec/names/kind"].map(|pointer| of::text(object, pointer));
        for (at, version) in of::list(object, "/spec/versions").iter().enumerate() {
            let key = [group, of::text(version, "/name"), kind];
            if !keys.insert(key) {
                findings.error(
                    Rule::CrdTwice,
                    (*path, format!("/spec/versions/{at}/name")),
                    format!("duplicate CRD {:?} in bundle {name:?}", format_key(key)),
                );
            }
        }
    }
    let mut owned_kinds = BTreeSet::new();
    const OWNED: &str = "/spec/customresourcedefinitions/owned";
    for (at, owned) in of::list(&csv.object, OWNED).iter().enumerate() {
        let crd = of::text(owned, "/name");
        let group = crd.split_once('.').map_or(crd, |(_, group)| group);
        let key = [group, of::text(owned, "/version"), of::kind(owned)];
        if keys.remove(&key) {
            owned_kinds.insert((group, of::kind(owned)));
        } else {
            findings.error(
                Rule::CrdMissing,
                (csv.path, format!("{OWNED}/{at}")),
                format!("owned CRD {:?} not found in bundle {name:?}", format_key(key)),
            );
        }
    }
    for key in keys {
        // Other versions of a kind that is owned need no entry.
        if !owned_kinds.contains(&(key[0], key[2])) {
            findings.error(
                Rule::CrdUnowned,
                (csv.path, OWNED),
                format!(
                    "CRD {:?} is present in bundle {name:?} but not defined in CSV",
                    format_key(key)
                ),
            );
        }
    }
}

fn format_key([group, version, kind]: Key) -> String {
    format_kind(group, version, kind)
}

fn check_service_accounts(csv: &Value, manifests: &[Manifest], findings: &mut Findings) {
    let deployments = of::list(csv, "/spec/install/spec/deployments");
    let account = |deployment: &Value| {
        of::text(deployment, "/spec/template/spec/serviceAccountName").to_owned()
    };
    let accounts: BTreeSet<String> = deployments.iter().map(account).collect();
    for Manifest { path, object } in manifests {
        let name = of::name(object);
        let is_account =
            of::kind(object) == "ServiceAccount" && of::group_version(object) == ("", "v1");
        // operator-sdk ignores objects that Go cannot decode as a ServiceAccount: here, Go does not convert numbers
        // to strings.
        let is_readable = || kubernetes::decode_as("core.ServiceAccount", object).faults.is_empty();
        if is_account && accounts.contains(name) && is_readable() {
            findings.error(
                Rule::ServiceAccountTwice,
                (*path, "/metadata/name"),
                format!(
                    "invalid service account found in bundle. This service account {name} in your bundle is not valid, because a service \
                     account with the same name was already specified in your CSV. If this was unintentional, please remove the service \
                     account manifest from your bundle. If it was intentional to specify a separate service account, please rename the SA \
                     in either the bundle manifest or the CSV."
                ),
            );
        }
    }
}

/// Warns of related images that newer releases of operator-framework/api refuse.
fn check_related_images(csv: &Manifest, findings: &mut Findings) {
    for (at, related) in of::list(&csv.object, "/spec/relatedImages").iter().enumerate() {
        let image = of::text(related, "/image");
        let place = (csv.path, format!("/spec/relatedImages/{at}/image"));
        if image.is_empty() {
            findings.warning(
                Rule::RelatedImageEmpty,
                place,
                format!("relatedImages[{at}] has an empty image field"),
            );
        } else if image.parse::<Image>().is_err() {
            findings.warning(
                Rule::RelatedImageInvalid,
                place,
                format!("relatedImages[{at}] has an invalid image pullspec {image:?}"),
            );
        }
    }
}
