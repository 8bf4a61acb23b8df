//! Constant expressions → values: literals, constants of the project, `json!` text.
//!
//! What is not understood is an error at its place; nothing is ever computed by halves.

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use serde_json::{Map, Value as Json};
use syn::{Expr, Lit, UnOp, spanned::Spanned as _};

use super::attributes::error;
use super::eval::value::{Float, Value};
use super::eval::{Evaluator, Frame, Ty};
use super::names::{Named, Space};
use super::world::{Kind, ModuleId, Path, World};
pub use crate::text::peel;
use crate::text::text;

/// Evaluates what stands in one module.
#[derive(Clone, Copy)]
pub struct Values<'a> {
    pub world: &'a World,
    pub module: ModuleId,
}

/// How often constants are looked up in all: each may name others twice, and those others.
const MOST_CONSTANTS: usize = 200_000;

const NOT_READ: &str = "is computed, which is not read yet; write the value itself";

impl<'a> Values<'a> {
    /// A string: a literal, a constant, `concat!` of literals.
    pub fn text(&self, expr: &Expr) -> syn::Result<String> {
        self.literally(expr).or_else(|before| match self.computed(expr, &Ty::known("str")) {
            Ok((Value::Text(it, _), _)) => Ok(it),
            Ok(_) => Err(before),
            Err(error) => Err(nearer(expr, before, error)),
        })
    }

    fn literally(&self, expr: &Expr) -> syn::Result<String> {
        match peel(expr) {
            Expr::Lit(syn::ExprLit { lit: Lit::Str(it), .. }) => Ok(it.value()),
            Expr::Path(path) => {
                let (there, constant) = self.constant(path)?;
                if !is_str(&constant.ty) {
                    return error(path.span(), format!("`{}` is no `&str`", text(path)));
                }
                there
                    .literally(&constant.expr)
                    .map_err(|it| by_way_of(path.span(), &text(path), &it))
            }
            Expr::Macro(_) => self.world.literal_text(self.module, expr),
            other => error(other.span(), format!("`{}` {NOT_READ}", text(other))),
        }
    }

    /// A number, of the type that rustc would infer for it where any would do.
    pub fn number(&self, expr: &Expr) -> syn::Result<Json> {
        self.plain_number(expr).or_else(|before| match self.computed(expr, &Ty::Unknown) {
            Ok((Value::Int(..) | Value::Float(_), json)) => Ok(json),
            Ok(_) => Err(before),
            Err(error) => Err(nearer(expr, before, error)),
        })
    }

    /// A value of whatever type it is run to be, and how serde writes it.
    fn computed(&self, expr: &Expr, want: &Ty) -> syn::Result<(Value, Json)> {
        let evaluator = Evaluator::new(self.world);
        let frame = Frame::new(self.module);
        let found = evaluator.part(&frame, expr, want).and_then(|value| {
            // A number that nothing says the type of is an `i32`.
            let value = match value {
                Value::Int(_, None) => evaluator.conform(&frame, expr, value, &Ty::known("i32"))?,
                value => value,
            };
            let json = evaluator.json_of(&frame, expr, &value)?;
            Ok((value, json))
        });
        found.map_err(|stop| match Evaluator::told(Err(stop)) {
            Err(problem) => syn::Error::new(expr.span(), problem.message),
            Ok(_) => syn::Error::new(expr.span(), "has no value"),
        })
    }

    fn plain_number(&self, expr: &Expr) -> syn::Result<Json> {
        match self.number_type(expr)? {
            Some(ty) => self.plain_number_as(expr, &ty),
            None if is_float(expr) => self.plain_number_as(expr, "f64"),
            None => self.plain_number_as(expr, "i32"),
        }
    }

