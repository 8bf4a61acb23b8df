//! Functions and constants of std: `String::from`, `BTreeMap::new`, `u16::MAX`.

use super::call::Given;
use super::number;
use super::value::{Float, Open, Value};
use super::{Eval, Evaluator, Frame, Ty};

const LISTS: &[&str] =
    &["std::vec::Vec", "std::collections::VecDeque", "std::collections::LinkedList"];
const MAPS: &[&str] =
    &["std::collections::BTreeMap", "std::collections::HashMap", "serde_json::Map"];
const SETS: &[&str] = &["std::collections::BTreeSet", "std::collections::HashSet"];

/// The path of a container, as values hold it.
pub fn container(path: &str) -> Option<&'static str> {
    [LISTS, MAPS, SETS].iter().flat_map(|it| it.iter()).find(|it| **it == path).copied()
}

/// An empty container.
pub fn empty(path: &str) -> Option<Value> {
    let kind = container(path)?;
    Some(match kind {
        "serde_json::Map" => Value::Json(serde_json::Value::Object(serde_json::Map::new())),
        kind if LISTS.contains(&kind) => Value::List(Vec::new(), kind),
        kind if MAPS.contains(&kind) => Value::Map(Vec::new(), kind),
        kind => Value::Set(Vec::new(), kind),
    })
}

/// The type of what a container is made from, one by one.
pub fn item(ty: &Ty) -> Ty {
    match MAPS.contains(&ty.path()) {
        true => Ty::Known("(2)".to_owned(), vec![ty.inside(0), ty.inside(1)]),
        false => ty.inside(0),
    }
}

/// `u16::MAX` and its like.
pub fn constant(path: &str) -> Option<Value> {
    let (of, name) = path.rsplit_once("::")?;
    // `std::u32::MAX` is the old way.
    let of = of.strip_prefix("std::").filter(|it| is_number(it)).unwrap_or(of);
    if let Some(ty) = number::integer(of) {
        let (low, high) = number::range(ty);
        return match name {
            "MIN" => Some(Value::Int(low, Some(ty))),
            "MAX" if ty != "u128" => Some(Value::Int(high, Some(ty))),
            "BITS" => Some(Value::Int(number::bits(ty).into(), Some("u32"))),
            _ => None,
        };
    }
    Some(match path {
        "f64::MAX" => Value::Float(Float::F64(f64::MAX)),
        "f64::MIN" => Value::Float(Float::F64(f64::MIN)),
        "f64::EPSILON" => Value::Float(Float::F64(f64::EPSILON)),
        "f32::MAX" => Value::Float(Float::F32(f32::MAX)),
        "f32::MIN" => Value::Float(Float::F32(f32::MIN)),
        "f32::EPSILON" => Value::Float(Float::F32(f32::EPSILON)),
        "std::f64::consts::PI" => Value::Float(Float::F64(std::f64::consts::PI)),
        "std::f64::consts::E" => Value::Float(Float::F64(std::f64::consts::E)),
        "std::f32::consts::PI" => Value::Float(Float::F32(std::f32::consts::PI)),
        "std::time::Duration::ZERO" => Value::Duration(std::time::Duration::ZERO),
        "std::time::Duration::MAX" => Value::Duration(std::time::Duration::MAX),
        "serde_json::Value::Null" => Value::Json(serde_json::Value::Null),
        path => return super::foreign::constant(path),
    })
}

fn is_number(it: &str) -> bool {
    number::integer(it).is_some()
}

