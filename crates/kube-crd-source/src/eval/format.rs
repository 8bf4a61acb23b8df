//! `format!` and its like: the text with its holes filled.

use syn::punctuated::Punctuated;
use syn::{Expr, Token};

use super::value::{Float, Value};
use super::{Eval, Evaluator, Frame, Ty};
use crate::world::plain;

impl Evaluator<'_> {
    /// What `format!(…)` of these tokens gives.
    pub fn formatted(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        arguments: &Punctuated<Expr, Token![,]>,
    ) -> Eval<String> {
        let mut arguments = arguments.iter();
        let Some(first) = arguments.next() else { return Ok(String::new()) };
        let text = match first {
            Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(it), .. }) => it.value(),
            Expr::Macro(_) => match self.expr(frame, first, &Ty::known("str"))? {
                Value::Text(it, _) => it,
                _ => return self.refuse(frame, first, "is no text"),
            },
            _ => return self.refuse(frame, first, "is no text"),
        };
        let mut unnamed = Vec::new();
        let mut named = Vec::new();
        for it in arguments {
            match it {
                Expr::Assign(it) => {
                    let Some(name) = super::expr::word(&it.left) else {
                        return self.refuse(frame, &it.left, "is no name");
                    };
                    named.push((name, self.part_any(frame, &it.right, &Ty::Unknown)?));
                }
                it => unnamed.push(self.part_any(frame, it, &Ty::Unknown)?),
            }
        }
        let mut res = String::new();
        let mut next = 0;
        let mut rest = text.as_str();
        while let Some(start) = rest.find(['{', '}']) {
            res.push_str(&rest[..start]);
            let tail = &rest[start..];
            if tail.starts_with("{{") || tail.starts_with("}}") {
                res.push_str(&tail[..1]);
                rest = &tail[2..];
                continue;
            }
            let Some(end) = tail.find('}').filter(|_| tail.starts_with('{')) else {
                return self.refuse(frame, first, "is no format that can be read");
            };
            let (name, spec) = tail[1..end].split_once(':').unwrap_or((&tail[1..end], ""));
            let value = match (name.trim(), name.trim().parse::<usize>()) {
                ("", _) => {
                    next += 1;
                    unnamed.get(next - 1).cloned()
                }
                (_, Ok(index)) => unnamed.get(index).cloned(),
                (name, _) => match named.iter().find(|(it, _)| it == name) {
                    Some((_, value)) => Some(value.clone()),
                    None => {
                        let Ok(path) = syn::parse_str::<syn::ExprPath>(name) else {
                            return self.refuse(frame, first, "is no format that can be read");
                        };
                        if path.path.get_ident().is_none_or(|it| plain(it).is_empty()) {
                            return self.refuse(frame, first, "is no format that can be read");
                        }
                        // Names in a text stand where the text stands.
                        match frame.local(name) {
                            Some(slot) => Some(slot.borrow().clone()),
                            None => match self.path(frame, &path, &Ty::Unknown) {
                                Ok(value) => Some(value),
                                Err(super::Stop::Problem(_)) => {
                                    return self.refuse(
                                        frame,
                                        at,
                                        format!("names `{name}`, which cannot be read"),
                                    );
                                }
                                Err(stop) => return Err(stop),
                            },
                        }
                    }
                },
            };
            let Some(value) = value else {
                return self.refuse(frame, first, "has more holes than values");
            };
            let value = self.settled(frame, at, value)?;
            res.push_str(&self.shown(frame, first, &value, spec)?);
            self.bounded(frame, at, res.len())?;
            rest = &tail[end + 1..];
        }
        res.push_str(rest);
        Ok(res)
    }

    /// A value in a hole with `:spec`.
    fn shown(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        value: &Value,
        spec: &str,
    ) -> Eval<String> {
        if spec.is_empty() {
            return self.display(frame, at, value);
        }
        let Some(spec) = Spec::read(spec) else {
            return self.refuse(frame, at, format!("has `{{:{spec}}}` in it, which is not read"));
        };
        let not_read = || self.refuse(frame, at, "shows a value in a way that is not read");
        let text = match (value, spec.kind) {
            (Value::Int(it, _), 'x' | 'X' | 'o' | 'b') if 0 <= *it => match spec.kind {
                'x' => format!("{it:x}"),
                'X' => format!("{it:X}"),
                'o' => format!("{it:o}"),
                _ => format!("{it:b}"),
            },
            (Value::Int(it, _), _) => it.to_string(),
            (Value::Float(Float::F64(it) | Float::Either(_, it)), kind) => {
                match (spec.precision, kind) {
                    (Some(precision), _) => format!("{it:.precision$}"),
                    (None, '?') => format!("{it:?}"),
                    (None, _) => format!("{it}"),
                }
            }
            (Value::Float(Float::F32(it)), kind) => match (spec.precision, kind) {
                (Some(precision), _) => format!("{it:.precision$}"),
                (None, '?') => format!("{it:?}"),
                (None, _) => format!("{it}"),
            },
            (Value::Text(it, _), '?') => format!("{it:?}"),
            (Value::Char(it), '?') => format!("{it:?}"),
            (Value::Bool(it), _) => it.to_string(),
            (Value::Text(it, _), ' ') => match spec.precision {
                Some(precision) => it.chars().take(precision).collect(),
                None => it.clone(),
            },
            (Value::Char(it), ' ') => it.to_string(),
            // A derived `Debug` of a variant without fields is its name.
            (Value::Data(data), '?')
                if spec.width == 0
                    && data.fields.is_empty()
                    && self.derives(data.id, "std::fmt::Debug")? =>
            {
                data.variant.clone().unwrap_or_else(|| self.world.items[data.id].name.clone())
            }
            _ => return not_read(),
        };
        if !matches!(value, Value::Int(..) | Value::Float(_)) && spec.zero {
            return not_read();
        }
        let length = text.chars().count();
        let missing = spec.width.saturating_sub(length);
        if missing == 0 {
            return Ok(text);
        }
        self.bounded(frame, at, missing)?;
        if spec.zero {
            let (sign, digits) = match text.strip_prefix('-') {
                Some(digits) => ("-", digits),
                None => ("", text.as_str()),
            };
            return Ok(format!("{sign}{}{digits}", "0".repeat(missing)));
        }
        let right = matches!(value, Value::Int(..) | Value::Float(_));
        let fill = |count: usize| spec.fill.to_string().repeat(count);
        Ok(match spec.align {
            Some('<') => text + &fill(missing),
            Some('>') => fill(missing) + &text,
            Some(_) => fill(missing / 2) + &text + &fill(missing - missing / 2),
            None if right => fill(missing) + &text,
            None => text + &fill(missing),
        })
    }
}

