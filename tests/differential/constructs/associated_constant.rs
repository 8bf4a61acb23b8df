//! Of a type, by `Self`, and before a variant of the same name elsewhere.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "of_type")]
    pub of_type: u16,
    #[serde(default = "by_self")]
    pub by_self: u16,
}

fn of_type() -> u16 {
    Holder::LIMIT
}

fn by_self() -> u16 {
    Holder::twice()
}

struct Holder;

impl Holder {
    const LIMIT: u16 = 40_000;
    fn twice() -> u16 {
        Self::LIMIT / 2
    }
}

#[allow(dead_code)]
mod other {
    pub struct Holder;
    impl Holder {
        pub const LIMIT: u16 = 1;
    }
}
