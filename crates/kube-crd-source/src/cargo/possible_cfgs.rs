//! Conditions that hold although Cargo.toml does not say so: those that compiler flags and build scripts set.

use std::collections::BTreeSet;

use toml::Value;

use super::dependencies::For;
use super::packages::{PackageId, Packages};
use crate::text::{SourcePath, below};

/// The conditions that may be set. Whether they are depends on how the project is built.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PossibleCfgs {
    /// Any condition may be set.
    pub any: bool,
    /// An environment variable may be set.
    pub variables: bool,
    features: BTreeSet<String>,
    names: BTreeSet<String>,
}

impl PossibleCfgs {
    /// Adds a condition as `--cfg` has it: `name`, or `name="value"`.
    pub fn add_condition(&mut self, condition: &str) {
        let (name, value) = match condition.split_once('=') {
            Some((name, value)) => (name.trim(), Some(value.trim().trim_matches('"'))),
            None => (condition.trim(), None),
        };
        match (name, value) {
            ("feature", Some(value)) => drop(self.features.insert(value.to_owned())),
            (name, _) => drop(self.names.insert(name.to_owned())),
        }
    }

    pub fn extend(&mut self, other: &Self) {
        self.any |= other.any;
        self.variables |= other.variables;
        self.features.extend(other.features.iter().cloned());
        self.names.extend(other.names.iter().cloned());
    }

    pub fn has_feature(&self, feature: &str) -> bool {
        self.any || self.features.contains(feature)
    }

    pub fn has_name(&self, name: &str) -> bool {
        self.any || self.names.contains(name)
    }

    /// The conditions that the text of a build script sets.
    fn of_script(text: &str) -> Self {
        let mut cfgs = Self { variables: text.contains("rustc-env"), ..Self::default() };
        for (_, line) in
            text.match_indices("cargo:").map(|(at, word)| text.split_at(at + word.len()))
        {
            let line = line.strip_prefix(':').unwrap_or(line);
            let is_word = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
            let end = line.find(|letter| !is_word(letter)).unwrap_or(line.len());
            let (instruction, rest) = line.split_at(end);
            match instruction {
                "rustc-cfg" => match printed_condition(rest) {
                    Some(condition) => cfgs.add_condition(&condition),
                    None => cfgs.any = true,
                },
                // The instruction itself is computed.
                "" => cfgs.any |= rest.starts_with(['{', '"']),
                _ => {}
            }
        }
        // It may be put together of parts.
        cfgs.any |= text.matches("rustc-cfg").count() > text.matches(":rustc-cfg").count();
        cfgs
    }
}

/// The condition that a string prints behind `rustc-cfg`; none if it is computed.
fn printed_condition(text: &str) -> Option<String> {
    let text = text.strip_prefix('=')?;
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    let word = |text: &str| {
        let end = text.find(|letter| !is_word(letter)).unwrap_or(text.len());
        (!text[..end].is_empty()).then(|| (text[..end].to_owned(), text[end..].to_owned()))
    };
    let (name, rest) = word(text)?;
    if rest.starts_with('"') {
        return (name != "feature").then_some(name);
    }
    let rest = rest.strip_prefix('=')?;
    let quoted = rest.strip_prefix("\\\"").or_else(|| rest.strip_prefix('"'))?;
    let (value, rest) = word(quoted)?;
    let is_closed = rest.starts_with("\\\"") || rest.starts_with('"');
    is_closed.then(|| format!("{name}=\"{value}\""))
}

