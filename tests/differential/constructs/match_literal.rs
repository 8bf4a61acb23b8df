//! The first arm that matches, with ranges and alternatives.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "text")]
    pub text: String,
    #[serde(default = "word")]
    pub word: u8,
}

fn text() -> String {
    match 7 {
        0..5 => "low".into(),
        5 | 6 => "five".into(),
        7..=9 => "seven".into(),
        _ => "high".into(),
    }
}

fn word() -> u8 {
    match NAME {
        "a" => 1,
        _ => 2,
    }
}

const NAME: &str = "a";
