//! Selects the objects of a patch or a replacement.

use std::collections::BTreeSet;

use super::{
    budget::Budget,
    id::Id,
    object::Object,
    pattern::{Pattern, Scope},
};
use go_data::{kubernetes::names, yaml::Value};

/// A field that is not set is open to any value.
#[derive(Debug, Default)]
pub struct Selector {
    pub group: Option<Pattern>,
    pub version: Option<Pattern>,
    pub kind: Option<Pattern>,
    pub name: Option<Pattern>,
    pub namespace: Option<Pattern>,
    labels: Vec<Requirement>,
    annotations: Vec<Requirement>,
}

/// Sets the pattern of a field; an empty text leaves it open.
pub fn set_pattern(field: &mut Option<Pattern>, text: &str, budget: &Budget) -> anyhow::Result<()> {
    // Go's regular expressions differ from ours in flags, names and assertions.
    let is_known = |flags: &str| {
        ["(?:", "(?i)", "(?s)", "(?m)", "(?-i)"].iter().any(|known| flags.starts_with(known))
    };
    let is_odd = text.match_indices("(?").any(|(at, _)| !is_known(&text[at..]));
    if is_odd || text.contains("\\C") || text.contains("\\Q") {
        anyhow::bail!("the pattern `{text}` is not supported");
    }
    if !text.is_empty() {
        *field = Some(Pattern::compile(text, Scope::Whole, budget)?.into_kept(budget)?);
    }
    Ok(())
}

fn is_match(pattern: &Option<Pattern>, text: &str, budget: &Budget) -> anyhow::Result<bool> {
    pattern.as_ref().map_or(Ok(true), |pattern| pattern.is_match(text, budget))
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
    In(BTreeSet<String>),
    NotIn(BTreeSet<String>),
    GreaterThan(i64),
    LessThan(i64),
}

impl Selector {
    /// Returns true if the selector selects an object by its original or its current name and namespace.
    pub fn selects_object(&self, object: &Object) -> anyhow::Result<bool> {
        let budget = &object.budget;
        let (original, current) = (object.original_id(), object.id());
        Ok((is_match(&self.namespace, &original.namespace, budget)?
            || is_match(&self.namespace, &current.namespace, budget)?)
            && (is_match(&self.name, &original.name, budget)?
                || is_match(&self.name, &current.name, budget)?)
            && self.selects_kind(&current, budget)?
            && self.selects_metadata(object)?)
    }

    /// Returns true if the selector selects one of the identities, with its namespace as it is written.
    pub fn selects_any(&self, ids: &[Id], budget: &Budget) -> anyhow::Result<bool> {
        for id in ids {
            if self.selects_kind(id, budget)?
                && is_match(&self.name, &id.name, budget)?
                && is_match(&self.namespace, &id.written_namespace, budget)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn selects_kind(&self, id: &Id, budget: &Budget) -> anyhow::Result<bool> {
        Ok(is_match(&self.group, &id.group, budget)?
            && is_match(&self.version, &id.version, budget)?
            && is_match(&self.kind, &id.kind, budget)?)
    }

    /// Returns the only name that is selected, if there is only one.
    pub fn literal_name(&self) -> Option<&str> {
        self.name.as_ref()?.literal_text()
    }

    pub fn selects_metadata(&self, object: &Object) -> anyhow::Result<bool> {
        object.budget.count_items(self.labels.len() + self.annotations.len())?;
        let metadata = &object.value["metadata"];
        Ok(self.labels.iter().all(|requirement| requirement.is_met_by(&metadata["labels"]))
            && self
                .annotations
                .iter()
                .all(|requirement| requirement.is_met_by(&metadata["annotations"])))
    }

    pub fn has_metadata(&self) -> bool {
        !self.labels.is_empty() || !self.annotations.is_empty()
    }

    pub fn has_id(&self) -> bool {
        let Self { group, version, kind, name, namespace, .. } = self;
        ![group, version, kind, name, namespace].iter().all(|field| field.is_none())
    }

    pub fn set_labels(&mut self, text: &str) -> anyhow::Result<()> {
        self.labels = parse_requirements(text)?;
        Ok(())
    }

    pub fn set_annotations(&mut self, text: &str) -> anyhow::Result<()> {
        self.annotations = parse_requirements(text)?;
        Ok(())
    }
}

impl Requirement {
    fn is_met_by(&self, map: &Value) -> bool {
        let value = map.get(&self.key);
        let text = value.and_then(Value::as_str);
        let has = |all: &BTreeSet<String>| text.is_some_and(|text| all.contains(text));
        let number = || text.and_then(|text| text.parse::<i64>().ok());
        match &self.condition {
            Condition::Present => value.is_some(),
            Condition::Absent => value.is_none(),
            Condition::In(all) => has(all),
            Condition::NotIn(all) => !has(all),
            Condition::GreaterThan(least) => number().is_some_and(|number| number > *least),
            Condition::LessThan(most) => number().is_some_and(|number| number < *most),
        }
    }
}

/// Parses requirements such as `a=b,c!=d,e,!f,g in (h,i),j notin (k),l>5`.
fn parse_requirements(text: &str) -> anyhow::Result<Vec<Requirement>> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0);
    for (at, c) in text.char_indices().chain([(text.len(), ',')]) {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 || at == text.len() => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    parts.into_iter().map(|part| parse_requirement(part.trim())).collect()
}

fn parse_requirement(text: &str) -> anyhow::Result<Requirement> {
    let wrong = || anyhow::format_err!("`{text}` is not a requirement of a label selector");
    let set = |words: &str| -> anyhow::Result<BTreeSet<String>> {
        let inner = words.trim().strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
        inner.ok_or_else(wrong)?.split(',').map(|part| parse_value(part.trim(), text)).collect()
    };
    let end =
        text.find(|c: char| c.is_whitespace() || "=!<>(),".contains(c)).filter(|end| *end > 0);
    let (key, rest) = text.split_at(end.unwrap_or(text.len()));
    let rest = rest.trim();
    let number = |text: &str| text.trim().parse::<i64>().map_err(|_| wrong());
    let condition = if let Some(absent) = key.strip_prefix('!') {
        return Ok(Requirement {
            key: parse_key(absent.trim(), text)?,
            condition: Condition::Absent,
        });
    } else if rest.is_empty() {
        Condition::Present
    } else if let Some(one) = rest.strip_prefix("!=") {
        Condition::NotIn([parse_value(one.trim(), text)?].into())
    } else if let Some(one) = rest.strip_prefix("==").or_else(|| rest.strip_prefix('=')) {
        Condition::In([parse_value(one.trim(), text)?].into())
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
    Ok(Requirement { key: parse_key(key, text)?, condition })
}

fn parse_value(text: &str, whole: &str) -> anyhow::Result<String> {
    let is_valid = names::validate_label_value(text).is_empty();
    anyhow::ensure!(is_valid, "`{text}` in the selector `{whole}` is not a valid label value");
    Ok(text.to_owned())
}

fn parse_key(text: &str, whole: &str) -> anyhow::Result<String> {
    let is_valid = names::validate_qualified_name(text).is_empty();
    anyhow::ensure!(is_valid, "`{text}` in the selector `{whole}` is not a valid label key");
    Ok(text.to_owned())
}