impl Packages<'_> {
    /// The conditions that compiler flags and a package's build script may set in its code.
    pub fn possible_cfgs(&self, id: PackageId) -> PossibleCfgs {
        let mut cfgs = self.config.cfgs.clone();
        let build =
            self.manifest_of(id).and_then(|manifest| manifest.table.get("package")?.get("build"));
        // A package may have more than one build script.
        cfgs.any |= matches!(build, Some(Value::Array(_)));
        let Some(script) = self.build_script(id) else { return cfgs };
        let folder = self.folder_of(id).unwrap_or_default();
        let readable = self.texts.ensure_allowed(&script, folder);
        let text = readable.then(|| self.texts.read_text(&script)).flatten().unwrap_or_default();
        cfgs.extend(&PossibleCfgs::of_script(&text));
        // Its modules, too.
        if text.contains("mod ") || text.contains("include!") || text.contains("#[path") {
            let beside = script.parent().map_or(String::new(), |folder| folder.as_str().to_owned());
            let is_own_folder = beside != folder;
            cfgs.any |= !is_own_folder;
            let files =
                if is_own_folder { self.texts.list_rust_files(&beside) } else { Vec::new() };
            files.iter().for_each(|path| self.extend_by_file(&mut cfgs, path));
        }
        for dependency in
            self.dependencies_of(id).iter().filter(|dependency| dependency.use_ == For::Build)
        {
            let by_path =
                dependency.path.as_ref().and_then(|_| self.resolve_dependency(id, dependency));
            match by_path.and_then(|id| self.folder_of(id)) {
                Some(folder) => {
                    let files = self.texts.list_rust_files(&below(folder, "src"));
                    files.iter().for_each(|path| self.extend_by_file(&mut cfgs, path));
                }
                None => cfgs.any |= dependency.path.is_some() || dependency.git.is_some(),
            }
        }
        cfgs
    }

    fn extend_by_file(&self, cfgs: &mut PossibleCfgs, path: &SourcePath) {
        cfgs.extend(&PossibleCfgs::of_script(&self.texts.read_text(path).unwrap_or_default()));
    }

    /// The build script of a package; none if it has none.
    fn build_script(&self, id: PackageId) -> Option<SourcePath> {
        let folder = self.folder_of(id)?;
        let manifest = self.manifest_of(id)?;
        match manifest.table.get("package")?.get("build") {
            Some(Value::String(path)) => below(folder, path).parse().ok(),
            Some(Value::Boolean(false)) => None,
            _ => {
                let usual: SourcePath = below(folder, "build.rs").parse().ok()?;
                self.texts.contains_key(&usual).then_some(usual)
            }
        }
    }
}

#[test]
fn the_text_of_a_build_script_says_what_it_sets() {
    let check = |text: &str, any: bool, features: &[&str], names: &[&str]| {
        let cfgs = PossibleCfgs::of_script(text);
        let owned = |list: &[&str]| list.iter().map(|value| (*value).to_owned()).collect();
        let expected = PossibleCfgs {
            any,
            features: owned(features),
            names: owned(names),
            ..PossibleCfgs::default()
        };
        assert_eq!(cfgs, expected, "{text}");
    };
    check(
        "println!(\"cargo:rerun-if-changed=a\"); println!(\"cargo::warning={}\", a);",
        false,
        &[],
        &[],
    );
    check("println!(\"cargo::rustc-check-cfg=cfg(a)\");", false, &[], &[]);
    check("println!(\"cargo:rustc-cfg=nightly\");", false, &[], &["nightly"]);
    check("println!(\"cargo::rustc-cfg=feature=\\\"big\\\"\");", false, &["big"], &[]);
    check("println!(r#\"cargo:rustc-cfg=feature=\"big\"\"#);", false, &["big"], &[]);
    check("println!(\"cargo:rustc-cfg=a=\\\"b\\\"\");", false, &[], &["a"]);
    check("println!(\"cargo:rustc-cfg={}\", a);", true, &[], &[]);
    check("println!(\"cargo:rustc-cfg=feature=\\\"{}\\\"\", a);", true, &[], &[]);
    check("println!(\"cargo:rustc-cfg=has_{}\", a);", true, &[], &[]);
    check("println!(\"cargo:{}=feature\", a);", true, &[], &[]);
    check("println!(\"{}:{}\", \"cargo\", \"rustc-cfg=a\");", true, &[], &[]);
}
