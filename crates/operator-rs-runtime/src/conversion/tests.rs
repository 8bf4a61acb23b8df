//! Checks that a spoke without both conversions does not compile. The examples that compile and that do not differ by
//! one `impl`, so that nothing else can be the reason.

macro_rules! versions {
    () => {
        r#"
use v1::Memcached as Hub;
use v1alpha1::Memcached as Spoke;

mod v1 {
    #[derive(kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug)]
    #[kube(group = "cache.example.com", version = "v1", kind = "Memcached", namespaced)]
    pub struct MemcachedSpec { pub replicas: u32 }
}

mod v1alpha1 {
    #[derive(kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug)]
    #[kube(group = "cache.example.com", version = "v1alpha1", kind = "Memcached", namespaced)]
    pub struct MemcachedSpec { pub size: u32 }
}
"#
    };
}

macro_rules! to_the_hub {
    () => {
        "
impl From<Spoke> for Hub {
    fn from(spoke: Spoke) -> Self {
        Self { metadata: spoke.metadata, spec: v1::MemcachedSpec { replicas: spoke.spec.size } }
    }
}
"
    };
}

macro_rules! to_the_spoke {
    () => {
        "
impl From<Hub> for Spoke {
    fn from(hub: Hub) -> Self {
        Self { metadata: hub.metadata, spec: v1alpha1::MemcachedSpec { size: hub.spec.replicas } }
    }
}
"
    };
}

macro_rules! converted {
    () => {
        "let _ = operator_rs_runtime::conversion_webhook::<Hub, Spoke>();\n"
    };
}

macro_rules! converted_lossless {
    () => {
        "let _ = operator_rs_runtime::lossless_conversion_webhook::<Hub, Spoke>(\"example.com/data\");\n"
    };
}

#[doc = concat!("```\n", versions!(), to_the_hub!(), to_the_spoke!(), converted!(), converted_lossless!(), "```")]
struct BothDirections;

#[doc = concat!("```\n", versions!(), to_the_hub!(), "let _: fn(Spoke) -> Hub = From::from;\n```")]
struct ToTheHub;

#[doc = concat!("```compile_fail,E0277\n", versions!(), to_the_hub!(), converted!(), "```")]
struct ToTheHubAlone;

#[doc = concat!("```compile_fail,E0277\n", versions!(), to_the_hub!(), converted_lossless!(), "```")]
struct ToTheHubAloneLossless;

#[doc = concat!("```\n", versions!(), to_the_spoke!(), "let _: fn(Hub) -> Spoke = From::from;\n```")]
struct ToTheSpoke;

#[doc = concat!("```compile_fail,E0277\n", versions!(), to_the_spoke!(), converted!(), "```")]
struct ToTheSpokeAlone;

#[doc = concat!("```compile_fail,E0277\n", versions!(), to_the_spoke!(), converted_lossless!(), "```")]
struct ToTheSpokeAloneLossless;