impl Evaluator<'_> {
    /// A function of a type or a module of another crate.
    #[allow(clippy::too_many_arguments, reason = "each is another thing that a call says")]
    pub fn foreign_function(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        ty: &Ty,
        path: &str,
        name: &str,
        given: Given<'_>,
        want: &Ty,
    ) -> Eval<Value> {
        // `i64::default()` is of the trait that is called so where it stands.
        if matches!(name, "default" | "from" | "from_str" | "try_from" | "from_iter")
            && self.extends(name)
        {
            let what = format!("calls `{name}`, which a trait of the project has too");
            return self.refuse(frame, at, what);
        }
        let take = |index: usize, want: &Ty| {
            let value = self.take(frame, at, &given, index, want)?;
            self.settled(frame, at, value)
        };
        let not_read = || self.refuse(frame, at, "calls what is not read");
        let count = given.len();
        // What is thin is what is in it.
        if matches!(path, "std::boxed::Box" | "std::rc::Rc" | "std::sync::Arc") {
            // What is in it, if it is said at all.
            let said = if ty.path() == path { &Ty::Unknown } else { ty };
            return match (name, count) {
                ("new" | "from", 1) => {
                    let inner = if *want == Ty::Unknown { said } else { want };
                    match name {
                        "new" => take(0, inner),
                        _ => {
                            let value = take(0, &Ty::Unknown)?;
                            self.into(frame, at, value, inner)
                        }
                    }
                }
                ("default", 0) => {
                    let inner = if *want == Ty::Unknown { said } else { want };
                    self.default_of(frame, at, inner)
                }
                ("clone", 1) => take(0, want),
                _ => not_read(),
            };
        }
        if path == "std::borrow::Cow" {
            return match (name, count) {
                ("Borrowed" | "Owned", 1) => take(0, want),
                ("from", 1) => {
                    let value = take(0, &Ty::Unknown)?;
                    match value {
                        it @ Value::Text(..) => Ok(it),
                        _ => not_read(),
                    }
                }
                _ => not_read(),
            };
        }
        // The arguments that the call leaves open, the wanted type may say.
        let whole = match want {
            _ if want.is_any() && container(path).is_some() && !ty.is_whole() => {
                Ty::Known(path.to_owned(), vec![want.clone(), want.clone()])
            }
            Ty::Known(it, _) if it == path && !ty.is_whole() => want.clone(),
            Ty::Known(it, arguments) if it == path && ty.inside(0) == Ty::Unknown => {
                Ty::Known(it.clone(), arguments.clone())
            }
            _ => ty.clone(),
        };
        match (name, count) {
            ("default", 0) => return self.default_of(frame, at, &whole),
            ("from", 1) => {
                let hint = match path {
                    _ if container(path).is_some() => Ty::list("[;]", item(&whole)),
                    _ => Ty::Unknown,
                };
                let value = match &given {
                    Given::Exprs(there, first, rest) if first.is_empty() => {
                        let value = self.expr(there, rest[0], &hint)?;
                        self.settled(frame, at, value)?
                    }
                    _ => take(0, &Ty::Unknown)?,
                };
                return self.into(frame, at, value, &whole);
            }
            ("from_str", 1) => {
                let Value::Text(text, _) = take(0, &Ty::known("str"))? else {
                    return not_read();
                };
                return self.parse(frame, at, &text, &whole);
            }
            ("try_from", 1) => {
                let value = take(0, &Ty::Unknown)?;
                return self.try_into(frame, at, value, &whole);
            }
            ("from_iter", 1) => {
                let value = take(0, &Ty::Unknown)?;
                return match self.iterated(frame, at, value)? {
                    Some(items) => self.collected(frame, at, items, &whole),
                    None => not_read(),
                };
            }
            ("new", 0) if container(path).is_some() => {
                return Ok(empty(path).unwrap_or(Value::Unit));
            }
            ("with_capacity", 1) if container(path).is_some() => {
                take(0, &Ty::known("usize"))?;
                return Ok(empty(path).unwrap_or(Value::Unit));
            }
            _ => {}
        }
        match (path, name, count) {
            ("std::string::String", "new", 0) => return Ok(Value::text("")),
            ("std::string::String", "with_capacity", 1) => {
                take(0, &Ty::known("usize"))?;
                return Ok(Value::text(""));
            }
            ("std::time::Duration", name, 1) => return self.duration(frame, at, name, &given),
            ("std::time::Duration", "new", 2) => {
                let (secs, nanos) = (take(0, &Ty::known("u64"))?, take(1, &Ty::known("u32"))?);
                if let (Value::Int(secs, _), Value::Int(nanos @ 0..=999_999_999, _)) = (secs, nanos)
                    && let (Ok(secs), Ok(nanos)) = (u64::try_from(secs), u32::try_from(nanos))
                {
                    return Ok(Value::Duration(std::time::Duration::new(secs, nanos)));
                }
                return not_read();
            }
            ("std::iter", "empty", 0) => return Ok(Value::Iterator(Vec::new())),
            ("std::iter", "once", 1) => {
                let inner = match want.path() {
                    super::methods::ITERATOR => want.inside(0),
                    _ => Ty::Unknown,
                };
                return Ok(Value::Iterator(vec![take(0, &inner)?]));
            }
            ("std::iter", "repeat_n", 2) => {
                let inner = match want.path() {
                    super::methods::ITERATOR => want.inside(0),
                    _ => Ty::Unknown,
                };
                let value = take(0, &inner)?;
                let Value::Int(count, _) = take(1, &Ty::known("usize"))? else {
                    return not_read();
                };
                return Ok(Value::Iterator(self.repeated(frame, at, value, count)?));
            }
            // What serde writes as `{ "Left": … }`, and as what is in it.
            ("either::Either", "Left" | "Right", 1)
            | ("std::ops::Bound", "Included" | "Excluded", 1)
            | ("std::cmp", "Reverse", 1)
            | ("std::num", "Wrapping", 1)
            | (
                "std::cell::Cell" | "std::cell::RefCell" | "std::sync::Mutex" | "std::sync::RwLock",
                "new",
                1,
            ) => {
                let inside = match is_wrapper(want.path()) {
                    true => take(0, &want.inside(usize::from(name == "Right")))?,
                    false => take(0, &Ty::Unknown)?,
                };
                let open = Open::Wrapped(name.to_owned(), Box::new(inside));
                return match want {
                    Ty::Unknown => Ok(Value::Open(open)),
                    want => self.closed(frame, at, open, want),
                };
            }
            ("std::mem", "take", 1) => {
                if let Value::Place(place) = self.take(frame, at, &given, 0, &Ty::Unknown)?
                    && let Some(before) = place.read()
                {
                    let ty = before.ty();
                    if place.write(self.default_of(frame, at, &ty)?) {
                        return Ok(before);
                    }
                }
                return not_read();
            }
            ("serde_json", "to_value", 1) => {
                let value = take(0, &Ty::Unknown)?;
                return Ok(Value::ok(Value::Json(self.json_of(frame, at, &value)?)));
            }
            ("serde_json::Value", variant, 1) => {
                let inside = match variant {
                    "String" => take(0, &Ty::known("std::string::String"))?,
                    "Bool" => take(0, &Ty::known("bool"))?,
                    "Array" => take(0, &Ty::list("std::vec::Vec", Ty::known("serde_json::Value")))?,
                    "Object" => take(0, &Ty::Unknown)?,
                    _ => return not_read(),
                };
                return Ok(Value::Json(self.json_of(frame, at, &inside)?));
            }
            ("std::cmp", "max" | "min", 2) => {
                let one = take(0, want)?;
                let other = take(1, &one.ty())?;
                return match super::compare::order(&one, &other) {
                    // The second where both are one.
                    Some(order) if name == "max" => Ok(if order.is_gt() { one } else { other }),
                    Some(order) => Ok(if order.is_gt() { other } else { one }),
                    None => not_read(),
                };
            }
            _ => {}
        }
        // A type's method, called by its path: `str::to_owned("a")`.
        if 0 < count && (container(path).is_some() || is_plain(path)) {
            let first = take(0, ty)?;
            let mut rest = Vec::new();
            for index in 1..count {
                rest.push(take(index, &Ty::Unknown)?);
            }
            return self.call_method(frame, at, first, name, Given::Values(rest), Vec::new(), want);
        }
        if 0 < count
            && let Some(method) = trait_method(path, name)
        {
            let first = take(0, &Ty::Unknown)?;
            return self.call_method(
                frame,
                at,
                first,
                method,
                Given::Values(Vec::new()),
                Vec::new(),
                want,
            );
        }
        let values: Eval<Vec<_>> = (0..count)
            .map(|index| take(index, &super::foreign::argument(path, name, index)))
            .collect();
        match super::foreign::call(path, name, &values?) {
            Some(Ok(value)) => Ok(value),
            Some(Err(why)) => self.panics(frame, at, &why),
            None => not_read(),
        }
    }

    fn duration(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        name: &str,
        given: &Given<'_>,
    ) -> Eval<Value> {
        use std::time::Duration;
        let not_read = || self.refuse(frame, at, "calls what is not read");
        if let "from_secs_f64" | "from_secs_f32" = name {
            let ty = Ty::known(&name[name.len() - 3..]);
            let found = match self.take(frame, at, given, 0, &ty)? {
                Value::Float(Float::F64(it)) => Duration::try_from_secs_f64(it),
                Value::Float(Float::F32(it)) => Duration::try_from_secs_f32(it),
                _ => return not_read(),
            };
            return match found {
                Ok(it) => Ok(Value::Duration(it)),
                Err(error) => self.panics(frame, at, &error.to_string()),
            };
        }
        let Value::Int(number, _) = self.take(frame, at, given, 0, &Ty::known("u64"))? else {
            return not_read();
        };
        let Ok(number) = u64::try_from(number) else { return not_read() };
        let scaled = |by: u64| number.checked_mul(by).map(Duration::from_secs);
        let found = match name {
            "from_secs" => Some(Duration::from_secs(number)),
            "from_millis" => Some(Duration::from_millis(number)),
            "from_micros" => Some(Duration::from_micros(number)),
            "from_nanos" => Some(Duration::from_nanos(number)),
            "from_mins" => scaled(60),
            "from_hours" => scaled(3600),
            _ => return not_read(),
        };
        match found {
            Some(it) => Ok(Value::Duration(it)),
            None => self.panics(frame, at, "it overflows"),
        }
    }

    /// `T::try_from(value)`.
    pub fn try_into(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        value: Value,
        want: &Ty,
    ) -> Eval<Value> {
        let failed = Value::Result(Err(Box::new(Value::Unit)));
        match (want, value) {
            (Ty::Known(path, _), Value::Int(it, _)) if number::integer(path).is_some() => {
                match number::integer(path) {
                    Some(ty) if number::fits(it, ty) => Ok(Value::ok(Value::Int(it, Some(ty)))),
                    _ => Ok(failed),
                }
            }
            (Ty::Data(id, arguments), value) => {
                let actual = value.ty();
                let mut found = self.functions(*id, arguments, "try_from")?;
                found.retain(|it| {
                    let of = it.of.as_ref().and_then(|(_, of)| of.first());
                    of.is_some_and(|it| it.fits(&actual))
                });
                match found.len() {
                    1 => self.run(frame, at, found.remove(0), vec![value], &Ty::Unknown),
                    _ => self.refuse(frame, at, "is a conversion that is not read"),
                }
            }
            _ => self.refuse(frame, at, "is a conversion that is not read"),
        }
    }
}

