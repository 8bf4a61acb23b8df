//! A `static`, also of a list.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "first")]
    pub first: String,
    #[serde(default = "list")]
    pub list: Vec<u8>,
}

fn first() -> String {
    FIRST.to_owned()
}

fn list() -> Vec<u8> {
    LIST.to_vec()
}

static FIRST: &str = "first";
static LIST: [u8; 2] = [1, 255];
