//! Raw texts, escapes and line ends that are taken away.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "raw")]
    pub raw: String,
    #[serde(default = "escapes")]
    pub escapes: String,
    #[serde(default = "joined")]
    pub joined: String,
}

fn raw() -> String {
    r#"a "b" \n"#.to_owned()
}

fn escapes() -> String {
    "é\u{1F600}\t\x41".to_owned()
}

fn joined() -> String {
    "a \
        b"
    .to_owned()
}
