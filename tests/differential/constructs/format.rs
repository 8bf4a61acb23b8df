//! Positions, names, braces, a local that hides a constant.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "text")]
    pub text: String,
}

fn text() -> String {
    let name = "inner";
    format!("{}-{name}-{{}}-{}-{other}", 1, true, other = NAME)
}

#[allow(dead_code)]
const NAME: &str = "outer";
