//! By a path from the package's folder, and in a part of a text.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "text")]
    pub text: String,
    #[serde(default = "length")]
    pub length: usize,
}

fn text() -> String {
    format!("a {SCRIPT}")
}

fn length() -> usize {
    SCRIPT.len()
}

const SCRIPT: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/build.rs"));
