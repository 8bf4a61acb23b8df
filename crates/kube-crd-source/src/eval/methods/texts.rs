//! Methods of `str`, `String` and `char`s in them.

use super::super::value::Value;
use super::super::{Eval, Evaluator, Ty};
use super::Call;

impl Evaluator<'_> {
    pub fn text_method<A: quote::ToTokens>(
        &self,
        call: &Call<'_, '_, A>,
        text: &str,
        owned: bool,
    ) -> Eval<Option<Value>> {
        let (frame, at) = (call.frame, call.at);
        let pattern = |index: usize| -> Eval<String> {
            match self.take(frame, at, &call.given, index, &Ty::Unknown)? {
                Value::Text(it, _) => Ok(it),
                Value::Char(it) => Ok(it.to_string()),
                _ => self.refuse(frame, at, "looks for what is not read"),
            }
        };
        let count = |index: usize| -> Eval<usize> {
            match self.take(frame, at, &call.given, index, &Ty::known("usize"))? {
                Value::Int(it, _) => Ok(usize::try_from(it).unwrap_or(usize::MAX)),
                _ => self.refuse(frame, at, "counts what is not read"),
            }
        };
        let strs = |items: Vec<&str>| Value::Iterator(items.into_iter().map(Value::str).collect());
        let option = |it: Option<&str>| Value::Option(it.map(|it| Box::new(Value::str(it))));
        let write = |changed: String| match call.place.write(Value::text(changed)) {
            true => Ok(Some(Value::Unit)),
            false => self.refuse(frame, at, "changes what is no place"),
        };
        Ok(Some(match call.shape() {
            ("to_owned" | "into_owned" | "into_string", 0) => Value::text(text),
            ("into_boxed_str", 0) => Value::str(text),
            ("as_str" | "as_mut_str" | "as_ref" | "borrow" | "deref", 0) => Value::str(text),
            ("as_bytes" | "into_bytes" | "bytes", 0) => {
                let items: Vec<_> =
                    text.bytes().map(|it| Value::Int(it.into(), Some("u8"))).collect();
                match call.name {
                    "as_bytes" => Value::List(items, "[]"),
                    "bytes" => Value::Iterator(items),
                    _ => Value::List(items, "std::vec::Vec"),
                }
            }
            ("len", 0) => Value::usize(text.len()),
            ("is_empty", 0) => Value::Bool(text.is_empty()),
            ("trim", 0) => Value::str(text.trim()),
            ("trim_start", 0) => Value::str(text.trim_start()),
            ("trim_end", 0) => Value::str(text.trim_end()),
            ("to_lowercase", 0) => Value::text(text.to_lowercase()),
            ("to_uppercase", 0) => Value::text(text.to_uppercase()),
            ("to_ascii_lowercase", 0) => Value::text(text.to_ascii_lowercase()),
            ("to_ascii_uppercase", 0) => Value::text(text.to_ascii_uppercase()),
            ("chars", 0) => Value::Iterator(text.chars().map(Value::Char).collect()),
            ("lines", 0) => strs(text.lines().collect()),
            ("split_whitespace", 0) => strs(text.split_whitespace().collect()),
            ("split", 1) => strs(text.split(&pattern(0)?).collect()),
            ("rsplit", 1) => strs(text.rsplit(&pattern(0)?).collect()),
            ("splitn", 2) => {
                let count = count(0)?;
                strs(text.splitn(count, &pattern(1)?).collect())
            }
            ("split_once", 1) => {
                Value::Option(text.split_once(&pattern(0)?).map(|(one, other)| {
                    Box::new(Value::Tuple(vec![Value::str(one), Value::str(other)]))
                }))
            }
            ("strip_prefix", 1) => option(text.strip_prefix(&pattern(0)?)),
            ("strip_suffix", 1) => option(text.strip_suffix(&pattern(0)?)),
            ("trim_start_matches", 1) => Value::str(text.trim_start_matches(&pattern(0)?)),
            ("trim_end_matches", 1) => Value::str({
                let pattern = pattern(0)?;
                let mut rest = text;
                while let Some(shorter) =
                    rest.strip_suffix(&pattern).filter(|_| !pattern.is_empty())
                {
                    rest = shorter;
                }
                rest.to_owned()
            }),
            ("contains", 1) => Value::Bool(text.contains(&pattern(0)?)),
            ("starts_with", 1) => Value::Bool(text.starts_with(&pattern(0)?)),
            ("ends_with", 1) => Value::Bool(text.ends_with(&pattern(0)?)),
            ("eq_ignore_ascii_case", 1) => Value::Bool(text.eq_ignore_ascii_case(&pattern(0)?)),
            ("find", 1) => {
                Value::Option(text.find(&pattern(0)?).map(|it| Box::new(Value::usize(it))))
            }
            ("replace", 2) => {
                let (from, to) = (pattern(0)?, pattern(1)?);
                self.bounded(frame, at, text.len().saturating_mul(to.len() + 1))?;
                Value::text(text.replace(&from, &to))
            }
            ("replacen", 3) => {
                let (from, to) = (pattern(0)?, pattern(1)?);
                self.bounded(frame, at, text.len().saturating_mul(to.len() + 1))?;
                Value::text(text.replacen(&from, &to, count(2)?))
            }
            ("repeat", 1) => {
                let count = count(0)?;
                self.bounded(frame, at, text.len().max(1).saturating_mul(count))?;
                Value::text(text.repeat(count))
            }
            ("parse", 0) => {
                let target = match call.turbofish.first() {
                    Some(it) => it.clone(),
                    None => call.want.inside(0),
                };
                self.parse(frame, at, text, &target)?
            }
            ("push_str", 1) if owned => {
                let added = pattern(0)?;
                self.bounded(frame, at, text.len() + added.len())?;
                return write(format!("{text}{added}"));
            }
            ("push", 1) if owned => {
                let added = pattern(0)?;
                self.bounded(frame, at, text.len() + added.len())?;
                return write(format!("{text}{added}"));
            }
            ("insert_str" | "insert", 2) if owned => {
                let (index, added) = (count(0)?, pattern(1)?);
                if !text.is_char_boundary(index) {
                    return self.panics(frame, at, "there is no such index");
                }
                return write(format!("{}{added}{}", &text[..index], &text[index..]));
            }
            ("clear", 0) if owned => return write(String::new()),
            ("truncate", 1) if owned => {
                let length = count(0)?;
                return match text.get(..length.min(text.len())) {
                    Some(it) => write(it.to_owned()),
                    None => self.panics(frame, at, "there is no such index"),
                };
            }
            ("pop", 0) if owned => {
                let mut rest = text.to_owned();
                let last = rest.pop();
                write(rest)?;
                Value::Option(last.map(|it| Box::new(Value::Char(it))))
            }
            ("cmp" | "partial_cmp", _) => return Ok(None),
            _ => return Ok(None),
        }))
    }
}
