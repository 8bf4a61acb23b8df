//! Method calls: the project's own first, then what std gives to the types that are known here.

mod lists;
mod maps;
mod numbers;
mod options;
mod texts;

use syn::ExprMethodCall;

use super::call::Given;
use super::value::{Open, Place, Value};
use super::{Eval, Evaluator, Frame, Ty};
use crate::world::plain;

/// A method call of std: what it is called on, and what it is given.
pub struct Call<'c, 'x, A> {
    pub frame: &'c Frame,
    pub at: &'c A,
    /// Where the value is, for methods that change it.
    pub place: Place,
    pub name: &'c str,
    pub given: Given<'x>,
    pub turbofish: Vec<Ty>,
    pub want: &'c Ty,
}

impl<A: quote::ToTokens> Call<'_, '_, A> {
    /// The name, and how many it is given.
    pub fn shape(&self) -> (&str, usize) {
        (self.name, self.given.len())
    }

    /// The type between `::<` and `>`, or what is wanted.
    pub fn target(&self) -> Ty {
        match self.turbofish.first() {
            Some(it) if *it != Ty::Unknown => it.clone(),
            _ => self.want.clone(),
        }
    }
}

/// Stands for whatever goes through values of a type.
pub const ITERATOR: &str = "…";

/// A type that is wanted by way of `unwrap` and the like.
fn wrapped(want: &Ty) -> Ty {
    Ty::list("?", want.clone())
}

