//! Expressions, each of a type that is wanted, where one is known.

use std::rc::Rc;

use syn::{Expr, Lit, UnOp, spanned::Spanned as _};

use super::value::{Float, Function, Place, Value};
use super::{Eval, Evaluator, Frame, Stop, Ty};
use crate::types::text;

impl Evaluator<'_> {
    /// What an expression comes to. `want` is its type, if that is certain.
    pub fn expr(&self, frame: &Frame, expr: &Expr, want: &Ty) -> Eval<Value> {
        if let Some(attr) = attribute(expr) {
            return self.refuse(frame, attr, "on an expression is not read");
        }
        match expr {
            Expr::Paren(it) => {
                return self.deeper(frame, expr, || self.expr(frame, &it.expr, want));
            }
            Expr::Group(it) => {
                return self.deeper(frame, expr, || self.expr(frame, &it.expr, want));
            }
            Expr::Lit(it) => return self.literal(frame, it, want),
            _ => {}
        }
        self.deeper(frame, expr, || self.expr_(frame, expr, want))
    }

    /// As the type that is wanted.
    pub fn expr_as(&self, frame: &Frame, expr: &Expr, want: &Ty) -> Eval<Value> {
        let value = self.expr(frame, expr, want)?;
        self.conform(frame, expr, value, want)
    }

    fn expr_(&self, frame: &Frame, expr: &Expr, want: &Ty) -> Eval<Value> {
        match expr {
            Expr::Path(it) => self.path(frame, it, want),
            Expr::Call(it) => self.call(frame, it, want),
            Expr::MethodCall(it) => self.method(frame, it, want),
            Expr::Macro(it) => self.macro_(frame, &it.mac, want),
            Expr::Struct(it) => self.structure(frame, it, want),
            Expr::Binary(it) => self.binary(frame, it, want),
            Expr::Unary(it) => self.unary(frame, it, want),
            Expr::Cast(it) => self.cast(frame, it),
            Expr::Reference(it) if it.mutability.is_some() => match self.place(frame, &it.expr)? {
                Some(place) => Ok(Value::Place(place)),
                None => Ok(Value::Place(Place::new(self.expr(frame, &it.expr, want)?))),
            },
            Expr::Reference(it) => self.expr(frame, &it.expr, want),
            Expr::Tuple(it) if it.elems.is_empty() => Ok(Value::Unit),
            Expr::Tuple(it) => {
                let items = it.elems.iter().enumerate();
                let items: Eval<Vec<_>> =
                    items.map(|(index, it)| self.part(frame, it, &want.inside(index))).collect();
                Ok(Value::Tuple(items?))
            }
            Expr::Array(it) => Ok(Value::List(self.items(frame, &it.elems, want)?, "[;]")),
            Expr::Repeat(it) => {
                let value = self.part(frame, &it.expr, &want.inside(0))?;
                let usize = Ty::known("usize");
                let Value::Int(count, _) = self.expr_as(frame, &it.len, &usize)? else {
                    return self.refuse(frame, &it.len, "is no length");
                };
                Ok(Value::List(self.repeated(frame, expr, value, count)?, "[;]"))
            }
            Expr::Block(it) => {
                self.labelled(it.label.as_ref(), || self.block(frame, &it.block, want))
            }
            Expr::Const(it) => self.block(frame, &it.block, want),
            Expr::If(it) => self.if_(frame, it, want),
            Expr::Match(it) => self.match_(frame, it, want),
            Expr::Field(_) | Expr::Index(_) => self.read(frame, expr),
            Expr::Closure(it) => {
                let function = Function::Closure(Rc::new(it.clone()), frame.taken());
                Ok(Value::Function(function))
            }
            Expr::Return(it) => {
                let value = match &it.expr {
                    Some(it) => self.expr_as(frame, it, &frame.returns)?,
                    None => Value::Unit,
                };
                Err(Stop::Return(value))
            }
            Expr::Break(it) => {
                let value = match &it.expr {
                    Some(it) => self.expr(frame, it, &Ty::Unknown)?,
                    None => Value::Unit,
                };
                Err(Stop::Break(it.label.as_ref().map(|it| it.ident.to_string()), value))
            }
            Expr::Continue(it) => {
                Err(Stop::Continue(it.label.as_ref().map(|it| it.ident.to_string())))
            }
            Expr::ForLoop(_) | Expr::While(_) | Expr::Loop(_) => self.loop_(frame, expr),
            Expr::Assign(it) => {
                self.assign(frame, it)?;
                Ok(Value::Unit)
            }
            Expr::Try(it) => match self.expr(frame, &it.expr, &Ty::Unknown)? {
                Value::Option(Some(it)) | Value::Result(Ok(it)) => Ok(*it),
                Value::Option(None) => Err(Stop::Return(Value::Option(None))),
                _ => self.refuse(frame, expr, "ends in an error, which is not read"),
            },
            Expr::Range(it) => self.range(frame, it),
            Expr::Let(_) => self.refuse(frame, expr, "stands where no `let` is read"),
            Expr::Unsafe(_) => self.refuse(frame, expr, "is unsafe, which is not read"),
            Expr::Async(_) | Expr::Await(_) => {
                self.refuse(frame, expr, "does not run by itself, and is not read")
            }
            _ => self.refuse(frame, expr, "is a kind of expression that is not read"),
        }
    }

    /// An expression that becomes part of a value: as wanted, a place made a value.
    pub fn part(&self, frame: &Frame, expr: &Expr, want: &Ty) -> Eval<Value> {
        let value = self.expr(frame, expr, want)?;
        let value = self.settled(frame, expr, value)?;
        self.conform(frame, expr, value, want)
    }

    /// What a place holds, in place of it.
    pub fn settled(&self, frame: &Frame, at: &impl quote::ToTokens, value: Value) -> Eval<Value> {
        match value {
            Value::Place(place) => match place.read() {
                Some(value) => self.settled(frame, at, value),
                None => self.refuse(frame, at, "leads to no value"),
            },
            value => Ok(value),
        }
    }

    /// The items of `[a, b]`: one type for all.
    pub fn items(
        &self,
        frame: &Frame,
        items: &syn::punctuated::Punctuated<Expr, syn::Token![,]>,
        want: &Ty,
    ) -> Eval<Vec<Value>> {
        let mut inner = want.inside(0);
        let mut res: Vec<Value> = Vec::new();
        for it in items {
            let value = self.part(frame, it, &inner)?;
            if inner == Ty::Unknown {
                inner = value.ty();
                // Numbers before it that did not say their type are of this one.
                if inner != Ty::Unknown && inner.is_whole() {
                    for before in &mut res {
                        let old = std::mem::replace(before, Value::Unit);
                        *before = self.conform(frame, it, old, &inner)?;
                    }
                }
                if !inner.is_whole() {
                    inner = Ty::Unknown;
                }
            }
            res.push(value);
        }
        Ok(res)
    }

    pub fn repeated(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        value: Value,
        count: i128,
    ) -> Eval<Vec<Value>> {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        self.bounded(frame, at, count.saturating_mul(weight(&value)))?;
        Ok(vec![value; count])
    }

    fn literal(&self, frame: &Frame, lit: &syn::ExprLit, want: &Ty) -> Eval<Value> {
        let wrong = |it: syn::Error| Err(self.stop(frame, lit.span(), it.to_string()));
        Ok(match &lit.lit {
            Lit::Bool(it) => Value::Bool(it.value),
            Lit::Str(it) => Value::str(it.value()),
            Lit::Char(it) => Value::Char(it.value()),
            Lit::Byte(it) => Value::Int(it.value().into(), Some("u8")),
            Lit::ByteStr(it) => {
                let items = it.value().into_iter().map(|it| Value::Int(it.into(), Some("u8")));
                Value::List(items.collect(), "[;]")
            }
            Lit::Int(it) if matches!(it.suffix(), "f32" | "f64") => {
                match it.base10_digits().parse::<f64>() {
                    Ok(_) if it.suffix() == "f32" => {
                        Value::Float(Float::F32(it.base10_digits().parse().unwrap_or_default()))
                    }
                    Ok(it) => Value::Float(Float::F64(it)),
                    Err(_) => return self.refuse(frame, lit, "is no number that can be read"),
                }
            }
            Lit::Int(it) => self.integer(frame, lit, it, want, 1)?,
            Lit::Float(it) => {
                let (small, large) = match (it.base10_parse(), it.base10_parse()) {
                    (Ok(small), Ok(large)) => (small, large),
                    (Err(error), _) | (_, Err(error)) => return wrong(error),
                };
                Value::Float(match (it.suffix(), want.path()) {
                    ("f32", _) | ("", "f32") => Float::F32(small),
                    ("f64", _) | ("", "f64") => Float::F64(large),
                    ("", _) => Float::Either(small, large),
                    _ => return self.refuse(frame, lit, "is no number that can be read"),
                })
            }
            _ => return self.refuse(frame, lit, "is a literal that is not read"),
        })
    }

    fn integer(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        lit: &syn::LitInt,
        want: &Ty,
        sign: i128,
    ) -> Eval<Value> {
        let number = match lit.base10_parse::<i128>() {
            Ok(number) => sign * number,
            Err(error) => return Err(self.stop(frame, lit.span(), error.to_string())),
        };
        let ty = match lit.suffix() {
            "" => want.integer(),
            suffix => super::number::integer(suffix),
        };
        match ty {
            Some(ty) if !super::number::fits(number, ty) => {
                self.refuse(frame, at, format!("does not fit in `{ty}`"))
            }
            ty => Ok(Value::Int(number, ty)),
        }
    }

    fn range(&self, frame: &Frame, it: &syn::ExprRange) -> Eval<Value> {
        let (Some(start), Some(end)) = (&it.start, &it.end) else {
            return self.refuse(frame, it, "is a range that is not read");
        };
        let start = self.expr(frame, start, &Ty::Unknown)?;
        let end = self.expr(frame, end, &start.ty())?;
        let (Value::Int(low, one), Value::Int(high, other)) = (start, end) else {
            return self.refuse(frame, it, "is a range that is not read");
        };
        let closed = matches!(it.limits, syn::RangeLimits::Closed(_));
        let high = if closed { high.saturating_add(1) } else { high };
        let length = usize::try_from(high.saturating_sub(low).max(0)).unwrap_or(usize::MAX);
        self.bounded(frame, it, length)?;
        let ty = one.or(other);
        Ok(Value::Iterator((low..high).map(|it| Value::Int(it, ty)).collect()))
    }

    pub fn unary(&self, frame: &Frame, it: &syn::ExprUnary, want: &Ty) -> Eval<Value> {
        if let UnOp::Deref(_) = it.op {
            let value = self.expr(frame, &it.expr, want)?;
            return self.settled(frame, it, value);
        }
        // The literal itself may be one more than the highest.
        if let (UnOp::Neg(_), Expr::Lit(syn::ExprLit { lit: Lit::Int(lit), .. })) =
            (&it.op, crate::values::peel(&it.expr))
            && !matches!(lit.suffix(), "f32" | "f64")
        {
            return self.integer(frame, it, lit, want, -1);
        }
        let value = self.part_any(frame, &it.expr, want)?;
        match (&it.op, value) {
            (UnOp::Not(_), Value::Bool(it)) => Ok(Value::Bool(!it)),
            (UnOp::Not(_), Value::Int(number, Some(ty))) => {
                Ok(Value::Int(super::number::wrap(!number, ty), Some(ty)))
            }
            (UnOp::Neg(_), Value::Int(number, ty)) => match ty {
                Some(ty) if !super::number::fits(-number, ty) => {
                    self.refuse(frame, it, format!("does not fit in `{ty}`"))
                }
                ty => Ok(Value::Int(-number, ty)),
            },
            (UnOp::Neg(_), Value::Float(it)) => Ok(Value::Float(match it {
                Float::F32(it) => Float::F32(-it),
                Float::F64(it) => Float::F64(-it),
                Float::Either(small, large) => Float::Either(-small, -large),
            })),
            _ => self.refuse(frame, it, "is no operation that can be read"),
        }
    }

    /// A value of the wanted type or, where an operator is the user's own, of another.
    pub fn part_any(&self, frame: &Frame, expr: &Expr, want: &Ty) -> Eval<Value> {
        let value = self.expr(frame, expr, want)?;
        self.settled(frame, expr, value)
    }

    /// Ends a `break` with this label.
    pub fn labelled(
        &self,
        label: Option<&syn::Label>,
        f: impl FnOnce() -> Eval<Value>,
    ) -> Eval<Value> {
        match (f(), label) {
            (Err(Stop::Break(Some(name), value)), Some(label)) if label.name.ident == name => {
                Ok(value)
            }
            (found, _) => found,
        }
    }
}

