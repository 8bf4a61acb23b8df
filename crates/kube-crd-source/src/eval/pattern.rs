//! Patterns: whether a value matches, and what they bind.

use syn::Pat;

use super::value::{Place, Step, Value};
use super::{Eval, Evaluator, Frame, Ty};
use crate::names::{Miss, Named, Space};
use crate::world::{Kind, Path, plain};

impl Evaluator<'_> {
    /// Whether a value matches. What is bound is bound in the frame, of a pattern that does not match too.
    pub fn matches(&self, frame: &Frame, pat: &Pat, value: &Value) -> Eval<bool> {
        self.deeper(frame, pat, || self.matches_(frame, pat, value))
    }

    fn matches_(&self, frame: &Frame, pat: &Pat, value: &Value) -> Eval<bool> {
        match pat {
            Pat::Wild(_) | Pat::Rest(_) => return Ok(true),
            Pat::Paren(it) => return self.matches(frame, &it.pat, value),
            Pat::Reference(it) => {
                let value = self.settled(frame, pat, value.clone())?;
                return self.matches(frame, &it.pat, &value);
            }
            Pat::Type(it) => return self.matches(frame, &it.pat, value),
            Pat::Or(it) => {
                for it in &it.cases {
                    let before = frame.bound();
                    if self.matches(frame, it, value)? {
                        return Ok(true);
                    }
                    frame.forget(before);
                }
                return Ok(false);
            }
            Pat::Ident(it) if it.subpat.is_none() && !self.is_constant(frame, it)? => {
                let value = match it.by_ref {
                    Some(_) => value.clone(),
                    None => value.clone(),
                };
                frame.bind(plain(&it.ident), value);
                return Ok(true);
            }
            Pat::Ident(it) if let Some((_, inner)) = &it.subpat => {
                frame.bind(plain(&it.ident), value.clone());
                return self.matches(frame, inner, value);
            }
            _ => {}
        }
        // What `&mut` leads to is matched where it is, so that what is bound leads there too.
        let place = match value {
            Value::Place(place) => Some(place.clone()),
            _ => None,
        };
        let value = self.settled(frame, pat, value.clone())?;
        let part = |step: Step, value: &Value| match &place {
            Some(place) => Value::Place(place.then(step)),
            None => value.clone(),
        };
        match pat {
            Pat::Lit(it) => {
                let expr = syn::Expr::Lit(it.clone());
                self.equals(frame, pat, &expr, &value)
            }
            Pat::Const(it) => {
                let found = self.block(frame, &it.block, &value.ty())?;
                self.same(frame, pat, &found, &value)
            }
            Pat::Path(it) => {
                let expr = it.clone();
                self.names(frame, &expr, &value)
            }
            Pat::Ident(it) => {
                let expr =
                    syn::ExprPath { attrs: Vec::new(), qself: None, path: it.ident.clone().into() };
                self.names(frame, &expr, &value)
            }
            Pat::Tuple(it) => match &value {
                Value::Tuple(items) => {
                    let steps = |index: usize| Step::Field(index.to_string());
                    self.row(frame, &it.elems, items, &|index, it| part(steps(index), it))
                }
                Value::Unit => Ok(it.elems.is_empty()),
                _ => self.refuse(frame, pat, "is matched with what is no tuple"),
            },
            Pat::Slice(it) => match &value {
                Value::List(items, _) => {
                    self.row(frame, &it.elems, items, &|index, it| part(Step::Index(index), it))
                }
                _ => self.refuse(frame, pat, "is matched with what is no list"),
            },
            Pat::Range(it) => {
                let end = |expr: &Option<Box<syn::Expr>>| match expr {
                    Some(expr) => self.part(frame, expr, &value.ty()).map(Some),
                    None => Ok(None),
                };
                let (low, high) = (end(&it.start)?, end(&it.end)?);
                let compare = |one: &Value, other: &Value| match super::compare::order(one, other) {
                    Some(it) => Ok(it),
                    None => self.refuse(frame, pat, "is a range that is not read"),
                };
                let above = match &low {
                    Some(low) => compare(low, &value)?.is_le(),
                    None => true,
                };
                let below = match &high {
                    Some(high) => match it.limits {
                        syn::RangeLimits::Closed(_) => compare(&value, high)?.is_le(),
                        syn::RangeLimits::HalfOpen(_) => compare(&value, high)?.is_lt(),
                    },
                    None => true,
                };
                Ok(above && below)
            }
            Pat::TupleStruct(it) => {
                let Some(fields) = self.opened(frame, &it.path, &value)? else { return Ok(false) };
                let inside = fields.iter().map(|(_, it)| it.clone()).collect::<Vec<_>>();
                let option = matches!(value, Value::Option(_));
                let step = |index: usize| match option {
                    true => Step::Inside,
                    false => Step::Field(fields[index].0.clone()),
                };
                self.row(frame, &it.elems, &inside, &|index, it| part(step(index), it))
            }
            Pat::Struct(it) => {
                let Some(fields) = self.opened(frame, &it.path, &value)? else { return Ok(false) };
                for field in &it.fields {
                    if let Some(attr) = field.attrs.first() {
                        return self.refuse(frame, attr, "on a field is not read");
                    }
                    let name = match &field.member {
                        syn::Member::Named(it) => plain(it),
                        syn::Member::Unnamed(it) => it.index.to_string(),
                    };
                    let Some((_, found)) = fields.iter().find(|(it, _)| *it == name) else {
                        return self.refuse(frame, field, "is no field of it");
                    };
                    if !self.matches(frame, &field.pat, &part(Step::Field(name), found))? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            _ => self.refuse(frame, pat, "is a pattern that is not read"),
        }
    }

    fn equals(&self, frame: &Frame, pat: &Pat, expr: &syn::Expr, value: &Value) -> Eval<bool> {
        let found = self.part(frame, expr, &Ty::Unknown)?;
        // `"a"` matches a `&str` alone; a `String` does not compile.
        self.same(frame, pat, &found, value)
    }

    fn row(
        &self,
        frame: &Frame,
        pats: &syn::punctuated::Punctuated<Pat, syn::Token![,]>,
        items: &[Value],
        part: &dyn Fn(usize, &Value) -> Value,
    ) -> Eval<bool> {
        let rest = pats.iter().position(|it| match it {
            Pat::Rest(_) => true,
            Pat::Ident(it) => {
                it.subpat.as_ref().is_some_and(|(_, it)| matches!(**it, Pat::Rest(_)))
            }
            _ => false,
        });
        let matched =
            |pat: &Pat, index: usize| self.matches(frame, pat, &part(index, &items[index]));
        let Some(at) = rest else {
            if pats.len() != items.len() {
                return Ok(false);
            }
            for (index, pat) in pats.iter().enumerate() {
                if !matched(pat, index)? {
                    return Ok(false);
                }
            }
            return Ok(true);
        };
        let after = pats.len() - at - 1;
        if items.len() < at + after {
            return Ok(false);
        }
        if let Pat::Ident(it) = &pats[at] {
            let inside = items[at..items.len() - after].to_vec();
            frame.bind(plain(&it.ident), Value::List(inside, "[]"));
        }
        for (index, pat) in pats.iter().enumerate().take(at) {
            if !matched(pat, index)? {
                return Ok(false);
            }
        }
        for (index, pat) in pats.iter().skip(at + 1).enumerate() {
            if !matched(pat, items.len() - after + index)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a word in a pattern is a constant or a variant, and binds nothing.
    fn is_constant(&self, frame: &Frame, it: &syn::PatIdent) -> Eval<bool> {
        let path = Path { global: false, parts: vec![plain(&it.ident)], span: it.ident.span() };
        match self.world.resolve(frame.module, &path, Space::Values) {
            Ok(Named::Item(id)) => match &self.world.items[id].kind {
                Kind::Data(input) => Ok(matches!(
                    &input.data,
                    syn::Data::Struct(it) if matches!(it.fields, syn::Fields::Unit)
                )),
                Kind::Fn(_) => Ok(false),
                Kind::Const(_) => Ok(true),
                _ => self.refuse(frame, it, "is a pattern that is not read"),
            },
            Ok(Named::Member(..)) => Ok(true),
            Ok(Named::Foreign(path)) => match path.as_str() {
                "std::option::Option::None" => Ok(true),
                path if path
                    .rsplit("::")
                    .next()
                    .is_some_and(|it| it.starts_with(char::is_uppercase)) =>
                {
                    self.refuse(frame, it, "is a pattern that is not read")
                }
                _ => Ok(false),
            },
            Ok(Named::Module(_)) | Err(Miss::Nothing) => Ok(false),
            // Lower case is never a constant that a macro or a glob would bring in code that is written as usual.
            Err(_) => {
                let name = plain(&it.ident);
                match name.chars().any(char::is_uppercase) {
                    true => self.refuse(frame, it, "may be a constant or bind a value"),
                    false => Ok(false),
                }
            }
        }
    }

    /// Whether a path without arguments matches.
    fn names(&self, frame: &Frame, path: &syn::ExprPath, value: &Value) -> Eval<bool> {
        match (self.named(frame, path)?, value) {
            (Found::Variant(id, name), Value::Data(data)) if data.id == id => {
                Ok(data.variant.as_deref() == Some(name.as_str()))
            }
            (Found::None, Value::Option(it)) => Ok(it.is_none()),
            (Found::Struct(id), Value::Data(data)) => Ok(data.id == id),
            (Found::Other, _) => {
                let found = self.path(frame, path, &value.ty())?;
                self.same(frame, path, &found, value)
            }
            _ => self.refuse(frame, path, "is a pattern that is not read"),
        }
    }

    fn named(&self, frame: &Frame, path: &syn::ExprPath) -> Eval<Found> {
        if let (Some(first), Some(Ty::Data(id, _)), 2) =
            (path.path.segments.first(), &frame.itself, path.path.segments.len())
            && first.ident == "Self"
        {
            let name = plain(&path.path.segments[1].ident);
            return Ok(match self.is_variant(*id, &name) {
                true => Found::Variant(*id, name),
                false => Found::Other,
            });
        }
        if let (Some(Ty::Data(id, _)), true) = (&frame.itself, path.path.is_ident("Self")) {
            return Ok(Found::Struct(*id));
        }
        Ok(match self.world.resolve(frame.module, &Path::from(&path.path), Space::Values) {
            Ok(Named::Member(id, name)) if self.is_variant(id, &name) => Found::Variant(id, name),
            Ok(Named::Foreign(path)) if path == "std::option::Option::None" => Found::None,
            Ok(Named::Foreign(path)) => Found::Known(path),
            Ok(Named::Item(id)) if matches!(self.world.items[id].kind, Kind::Data(_)) => {
                Found::Struct(id)
            }
            _ => Found::Other,
        })
    }

    /// The fields of a value that is what a path in a pattern says; none where it is something else.
    fn opened(
        &self,
        frame: &Frame,
        path: &syn::Path,
        value: &Value,
    ) -> Eval<Option<Vec<(String, Value)>>> {
        let expr = syn::ExprPath { attrs: Vec::new(), qself: None, path: path.clone() };
        let mut found = self.named(frame, &expr)?;
        // A struct with named fields is a type only.
        if let Found::Other = found
            && let Ok(Named::Item(id)) =
                self.world.resolve(frame.module, &Path::from(path), Space::Types)
        {
            found = Found::Struct(id);
        }
        let one = |it: &Value| Some(vec![("0".to_owned(), it.clone())]);
        match (found, value) {
            (Found::Variant(id, name), Value::Data(data)) if data.id == id => {
                Ok((data.variant.as_deref() == Some(name.as_str())).then(|| data.fields.clone()))
            }
            (Found::Struct(id), Value::Data(data)) if data.id == id => {
                Ok(Some(data.fields.clone()))
            }
            (Found::Known(path), Value::Option(it)) if path == "std::option::Option::Some" => {
                Ok(it.as_ref().and_then(|it| one(it)))
            }
            (Found::Known(path), Value::Result(it)) if path == "std::result::Result::Ok" => {
                Ok(it.as_ref().ok().and_then(|it| one(it)))
            }
            (Found::Known(path), Value::Result(it)) if path == "std::result::Result::Err" => {
                Ok(it.as_ref().err().and_then(|it| one(it)))
            }
            _ => self.refuse(frame, path, "is a pattern that is not read"),
        }
    }
}

enum Found {
    Variant(crate::world::ItemId, String),
    Struct(crate::world::ItemId),
    None,
    Known(String),
    /// A constant.
    Other,
}

/// A place made of a value, for what is bound by reference.
pub fn place_of(value: Value) -> Place {
    match value {
        Value::Place(place) => place,
        value => Place::new(value),
    }
}
