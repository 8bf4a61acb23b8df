//! The source of the program that prints the result of `crd()` for each kind, and the parser of its output.

use serde::Serialize;
use serde_json::Value;

use super::symbols::Symbol;
use crate::scaffold;

/// The program's one file, in its own folder.
pub const FILE: &str = "operator-rs-crds.rs";

/// The start of each line of the program's own output: the user's code may print too.
const MARK: &str = "operator-rs-crd ";

#[derive(Serialize)]
struct ProgramContext<'a> {
    mark: &'a str,
    symbols: Vec<&'a str>,
}

/// Returns the program for these kinds.
pub fn text(symbols: &[Symbol]) -> anyhow::Result<String> {
    let symbols = symbols.iter().map(|symbol| symbol.name.as_str()).collect();
    scaffold::text("compile", FILE, &ProgramContext { mark: MARK, symbols })
}

/// Returns the results in the order of the kinds: a CRD, or the message of kube's panic.
pub fn printed(output: &str, kinds: usize) -> Vec<Option<Result<Value, String>>> {
    let mut results = vec![None; kinds];
    for line in output.lines() {
        // The user's code may print without a line feed.
        let Some((_, line)) = line.split_once(MARK) else { continue };
        let mut parts = line.splitn(3, ' ');
        let (index, key, value) = (parts.next(), parts.next(), parts.next());
        let index: Option<usize> = index.and_then(|index| index.parse().ok());
        let value: Option<Value> = value.and_then(|value| serde_json::from_str(value).ok());
        if let (Some(index), Some(value)) = (index, value)
            && let Some(slot) = results.get_mut(index)
        {
            *slot = match (key, value) {
                (Some("crd"), value) => Some(Ok(value)),
                (_, Value::String(text)) => Some(Err(text)),
                _ => None,
            };
        }
    }
    results
}

#[test]
fn the_output_is_parsed() {
    let text = format!(
        "chatter\nopen {MARK}1 crd {{\"a\":1.0}}\n{MARK}0 panic \"so\\nbe it\"\n{MARK}7 crd 1\n"
    );
    let expected =
        vec![Some(Err("so\nbe it".to_owned())), Some(Ok(serde_json::json!({ "a": 1.0 }))), None];
    assert_eq!(printed(&text, 3), expected);
}