struct Spec {
    fill: char,
    align: Option<char>,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    kind: char,
}

impl Spec {
    fn read(spec: &str) -> Option<Self> {
        let mut res =
            Self { fill: ' ', align: None, zero: false, width: 0, precision: None, kind: ' ' };
        let mut chars: Vec<char> = spec.trim_end().chars().collect();
        let is_align = |it: Option<&char>| matches!(it, Some('<' | '>' | '^'));
        if is_align(chars.get(1)) {
            res.fill = chars[0];
            res.align = Some(chars[1]);
            chars.drain(..2);
        } else if is_align(chars.first()) {
            res.align = Some(chars[0]);
            chars.drain(..1);
        }
        if chars.first() == Some(&'0') {
            res.zero = true;
            chars.remove(0);
        }
        let digits = |chars: &mut Vec<char>| {
            let count = chars.iter().take_while(|it| it.is_ascii_digit()).count();
            chars.drain(..count).collect::<String>()
        };
        let width = digits(&mut chars);
        if !width.is_empty() {
            res.width = width.parse().ok()?;
        }
        if chars.first() == Some(&'.') {
            chars.remove(0);
            let precision: usize = digits(&mut chars).parse().ok()?;
            res.precision = Some(precision).filter(|it| *it < 400);
            res.precision?;
        }
        match chars[..] {
            [] => {}
            [kind @ ('x' | 'X' | 'o' | 'b' | '?')] => res.kind = kind,
            _ => return None,
        }
        Some(res)
    }
}
