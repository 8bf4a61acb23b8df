//! With a condition that is evaluated, one after another, and as a value that is bound.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "plain")]
    pub plain: String,
    #[serde(default = "chain")]
    pub chain: u8,
    #[serde(default = "bound")]
    pub bound: i64,
}

fn plain() -> String {
    if LIMIT > 4 { "many".to_owned() } else { "few".to_owned() }
}

fn chain() -> u8 {
    if LIMIT == 1 {
        1
    } else if LIMIT == 5 {
        50
    } else {
        0
    }
}

fn bound() -> i64 {
    let base = if LIMIT == 5 { 10_i64 } else { 20_i64 };
    base * 2
}

const LIMIT: u8 = 5;
