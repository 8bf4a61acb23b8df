//! The module of the code, not of its caller.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "here")]
    pub here: String,
    #[serde(default = "there")]
    pub there: String,
}

fn here() -> String {
    module_path!().to_owned()
}

fn there() -> String {
    deep::there()
}

mod deep {
    pub fn there() -> String {
        concat!(module_path!(), "::x").to_owned()
    }
}
