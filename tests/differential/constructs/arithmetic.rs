//! In the type of the place, with a constant first or last; division truncates.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "product")]
    pub product: u64,
    #[serde(default = "mixed")]
    pub mixed: i64,
    #[serde(default = "division")]
    pub division: i8,
    #[serde(default = "rest")]
    pub rest: i8,
}

fn product() -> u64 {
    2 * 1024 * 1024 * 1024
}

fn mixed() -> i64 {
    3 + LIMIT
}

fn division() -> i8 {
    -7 / 2
}

fn rest() -> i8 {
    -7 % 3
}

const LIMIT: i64 = 5_000_000_000;
