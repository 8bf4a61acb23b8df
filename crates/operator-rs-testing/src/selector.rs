//! Label and field selectors, as the server reads them.

use super::{
    object::Object,
    refusal::Refusal,
    request::Request,
    selectable::{self, Field},
    store::Store,
};

/// The objects that a list or a watch is limited to.
#[derive(Clone, Debug, Default)]
pub struct Selector {
    labels: Vec<Requirement>,
    /// A field, its value, and whether it has to be equal.
    fields: Vec<(Field, String, bool)>,
}

#[derive(Clone, Debug)]
struct Requirement {
    key: String,
    values: Vec<String>,
    operator: Operator,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Operator {
    In,
    NotIn,
    Exists,
    Absent,
    Above,
    Below,
}

impl Selector {
    /// Reads the two selectors of a request.
    pub fn of_request(store: &Store, request: &Request) -> Result<Self, Refusal> {
        let find = |name: &str| selectable::find(store, &request.resource, &request.api_version, name);
        let fields = split_requirements(request.param("fieldSelector")).into_iter().map(|text| {
            let (name, value, equal) = parse_field_requirement(text)?;
            Ok((find(name)?, value.to_owned(), equal))
        });
        Ok(Self {
            labels: parse_label_selector(request.param("labelSelector"))?,
            fields: fields.collect::<Result<_, _>>()?,
        })
    }

    /// Returns true if an object matches.
    pub fn matches(&self, object: &Object) -> bool {
        self.labels.iter().all(|requirement| requirement.matches(object.labels.get(&requirement.key)))
            && self.fields.iter().all(|(field, want, equal)| (field.value(object) == *want) == *equal)
    }
}

fn parse_label_selector(labels: &str) -> Result<Vec<Requirement>, Refusal> {
    if !labels.trim().is_empty() && labels.split(',').any(|part| part.trim().is_empty()) {
        return Err(Refusal::bad_request("found '', expected: identifier after ','"));
    }
    split_requirements(labels).into_iter().map(parse_requirement).collect()
}

impl Requirement {
    fn matches(&self, value: Option<&String>) -> bool {
        match self.operator {
            Operator::In => value.is_some_and(|value| self.values.contains(value)),
            Operator::NotIn => value.is_none_or(|value| !self.values.contains(value)),
            Operator::Exists => value.is_some(),
            Operator::Absent => value.is_none(),
            Operator::Above | Operator::Below => {
                let number = |it: &String| it.parse::<i64>().ok();
                let (Some(value), Some(limit)) = (value.and_then(number), self.values.first().and_then(number)) else {
                    return false;
                };
                if self.operator == Operator::Above { limit < value } else { value < limit }
            }
        }
    }
}

/// Splits at the commas outside of parentheses.
fn split_requirements(text: &str) -> Vec<&str> {
    let mut depth = 0;
    let at = |c: char| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == ',' && depth == 0
    };
    text.split(at).map(str::trim).filter(|part| !part.is_empty()).collect()
}

fn parse_requirement(text: &str) -> Result<Requirement, Refusal> {
    let make = |key: &str, operator, values: Vec<&str>| Requirement {
        key: key.trim().into(),
        values: values.into_iter().map(|value| value.trim().to_owned()).collect(),
        operator,
    };
    if let Some((head, values)) = text.strip_suffix(')').and_then(|head| head.split_once('(')) {
        return match head.split_whitespace().collect::<Vec<_>>().as_slice() {
            [key, "in"] => Ok(make(key, Operator::In, values.split(',').collect())),
            [key, "notin"] => Ok(make(key, Operator::NotIn, values.split(',').collect())),
            _ => Err(Refusal::bad_request(format!("unable to parse requirement: found `{text}`"))),
        };
    }
    let parsed = if let Some((key, value)) = text.split_once("!=") {
        make(key, Operator::NotIn, vec![value])
    } else if let Some((key, value)) = text.split_once("==").or_else(|| text.split_once('=')) {
        make(key, Operator::In, vec![value])
    } else if let Some((key, value)) = text.split_once('>') {
        make(key, Operator::Above, vec![value])
    } else if let Some((key, value)) = text.split_once('<') {
        make(key, Operator::Below, vec![value])
    } else if let Some(key) = text.strip_prefix('!') {
        make(key, Operator::Absent, vec![])
    } else {
        make(text, Operator::Exists, vec![])
    };
    let is_word = |it: &String| {
        let ends = |it: Option<char>| it.is_none_or(|it| it.is_ascii_alphanumeric());
        ends(it.chars().next())
            && ends(it.chars().next_back())
            && it.len() < 64
            && it.chars().all(|it| it.is_ascii_alphanumeric() || "-_.".contains(it))
    };
    let is_key = |it: &str| {
        let name = it.rsplit('/').next().unwrap_or_default();
        !name.is_empty() && is_word(&name.to_owned())
    };
    let is_number = |it: &String| it.parse::<i64>().is_ok();
    if [Operator::Above, Operator::Below].contains(&parsed.operator) && !parsed.values.iter().all(is_number) {
        let why =
            format!("values[0]: Invalid value: for 'Gt', 'Lt' operators, the value must be an integer in `{text}`");
        return Err(Refusal::bad_request(why));
    }
    let is_valid = is_key(&parsed.key) && parsed.values.iter().all(is_word);
    if !is_valid && !parsed.key.contains(char::is_whitespace) {
        return Err(Refusal::bad_request(format!("unable to parse requirement: invalid key or value in `{text}`")));
    }
    match parsed.key.split_whitespace().nth(1) {
        Some(found) => {
            let expected = "in, notin, =, ==, !=, gt, lt";
            Err(Refusal::bad_request(format!("unable to parse requirement: found '{found}', expected: {expected}")))
        }
        None => Ok(parsed),
    }
}

fn parse_field_requirement(text: &str) -> Result<(&str, &str, bool), Refusal> {
    if let Some((field, value)) = text.split_once("!=") {
        return Ok((field, value, false));
    }
    let parts = text.split_once("==").or_else(|| text.split_once('='));
    let unreadable = || Refusal::bad_request(format!("invalid selector: '{text}'; can't understand '{text}'"));
    parts.map(|(field, value)| (field, value, true)).ok_or_else(unreadable)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn matches(selector: &str, of: &[(&str, &str)]) -> bool {
        let of: BTreeMap<String, String> = of.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        parse_label_selector(selector).unwrap().iter().all(|it| it.matches(of.get(&it.key)))
    }

    #[test]
    fn labels_are_selected_as_kubernetes_selects_them() {
        let of = [("app", "web"), ("tier", "db")];
        for it in ["", "app=web", "app==web,tier", "app!=x", "no!=x", "app in (web,x),!no", "no notin (a)"] {
            assert!(matches(it, &of), "{it}");
        }
        for it in ["app=x", "no", "!app", "app notin (web)", "app in (a,b)", "app=web,tier!=db"] {
            assert!(!matches(it, &of), "{it}");
        }
        assert_eq!(parse_label_selector("a b c").unwrap_err().code, 400);
    }
}
