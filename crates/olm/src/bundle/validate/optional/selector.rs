//! A label selector as kubectl takes one: `suite=operatorframework`, `name in (a, b), !suite`.

use std::str::FromStr;

#[derive(Clone, Debug)]
pub struct Selector {
    text: String,
    requirements: Vec<Requirement>,
}

#[derive(Clone, Debug)]
struct Requirement {
    key: String,
    is: bool,
    /// None: any value.
    values: Option<Vec<String>>,
}

impl Selector {
    pub fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }

    /// Whether the labels, given one by one, are selected.
    pub fn matches<'a>(&self, label: impl Fn(&str) -> Option<&'a str>) -> bool {
        self.requirements.iter().all(|it| {
            let found = label(&it.key).is_some_and(|value| {
                it.values.as_ref().is_none_or(|list| list.iter().any(|it| it == value))
            });
            found == it.is
        })
    }

    pub fn text(&self) -> &str {
        &self.text
    }
}

impl FromStr for Selector {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let fault = |what: &str| anyhow::format_err!("`{text}` is not a label selector: {what}");
        let tokens = tokens(text);
        let mut rest = tokens.iter().map(String::as_str).peekable();
        let mut requirements = Vec::new();
        while rest.peek().is_some() {
            let is_negated = rest.next_if_eq(&"!").is_some();
            let key =
                rest.next().filter(|it| is_word(it)).ok_or_else(|| fault("a key is missing"))?;
            let operator = if is_negated { None } else { rest.next_if(|it| *it != ",") };
            let (is, values) = match operator {
                None => (!is_negated, None),
                Some(it @ ("=" | "==" | "!=")) => {
                    let value = rest.next_if(|it| is_word(it)).unwrap_or_default();
                    (it != "!=", Some(vec![value.to_owned()]))
                }
                Some(it @ ("in" | "notin")) => {
                    let list = list(&mut rest)
                        .ok_or_else(|| fault("a list such as `(a, b)` is missing"))?;
                    (it == "in", Some(list))
                }
                Some(other) => {
                    return Err(fault(&format!(
                        "`{other}` is not an operator: use `=`, `!=`, `in` or `notin`"
                    )));
                }
            };
            requirements.push(Requirement { key: key.to_owned(), is, values });
            match rest.next() {
                None => break,
                Some(",") if rest.peek().is_some() => {}
                Some(_) => return Err(fault("separate two requirements with a comma")),
            }
        }
        Ok(Self { text: text.to_owned(), requirements })
    }
}

fn list<'a>(rest: &mut std::iter::Peekable<impl Iterator<Item = &'a str>>) -> Option<Vec<String>> {
    rest.next_if_eq(&"(")?;
    let mut res = Vec::new();
    loop {
        res.push(rest.next_if(|it| is_word(it)).unwrap_or_default().to_owned());
        match rest.next()? {
            "," => {}
            ")" => return Some(res),
            _ => return None,
        }
    }
}

fn is_word(token: &str) -> bool {
    !token.starts_with(['=', '!', '(', ')', ',', '<', '>'])
}

/// Words and signs.
fn tokens(text: &str) -> Vec<String> {
    let mut res: Vec<String> = Vec::new();
    let mut joins = false;
    for it in text.chars() {
        let is_sign = !is_word(it.encode_utf8(&mut [0; 4]));
        match res.last_mut() {
            _ if it.is_whitespace() => joins = false,
            Some(last) if joins && is_sign && it == '=' && matches!(last.as_str(), "=" | "!") => {
                last.push(it)
            }
            Some(last) if joins && !is_sign && is_word(last) => last.push(it),
            _ => {
                res.push(it.to_string());
                joins = true;
            }
        }
    }
    res
}

#[test]
fn selectors_are_read_as_kubectl_reads_them() {
    let matches = |text: &str| {
        let selector: Selector = text.parse().expect(text);
        selector.matches(|key| {
            [("name", "a"), ("suite", "s")].iter().find(|it| it.0 == key).map(|it| it.1)
        })
    };
    for text in [
        "",
        "name=a",
        "name==a",
        "name = a, suite=s",
        "name in (a,b)",
        "other notin (a)",
        "!other",
        "name",
        "other!=a",
        "suite notin (x, y),name",
    ] {
        assert!(matches(text), "{text}");
    }
    for text in [
        "name=b",
        "name!=a",
        "!name",
        "other",
        "name in (b)",
        "name notin (a)",
        "name=",
        "name in ()",
    ] {
        assert!(!matches(text), "{text}");
    }
    for text in ["=a", "name=a,", "name in a", "name>1", "name in (a", "name a", ",", "!"] {
        assert!(text.parse::<Selector>().is_err(), "{text}");
    }
}
