//! A reference is what it leads to.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "text")]
    pub text: String,
    #[serde(default = "option")]
    pub option: Option<String>,
}

fn text() -> String {
    (&NAME).to_string()
}

fn option() -> Option<String> {
    Some((&&"a").to_string())
}

const NAME: &&str = &"name";
