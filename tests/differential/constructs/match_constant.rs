//! A name that is a constant compares, also behind `deep::` and a type.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "text")]
    pub text: String,
}

fn text() -> String {
    match 3 {
        LIMIT => "five".into(),
        Holder::LIMIT => "associated".into(),
        deep::LIMIT => "three".into(),
        _ => "other".into(),
    }
}

const LIMIT: i32 = 5;

struct Holder;

impl Holder {
    const LIMIT: i32 = 4;
}

mod deep {
    pub const LIMIT: i32 = 3;
}