    /// The type that a suffix or a constant gives a number.
    fn number_type(&self, expr: &Expr) -> syn::Result<Option<String>> {
        Ok(match peel(expr) {
            Expr::Lit(syn::ExprLit { lit: Lit::Int(it), .. }) => suffix(it.suffix()),
            Expr::Lit(syn::ExprLit { lit: Lit::Float(it), .. }) => suffix(it.suffix()),
            Expr::Unary(it) => self.number_type(&it.expr)?,
            Expr::Binary(it) => match self.number_type(&it.left)? {
                Some(ty) => Some(ty),
                None => self.number_type(&it.right)?,
            },
            Expr::Path(path) => {
                let named = self.foreign_constant(path);
                match named {
                    Some((ty, _)) => Some(ty.to_owned()),
                    None => Some(text(&self.constant(path)?.1.ty)),
                }
            }
            _ => None,
        })
    }

    /// A number of a type of the language.
    pub fn number_as(&self, expr: &Expr, ty: &str) -> syn::Result<Json> {
        self.plain_number_as(expr, ty).or_else(|before| match self.computed(expr, &Ty::known(ty)) {
            Ok((Value::Int(_, Some(of)), json)) if of == ty => Ok(json),
            Ok((Value::Float(Float::F64(_)), json)) if ty == "f64" => Ok(json),
            Ok((Value::Float(Float::F32(_)), json)) if ty == "f32" => Ok(json),
            Ok(_) => Err(before),
            Err(error) => Err(nearer(expr, before, error)),
        })
    }

    fn plain_number_as(&self, expr: &Expr, ty: &str) -> syn::Result<Json> {
        match ty {
            "f64" => Ok(Json::from(self.float(expr, ty)?)),
            #[allow(clippy::cast_possible_truncation, reason = "as rustc reads an `f32` literal")]
            "f32" => match peel(expr) {
                Expr::Lit(syn::ExprLit { lit: Lit::Float(it), .. }) => {
                    Ok(Json::from(it.base10_parse::<f32>()?))
                }
                _ => Ok(Json::from(self.float(expr, ty)? as f32)),
            },
            _ => {
                let number = self.integer(expr, ty)?;
                match (i64::try_from(number), u64::try_from(number)) {
                    (Ok(number), _) => Ok(Json::from(number)),
                    (_, Ok(number)) => Ok(Json::from(number)),
                    _ => error(expr.span(), "a number of more than 64 bits is not read"),
                }
            }
        }
    }

    fn float(&self, expr: &Expr, ty: &str) -> syn::Result<f64> {
        match peel(expr) {
            Expr::Lit(syn::ExprLit { lit: Lit::Float(it), .. })
                if matches!(it.suffix(), "" | "f32" | "f64") =>
            {
                it.base10_parse()
            }
            // `1f64` is an integer to the lexer.
            Expr::Lit(syn::ExprLit { lit: Lit::Int(it), .. }) if it.suffix() == ty => {
                it.base10_parse::<u32>().map(f64::from)
            }
            Expr::Unary(syn::ExprUnary { op: UnOp::Neg(_), expr, .. }) => {
                Ok(-self.float(expr, ty)?)
            }
            Expr::Path(path) => {
                let (there, constant) = self.constant(path)?;
                if text(&constant.ty) != ty {
                    return error(path.span(), format!("`{}` is no `{ty}`", text(path)));
                }
                let found = there.float(&constant.expr, ty);
                found.map_err(|it| by_way_of(path.span(), &text(path), &it))
            }
            other => error(other.span(), format!("`{}` {NOT_READ}", text(other))),
        }
    }

