//! Behind a reference, twice, and of a constant.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default, skip_serializing_if = "is_false")]
    pub off: bool,
    #[serde(default = "yes", skip_serializing_if = "is_false")]
    pub on: bool,
    #[serde(default = "twice")]
    pub twice: bool,
    #[serde(default = "constant")]
    pub constant: bool,
}

fn is_false(value: &bool) -> bool {
    !*value
}

fn yes() -> bool {
    true
}

fn twice() -> bool {
    !!LIMITED
}

fn constant() -> bool {
    !LIMITED
}

const LIMITED: bool = true;
