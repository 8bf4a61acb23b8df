//! Enums that strum writes as texts.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::Display;

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "shown.example.com", version = "v1", kind = "Shown")]
pub struct ShownSpec {
    #[serde(default = "all")]
    pub all: Vec<String>,
}

#[derive(strum::Display)]
enum Plain {
    Info,
    #[strum(serialize = "w", serialize = "warn")]
    Warning,
    #[strum(to_string = "E", serialize = "error")]
    Error,
    #[strum(message = "long")]
    HTTPServer,
}

#[derive(Display)]
#[strum(serialize_all = "kebab-case")]
enum Kebab {
    Info,
    HTTPServer2Go,
    #[allow(dead_code)]
    Held(u8),
}

macro_rules! styles {
    ($($name:ident $style:literal;)*) => {
        $(
            #[derive(strum::Display)]
            #[strum(serialize_all = $style)]
            enum $name {
                HttpServer2Go,
            }
        )*
    };
}

styles! {
    Snake "snake_case";
    Shouting "SCREAMING_SNAKE_CASE";
    ShoutingKebab "SCREAMING-KEBAB-CASE";
    Lower "lowercase";
    Upper "UPPERCASE";
    Camel "camelCase";
    Pascal "PascalCase";
}

fn all() -> Vec<String> {
    vec![
        Plain::Info.to_string(),
        format!("{}-{}", Plain::Warning, Plain::Error),
        Plain::HTTPServer.to_string(),
        Kebab::Info.to_string(),
        Kebab::HTTPServer2Go.to_string(),
        Snake::HttpServer2Go.to_string(),
        Shouting::HttpServer2Go.to_string(),
        ShoutingKebab::HttpServer2Go.to_string(),
        Lower::HttpServer2Go.to_string(),
        Upper::HttpServer2Go.to_string(),
        Camel::HttpServer2Go.to_string(),
        Pascal::HttpServer2Go.to_string(),
    ]
}
