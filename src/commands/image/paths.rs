//! Keeps the paths of this machine out of a program, so that the same source is the same program anywhere. Pure.
//!
//! `--remap-path-prefix` does this, as a flag for rustc. Cargo takes such flags from one place only: from a variable, else
//! from `target.*` in its configuration, else from `build`. Flags of the user must stay, so ours go to the same place.

use std::path::Path;

use toml::{Table, Value};

use super::target::ImageTarget;

/// An addition to cargo's command line or environment.
#[derive(Debug, Default, PartialEq)]
pub struct CargoAddition {
    pub arguments: Vec<String>,
    pub variables: Vec<(String, String)>,
}

/// The folders with source.
pub struct Folders<'a> {
    pub workspace: &'a Path,
    pub target: &'a Path,
    /// Cargo's own folder.
    pub cargo: &'a Path,
}

/// Adds the flags; none if it is unclear where cargo takes flags from. `variable` looks up a variable of the environment.
pub fn remap_flags(
    folders: &Folders<'_>,
    target: ImageTarget,
    variable: &dyn Fn(&str) -> Option<String>,
    configs: &[&Table],
) -> Option<CargoAddition> {
    let flags = prefix_flags(folders);
    let encoded = |before: Vec<String>| {
        let all: Vec<String> = before.into_iter().chain(flags.clone()).collect();
        let variables = vec![("CARGO_ENCODED_RUSTFLAGS".to_owned(), all.join("\x1f"))];
        Some(CargoAddition { arguments: Vec::new(), variables })
    };
    if let Some(text) = variable("CARGO_ENCODED_RUSTFLAGS") {
        return encoded(text.split('\x1f').map(str::to_owned).collect());
    }
    if let Some(text) = variable("RUSTFLAGS") {
        return encoded(text.split_whitespace().map(str::to_owned).collect());
    }
    let triple = target.triple();
    let of_build = variable("CARGO_BUILD_RUSTFLAGS").is_some()
        || configs
            .iter()
            .any(|config| config.get("build").and_then(|build| build.get("rustflags")).is_some());
    let of_target = variable(&target.variable_name("CARGO_TARGET_", "_RUSTFLAGS")).is_some()
        || target_tables(configs)
            .any(|(name, table)| *name == triple && table.get("rustflags").is_some());
    let of_condition = target_tables(configs)
        .any(|(name, table)| name.starts_with("cfg(") && table.get("rustflags").is_some());
    let key = match (of_target, of_condition, of_build) {
        (true, _, _) | (false, true, false) => format!("target.{triple}.rustflags"),
        (false, false, _) => "build.rustflags".to_owned(),
        // The result depends on the condition, which only rustc evaluates.
        (false, true, true) => return None,
    };
    let list = Value::Array(flags.into_iter().map(Value::String).collect());
    Some(CargoAddition {
        arguments: vec!["--config".to_owned(), format!("{key}={list}")],
        variables: vec![],
    })
}

fn target_tables<'a>(configs: &'a [&Table]) -> impl Iterator<Item = (&'a String, &'a Value)> {
    configs.iter().filter_map(|config| config.get("target")?.as_table()).flatten()
}

/// The last prefix that fits is the one that counts.
fn prefix_flags(folders: &Folders<'_>) -> Vec<String> {
    let all =
        [(folders.workspace, "/src"), (folders.target, "/src/target"), (folders.cargo, "/cargo")];
    all.map(|(from, to)| format!("--remap-path-prefix={}={to}", from.to_string_lossy())).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(variables: &[(&str, &str)], configs: &[&str], expected: Option<&str>) {
        let folders = Folders {
            workspace: Path::new("/w"),
            target: Path::new("/t"),
            cargo: Path::new("/home/me/.cargo"),
        };
        let variable = |name: &str| {
            variables
                .iter()
                .find(|variable| variable.0 == name)
                .map(|variable| variable.1.to_owned())
        };
        let tables: Vec<Table> =
            configs.iter().map(|config| config.parse().expect("toml")).collect();
        let tables: Vec<&Table> = tables.iter().collect();
        let added = remap_flags(&folders, ImageTarget::Arm64, &variable, &tables);
        let text = added.map(|added| match &added.variables[..] {
            [] => added.arguments.join(" "),
            [(name, value)] => format!("{name}={}", value.replace('\x1f', " ")),
            _ => panic!("{added:?}"),
        });
        assert_eq!(text.as_deref(), expected, "{configs:?}");
    }

    #[test]
    fn flags_go_where_those_of_the_user_are() {
        let list = r#"["--remap-path-prefix=/w=/src", "--remap-path-prefix=/t=/src/target", "--remap-path-prefix=/home/me/.cargo=/cargo"]"#;
        let words = "--remap-path-prefix=/w=/src --remap-path-prefix=/t=/src/target --remap-path-prefix=/home/me/.cargo=/cargo";
        let build = format!("--config build.rustflags={list}");
        let target = format!("--config target.aarch64-unknown-linux-musl.rustflags={list}");
        check(&[], &[], Some(&build));
        check(
            &[],
            &["[build]\nrustflags = ['-g']", "[target.x]\nrustflags = ['-g']"],
            Some(&build),
        );
        check(&[("CARGO_BUILD_RUSTFLAGS", "-g")], &[], Some(&build));
        let ours = "[target.aarch64-unknown-linux-musl]\nrustflags = ['-g']";
        check(&[], &["[build]\nrustflags = ['-g']", ours], Some(&target));
        let name = "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_RUSTFLAGS";
        check(&[(name, "-g")], &[], Some(&target));
        let condition = "[target.'cfg(unix)']\nrustflags = ['-g']";
        check(&[], &[condition], Some(&target));
        check(&[], &[condition, "[build]\nrustflags = ['-g']"], None);
        let all = format!("CARGO_ENCODED_RUSTFLAGS=-C opt-level=1 {words}");
        check(&[("RUSTFLAGS", "-C  opt-level=1")], &[condition], Some(&all));
        let encoded = [("CARGO_ENCODED_RUSTFLAGS", "-C\x1fopt-level=1"), ("RUSTFLAGS", "-g")];
        check(&encoded, &[], Some(&all));
    }
}
