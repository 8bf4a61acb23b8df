//! Which objects a patch is for.

use regex_lite::Regex;

use super::object::Object;
use crate::yaml::Value;

#[derive(Debug, Default)]
pub struct Selector {
    pub group: Pattern,
    pub version: Pattern,
    pub kind: Pattern,
    pub name: Pattern,
    pub namespace: Pattern,
    labels: Vec<Requirement>,
    annotations: Vec<Requirement>,
}

/// A regular expression for the whole of a text, or none for any.
#[derive(Debug, Default)]
pub struct Pattern(Option<Regex>);

impl Pattern {
    pub fn set(&mut self, text: &str) -> anyhow::Result<()> {
        if !text.is_empty() {
            let pattern = Regex::new(&format!("^(?:{text})$"));
            self.0 =
                Some(pattern.map_err(|it| anyhow::format_err!("`{text}` is no pattern: {it}"))?);
        }
        Ok(())
    }

    fn is_match(&self, text: &str) -> bool {
        self.0.as_ref().is_none_or(|it| it.is_match(text))
    }
}

#[derive(Debug)]
struct Requirement {
    key: String,
    wanted: Wanted,
}

#[derive(Debug)]
enum Wanted {
    Present,
    Absent,
    Equal(String),
    Other(String),
}

impl Selector {
    /// Names and namespaces may be the original or the current ones.
    pub fn selects(&self, object: &Object) -> bool {
        let (original, current) = (object.original_id(), object.id());
        let (group, version) = object.group_version();
        let metadata = &object.value["metadata"];
        (self.namespace.is_match(&original.namespace)
            || self.namespace.is_match(&current.namespace))
            && (self.name.is_match(&original.name) || self.name.is_match(&current.name))
            && self.group.is_match(group)
            && self.version.is_match(version)
            && self.kind.is_match(object.kind())
            && self.labels.iter().all(|it| it.holds(&metadata["labels"]))
            && self.annotations.iter().all(|it| it.holds(&metadata["annotations"]))
    }

    pub fn set_labels(&mut self, text: &str) -> anyhow::Result<()> {
        self.labels = requirements(text)?;
        Ok(())
    }

    pub fn set_annotations(&mut self, text: &str) -> anyhow::Result<()> {
        self.annotations = requirements(text)?;
        Ok(())
    }
}

impl Requirement {
    fn holds(&self, map: &Value) -> bool {
        let value = map.get(&self.key);
        match &self.wanted {
            Wanted::Present => value.is_some(),
            Wanted::Absent => value.is_none(),
            Wanted::Equal(wanted) => value.is_some_and(|it| it == wanted.as_str()),
            Wanted::Other(other) => value.is_none_or(|it| it != other.as_str()),
        }
    }
}

/// `a=b,c!=d,e,!f`; sets (`in`, `notin`) are refused.
fn requirements(text: &str) -> anyhow::Result<Vec<Requirement>> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    text.split(',').map(|it| requirement(it.trim())).collect()
}

fn requirement(text: &str) -> anyhow::Result<Requirement> {
    let (key, wanted) = if let Some((key, value)) = text.split_once("!=") {
        (key, Wanted::Other(value.trim().to_owned()))
    } else if let Some((key, value)) = text.split_once("==").or_else(|| text.split_once('=')) {
        (key, Wanted::Equal(value.trim().to_owned()))
    } else if let Some(key) = text.strip_prefix('!') {
        (key, Wanted::Absent)
    } else {
        (text, Wanted::Present)
    };
    let key = key.trim();
    let value = match &wanted {
        Wanted::Equal(value) | Wanted::Other(value) => value.as_str(),
        _ => "",
    };
    let inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    if key.is_empty() || !key.chars().all(inside) || !value.chars().all(inside) {
        anyhow::bail!("the selector `{text}` is not understood natively");
    }
    Ok(Requirement { key: key.to_owned(), wanted })
}
