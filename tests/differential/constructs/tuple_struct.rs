//! A newtype is written as what is in it.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "name")]
    pub name: Name,
    #[serde(default = "same")]
    pub same: Name,
}

fn name() -> Name {
    Name("a".into())
}

fn same() -> Name {
    Name::of()
}

#[derive(schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug)]
pub struct Name(String);

impl Name {
    fn of() -> Self {
        Self("b".to_owned())
    }
}
