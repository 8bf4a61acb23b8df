//! By the type, not by the place.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "borrowed")]
    pub borrowed: std::borrow::Cow<'static, str>,
    #[serde(default = "text")]
    pub text: String,
    #[serde(default = "path")]
    pub path: std::path::PathBuf,
    #[serde(default = "wide")]
    pub wide: i64,
    #[serde(default = "one")]
    pub one: u32,
}

fn borrowed() -> std::borrow::Cow<'static, str> {
    std::borrow::Cow::from("b")
}

fn text() -> String {
    String::from("a")
}

fn path() -> std::path::PathBuf {
    std::path::PathBuf::from("/a")
}

fn wide() -> i64 {
    i64::from(NARROW) + 1
}

fn one() -> u32 {
    u32::from(true)
}

const NARROW: u16 = u16::MAX;
