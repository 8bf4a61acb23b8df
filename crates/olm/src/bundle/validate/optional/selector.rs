//! A label selector as kubectl takes one: `suite=operatorframework`, `name in (a, b), !suite`.

use std::str::FromStr;

#[derive(Clone, Debug)]
pub struct Selector {
    text: String,
    requirements: Vec<LabelRequirement>,
}

#[derive(Clone, Debug)]
struct LabelRequirement {
    key: String,
    is: bool,
    /// None: any value.
    values: Option<Vec<String>>,
}

impl Selector {
    pub fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }

    /// Returns whether the selector matches the labels, which `label` looks up by key.
    pub fn matches<'a>(&self, label: impl Fn(&str) -> Option<&'a str>) -> bool {
        self.requirements.iter().all(|requirement| {
            let found = label(&requirement.key).is_some_and(|value| {
                requirement
                    .values
                    .as_ref()
                    .is_none_or(|list| list.iter().any(|listed| listed == value))
            });
            found == requirement.is
        })
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl FromStr for Selector {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let fault = |what: &str| anyhow::format_err!("`{text}` is not a label selector: {what}");
        let tokens = tokenize(text);
        let mut rest = tokens.iter().map(String::as_str).peekable();
        let mut requirements = Vec::new();
        while rest.peek().is_some() {
            let is_negated = rest.next_if_eq(&"!").is_some();
            let key = rest
                .next()
                .filter(|word| is_word(word))
                .ok_or_else(|| fault("a key is missing"))?;
            let operator = if is_negated { None } else { rest.next_if(|word| *word != ",") };
            let (is, values) = match operator {
                None => (!is_negated, None),
                Some(operator @ ("=" | "==" | "!=")) => {
                    let value = rest.next_if(|word| is_word(word)).unwrap_or_default();
                    (operator != "!=", Some(vec![value.to_owned()]))
                }
                Some(operator @ ("in" | "notin")) => {
                    let list = parse_list(&mut rest)
                        .ok_or_else(|| fault("a list such as `(a, b)` is missing"))?;
                    (operator == "in", Some(list))
                }
                Some(other) => {
                    return Err(fault(&format!(
                        "`{other}` is not an operator: use `=`, `!=`, `in` or `notin`"
                    )));
                }
            };
            requirements.push(LabelRequirement { key: key.to_owned(), is, values });
            match rest.next() {
                None => break,
                Some(",") if rest.peek().is_some() => {}
                Some(_) => return Err(fault("separate two requirements with a comma")),
            }
        }
        Ok(Self { text: text.to_owned(), requirements })
    }
}

fn parse_list<'a>(
    rest: &mut std::iter::Peekable<impl Iterator<Item = &'a str>>,
) -> Option<Vec<String>> {
    rest.next_if_eq(&"(")?;
    let mut values = Vec::new();
    loop {
        values.push(rest.next_if(|word| is_word(word)).unwrap_or_default().to_owned());
        match rest.next()? {
            "," => {}
            ")" => return Some(values),
            _ => return None,
        }
    }
}

fn is_word(token: &str) -> bool {
    !token.starts_with(['=', '!', '(', ')', ',', '<', '>'])
}

/// Splits a selector into words and operators.
fn tokenize(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut joins = false;
    for letter in text.chars() {
        let is_sign = !is_word(letter.encode_utf8(&mut [0; 4]));
        match tokens.last_mut() {
            _ if letter.is_whitespace() => joins = false,
            Some(last)
                if joins && is_sign && letter == '=' && matches!(last.as_str(), "=" | "!") =>
            {
                last.push(letter)
            }
            Some(last) if joins && !is_sign && is_word(last) => last.push(letter),
            _ => {
                tokens.push(letter.to_string());
                joins = true;
            }
        }
    }
    tokens
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
