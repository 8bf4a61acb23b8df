//! Evaluated where it stands; its parameters hide constants of its caller.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "sum")]
    pub sum: u64,
}

fn sum() -> u64 {
    deep::sum(LIMIT, 2)
}

const LIMIT: u64 = 5;

mod deep {
    const LIMIT: u64 = 100;
    pub fn sum(one: u64, other: u64) -> u64 {
        one * other + LIMIT
    }
}
