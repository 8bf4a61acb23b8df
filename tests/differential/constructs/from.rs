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
    #[serde(default = "char")]
    pub char: String,
    #[serde(default = "long")]
    pub long: i64,
    #[serde(default = "wide")]
    pub wide: f64,
    #[serde(default = "path")]
    pub path: std::path::PathBuf,
}

fn borrowed() -> std::borrow::Cow<'static, str> {
    std::borrow::Cow::from("b")
}

fn text() -> String {
    String::from("a")
}

fn char() -> String {
    String::from('c')
}

fn long() -> i64 {
    i64::from(LIMIT)
}

fn wide() -> f64 {
    f64::from(0.1_f32)
}

fn path() -> std::path::PathBuf {
    std::path::PathBuf::from("/a")
}

const LIMIT: u32 = 4_000_000_000;
