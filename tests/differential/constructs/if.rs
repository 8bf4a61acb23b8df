//! As a value, and with `else if`.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "text")]
    pub text: String,
}

fn text() -> String {
    if LIMIT < 3 {
        "low".into()
    } else if LIMIT == 5 {
        "five".into()
    } else {
        "high".into()
    }
}

const LIMIT: u8 = 5;