/// Types of one value, held as serde writes them.
pub fn is_wrapper(path: &str) -> bool {
    is_transparent(path) || matches!(path, "either::Either" | "std::ops::Bound")
}

/// Types that serde writes as what is in them.
pub fn is_transparent(path: &str) -> bool {
    matches!(
        path,
        "std::cmp::Reverse"
            | "std::num::Wrapping"
            | "std::cell::Cell"
            | "std::cell::RefCell"
            | "std::sync::Mutex"
            | "std::sync::RwLock"
    )
}

fn is_plain(path: &str) -> bool {
    number::integer(path).is_some()
        || path.starts_with('[')
        || matches!(
            path,
            "str"
                | "std::string::String"
                | "bool"
                | "char"
                | "f32"
                | "f64"
                | "std::option::Option"
                | "std::result::Result"
        )
}

/// A method of a trait of std, called by the trait's name.
fn trait_method(path: &str, name: &str) -> Option<&'static str> {
    Some(match (path, name) {
        ("std::string::ToString", "to_string") => "to_string",
        ("std::borrow::ToOwned", "to_owned") => "to_owned",
        ("std::convert::Into", "into") | ("std::convert::From", "from") => "into",
        ("std::clone::Clone", "clone") => "clone",
        ("std::ops::Not", "not") => "not",
        _ => return None,
    })
}
