//! Selects the objects of a patch or a replacement.

use regex_lite::Regex;

use super::{id::Id, object::Object, pattern};
use go_data::{kubernetes::names, yaml::Value};

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
pub struct Pattern {
    regex: Option<Regex>,
    /// The only text that matches, if the expression is plain text.
    literal: Option<String>,
}

impl Pattern {
    pub fn set(&mut self, text: &str) -> anyhow::Result<()> {
        // Go's regular expressions differ from ours in flags, names and assertions.
        let odd = text.match_indices("(?").any(|(at, _)| {
            !["(?:", "(?i)", "(?s)", "(?m)", "(?-i)"].iter().any(|it| text[at..].starts_with(it))
        });
        if odd || text.contains("\\C") || text.contains("\\Q") {
            anyhow::bail!("the pattern `{text}` is not supported");
        }
        if !text.is_empty() {
            let pattern = pattern::compile(&format!("^(?:{text})$"));
            let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
            self.literal = Some(text.to_owned()).filter(|text| text.chars().all(is_plain));
            self.regex =
                Some(pattern.map_err(|it| {
                    anyhow::format_err!("`{text}` is not a regular expression: {it}")
                })?);
        }
        Ok(())
    }

    fn is_match(&self, text: &str) -> bool {
        self.regex.as_ref().is_none_or(|it| it.is_match(text))
    }

    pub fn is_any(&self) -> bool {
        self.regex.is_none()
    }

    pub fn literal(&self) -> Option<&str> {
        self.literal.as_deref()
    }
}

#[derive(Debug)]
struct Requirement {
    key: String,
    condition: Condition,
}

#[derive(Debug)]
enum Condition {
    Present,
    Absent,
    In(Vec<String>),
    NotIn(Vec<String>),
    GreaterThan(i64),
    LessThan(i64),
}

impl Selector {
    /// Names and namespaces may be the original or the current ones.
    pub fn selects(&self, object: &Object) -> bool {
        let (original, current) = (object.original_id(), object.id());
        (self.namespace.is_match(&original.namespace)
            || self.namespace.is_match(&current.namespace))
            && (self.name.is_match(&original.name) || self.name.is_match(&current.name))
            && self.selects_kind(&current)
            && self.selects_metadata(object)
    }

    /// A current or former identity, with its namespace as written.
    pub fn selects_id(&self, id: &Id) -> bool {
        self.selects_kind(id)
            && self.name.is_match(&id.name)
            && self.namespace.is_match(&id.own_namespace)
    }

    fn selects_kind(&self, id: &Id) -> bool {
        self.group.is_match(&id.group)
            && self.version.is_match(&id.version)
            && self.kind.is_match(&id.kind)
    }

    pub fn selects_metadata(&self, object: &Object) -> bool {
        let metadata = &object.value["metadata"];
        self.labels.iter().all(|it| it.holds(&metadata["labels"]))
            && self.annotations.iter().all(|it| it.holds(&metadata["annotations"]))
    }

    pub fn has_metadata(&self) -> bool {
        !self.labels.is_empty() || !self.annotations.is_empty()
    }

    pub fn has_id(&self) -> bool {
        let Self { group, version, kind, name, namespace, .. } = self;
        ![group, version, kind, name, namespace].iter().all(|it| it.is_any())
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
        let has = |all: &[String]| value.is_some_and(|it| all.iter().any(|one| it == one.as_str()));
        let number = || value.and_then(Value::as_str).and_then(|it| it.parse::<i64>().ok());
        match &self.condition {
            Condition::Present => value.is_some(),
            Condition::Absent => value.is_none(),
            Condition::In(all) => has(all),
            Condition::NotIn(all) => !has(all),
            Condition::GreaterThan(least) => number().is_some_and(|it| it > *least),
            Condition::LessThan(most) => number().is_some_and(|it| it < *most),
        }
    }
}

/// `a=b,c!=d,e,!f,g in (h,i),j notin (k),l>5`
fn requirements(text: &str) -> anyhow::Result<Vec<Requirement>> {
    let (mut res, mut start, mut depth) = (Vec::new(), 0, 0);
    for (at, c) in text.char_indices().chain([(text.len(), ',')]) {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 || at == text.len() => {
                res.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    res.into_iter().map(|it| requirement(it.trim())).collect()
}

fn requirement(text: &str) -> anyhow::Result<Requirement> {
    let wrong = || anyhow::format_err!("`{text}` is not a requirement of a label selector");
    let set = |words: &str| -> anyhow::Result<Vec<String>> {
        let inner = words.trim().strip_prefix('(').and_then(|it| it.strip_suffix(')'));
        inner.ok_or_else(wrong)?.split(',').map(|it| value(it.trim(), text)).collect()
    };
    let end = text.find(|c: char| c.is_whitespace() || "=!<>(),".contains(c)).filter(|it| *it > 0);
    let (key, rest) = text.split_at(end.unwrap_or(text.len()));
    let rest = rest.trim();
    let number = |text: &str| text.trim().parse::<i64>().map_err(|_| wrong());
    let condition = if let Some(absent) = key.strip_prefix('!') {
        return Ok(Requirement { key: label(absent.trim(), text)?, condition: Condition::Absent });
    } else if rest.is_empty() {
        Condition::Present
    } else if let Some(one) = rest.strip_prefix("!=") {
        Condition::NotIn(vec![value(one.trim(), text)?])
    } else if let Some(one) = rest.strip_prefix("==").or_else(|| rest.strip_prefix('=')) {
        Condition::In(vec![value(one.trim(), text)?])
    } else if let Some(words) = rest.strip_prefix("notin") {
        Condition::NotIn(set(words)?)
    } else if let Some(words) = rest.strip_prefix("in") {
        Condition::In(set(words)?)
    } else if let Some(least) = rest.strip_prefix('>') {
        Condition::GreaterThan(number(least)?)
    } else if let Some(most) = rest.strip_prefix('<') {
        Condition::LessThan(number(most)?)
    } else {
        return Err(wrong());
    };
    Ok(Requirement { key: label(key, text)?, condition })
}

fn value(text: &str, whole: &str) -> anyhow::Result<String> {
    let is_valid = names::label_value(text).is_empty();
    anyhow::ensure!(is_valid, "`{text}` in the selector `{whole}` is not a valid label value");
    Ok(text.to_owned())
}

fn label(text: &str, whole: &str) -> anyhow::Result<String> {
    let is_valid = names::qualified(text).is_empty();
    anyhow::ensure!(is_valid, "`{text}` in the selector `{whole}` is not a valid label key");
    Ok(text.to_owned())
}
