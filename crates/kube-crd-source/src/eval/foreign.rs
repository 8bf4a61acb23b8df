//! Types of other crates that values are made of: by the real code where it is linked.

use serde_json::Value as Json;

use super::Ty;
use super::value::Value;
use crate::builtin;

const QUANTITY: &str = "k8s_openapi::apimachinery::pkg::api::resource::Quantity";
const INT_OR_STRING: &str = "k8s_openapi::apimachinery::pkg::util::intstr::IntOrString";

/// A default of a type, as serde writes it.
pub fn default(path: &str) -> Option<Value> {
    let (_, builtin) = builtin::find(path)?;
    Some(Value::Foreign(path.to_owned(), builtin.default?()?))
}

pub fn constant(path: &str) -> Option<Value> {
    if let Some(it) = nonzero_constant(path) {
        return Some(it);
    }
    let json = match path {
        "std::marker::PhantomData" => Some(("std::marker::PhantomData", Json::Null)),
        "std::ops::Bound::Unbounded" => Some(("std::ops::Bound", "Unbounded".into())),
        "std::time::SystemTime::UNIX_EPOCH" | "std::time::UNIX_EPOCH" => {
            let it = serde_json::json!({ "secs_since_epoch": 0, "nanos_since_epoch": 0 });
            Some(("std::time::SystemTime", it))
        }
        "chrono::DateTime::UNIX_EPOCH" => {
            Some(("chrono::DateTime<Utc>", "1970-01-01T00:00:00Z".into()))
        }
        "jiff::Timestamp::UNIX_EPOCH" => Some(("jiff::Timestamp", "1970-01-01T00:00:00Z".into())),
        _ => None,
    };
    if let Some((of, json)) = json {
        return Some(Value::Foreign(of.to_owned(), json));
    }
    let (of, value) = match path {
        "std::net::Ipv4Addr::LOCALHOST" => ("std::net::Ipv4Addr", "127.0.0.1"),
        "std::net::Ipv4Addr::UNSPECIFIED" => ("std::net::Ipv4Addr", "0.0.0.0"),
        "std::net::Ipv4Addr::BROADCAST" => ("std::net::Ipv4Addr", "255.255.255.255"),
        "std::net::Ipv6Addr::LOCALHOST" => ("std::net::Ipv6Addr", "::1"),
        "std::net::Ipv6Addr::UNSPECIFIED" => ("std::net::Ipv6Addr", "::"),
        _ => return None,
    };
    Some(Value::Foreign(of.to_owned(), value.into()))
}

/// `NonZeroU8::MIN` and its like.
fn nonzero_constant(path: &str) -> Option<Value> {
    let (of, name) = path.rsplit_once("::")?;
    let inner = of.strip_prefix("std::num::NonZero")?.to_lowercase();
    let (low, high) = super::number::range(super::number::integer(&inner)?);
    let number = match name {
        "MIN" if low == 0 => 1,
        "MIN" => low,
        "MAX" => high,
        _ => return None,
    };
    let json = match i64::try_from(number) {
        Ok(it) => Json::from(it),
        Err(_) => Json::from(u64::try_from(number).ok()?),
    };
    Some(Value::Foreign(of.to_owned(), json))
}

/// The type of what a function is given, where it matters.
pub fn argument(path: &str, name: &str, index: usize) -> Ty {
    match (path, name, index) {
        (INT_OR_STRING, "Int", 0) => Ty::known("i32"),
        (INT_OR_STRING, "String", 0) => Ty::known("std::string::String"),
        (_, "Quantity", 0) => Ty::known("std::string::String"),
        ("std::net::Ipv4Addr", "new", _) => Ty::known("u8"),
        ("std::net::Ipv6Addr", "new", _) => Ty::known("u16"),
        ("semver::Version", "new", _) => Ty::known("u64"),
        _ if path.starts_with("std::num::NonZero") => {
            Ty::known(&path["std::num::NonZero".len()..].to_lowercase())
        }
        _ => Ty::Unknown,
    }
}