    fn integer(&self, expr: &Expr, ty: &str) -> syn::Result<i128> {
        let Some((low, high)) = range(ty) else {
            return error(expr.span(), format!("`{}` is no number", text(expr)));
        };
        let number = match peel(expr) {
            Expr::Lit(syn::ExprLit { lit: Lit::Int(it), .. })
                if it.suffix().is_empty() || it.suffix() == ty =>
            {
                it.base10_parse::<i128>()?
            }
            Expr::Unary(syn::ExprUnary { op: UnOp::Neg(_), expr: inner, .. }) => {
                match peel(inner) {
                    // The literal itself may be one more than the highest.
                    Expr::Lit(syn::ExprLit { lit: Lit::Int(it), .. })
                        if it.suffix().is_empty() || it.suffix() == ty =>
                    {
                        -it.base10_parse::<i128>()?
                    }
                    inner => -self.integer(inner, ty)?,
                }
            }
            Expr::Binary(it) => {
                let (left, right) = (self.integer(&it.left, ty)?, self.integer(&it.right, ty)?);
                let found = match it.op {
                    syn::BinOp::Add(_) => left.checked_add(right),
                    syn::BinOp::Sub(_) => left.checked_sub(right),
                    syn::BinOp::Mul(_) => left.checked_mul(right),
                    syn::BinOp::Div(_) => left.checked_div(right),
                    _ => return error(expr.span(), format!("`{}` {NOT_READ}", text(expr))),
                };
                let Some(found) = found else {
                    return error(expr.span(), format!("`{}` has no value", text(expr)));
                };
                found
            }
            Expr::Path(path) => match self.foreign_constant(path) {
                Some((of, number)) if of == ty => number,
                Some(_) => return error(path.span(), format!("`{}` is no `{ty}`", text(path))),
                None => {
                    let (there, constant) = self.constant(path)?;
                    if text(&constant.ty) != ty {
                        return error(path.span(), format!("`{}` is no `{ty}`", text(path)));
                    }
                    let found = there.integer(&constant.expr, ty);
                    found.map_err(|it| by_way_of(path.span(), &text(path), &it))?
                }
            },
            other => return error(other.span(), format!("`{}` {NOT_READ}", text(other))),
        };
        if number < low || high < number {
            return error(expr.span(), format!("`{}` does not fit in `{ty}`", text(expr)));
        }
        Ok(number)
    }

    /// `i32::MAX` and the like.
    fn foreign_constant(&self, path: &syn::ExprPath) -> Option<(&'static str, i128)> {
        let named = self.world.resolve(self.module, &Path::from(&path.path), Space::Values).ok()?;
        let Named::Foreign(name) = named else { return None };
        let (ty, which) = name.rsplit_once("::")?;
        let (ty, low, high) = RANGES.iter().find(|(it, ..)| *it == ty)?;
        match which {
            "MIN" => Some((ty, *low)),
            "MAX" => Some((ty, *high)),
            _ => None,
        }
    }

    /// A constant of the project, and where its value is to be read.
    pub fn constant(&self, path: &syn::ExprPath) -> syn::Result<(Self, &'a syn::ItemConst)> {
        let looked = self.world.constant_steps.get() + 1;
        self.world.constant_steps.set(looked);
        if MOST_CONSTANTS < looked {
            return error(path.span(), format!("`{}` takes too many steps to be read", text(path)));
        }
        let found = self.world.resolve(self.module, &Path::from(&path.path), Space::Values);
        if let (Ok(Named::Item(id)), None) = (found, &path.qself) {
            let item = &self.world.items[id];
            if let Kind::Const(it) = &item.kind {
                return Ok((Self { world: self.world, module: item.module }, it));
            }
        }
        error(path.span(), format!("`{}` is no constant that can be read", text(path)))
    }

    /// A value of whatever type its text has, as serde writes it.
    pub fn free(&self, expr: &Expr) -> syn::Result<Json> {
        self.plain(expr).or_else(|_| self.computed(expr, &Ty::Unknown).map(|(_, json)| json))
    }

    fn plain(&self, expr: &Expr) -> syn::Result<Json> {
        match peel(expr) {
            Expr::Reference(it) => self.free(&it.expr),
            Expr::Lit(syn::ExprLit { lit: Lit::Bool(it), .. }) => Ok(it.value.into()),
            Expr::Lit(syn::ExprLit { lit: Lit::Str(it), .. }) => Ok(it.value().into()),
            Expr::Lit(syn::ExprLit { lit: Lit::Char(it), .. }) => Ok(it.value().to_string().into()),
            Expr::Lit(_) | Expr::Unary(_) | Expr::Binary(_) => self.number(expr),
            Expr::Array(it) => it.elems.iter().map(|it| self.free(it)).collect(),
            Expr::Macro(it) if it.mac.path.segments.last().is_some_and(|it| it.ident == "json") => {
                self.json(it.mac.tokens.clone())
            }
            Expr::Path(path) => match self.constant(path) {
                Ok((_, constant)) if is_str(&constant.ty) => self.text(expr).map(Json::from),
                Ok((_, constant)) if range(&text(&constant.ty)).is_some() => self.number(expr),
                _ => error(path.span(), format!("`{}` {NOT_READ}", text(path))),
            },
            other => error(other.span(), format!("`{}` {NOT_READ}", text(other))),
        }
    }

