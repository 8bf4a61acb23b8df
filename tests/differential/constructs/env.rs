//! Variables that cargo sets from Cargo.toml.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "image")]
    pub image: String,
    #[serde(default = "parts")]
    pub parts: Vec<String>,
    #[serde(default = "absent")]
    pub absent: String,
}

fn image() -> String {
    concat!("example.com/operator:", env!("CARGO_PKG_VERSION")).to_owned()
}

fn parts() -> Vec<String> {
    vec![
        env!("CARGO_PKG_VERSION_MAJOR").to_owned(),
        env!("CARGO_PKG_VERSION_MINOR", "there is no version").to_owned(),
        format!("{}{}", env!("CARGO_PKG_VERSION_PATCH"), env!("CARGO_PKG_VERSION_PRE")),
    ]
}

fn absent() -> String {
    env!("CARGO_PKG_DESCRIPTION").to_owned()
}
