//! The variants of syn's enums: each has a case, or is known to have no block in it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{blocks, forms};
use crate::support;

/// The enums of code that may have a block in it, with syn's file that defines each.
const ENUMS: &[(&str, &str)] = &[
    ("item.rs", "Item"),
    ("item.rs", "ForeignItem"),
    ("item.rs", "TraitItem"),
    ("item.rs", "ImplItem"),
    ("stmt.rs", "Stmt"),
    ("expr.rs", "Expr"),
    ("ty.rs", "Type"),
    ("pat.rs", "Pat"),
    ("generics.rs", "GenericParam"),
    ("path.rs", "GenericArgument"),
];

#[test]
fn every_variant_of_syn_has_a_case_or_no_block() {
    let source = source_of_syn();
    let variants: BTreeSet<String> =
        ENUMS.iter().flat_map(|(file, name)| variants(&source.join(file), name)).collect();
    let places = [blocks::ITEMS, blocks::VALUES, blocks::EXPRESSIONS, blocks::TYPES].concat();
    let of_places = places.iter().flat_map(|(syntax, _)| syntax.iter());
    let of_forms = forms::FORMS.iter().flat_map(|form| form.syntax);
    let known = of_places.chain(of_forms).chain(blocks::WITHOUT_BLOCKS);
    let known: BTreeSet<String> = known.map(|name| (*name).to_owned()).collect();
    assert_eq!(variants, known, "left: syn's, right: those in the tables");
}

/// The source of the syn that the reader parses with.
fn source_of_syn() -> PathBuf {
    let mut command = Command::new(env!("CARGO"));
    // Not `--offline`: packages that only other platforms need may not have been downloaded.
    command.args(["metadata", "--format-version=1", "--locked"]);
    let output = support::untold(&mut command).current_dir(support::home()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let is_syn = |package: &&serde_json::Value| {
        package["name"] == "syn" && package["version"].as_str().unwrap().starts_with("3.")
    };
    let package = metadata["packages"].as_array().unwrap().iter().find(is_syn).unwrap();
    Path::new(package["manifest_path"].as_str().unwrap()).parent().unwrap().join("src")
}

/// The variants of an enum, each behind the enum's name.
fn variants(file: &Path, name: &str) -> Vec<String> {
    let text = std::fs::read_to_string(file).unwrap();
    let (_, body) = text.split_once(&format!("pub enum {name} {{\n")).unwrap();
    let (body, _) = body.split_once("\n    }\n").unwrap();
    let lines = body.lines().map(str::trim).filter(|line| line.starts_with(char::is_uppercase));
    lines.map(|line| format!("{name}::{}", line.split('(').next().unwrap())).collect()
}
