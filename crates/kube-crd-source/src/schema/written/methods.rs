//! Methods of schemas, of JSON values and of what stands around them.

use schemars::Schema;
use serde_json::Value as Json;
use syn::{Expr, ExprMethodCall};

use super::expr::{last_name, object_of};
use super::run::{Frame, Ran, Run};
use super::value::{Key, Place, Value};

impl Run<'_> {
    pub fn method(&mut self, frame: &Frame, it: &ExprMethodCall) -> Ran<Value> {
        let name = it.method.to_string();
        let receiver = self.expr(frame, &it.receiver)?;
        if let Value::Generator = receiver {
            return match name.as_str() {
                "subschema_for" => self.subschema(frame, it),
                "contract" => Ok(Value::Contract),
                _ => self.refuse(frame, it, "is a call that is not read"),
            };
        }
        let arguments: Vec<&Expr> = it.args.iter().collect();
        let found = match (&receiver, &arguments[..]) {
            (Value::Contract, []) => match name.as_str() {
                "is_deserialize" => Some(Value::from(true)),
                "is_serialize" => Some(Value::from(false)),
                _ => None,
            },
            (Value::Option(inner), arguments) => self.option(frame, it, inner, &name, arguments)?,
            (Value::Entry(place, key), [value]) if name == "or_insert" => {
                let value = self.data(frame, value)?;
                self.entry(place, key, value)
            }
            (_, []) => self.plain(&receiver, &name),
            (Value::Place(_) | Value::Json(_), [first]) => {
                self.with_one(frame, it, &receiver, &name, first)?
            }
            (Value::Place(_) | Value::Json(_), [key, value]) if name == "insert" => {
                let key = self.text_of(frame, key)?;
                let value = self.data(frame, value)?;
                let place = receiver.place();
                let before = place.and_then(|it| it.schema(|it| it.insert(key, value)));
                before.map(|it| Value::maybe(it.map(Value::Json)))
            }
            _ => None,
        };
        match found {
            Some(it) => Ok(it),
            None => self.refuse(frame, it, "is a call that is not read"),
        }
    }

    fn entry(&self, place: &Place, key: &str, value: Json) -> Option<Value> {
        place.schema(|it| {
            it.ensure_object().entry(key.to_owned()).or_insert(value);
        })?;
        Some(Value::Place(place.then(Key::Name(key.to_owned()))))
    }

    /// Methods without arguments.
    fn plain(&self, receiver: &Value, name: &str) -> Option<Value> {
        if let Value::Text(text) = receiver {
            return match name {
                "into" | "to_owned" | "to_string" | "clone" | "into_owned" | "as_str"
                | "as_ref" => Some(receiver.clone()),
                "to_lowercase" => Some(Value::Text(text.to_lowercase())),
                "to_uppercase" => Some(Value::Text(text.to_uppercase())),
                "is_empty" => Some(Value::from(text.is_empty())),
                _ => None,
            };
        }
        let json = receiver.json()?;
        let place = || receiver.place();
        match name {
            "into" | "clone" | "to_owned" | "to_value" => Some(Value::Json(json)),
            "try_into" => Some(Value::some(Value::Json(json))),
            "as_ref" | "as_mut" | "borrow" | "borrow_mut" => Some(receiver.clone()),
            "as_value" => Some(receiver.clone()),
            "ensure_object" => {
                let place = place()?;
                place.schema(|it| {
                    it.ensure_object();
                })?;
                Some(Value::Place(place))
            }
            "as_object" | "as_object_mut" => {
                Some(Value::maybe(json.is_object().then(place).flatten().map(Value::Place)))
            }
            "as_array" | "as_array_mut" => {
                Some(Value::maybe(json.is_array().then(place).flatten().map(Value::Place)))
            }
            "as_str" => Some(Value::maybe(json.as_str().map(|it| Value::Text(it.to_owned())))),
            "as_bool" => Some(Value::maybe(json.as_bool().map(Value::from))),
            "is_object" => Some(Value::from(json.is_object())),
            "is_array" => Some(Value::from(json.is_array())),
            "is_string" => Some(Value::from(json.is_string())),
            "is_null" => Some(Value::from(json.is_null())),
            "is_empty" => match json {
                Json::Object(it) => Some(Value::from(it.is_empty())),
                Json::Array(it) => Some(Value::from(it.is_empty())),
                _ => None,
            },
            // Over lists, one item after the other is the list itself.
            "iter" | "into_iter" | "collect" | "to_vec" => {
                json.is_array().then_some(Value::Json(json))
            }
            _ => None,
        }
    }

    fn with_one(
        &mut self,
        frame: &Frame,
        it: &ExprMethodCall,
        receiver: &Value,
        name: &str,
        first: &Expr,
    ) -> Ran<Option<Value>> {
        let Some(place) = receiver.place() else { return Ok(None) };
        Ok(match name {
            "get" | "get_mut" => {
                let key = match self.data(frame, first)? {
                    Json::String(it) => Key::Name(it),
                    Json::Number(number) => match number.as_u64().map(usize::try_from) {
                        Some(Ok(index)) => Key::Index(index),
                        _ => return Ok(None),
                    },
                    _ => return Ok(None),
                };
                let inner = place.then(key);
                Some(Value::maybe(inner.look(|_| ()).map(|()| Value::Place(inner))))
            }
            "pointer" | "pointer_mut" => {
                let pointer = self.text_of(frame, first)?;
                let Some(rest) = pointer.strip_prefix('/') else { return Ok(None) };
                let mut inner = place;
                for part in rest.split('/') {
                    let part = part.replace("~1", "/").replace("~0", "~");
                    let list = inner.look(Json::is_array) == Some(true);
                    inner = match (list, part.parse()) {
                        (true, Ok(index)) => inner.then(Key::Index(index)),
                        (true, Err(_)) => return Ok(None),
                        _ => inner.then(Key::Name(part)),
                    };
                }
                Some(Value::maybe(inner.look(|_| ()).map(|()| Value::Place(inner))))
            }
            "remove" => {
                let key = self.text_of(frame, first)?;
                let before = place.schema(|it| it.remove(&key));
                before.map(|it| Value::maybe(it.map(Value::Json)))
            }
            "contains_key" => {
                let key = self.text_of(frame, first)?;
                let there = place.look(|it| it.as_object().map(|it| it.contains_key(&key)));
                there.flatten().map(Value::from)
            }
            "entry" => {
                let key = self.text_of(frame, first)?;
                Some(Value::Entry(place, key))
            }
            "push" => {
                let value = self.data(frame, first)?;
                let pushed = place.change(|it| it.as_array_mut().map(|it| it.push(value)));
                pushed.flatten().map(|()| Value::Unit)
            }
            "extend" => {
                let more = self.data(frame, first)?;
                let extended = place.change(|it| match (it, more) {
                    (Json::Object(it), Json::Object(more)) => {
                        it.extend(more);
                        Some(())
                    }
                    (Json::Object(it), Json::Array(pairs)) => match object_of(pairs) {
                        Some(Json::Object(more)) => {
                            it.extend(more);
                            Some(())
                        }
                        _ => None,
                    },
                    (Json::Array(it), Json::Array(more)) => {
                        it.extend(more);
                        Some(())
                    }
                    _ => None,
                });
                extended.flatten().map(|()| Value::Unit)
            }
            _ => return self.refuse(frame, it, "is a call that is not read"),
        })
    }

    /// Methods of an `Option` and of a `Result`.
    fn option(
        &mut self,
        frame: &Frame,
        it: &ExprMethodCall,
        inner: &Option<Box<Value>>,
        name: &str,
        arguments: &[&Expr],
    ) -> Ran<Option<Value>> {
        let whole = || Value::Option(inner.clone());
        Ok(match (name, arguments, inner) {
            ("unwrap", [], Some(value)) | ("expect", [_], Some(value)) => Some((**value).clone()),
            ("unwrap" | "expect", _, None) => {
                return self.refuse(frame, it, "panics when it runs, and so would `crd()`");
            }
            ("unwrap_or_default", [], Some(value)) => Some((**value).clone()),
            ("unwrap_or", [_], Some(value)) => Some((**value).clone()),
            ("unwrap_or", [other], None) => Some(self.owned(frame, other)?),
            (
                "ok" | "as_ref" | "as_mut" | "cloned" | "copied" | "clone" | "as_deref"
                | "as_deref_mut",
                [],
                _,
            ) => Some(whole()),
            ("is_some" | "is_ok", [], inner) => Some(Value::from(inner.is_some())),
            ("is_none" | "is_err", [], inner) => Some(Value::from(inner.is_none())),
            ("and_then" | "map", [_], None) => Some(Value::Option(None)),
            ("and_then" | "map", [function], Some(value)) => {
                let res = self.apply(frame, function, (**value).clone())?;
                match (name, res) {
                    ("map", res) => Some(Value::some(res)),
                    (_, res @ Value::Option(_)) => Some(res),
                    _ => None,
                }
            }
            _ => None,
        })
    }

    /// Calls a function or a closure that changes a schema.
    pub fn apply_to(&mut self, frame: &Frame, function: &Expr, schema: &mut Schema) -> Ran<()> {
        let place = Place::new(schema.clone().to_value());
        let value = Value::Place(place.clone());
        match function {
            Expr::Closure(_) => drop(self.apply(frame, function, value)?),
            Expr::Path(path) => {
                let before = frame.bound();
                frame.bind("schema".to_owned(), value);
                let span = syn::spanned::Spanned::span(function);
                let argument: Expr = syn::parse_quote_spanned!(span=> schema);
                let call = syn::ExprCall {
                    attrs: Vec::new(),
                    func: Box::new(Expr::Path(path.clone())),
                    paren_token: syn::token::Paren::default(),
                    args: [argument].into_iter().collect(),
                };
                self.expr(frame, &Expr::Call(call))?;
                frame.forget(before);
            }
            _ => return self.refuse(frame, function, "is no transform that is read"),
        }
        match place.read().map(Schema::try_from) {
            Some(Ok(changed)) => {
                *schema = changed;
                Ok(())
            }
            _ => self.refuse(frame, function, "makes no schema"),
        }
    }

    /// Calls a closure, or a method by its path: `Value::as_object_mut`.
    fn apply(&mut self, frame: &Frame, function: &Expr, value: Value) -> Ran<Value> {
        if let Expr::Closure(it) = function {
            let before = frame.bound();
            if it.inputs.len() != 1 {
                return self.refuse(frame, function, "is no function that is read");
            }
            self.bind(frame, &it.inputs[0], value)?;
            let res = self.owned(frame, &it.body);
            frame.forget(before);
            return res;
        }
        let found = match last_name(function) {
            Some(name) => self.plain(&value, &name),
            None => None,
        };
        match found {
            Some(it) => Ok(it),
            None => self.refuse(frame, function, "is no function that is read"),
        }
    }
}

/// What must be a schema, as one.
pub fn schema(value: &Value) -> Option<Schema> {
    Schema::try_from(value.json()?).ok()
}
