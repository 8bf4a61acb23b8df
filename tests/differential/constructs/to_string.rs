//! Of texts and numbers.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "text")]
    pub text: String,
    #[serde(default = "owned")]
    pub owned: String,
    #[serde(default = "number")]
    pub number: String,
}

fn text() -> String {
    NAME.to_string()
}

fn owned() -> String {
    NAME.to_owned()
}

fn number() -> String {
    PORT.to_string()
}

const NAME: &str = "a";
const PORT: u16 = 8080;