/// What a function gives, or why it panics; none where it is not known.
pub fn call(path: &str, name: &str, given: &[Value]) -> Option<Result<Value, String>> {
    let foreign = |of: &str, it: Json| Some(Ok(Value::Foreign(of.to_owned(), it)));
    let whole = format!("{path}::{name}");
    match (whole.as_str(), path, name, given) {
        (QUANTITY, _, _, [Value::Text(it, true)]) => foreign(QUANTITY, it.clone().into()),
        (_, INT_OR_STRING, "Int", [Value::Int(it, _)]) => {
            foreign(INT_OR_STRING, i32::try_from(*it).ok()?.into())
        }
        (_, INT_OR_STRING, "String", [Value::Text(it, true)]) => {
            foreign(INT_OR_STRING, it.clone().into())
        }
        (_, "std::net::Ipv4Addr", "new", parts) => {
            let parts: Option<Vec<u8>> = parts
                .iter()
                .map(|it| match it {
                    Value::Int(it, _) => u8::try_from(*it).ok(),
                    _ => None,
                })
                .collect();
            let parts: [u8; 4] = parts?.try_into().ok()?;
            foreign(path, std::net::Ipv4Addr::from(parts).to_string().into())
        }
        (_, "std::net::IpAddr", "V4" | "V6", [Value::Foreign(of, it)])
            if *of == format!("std::net::Ip{}Addr", name.to_lowercase()) =>
        {
            foreign(path, it.clone())
        }
        (
            _,
            "semver::Version",
            "new",
            [Value::Int(major, _), Value::Int(minor, _), Value::Int(patch, _)],
        ) => {
            let parts = [major, minor, patch].map(|it| u64::try_from(*it).ok());
            let [Some(major), Some(minor), Some(patch)] = parts else { return None };
            foreign(path, format!("{major}.{minor}.{patch}").into())
        }
        (_, "uuid::Uuid", "nil", []) => {
            foreign(path, "00000000-0000-0000-0000-000000000000".into())
        }
        (_, "smol_str::SmolStr", "new", [Value::Text(it, _)]) => foreign(path, it.clone().into()),
        (_, "indexmap::IndexMap", "new", []) => foreign(path, Json::Object(serde_json::Map::new())),
        (_, "std::path::PathBuf", "new", []) => foreign(path, "".into()),
        (_, "std::path::Path", "new", [Value::Text(it, _)]) => {
            foreign("std::path::PathBuf", it.clone().into())
        }
        (_, _, "new", [Value::Int(it, _)]) if path.starts_with("std::num::NonZero") => {
            let number = Json::from(i64::try_from(*it).ok()?);
            Some(Ok(Value::Option(
                (*it != 0).then(|| Box::new(Value::Foreign(path.to_owned(), number))),
            )))
        }
        (_, "url::Url" | "semver::Version", "parse", [Value::Text(it, _)])
        | (_, "uuid::Uuid", "parse_str", [Value::Text(it, _)]) => {
            let failed = || Value::Result(Err(Box::new(Value::Unit)));
            Some(Ok(parse(path, it)?.map_or_else(failed, Value::ok)))
        }
        (_, "kube_core::Duration", "from", [Value::Duration(it)]) => {
            foreign(path, serde_json::to_value(kube_core::Duration::from(*it)).ok()?)
        }
        _ => None,
    }
}

/// `T::from(value)`.
pub fn from(path: &str, value: &Value) -> Option<Value> {
    let foreign = |it: Json| Some(Value::Foreign(path.to_owned(), it));
    match (path, value) {
        ("std::path::PathBuf" | "smol_str::SmolStr", Value::Text(it, _)) => {
            foreign(it.clone().into())
        }
        ("serde_json::Number", Value::Int(it, _)) => foreign(match i64::try_from(*it) {
            Ok(it) => it.into(),
            Err(_) => u64::try_from(*it).ok()?.into(),
        }),
        ("kube_core::Duration", Value::Duration(it)) => {
            foreign(serde_json::to_value(kube_core::Duration::from(*it)).ok()?)
        }
        ("std::net::IpAddr", Value::Foreign(of, it))
            if matches!(of.as_str(), "std::net::Ipv4Addr" | "std::net::Ipv6Addr") =>
        {
            foreign(it.clone())
        }
        ("std::net::IpAddr" | "std::net::Ipv4Addr", Value::List(items, "[;]"))
            if items.len() == 4 =>
        {
            let parts: Option<Vec<u8>> = items
                .iter()
                .map(|it| match it {
                    Value::Int(it, None | Some("u8")) => u8::try_from(*it).ok(),
                    _ => None,
                })
                .collect();
            let parts: [u8; 4] = parts?.try_into().ok()?;
            foreign(std::net::Ipv4Addr::from(parts).to_string().into())
        }
        _ => None,
    }
}

/// What parsing a text gives, nothing where it fails; none where the type is not known.
pub fn parse(path: &str, text: &str) -> Option<Option<Value>> {
    if path == "serde_json::Value" {
        return Some(serde_json::from_str(text).ok().map(Value::Json));
    }
    let parse = builtin::find(path)?.1.parse?;
    Some(parse(text).map(|it| Value::Foreign(path.to_owned(), it)))
}

/// What `Display` writes of a value.
pub fn display(path: &str, it: &Json) -> Option<String> {
    let text = matches!(
        path,
        "std::net::IpAddr"
            | "std::net::Ipv4Addr"
            | "std::net::Ipv6Addr"
            | "std::net::SocketAddr"
            | "semver::Version"
    );
    match it {
        Json::String(it) if text => Some(it.clone()),
        Json::Number(it) if path.starts_with("std::num::NonZero") => Some(it.to_string()),
        _ => None,
    }
}

pub fn method(path: &str, it: &Json, name: &str, count: usize) -> Option<Value> {
    let number = |it: &Json| -> Option<Value> {
        let ty = super::number::integer(&path["std::num::NonZero".len()..].to_lowercase())?;
        Some(Value::Int(it.as_i64()?.into(), Some(ty)))
    };
    match (name, count) {
        ("get", 0) if path.starts_with("std::num::NonZero") => number(it),
        _ => None,
    }
}
