//! Into the type of the place, or of the turbofish.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "number")]
    pub number: i16,
    #[serde(default = "float")]
    pub float: f32,
    #[serde(default = "address")]
    pub address: std::net::IpAddr,
    #[serde(default = "said")]
    pub said: u64,
    #[serde(default = "url")]
    pub url: url::Url,
}

fn number() -> i16 {
    "-300".parse().unwrap()
}

fn float() -> f32 {
    "0.1".parse().unwrap()
}

fn address() -> std::net::IpAddr {
    "::0:1".parse().unwrap()
}

fn said() -> u64 {
    "+7".parse::<u64>().unwrap()
}

fn url() -> url::Url {
    "http://a.b".parse().unwrap()
}
