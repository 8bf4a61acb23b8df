//! The lowest of a type is not a negated literal of it; bases and suffixes.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "lowest")]
    pub lowest: i8,
    #[serde(default = "highest")]
    pub highest: u64,
    #[serde(default = "based")]
    pub based: u16,
}

fn lowest() -> i8 {
    -128
}

fn highest() -> u64 {
    18_446_744_073_709_551_615
}

fn based() -> u16 {
    0xff_u16
}
