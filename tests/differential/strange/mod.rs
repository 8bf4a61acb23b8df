//! Cases in which something stands that cannot be read, or only with great care: each must be read as
//! kube prints it, or refused; never read as something else.

mod expressions;
mod templates;

use std::collections::BTreeMap;

use crate::author::Case;
use crate::random::Random;

/// How many constructs there are by name.
pub fn count() -> usize {
    templates::ALL.len()
}

/// A small resource with one strange thing in it.
pub fn case(seed: u64, number: usize) -> Case {
    let mut random = Random::new(seed ^ 0x5eed ^ ((number as u64) << 24));
    let (items, field, attribute) = if number % 3 == 2 {
        expressions::template(&mut random)
    } else {
        let (_, items, field, attribute) =
            templates::ALL[(number / 3 * 2 + number % 3) % templates::ALL.len()];
        (items.to_owned(), field.to_owned(), attribute.to_owned())
    };
    let field = wrapped(&field, &mut random).replace("NUMBER", &number.to_string());
    let derive =
        "#[derive(schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug)]";
    let head = match random.below(3) {
        0 => "use schemars::JsonSchema;\nuse serde::{Deserialize, Serialize};\n",
        1 => "use schemars::{self, JsonSchema};\nuse serde::*;\n",
        _ => "use ::schemars::JsonSchema;\nuse ::serde::{Deserialize, Serialize};\nuse super::*;\n",
    };
    // Some things must be said of the module itself.
    let (outer, items) = items
        .strip_prefix("OUTER ")
        .map_or(("", items.as_str()), |it| it.split_once('\n').unwrap_or((it, "")));
    let body =
        items.replace("#[DERIVE]", "#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]");
    let apart = random.percent(40) && outer.is_empty();
    let module = if apart {
        "pub mod injected;\n".to_owned()
    } else {
        format!("{outer}\npub mod injected {{\n{head}{body}\n}}\n")
    };
    let before = if random.percent(50) { "/// Before.\npub before: Option<String>,\n" } else { "" };
    let after = if random.percent(50) { "#[serde(default)]\npub after: i32,\n" } else { "" };
    let spec = format!(
        "{derive}\n#[derive(kube::CustomResource)]\n#[kube(group = \"strange.example.com\", version = \"v1\", kind = \"Case{number}\")]\n{attribute}\npub struct Case{number}Spec {{\n{before}{field}\n{after}}}\n"
    );
    let text =
        if random.percent(50) { format!("{module}\n{spec}") } else { format!("{spec}\n{module}") };
    let mut files = BTreeMap::from([(format!("k{number}.rs"), text)]);
    if apart {
        files.insert(format!("k{number}/injected.rs"), format!("{head}{body}"));
    }
    let path = format!("k{number}::Case{number}");
    Case { number, path, more: Vec::new(), stored: String::new(), files }
}

/// The field's type in another, sometimes.
fn wrapped(field: &str, random: &mut Random) -> String {
    let Some((front, ty)) = field.rsplit_once(": ") else { return field.to_owned() };
    if front.contains("#[") || field.matches(": ").count() != 1 {
        return field.to_owned();
    }
    let ty = ty.trim_end_matches(',');
    match random.below(8) {
        0 => format!("{front}: Option<{ty}>,"),
        1 => format!("{front}: Vec<{ty}>,"),
        2 => format!("/// Documented.\n{front}: {ty},"),
        3 => format!("{front}: std::collections::BTreeMap<String, {ty}>,"),
        _ => field.to_owned(),
    }
}