    /// The text of a `json!`.
    pub fn json(&self, tokens: TokenStream) -> syn::Result<Json> {
        let span = tokens.span();
        let parts: Vec<TokenTree> = tokens.into_iter().collect();
        match &parts[..] {
            [TokenTree::Ident(it)] if it == "null" => Ok(Json::Null),
            [TokenTree::Group(group)] if group.delimiter() == Delimiter::Bracket => {
                let items = comma_separated(group.stream());
                items.into_iter().map(|it| self.json(it)).collect()
            }
            [TokenTree::Group(group)] if group.delimiter() == Delimiter::Brace => {
                self.object(group.stream())
            }
            [] => error(span, "a value is missing"),
            _ => self.free(&syn::parse2(parts.into_iter().collect())?),
        }
    }

    fn object(&self, tokens: TokenStream) -> syn::Result<Json> {
        let mut res = Map::new();
        for entry in comma_separated(tokens) {
            let span = entry.span();
            let mut parts = entry.into_iter();
            let key = parts.next().map(TokenStream::from).unwrap_or_default();
            let key: syn::LitStr = syn::parse2(key)?;
            match parts.next() {
                Some(TokenTree::Punct(it)) if it.as_char() == ':' => {}
                _ => return error(span, "a key and a value are separated by `:`"),
            }
            res.insert(key.value(), self.json(parts.collect())?);
        }
        Ok(Json::Object(res))
    }
}

pub fn comma_separated(tokens: TokenStream) -> Vec<TokenStream> {
    let mut res = vec![TokenStream::new()];
    for token in tokens {
        match token {
            TokenTree::Punct(it) if it.as_char() == ',' => res.push(TokenStream::new()),
            token => res.last_mut().expect("there is one from the start").extend([token]),
        }
    }
    // A comma at the end separates nothing.
    if res.last().is_some_and(TokenStream::is_empty) {
        res.pop();
    }
    res
}

/// What is said of a name alone goes before what is said of code.
fn nearer(expr: &Expr, before: syn::Error, computed: syn::Error) -> syn::Error {
    match peel(expr) {
        Expr::Path(_) | Expr::Lit(_) => before,
        _ => computed,
    }
}

fn by_way_of(span: Span, name: &str, inner: &syn::Error) -> syn::Error {
    syn::Error::new(span, format!("`{name}` cannot be read: {inner}"))
}

fn is_float(expr: &Expr) -> bool {
    match peel(expr) {
        Expr::Lit(it) => matches!(it.lit, Lit::Float(_)),
        Expr::Unary(it) => is_float(&it.expr),
        _ => false,
    }
}

pub fn is_str(ty: &syn::Type) -> bool {
    matches!(text(ty).as_str(), "&str" | "&'static str")
}

fn suffix(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

const RANGES: &[(&str, i128, i128)] = &[
    ("i8", i8::MIN as i128, i8::MAX as i128),
    ("i16", i16::MIN as i128, i16::MAX as i128),
    ("i32", i32::MIN as i128, i32::MAX as i128),
    ("i64", i64::MIN as i128, i64::MAX as i128),
    ("isize", i64::MIN as i128, i64::MAX as i128),
    ("u8", 0, u8::MAX as i128),
    ("u16", 0, u16::MAX as i128),
    ("u32", 0, u32::MAX as i128),
    ("u64", 0, u64::MAX as i128),
    ("usize", 0, u64::MAX as i128),
];

/// The lowest and highest number of an integer type of at most 64 bits.
pub fn range(ty: &str) -> Option<(i128, i128)> {
    RANGES.iter().find(|(it, ..)| *it == ty).map(|(_, low, high)| (*low, *high))
}