/// How much there is in a value, roughly.
pub fn weight(value: &Value) -> usize {
    match value {
        Value::Text(it, _) => it.len().max(1),
        Value::List(it, _) | Value::Tuple(it) | Value::Set(it, _) => {
            it.iter().map(weight).sum::<usize>().max(1)
        }
        Value::Data(it) => it.fields.iter().map(|(_, it)| weight(it)).sum::<usize>().max(1),
        Value::Json(it) | Value::Foreign(_, it) => text_length(it),
        _ => 1,
    }
}

fn text_length(it: &serde_json::Value) -> usize {
    it.to_string().len().max(1)
}

pub fn is_quiet(it: &syn::Attribute) -> bool {
    it.path().is_ident("allow") || it.path().is_ident("expect")
}

/// An attribute of an expression that may change it.
pub fn attribute(expr: &Expr) -> Option<&syn::Attribute> {
    attributes(expr).iter().find(|it| !is_quiet(it))
}

/// What may take a statement away: the parser puts it on the leftmost part.
pub fn condition(expr: &Expr) -> Option<&syn::Attribute> {
    let mut expr = expr;
    loop {
        if let Some(attr) = attribute(expr) {
            return Some(attr);
        }
        expr = match expr {
            Expr::Assign(it) => &*it.left,
            Expr::Await(it) => &*it.base,
            Expr::Binary(it) => &*it.left,
            Expr::Call(it) => &*it.func,
            Expr::Cast(it) => &*it.expr,
            Expr::Field(it) => &*it.base,
            Expr::Index(it) => &*it.expr,
            Expr::MethodCall(it) => &*it.receiver,
            Expr::Range(it) => it.start.as_deref()?,
            Expr::Try(it) => &*it.expr,
            _ => return None,
        };
    }
}

/// The attributes of an expression: a `cfg` may take it away.
fn attributes(expr: &Expr) -> &[syn::Attribute] {
    macro_rules! of {
        ($($kind:ident)*) => {
            match expr {
                $(Expr::$kind(it) => &it.attrs,)*
                _ => &[],
            }
        };
    }
    of! {
        Array Assign Async Await Binary Block Break Call Cast Closure Const Continue Field ForLoop Group If Index
        Infer Let Lit Loop Macro Match MethodCall Paren Path Range RawAddr Reference Repeat Return Struct Try TryBlock
        Tuple Unary Unsafe While Yield
    }
}

/// The name of an expression that is one word.
pub fn word(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Path(it) if it.qself.is_none() => it.path.get_ident().map(text),
        _ => None,
    }
}
