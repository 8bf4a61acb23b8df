//! Its locals end with it.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "inner")]
    pub inner: u16,
}

fn inner() -> u16 {
    let x: u16 = 1;
    let y: u16 = {
        let x: u16 = 5;
        x * 2
    };
    x + y
}
