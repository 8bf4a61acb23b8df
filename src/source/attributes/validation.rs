//! `schemars(length, range, pattern, …)`: what narrows the values of a field.

use schemars::{_private as upstream, Schema};
use serde_json::Value;
use syn::{Meta, spanned::Spanned as _};

use super::{alone, error, list, name_of, once, value};
use crate::source::values::Values;

#[derive(Default)]
pub struct Validation {
    length: Option<Bounds>,
    range: Option<Bounds>,
    pattern: Option<String>,
    contains: Option<String>,
    format: Option<&'static str>,
    required: Option<()>,
    inner: Option<Box<Self>>,
}

#[derive(Default)]
struct Bounds {
    min: Option<Value>,
    max: Option<Value>,
    equal: Option<Value>,
}

/// Takes one item in; says whether it is one of these at all.
pub fn item(into: &mut Validation, meta: &Meta, values: &Values<'_>) -> syn::Result<bool> {
    match name_of(meta).as_str() {
        "length" => once(&mut into.length, bounds(meta, values)?, meta)?,
        "range" => once(&mut into.range, bounds(meta, values)?, meta)?,
        "required" => {
            alone(meta)?;
            once(&mut into.required, (), meta)?;
        }
        "pattern" => {
            let Meta::List(it) = meta else {
                return error(meta.span(), "`pattern` must be of the form `pattern(\"…\")`");
            };
            let pattern = values.text(&it.parse_args::<syn::Expr>()?)?;
            one_of(into, meta)?;
            into.pattern = Some(pattern);
        }
        "regex" => {
            let mut pattern = None;
            for inner in list(meta)? {
                match name_of(&inner).as_str() {
                    "pattern" => once(&mut pattern, values.text(value(&inner)?)?, &inner)?,
                    other => {
                        let message = format!("unknown item in `regex`: `{other}`");
                        return error(inner.span(), message);
                    }
                }
            }
            let Some(pattern) = pattern else {
                return error(meta.span(), "`regex` requires `pattern = …`");
            };
            one_of(into, meta)?;
            into.pattern = Some(pattern);
        }
        "contains" => {
            let mut pattern = None;
            for inner in list(meta)? {
                match name_of(&inner).as_str() {
                    "pattern" => once(&mut pattern, values.text(value(&inner)?)?, &inner)?,
                    other => {
                        let message = format!("unknown item in `contains`: `{other}`");
                        return error(inner.span(), message);
                    }
                }
            }
            let Some(pattern) = pattern else {
                return error(meta.span(), "`contains` requires `pattern = …`");
            };
            one_of(into, meta)?;
            into.contains = Some(pattern);
        }
        "inner" => {
            let inner = into.inner.get_or_insert_default();
            for meta in list(meta)? {
                if !item(inner, &meta, values)? {
                    let message = format!("unknown schemars attribute `{}`", name_of(&meta));
                    return error(meta.span(), message);
                }
            }
        }
        name => {
            let formats = [
                ("email", "email"),
                ("url", "uri"),
                ("ip", "ip"),
                ("ipv4", "ipv4"),
                ("ipv6", "ipv6"),
            ];
            let Some((_, format)) = formats.iter().find(|(it, _)| *it == name) else {
                return Ok(false);
            };
            alone(meta)?;
            once(&mut into.format, *format, meta)?;
        }
    }
    Ok(true)
}

fn one_of(into: &Validation, meta: &Meta) -> syn::Result<()> {
    if into.pattern.is_some() || into.contains.is_some() {
        return error(meta.span(), "only one of `pattern`, `regex` and `contains`, and once");
    }
    Ok(())
}

fn bounds(meta: &Meta, values: &Values<'_>) -> syn::Result<Bounds> {
    let mut res = Bounds::default();
    for inner in list(meta)? {
        let slot = match name_of(&inner).as_str() {
            "min" => &mut res.min,
            "max" => &mut res.max,
            "equal" => &mut res.equal,
            other => {
                let message =
                    format!("unknown item in schemars {} attribute: `{other}`", name_of(meta));
                return error(inner.span(), message);
            }
        };
        let value = value(&inner)?;
        // A string holds an expression.
        let number = match value {
            syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => {
                values.number(&text.parse()?)?
            }
            value => values.number(value)?,
        };
        once(slot, number, &inner)?;
    }
    if res.equal.is_some() && (res.min.is_some() || res.max.is_some()) {
        return error(meta.span(), "`equal` stands alone: no `min` or `max` beside it");
    }
    Ok(res)
}

impl Validation {
    pub fn required(&self) -> bool {
        self.required.is_some()
    }

    pub fn is_default(&self) -> bool {
        let Self { length, range, pattern, contains, format, required, inner } = self;
        let text = pattern.is_none() && contains.is_none() && format.is_none();
        length.is_none() && range.is_none() && text && required.is_none() && inner.is_none()
    }

    pub fn apply(&self, schema: &mut Schema) {
        if let Some(length) = &self.length {
            length.apply(schema, "string", "Length");
            length.apply(schema, "array", "Items");
        }
        if let Some(range) = &self.range {
            range.apply(schema, "number", "imum");
        }
        if let Some(pattern) = &self.pattern {
            upstream::insert_validation_property(schema, "string", "pattern", pattern.clone());
        }
        if let Some(contains) = &self.contains {
            upstream::must_contain(schema, contains);
        }
        if let Some(format) = self.format {
            schema.insert("format".to_owned(), format.into());
        }
        if let Some(inner) = &self.inner {
            let items = schema.get_mut("items");
            if let Some(items) = items.and_then(|it| <&mut Schema>::try_from(it).ok()) {
                inner.apply(items);
            }
        }
    }
}

impl Bounds {
    fn apply(&self, schema: &mut Schema, of: &str, suffix: &str) {
        for (bound, prefix) in [(&self.min, "min"), (&self.max, "max")] {
            if let Some(value) = bound.as_ref().or(self.equal.as_ref()) {
                let key = format!("{prefix}{suffix}");
                upstream::insert_validation_property(schema, of, &key, value.clone());
            }
        }
    }
}
