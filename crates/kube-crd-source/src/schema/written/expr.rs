//! Expressions in a function that makes a schema. What is not here is refused at its place.

use serde_json::{Map, Value as Json};
use syn::{Expr, ExprPath};

use super::run::{Frame, Ran, Run, Stop};
use super::value::{Key, Value};
use crate::eval;
use crate::names::{Named, Space};
use crate::types::{Scope, Type, text};
use crate::values::Values;
use crate::world::{Kind, Path, plain};

impl Run<'_> {
    pub fn expr(&mut self, frame: &Frame, expr: &Expr) -> Ran<Value> {
        if let Some(attr) = eval::attribute(expr) {
            return self.refuse(frame, attr, "on an expression is not read");
        }
        self.deeper(frame, expr, |run| run.expr_(frame, expr))
    }

    fn expr_(&mut self, frame: &Frame, expr: &Expr) -> Ran<Value> {
        match expr {
            Expr::Paren(it) => self.expr(frame, &it.expr),
            Expr::Group(it) => self.expr(frame, &it.expr),
            Expr::Reference(it) => self.expr(frame, &it.expr),
            Expr::Unary(it) if matches!(it.op, syn::UnOp::Deref(_)) => self.expr(frame, &it.expr),
            Expr::Unary(it) if matches!(it.op, syn::UnOp::Not(_)) => {
                match self.expr(frame, &it.expr)?.json() {
                    Some(Json::Bool(it)) => Ok(Value::from(!it)),
                    _ => self.refuse(frame, expr, "is no condition that is read"),
                }
            }
            Expr::Block(it) if it.label.is_none() => self.block(frame, &it.block),
            Expr::Path(it) => self.path(frame, it),
            Expr::Macro(it) => self.macro_(frame, &it.mac),
            Expr::Call(it) => self.call_expr(frame, it),
            Expr::MethodCall(it) => self.method(frame, it),
            Expr::If(it) => self.if_(frame, it),
            Expr::Match(it) => {
                let value = self.owned(frame, &it.expr)?;
                for arm in &it.arms {
                    if !arm.attrs.is_empty() {
                        return self.refuse(frame, &arm.pat, "is a pattern that is not read");
                    }
                    let before = frame.bound();
                    if self.matches(frame, &arm.pat, value.clone())? {
                        let res = self.owned(frame, &arm.body);
                        frame.forget(before);
                        return res;
                    }
                }
                self.refuse(frame, expr, "matches nothing")
            }
            Expr::ForLoop(it) if it.label.is_none() => {
                let Some(Json::Array(items)) = self.expr(frame, &it.expr)?.json() else {
                    return self.refuse(frame, &it.expr, "is no list that is read");
                };
                for item in items {
                    let before = frame.bound();
                    let item = match item {
                        Json::String(it) => Value::Text(it),
                        item => Value::Json(item),
                    };
                    self.bind(frame, &it.pat, item)?;
                    self.block(frame, &it.body)?;
                    frame.forget(before);
                }
                Ok(Value::Unit)
            }
            Expr::Return(it) => Err(Stop::Return(match &it.expr {
                Some(it) => self.owned(frame, it)?,
                None => Value::Unit,
            })),
            Expr::Assign(it) => {
                let value = self.owned(frame, &it.right)?;
                if let Expr::Path(path) = &*it.left
                    && let Some(name) = path.path.get_ident()
                    && frame.rebind(&plain(name), value.clone())
                {
                    return Ok(Value::Unit);
                }
                let left = self.place_to_write(frame, &it.left)?;
                match (left, value.json()) {
                    (Some(place), Some(value)) if place.write(value.clone()).is_some() => {
                        Ok(Value::Unit)
                    }
                    _ => self.refuse(frame, expr, "gives a value to what is no place"),
                }
            }
            Expr::Index(_) => match self.place_to_write(frame, expr)? {
                // What is not there is `null` to serde_json.
                Some(place) => match place.look(|_| ()) {
                    Some(()) => Ok(Value::Place(place)),
                    None => self.refuse(frame, expr, "is not there"),
                },
                None => self.refuse(frame, expr, "is no place that is read"),
            },
            Expr::Array(it) => {
                let items: Ran<Vec<Json>> =
                    it.elems.iter().map(|it| self.data(frame, it)).collect();
                Ok(Value::Json(Json::Array(items?)))
            }
            Expr::Tuple(it) if it.elems.is_empty() => Ok(Value::Unit),
            Expr::Tuple(it) => {
                let items: Ran<Vec<Json>> =
                    it.elems.iter().map(|it| self.data(frame, it)).collect();
                Ok(Value::Json(Json::Array(items?)))
            }
            Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(it), .. }) => Ok(Value::Text(it.value())),
            Expr::Lit(_) | Expr::Unary(_) | Expr::Binary(_) => {
                let values = Values { world: &self.reader.world, module: frame.scope.module };
                let found = values.free(expr);
                self.told(frame, found).map(Value::Json)
            }
            expr => self.refuse(frame, expr, "is code that is not read"),
        }
    }

    /// An expression as serde writes it.
    pub fn data(&mut self, frame: &Frame, expr: &Expr) -> Ran<Json> {
        match self.expr(frame, expr)?.json() {
            Some(it) => Ok(it),
            None => self.refuse(frame, expr, "is no data"),
        }
    }

    pub fn text_of(&mut self, frame: &Frame, expr: &Expr) -> Ran<String> {
        match self.expr(frame, expr)?.text() {
            Some(it) => Ok(it),
            None => self.refuse(frame, expr, "is no text"),
        }
    }

    fn place_to_write(&mut self, frame: &Frame, expr: &Expr) -> Ran<Option<super::value::Place>> {
        match expr {
            Expr::Index(it) => {
                let Some(place) = self.place_to_write(frame, &it.expr)? else { return Ok(None) };
                let key = match self.data(frame, &it.index)? {
                    Json::String(it) => Key::Name(it),
                    Json::Number(number) => match number.as_u64().map(usize::try_from) {
                        Some(Ok(index)) => Key::Index(index),
                        _ => return Ok(None),
                    },
                    _ => return Ok(None),
                };
                Ok(Some(place.then(key)))
            }
            expr => Ok(self.expr(frame, expr)?.place()),
        }
    }

    fn if_(&mut self, frame: &Frame, it: &syn::ExprIf) -> Ran<Value> {
        let before = frame.bound();
        let holds = match &*it.cond {
            Expr::Let(condition) => {
                let value = self.expr(frame, &condition.expr)?;
                self.matches(frame, &condition.pat, value)?
            }
            condition => match self.expr(frame, condition)?.json() {
                Some(Json::Bool(it)) => it,
                _ => return self.refuse(frame, condition, "is no condition that is read"),
            },
        };
        let res = match (holds, &it.else_branch) {
            (true, _) => self.block(frame, &it.then_branch),
            (false, Some((_, other))) => self.owned(frame, other),
            (false, None) => Ok(Value::Unit),
        };
        frame.forget(before);
        res
    }

    fn path(&mut self, frame: &Frame, it: &ExprPath) -> Ran<Value> {
        if let Some(name) = it.path.get_ident()
            && let Some(value) = frame.local(&plain(name))
        {
            return Ok(value);
        }
        let world = self.reader.world.clone();
        match world.resolve(frame.scope.module, &Path::from(&it.path), Space::Values) {
            Ok(Named::Foreign(path)) if path == "std::option::Option::None" => {
                Ok(Value::Option(None))
            }
            Ok(Named::Foreign(path)) if path == "serde_json::Value::Null" => {
                Ok(Value::Json(Json::Null))
            }
            Ok(Named::Item(id)) => match &world.items[id].kind {
                Kind::Const(constant) => {
                    let there = Frame::new(Scope::from(world.items[id].module));
                    self.deeper(frame, it, |run| run.expr(&there, &constant.expr))
                }
                _ => self.refuse(frame, it, "is no constant"),
            },
            _ => match self.associated(frame, it)? {
                Some((there, syn::ImplItem::Const(constant))) => {
                    self.deeper(frame, it, |run| run.expr(&there, &constant.expr))
                }
                _ => self.refuse(frame, it, "is no value that is read"),
            },
        }
    }

    /// What of an `impl Type` a path like `Type::name` or `Self::name` names.
    pub fn associated(
        &mut self,
        frame: &Frame,
        path: &ExprPath,
    ) -> Ran<Option<(Frame, syn::ImplItem)>> {
        let Some((of, name)) = self.split(frame, path)? else { return Ok(None) };
        let (Type::Data(id, _) | Type::Root(id)) = &*of else { return Ok(None) };
        let world = self.reader.world.clone();
        let item = match &*of {
            Type::Root(spec) => world.root_of(*spec).unwrap_or(*id),
            _ => *id,
        };
        let mut found = Vec::new();
        for imp in &world.impls {
            if imp.trait_.is_some() || !world.is_impl_for(imp, item) {
                continue;
            }
            for it in &imp.syntax.items {
                let here = match it {
                    syn::ImplItem::Fn(it) => it.sig.ident == name,
                    syn::ImplItem::Const(it) => it.ident == name,
                    _ => false,
                };
                if here {
                    found.push((imp, it));
                }
            }
        }
        match &found[..] {
            [(imp, it)] if imp.syntax.generics.params.is_empty() => {
                let mut scope = Scope::from(imp.module);
                let parameters = std::rc::Rc::make_mut(&mut scope.parameters);
                parameters.insert("Self".to_owned(), of);
                Ok(Some((Frame::new(scope), (*it).clone())))
            }
            [] => Ok(None),
            _ => self.refuse(frame, path, "is not read"),
        }
    }
}

/// A list of pairs as the map that it is collected into.
pub fn object_of(pairs: Vec<Json>) -> Option<Json> {
    let mut res = Map::new();
    for it in pairs {
        let Json::Array(pair) = it else { return None };
        let [Json::String(key), value] = <[Json; 2]>::try_from(pair).ok()? else { return None };
        res.insert(key, value);
    }
    Some(Json::Object(res))
}

/// The last name of a path that is written as a value: `Value::as_object_mut`.
pub fn last_name(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Path(it) => it.path.segments.last().map(|it| plain(&it.ident)),
        expr => Some(text(expr)).filter(|_| false),
    }
}
