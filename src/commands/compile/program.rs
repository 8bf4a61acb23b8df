//! The program that prints `crd()` of each kind, as text, and what it printed, as values.

use serde_json::Value;

use super::Asked;

/// What opens each line that is for us: a user's code may print, too.
const MARK: &str = "operator-rs-crd ";

/// The whole program, for a crate that depends on the user's library by the name `subject`.
pub fn dependent(kinds: &[&Asked]) -> String {
    let calls: String = (kinds.iter().enumerate())
        .map(|(index, it)| call(index, "subject", it, "kube_core", "serde_json"))
        .collect();
    format!(
        "fn main() {{\n    std::panic::set_hook(Box::new(|_| {{}}));\n{calls}}}\n\n{}",
        tell("serde_json")
    )
}

/// What goes below the root of the user's crate. `main` says that it was a program's, and `names` by what names
/// the crate depends on kube's core and serde_json.
pub fn appended(kinds: &[&Asked], main: bool, names: &[String; 2]) -> String {
    let [core, json] = names.each_ref().map(|it| format!("::{it}"));
    let crates = |it: &Asked| it.crates.clone().unwrap_or((core.clone(), json.clone()));
    let calls: String = (kinds.iter().enumerate())
        .map(|(index, it)| {
            let (core, json) = crates(it);
            call(index, "crate", it, &core, &json)
        })
        .collect();
    let json = kinds.first().map_or(json.clone(), |it| crates(it).1);
    let keep = match main {
        true => "    pub fn keep() { let _ = super::main; }\n",
        false => "",
    };
    format!(
        "\n#[doc(hidden)]\n#[allow(warnings)]\npub mod operator_rs_crds {{\n{keep}    pub fn print() {{\n    \
         std::panic::set_hook(Box::new(|_| {{}}));\n{calls}    }}\n\n{}}}\n",
        tell(&json)
    )
}

/// The program that calls what was appended to `krate`.
pub fn caller(krate: &str) -> String {
    format!("fn main() {{\n    {krate}::operator_rs_crds::print();\n}}\n")
}

fn call(index: usize, krate: &str, asked: &Asked, core: &str, json: &str) -> String {
    let path = asked.path.join("::");
    format!(
        "    tell({index}, || {json}::to_value(<{krate}::{path} as {core}::CustomResourceExt>::crd()));\n"
    )
}

fn tell(json: &str) -> String {
    format!(
        "fn tell(index: usize, made: impl FnOnce() -> {json}::Result<{json}::Value> + std::panic::UnwindSafe) {{
    let (key, value) = match std::panic::catch_unwind(made) {{
        Ok(Ok(crd)) => (\"crd\", crd),
        Ok(Err(error)) => (\"panic\", error.to_string().into()),
        Err(it) => (\"panic\", match (it.downcast_ref::<String>(), it.downcast_ref::<&str>()) {{
            (Some(it), _) => it.clone().into(),
            (_, Some(it)) => (*it).into(),
            _ => \"a panic without a text\".into(),
        }}),
    }};
    println!(\"{MARK}{{index}} {{key}} {{value}}\");
}}
"
    )
}

/// What each kind came to, in the order of the kinds: its CRD, or kube's panic.
pub fn printed(output: &str, kinds: usize) -> Vec<Option<Result<Value, String>>> {
    let mut res = vec![None; kinds];
    for line in output.lines() {
        // What the user's code prints may leave its line open.
        let Some((_, line)) = line.split_once(MARK) else { continue };
        let mut parts = line.splitn(3, ' ');
        let (index, key, value) = (parts.next(), parts.next(), parts.next());
        let index: Option<usize> = index.and_then(|it| it.parse().ok());
        let value: Option<Value> = value.and_then(|it| serde_json::from_str(it).ok());
        if let (Some(index), Some(value)) = (index, value)
            && let Some(slot) = res.get_mut(index)
        {
            *slot = match (key, value) {
                (Some("crd"), value) => Some(Ok(value)),
                (_, Value::String(text)) => Some(Err(text)),
                _ => None,
            };
        }
    }
    res
}

#[test]
fn what_was_printed_is_read_back() {
    let text = format!(
        "chatter\nopen {MARK}1 crd {{\"a\":1.0}}\n{MARK}0 panic \"so\\nbe it\"\n{MARK}7 crd 1\n"
    );
    let expected =
        vec![Some(Err("so\nbe it".to_owned())), Some(Ok(serde_json::json!({ "a": 1.0 }))), None];
    assert_eq!(printed(&text, 3), expected);
}
