//! Methods of maps, sets and JSON values.

use serde_json::Value as Json;

use super::super::value::{Step, Value};
use super::super::{Eval, Evaluator, Ty};
use super::Call;

impl Evaluator<'_> {
    pub fn map_method<A: quote::ToTokens>(
        &self,
        call: &Call<'_, '_, A>,
        mut items: Vec<(Value, Value)>,
        kind: &'static str,
    ) -> Eval<Option<Value>> {
        let (frame, at) = (call.frame, call.at);
        let (key, inner) = match items.first() {
            Some((key, value)) => (whole(key.ty()), whole(value.ty())),
            None => (Ty::Unknown, Ty::Unknown),
        };
        let argument = |index: usize, want: &Ty| {
            let value = self.take(frame, at, &call.given, index, want)?;
            self.settled(frame, at, value)
        };
        let ordered = || match kind.contains("Hash") && 1 < items.len() {
            true => self.refuse(frame, at, "goes through a `HashMap`, in no order"),
            false => Ok(()),
        };
        let write = |items: Vec<(Value, Value)>| match call.place.write(Value::Map(items, kind)) {
            true => Ok(()),
            false => self.refuse(frame, at, "changes what is no place"),
        };
        // A key is looked up by a reference, which may be a `str` where the key is a `String`.
        let find = |items: &[(Value, Value)], key: &Value| {
            items.iter().position(|(it, _)| super::super::compare::same(it, key) == Some(true))
        };
        Ok(Some(match call.shape() {
            ("len", 0) => Value::usize(items.len()),
            ("is_empty", 0) => Value::Bool(items.is_empty()),
            ("insert", 2) => {
                let (key, value) = (argument(0, &key)?, argument(1, &inner)?);
                self.bounded(frame, at, items.len())?;
                let before = self.put_in(frame, at, &mut items, key, value)?;
                write(items)?;
                Value::Option(before.map(Box::new))
            }
            ("get", 1) => {
                let key = argument(0, &Ty::Unknown)?;
                Value::Option(find(&items, &key).map(|it| Box::new(items[it].1.clone())))
            }
            ("get_mut", 1) => {
                let key = argument(0, &Ty::Unknown)?;
                let found = find(&items, &key).map(|it| items[it].0.clone());
                Value::Option(
                    found.map(|it| Box::new(Value::Place(call.place.then(Step::Key(it))))),
                )
            }
            ("contains_key", 1) => {
                let key = argument(0, &Ty::Unknown)?;
                Value::Bool(find(&items, &key).is_some())
            }
            ("remove", 1) => {
                let key = argument(0, &Ty::Unknown)?;
                let found = find(&items, &key).map(|it| items.remove(it).1);
                write(items)?;
                Value::Option(found.map(Box::new))
            }
            ("extend", 1) => {
                let more = argument(0, &Ty::Unknown)?;
                let Some(more) = self.iterated(frame, at, more)? else { return Ok(None) };
                for it in more {
                    let Value::Tuple(pair) = it else { return Ok(None) };
                    let [one, other] = &pair[..] else { return Ok(None) };
                    let one = self.conform(frame, at, one.clone(), &key)?;
                    self.put_in(frame, at, &mut items, one, other.clone())?;
                }
                write(items)?;
                Value::Unit
            }
            ("clear", 0) => {
                write(Vec::new())?;
                Value::Unit
            }
            ("keys" | "into_keys", 0) => {
                ordered()?;
                Value::Iterator(items.into_iter().map(|(it, _)| it).collect())
            }
            ("values" | "into_values", 0) => {
                ordered()?;
                Value::Iterator(items.into_iter().map(|(_, it)| it).collect())
            }
            ("iter" | "into_iter", 0) => {
                ordered()?;
                let pair = |(one, other)| Value::Tuple(vec![one, other]);
                Value::Iterator(items.into_iter().map(pair).collect())
            }
            _ => return Ok(None),
        }))
    }

    pub fn set_method<A: quote::ToTokens>(
        &self,
        call: &Call<'_, '_, A>,
        items: Vec<Value>,
        kind: &'static str,
    ) -> Eval<Option<Value>> {
        let (frame, at) = (call.frame, call.at);
        let argument = |want: &Ty| {
            let value = self.take(frame, at, &call.given, 0, want)?;
            self.settled(frame, at, value)
        };
        Ok(Some(match call.shape() {
            ("len", 0) => Value::usize(items.len()),
            ("is_empty", 0) => Value::Bool(items.is_empty()),
            ("insert", 1) => {
                let added = argument(&items.first().map_or(Ty::Unknown, |it| whole(it.ty())))?;
                let mut pairs: Vec<_> = items.into_iter().map(|it| (it, ())).collect();
                let new = self.put_in(frame, at, &mut pairs, added, ())?.is_none();
                let items = pairs.into_iter().map(|(it, ())| it).collect();
                match call.place.write(Value::Set(items, kind)) {
                    true => Value::Bool(new),
                    false => return Ok(None),
                }
            }
            ("contains", 1) => {
                let wanted = argument(&Ty::Unknown)?;
                let mut found = false;
                for it in &items {
                    found = found || self.same(frame, at, it, &wanted)?;
                }
                Value::Bool(found)
            }
            ("iter" | "into_iter", 0) => {
                match self.iterated(frame, at, Value::Set(items, kind))? {
                    Some(items) => Value::Iterator(items),
                    None => return Ok(None),
                }
            }
            _ => return Ok(None),
        }))
    }

    pub fn json_method<A: quote::ToTokens>(
        &self,
        call: &Call<'_, '_, A>,
        json: Json,
    ) -> Eval<Option<Value>> {
        let (frame, at) = (call.frame, call.at);
        let key = || -> Eval<Step> {
            match self.take(frame, at, &call.given, 0, &Ty::Unknown)? {
                key @ Value::Text(..) => Ok(Step::Key(key)),
                Value::Int(it, _) => Ok(Step::Index(usize::try_from(it).unwrap_or(usize::MAX))),
                _ => self.refuse(frame, at, "looks for what is not read"),
            }
        };
        let write = |json: Json| match call.place.write(Value::Json(json)) {
            true => Ok(()),
            false => self.refuse(frame, at, "changes what is no place"),
        };
        Ok(Some(match (call.shape(), json) {
            (("is_null", 0), it) => Value::Bool(it.is_null()),
            (("is_object", 0), it) => Value::Bool(it.is_object()),
            (("is_array", 0), it) => Value::Bool(it.is_array()),
            (("is_string", 0), it) => Value::Bool(it.is_string()),
            (("is_empty", 0), Json::Object(it)) => Value::Bool(it.is_empty()),
            (("len", 0), Json::Object(it)) => Value::usize(it.len()),
            (("as_object" | "as_array", 0), it) => {
                let fits = if call.name == "as_object" { it.is_object() } else { it.is_array() };
                Value::Option(fits.then(|| Box::new(Value::Json(it))))
            }
            (("as_object_mut" | "as_array_mut", 0), it) => {
                let object = call.name == "as_object_mut";
                let fits = if object { it.is_object() } else { it.is_array() };
                Value::Option(fits.then(|| Box::new(Value::Place(call.place.clone()))))
            }
            (("as_str", 0), it) => Value::Option(it.as_str().map(|it| Box::new(Value::str(it)))),
            (("as_bool", 0), it) => Value::Option(it.as_bool().map(|it| Box::new(Value::Bool(it)))),
            (("get", 1), it) => {
                let found = match key()? {
                    Step::Key(Value::Text(key, _)) => it.get(key).cloned(),
                    Step::Index(index) => it.get(index).cloned(),
                    _ => None,
                };
                Value::Option(found.map(|it| Box::new(Value::Json(it))))
            }
            (("get_mut", 1), it) => {
                let step = key()?;
                let there = match &step {
                    Step::Key(Value::Text(key, _)) => it.get(key).is_some(),
                    Step::Index(index) => it.get(index).is_some(),
                    _ => false,
                };
                let place = Value::Place(call.place.then(step));
                Value::Option(there.then(|| Box::new(place)))
            }
            (("contains_key", 1), it) => match key()? {
                Step::Key(Value::Text(key, _)) => Value::Bool(it.get(key).is_some()),
                _ => return Ok(None),
            },
            (("insert", 2), Json::Object(mut it)) => {
                let Step::Key(Value::Text(key, _)) = key()? else { return Ok(None) };
                let value =
                    self.take(frame, at, &call.given, 1, &Ty::known("serde_json::Value"))?;
                let Value::Json(value) = self.settled(frame, at, value)? else { return Ok(None) };
                let before = it.insert(key, value);
                write(Json::Object(it))?;
                Value::Option(before.map(|it| Box::new(Value::Json(it))))
            }
            (("remove", 1), Json::Object(mut it)) => {
                let Step::Key(Value::Text(key, _)) = key()? else { return Ok(None) };
                let before = it.remove(&key);
                write(Json::Object(it))?;
                Value::Option(before.map(|it| Box::new(Value::Json(it))))
            }
            (("push", 1), Json::Array(mut it)) => {
                let value =
                    self.take(frame, at, &call.given, 0, &Ty::known("serde_json::Value"))?;
                let Value::Json(value) = self.settled(frame, at, value)? else { return Ok(None) };
                self.bounded(frame, at, it.len())?;
                it.push(value);
                write(Json::Array(it))?;
                Value::Unit
            }
            (("take", 0), it) => {
                write(Json::Null)?;
                Value::Json(it)
            }
            _ => return Ok(None),
        }))
    }
}

fn whole(ty: Ty) -> Ty {
    if ty.is_whole() { ty } else { Ty::Unknown }
}
