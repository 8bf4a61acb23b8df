//! In a map of pairs: a CRD has no tuples of its own.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "pairs")]
    pub pairs: std::collections::BTreeMap<String, u8>,
}

use std::collections::BTreeMap;

fn pairs() -> BTreeMap<String, u8> {
    let one = ("a".to_owned(), 1);
    BTreeMap::from([one, ("b".to_owned(), 255)])
}