impl Evaluator<'_> {
    pub fn method(&self, frame: &Frame, it: &ExprMethodCall, want: &Ty) -> Eval<Value> {
        let name = plain(&it.method);
        let turbofish = match &it.turbofish {
            Some(it) => self.turbofish(frame, &syn::PathArguments::AngleBracketed(it.clone()))?,
            None => Vec::new(),
        };
        let hint = match name.as_str() {
            "unwrap" | "expect" | "unwrap_or" | "unwrap_or_default" | "unwrap_or_else" => {
                wrapped(want)
            }
            "max" | "min" | "clamp" | "pow" | "abs" | "saturating_add" | "saturating_sub"
            | "saturating_mul" | "wrapping_add" | "wrapping_sub" | "clone" | "cloned" | "or"
            | "or_else"
                if want.path() != "?" =>
            {
                want.clone()
            }
            "ok" if want.path() == "std::option::Option" => wrapped(&want.inside(0)),
            "map_err" | "ok_or" | "ok_or_else" if want.path() == "?" => want.clone(),
            "map_err" if want.path() == "std::result::Result" => wrapped(&want.inside(0)),
            "collect" => {
                let target = turbofish.first().filter(|it| it.is_whole()).unwrap_or(want);
                Ty::list(ITERATOR, super::functions::item(target))
            }
            "filter" | "rev" | "chain" | "take" | "skip" | "step_by" | "into_iter" | "iter"
            | "cloned" | "copied"
                if want.path() == ITERATOR =>
            {
                match &*it.receiver {
                    syn::Expr::Array(_) => Ty::list("[]", want.inside(0)),
                    _ => want.clone(),
                }
            }
            "to_vec" | "to_owned" if want.path() == "std::vec::Vec" => {
                Ty::list("[]", want.inside(0))
            }
            "into" | "into_iter" | "iter" => match &*it.receiver {
                syn::Expr::Array(_) if want.is_any() => want.clone(),
                syn::Expr::Array(_) => Ty::list("[]", super::functions::item(want)),
                _ => Ty::Unknown,
            },
            _ => Ty::Unknown,
        };
        // What a call gives has no place of its own, and its type flows down.
        let made = matches!(
            crate::values::peel(&it.receiver),
            syn::Expr::Call(_) | syn::Expr::MethodCall(_)
        );
        let place = match made {
            true => None,
            false => self.place(frame, &it.receiver)?,
        };
        let place = match place {
            Some(place) => place,
            _ => {
                let value = self.expr(frame, &it.receiver, &hint)?;
                match value {
                    Value::Place(place) => place,
                    value => Place::new(value),
                }
            }
        };
        let given = Given::Exprs(frame, Vec::new(), it.args.iter().collect());
        self.method_at(frame, it, place, &name, given, turbofish, want)
    }

    /// A method of a value that has no place.
    #[allow(clippy::too_many_arguments, reason = "each is another thing that a call says")]
    pub fn call_method(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        value: Value,
        name: &str,
        given: Given<'_>,
        turbofish: Vec<Ty>,
        want: &Ty,
    ) -> Eval<Value> {
        let place = match value {
            Value::Place(place) => place,
            value => Place::new(value),
        };
        self.method_at(frame, at, place, name, given, turbofish, want)
    }

    #[allow(clippy::too_many_arguments, reason = "each is another thing that a call says")]
    fn method_at<'x>(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        place: Place,
        name: &str,
        given: Given<'x>,
        turbofish: Vec<Ty>,
        want: &Ty,
    ) -> Eval<Value> {
        let Some(value) = place.read() else {
            return self.refuse(frame, at, "is called on no value");
        };
        if let Value::Place(place) = value {
            return self.method_at(frame, at, place, name, given, turbofish, want);
        }
        if let Value::Data(data) = &value {
            let mut found = self.functions(data.id, &data.arguments, name)?;
            // `x.into()` of a type with several is chosen by what is wanted.
            if name != "into" && name != "try_into" {
                if found.len() == 1 {
                    let own = found.remove(0);
                    let changes = own.signature.receiver().map(super::call::changes);
                    let itself = match changes.unwrap_or(false) {
                        true => Value::Place(place),
                        false => value.clone(),
                    };
                    let given = match given {
                        Given::Values(rest) => Given::Values([vec![itself], rest].concat()),
                        Given::Exprs(there, first, rest) => {
                            Given::Exprs(there, [vec![itself], first].concat(), rest)
                        }
                    };
                    return self.invoke(frame, at, own, given, turbofish, want);
                }
                if 1 < found.len() {
                    let what = format!("has more than one `{name}` to choose from");
                    return self.refuse(frame, at, what);
                }
            }
        }
        // A trait of the project may have given another type a method of that name.
        if self.extends(name) {
            let what = format!("calls `{name}`, which a trait of the project has too");
            return self.refuse(frame, at, what);
        }
        let call = Call { frame, at, place, name, given, turbofish, want };
        if let Some(found) = self.common(&call, &value)? {
            return Ok(found);
        }
        let found = match value {
            Value::Text(text, owned) => self.text_method(&call, &text, owned)?,
            Value::Int(..)
            | Value::Float(_)
            | Value::Bool(_)
            | Value::Char(_)
            | Value::Duration(_) => self.number_method(&call, value)?,
            Value::Option(_) | Value::Result(_) => self.option_method(&call, value)?,
            Value::List(items, kind) => self.list_method(&call, items, kind)?,
            Value::Iterator(items) => self.iterator_method(&call, items)?,
            Value::Map(items, kind) => self.map_method(&call, items, kind)?,
            Value::Set(items, kind) => self.set_method(&call, items, kind)?,
            Value::Json(it) => self.json_method(&call, it)?,
            Value::Formatter(text) => match (call.shape(), text) {
                (("write_str" | "pad", 1), text) => {
                    let value = self.take(frame, at, &call.given, 0, &Ty::known("str"))?;
                    let added = self.display(frame, at, &value)?;
                    text.borrow_mut().push_str(&added);
                    Some(Value::ok(Value::Unit))
                }
                (("write_char", 1), text) => {
                    let value = self.take(frame, at, &call.given, 0, &Ty::known("char"))?;
                    let added = self.display(frame, at, &value)?;
                    text.borrow_mut().push_str(&added);
                    Some(Value::ok(Value::Unit))
                }
                _ => None,
            },
            Value::Serializer => self.serializer_method(&call)?,
            Value::Open(Open::Parse(text))
                if matches!(call.shape(), ("unwrap", 0) | ("expect", 1)) =>
            {
                Some(Value::Open(Open::Parsed(text)))
            }
            Value::Open(_) => return self.refuse(frame, at, super::into::UNTOLD),
            Value::Foreign(path, it) => super::foreign::method(&path, &it, name, call.given.len()),
            _ => None,
        };
        match found {
            Some(it) => Ok(it),
            None => self.refuse(frame, at, format!("calls `{name}`, which is not read here")),
        }
    }

    /// Methods that many types have.
    fn common<A: quote::ToTokens>(
        &self,
        call: &Call<'_, '_, A>,
        value: &Value,
    ) -> Eval<Option<Value>> {
        let (frame, at, want) = (call.frame, call.at, call.want);
        Ok(Some(match call.shape() {
            ("clone", 0) => {
                if let Value::Data(data) = value
                    && !self.derives(data.id, "std::clone::Clone")?
                {
                    return self.refuse(frame, at, "clones by code that is not read");
                }
                value.clone()
            }
            ("into", 0) => self.into(frame, at, value.clone(), want)?,
            ("try_into", 0) => {
                let inner = want.inside(0);
                self.try_into(frame, at, value.clone(), &inner)?
            }
            ("to_string", 0) => Value::text(self.display(frame, at, value)?),
            ("as_ref" | "as_deref" | "borrow" | "by_ref" | "as_mut" | "as_deref_mut", 0)
                if !matches!(value, Value::Option(_) | Value::Result(_)) =>
            {
                match value {
                    Value::Text(..) | Value::List(..) => value.clone(),
                    _ => return Ok(None),
                }
            }
            ("eq" | "ne", 1) => {
                let other = self.take(frame, at, &call.given, 0, &value.ty())?;
                let other = self.settled(frame, at, other)?;
                Value::Bool(self.same(frame, at, value, &other)? == (call.name == "eq"))
            }
            ("serialize", 1) => match self.take(frame, at, &call.given, 0, &Ty::Unknown)? {
                Value::Serializer => Value::ok(Value::Json(self.json_of(frame, at, value)?)),
                _ => return Ok(None),
            },
            _ => return Ok(None),
        }))
    }

    /// What a value gives when it is gone through; none where it cannot be.
    pub fn iterated(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        value: Value,
    ) -> Eval<Option<Vec<Value>>> {
        Ok(Some(match value {
            Value::List(items, _) | Value::Iterator(items) => items,
            Value::Set(items, kind) => {
                if kind.contains("Hash") && 1 < items.len() {
                    return self.refuse(frame, at, "goes through a `HashSet`, in no order");
                }
                items
            }
            Value::Map(items, kind) => {
                if kind.contains("Hash") && 1 < items.len() {
                    return self.refuse(frame, at, "goes through a `HashMap`, in no order");
                }
                items.into_iter().map(|(key, value)| Value::Tuple(vec![key, value])).collect()
            }
            Value::Option(it) => it.into_iter().map(|it| *it).collect(),
            _ => return Ok(None),
        }))
    }

    /// `collect()`: items as a container of a type.
    pub fn collected(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        items: Vec<Value>,
        want: &Ty,
    ) -> Eval<Value> {
        let found = match want.path() {
            "" if *want == Ty::Unknown => return Ok(Value::Open(Open::Collected(items))),
            "" => return self.refuse(frame, at, "collects what is not read"),
            "std::string::String" => {
                let mut res = String::new();
                for it in &items {
                    match it {
                        Value::Text(it, _) => res.push_str(it),
                        Value::Char(it) => res.push(*it),
                        _ => return self.refuse(frame, at, "collects what is not read"),
                    }
                }
                Value::text(res)
            }
            "?" | "std::option::Option" | "std::result::Result" => {
                return self.refuse(frame, at, "collects what is not read");
            }
            path => match super::functions::empty(path) {
                Some(Value::List(_, kind)) => Value::List(items, kind),
                Some(Value::Set(_, kind)) => {
                    let mut res = Vec::new();
                    for it in items {
                        let it = self.conform(frame, at, it, &want.inside(0))?;
                        self.put_in(frame, at, &mut res, it, ())?;
                    }
                    Value::Set(res.into_iter().map(|(it, ())| it).collect(), kind)
                }
                Some(Value::Map(_, kind)) => {
                    let mut res = Vec::new();
                    for it in items {
                        let Value::Tuple(pair) = it else {
                            return self.refuse(frame, at, "collects what is no pair");
                        };
                        let [key, value] = &pair[..] else {
                            return self.refuse(frame, at, "collects what is no pair");
                        };
                        let key = self.conform(frame, at, key.clone(), &want.inside(0))?;
                        self.put_in(frame, at, &mut res, key, value.clone())?;
                    }
                    Value::Map(res, kind)
                }
                _ => return self.refuse(frame, at, "collects what is not read"),
            },
        };
        self.conform(frame, at, found, want)
    }

    /// Puts an entry in its order; gives back what was there.
    pub fn put_in<T>(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        into: &mut Vec<(Value, T)>,
        key: Value,
        value: T,
    ) -> Eval<Option<T>> {
        for index in 0..into.len() {
            self.step(frame, at)?;
            match super::compare::order(&into[index].0, &key) {
                Some(std::cmp::Ordering::Equal) => {
                    return Ok(Some(std::mem::replace(&mut into[index].1, value)));
                }
                Some(std::cmp::Ordering::Greater) => {
                    into.insert(index, (key, value));
                    return Ok(None);
                }
                Some(std::cmp::Ordering::Less) => {}
                None => {
                    // Values of the project have an order of their own, which matters from the second on.
                    let one = self.key_order(frame, at, &into[index].0, &key)?;
                    if one == std::cmp::Ordering::Equal {
                        return Ok(Some(std::mem::replace(&mut into[index].1, value)));
                    }
                    if one == std::cmp::Ordering::Greater {
                        into.insert(index, (key, value));
                        return Ok(None);
                    }
                }
            }
        }
        into.push((key, value));
        Ok(None)
    }

    /// The order of two variants of an enum that derives it.
    fn key_order(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        one: &Value,
        other: &Value,
    ) -> Eval<std::cmp::Ordering> {
        if let (Value::Data(left), Value::Data(right)) = (one, other)
            && left.id == right.id
            && left.fields.is_empty()
            && right.fields.is_empty()
            && self.derives(left.id, "std::cmp::Ord")?
            && let (Some(one), Some(other)) =
                (self.discriminant(frame, at, left)?, self.discriminant(frame, at, right)?)
        {
            return Ok(one.cmp(&other));
        }
        self.refuse(frame, at, "has keys whose order is not known")
    }
}
