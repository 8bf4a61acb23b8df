//! Values as serde_json writes them: derived as serde's attributes say, or by a `Serialize` that can be run.

use serde_derive_internals::Derive;
use serde_json::{Map, Value as Json};

use super::methods::Call;
use super::value::{Data, Float, Value};
use super::{Eval, Evaluator, Frame, Stop, Ty};
use crate::attributes::serde;
use crate::derives::{Derived, derives};

/// Whether values of a type can be written.
pub enum Writes {
    Yes,
    No,
    /// It is not told for this type.
    Unknown(String),
}

/// Derives that make nothing `Serialize`, by their last name.
const QUIET: &[&str] = &[
    "AsRefStr",
    "Args",
    "Builder",
    "CELSchema",
    "Clone",
    "Constructor",
    "Copy",
    "CustomResource",
    "Debug",
    "Default",
    "Deref",
    "DerefMut",
    "Deserialize",
    "Display",
    "EnumIter",
    "EnumString",
    "Eq",
    "Error",
    "From",
    "Garde",
    "Hash",
    "Into",
    "IntoStaticStr",
    "JsonSchema",
    "KubeSchema",
    "Ord",
    "Parser",
    "PartialEq",
    "PartialOrd",
    "Resource",
    "Setters",
    "SmartDefault",
    "Subcommand",
    "TypedBuilder",
    "Validate",
    "ValueEnum",
    "VariantNames",
];

impl Evaluator<'_> {
    /// Whether a type is `Serialize`.
    pub fn writes(&self, ty: &Ty) -> Eval<Writes> {
        let inside = |arguments: &[Ty]| -> Eval<Writes> {
            for it in arguments {
                match self.writes(it)? {
                    Writes::Yes => {}
                    other => return Ok(other),
                }
            }
            Ok(Writes::Yes)
        };
        match ty {
            Ty::Unknown => Ok(Writes::Unknown("_".to_owned())),
            Ty::Known(path, arguments) => {
                let known = path.starts_with(['[', '(', 'k'])
                    || matches!(path.as_str(), "i128" | "u128" | "str" | "serde_json::Map")
                    || crate::builtin::find(path).is_some();
                match known {
                    true => inside(arguments),
                    false => Ok(Writes::Unknown(self.name_of(ty))),
                }
            }
            Ty::Data(id, arguments) => {
                let frame = self.inside(*id, arguments);
                let name = &self.world.items[*id].name;
                let at = proc_macro2::Ident::new("Serialize", self.world.items[*id].span);
                let of = (*id, &arguments[..]);
                if self.of_trait(&frame, &at, of, "serde::Serialize", "serialize")?.is_some() {
                    return Ok(Writes::Yes);
                }
                match self.world.derived(*id, "serde::Serialize") {
                    Ok(Derived::Yes) => return inside(arguments),
                    Ok(Derived::Depends) => return Ok(Writes::Unknown(name.clone())),
                    Ok(Derived::No) => {}
                    Err(problem) => return Err(Stop::Problem(Box::new(problem))),
                }
                let input = self.world.settled(*id).map_err(|it| Stop::Problem(Box::new(it)))?;
                let quiet = |it: &syn::Path| {
                    it.segments.last().is_some_and(|it| QUIET.iter().any(|name| it.ident == name))
                };
                let silent =
                    input.attrs.iter().flat_map(|it| derives(&it.meta)).all(|it| quiet(&it));
                // A macro might make the `impl`, and one for all types that have another trait might hold.
                let doubt = self.world.macro_that_may_implement(*id).is_some()
                    || self.may_be_for_any("Serialize");
                match silent && !doubt {
                    true => Ok(Writes::No),
                    false => Ok(Writes::Unknown(name.clone())),
                }
            }
        }
    }

    /// What `serde_json::to_value` makes of a value.
    pub fn json_of(&self, frame: &Frame, at: &impl quote::ToTokens, value: &Value) -> Eval<Json> {
        match self.written_json(frame, at, value) {
            Err(Stop::Unwritten(it)) => Err(Stop::Problem(it)),
            found => found,
        }
    }

    /// The same; none where serde refuses to write it.
    pub fn json_if_written(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        value: &Value,
    ) -> Eval<Option<Json>> {
        match self.written_json(frame, at, value) {
            Ok(it) => Ok(Some(it)),
            Err(Stop::Unwritten(_)) => Ok(None),
            Err(stop) => Err(stop),
        }
    }

    pub fn written_json(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        value: &Value,
    ) -> Eval<Json> {
        self.deeper(frame, at, || self.json_of_(frame, at, value))
    }

    fn json_of_(&self, frame: &Frame, at: &impl quote::ToTokens, value: &Value) -> Eval<Json> {
        let each = |items: &[Value]| -> Eval<Json> {
            items
                .iter()
                .map(|it| self.written_json(frame, at, it))
                .collect::<Eval<Vec<_>>>()
                .map(Json::from)
        };
        Ok(match value {
            Value::Unit => Json::Null,
            Value::Bool(it) => (*it).into(),
            Value::Char(it) => it.to_string().into(),
            Value::Int(it, _) => match (i64::try_from(*it), u64::try_from(*it)) {
                (_, Ok(it)) => it.into(),
                (Ok(it), _) => it.into(),
                _ => return self.refuse(frame, at, "is a number of more than 64 bits"),
            },
            Value::Float(Float::F32(it)) => (*it).into(),
            Value::Float(Float::F64(it) | Float::Either(_, it)) => (*it).into(),
            Value::Text(it, _) => it.clone().into(),
            Value::Option(None) => Json::Null,
            Value::Option(Some(it)) => self.written_json(frame, at, it)?,
            Value::Result(it) => {
                let (name, it) = match it {
                    Ok(it) => ("Ok", it),
                    Err(it) => ("Err", it),
                };
                Json::Object(Map::from_iter([(name.to_owned(), self.written_json(frame, at, it)?)]))
            }
            Value::List(it, _) | Value::Tuple(it) => each(it)?,
            Value::Set(it, kind) => {
                if kind.contains("Hash") && 1 < it.len() {
                    return self.refuse(
                        frame,
                        at,
                        "has a `HashSet` in it, which is written in no order",
                    );
                }
                each(it)?
            }
            Value::Map(it, _) => {
                let mut res = Map::new();
                for (key, value) in it {
                    let key = self.key_of(frame, at, key)?;
                    res.insert(key, self.written_json(frame, at, value)?);
                }
                Json::Object(res)
            }
            Value::Json(it) | Value::Foreign(_, it) => it.clone(),
            Value::Duration(it) => match serde_json::to_value(it) {
                Ok(it) => it,
                Err(error) => return self.refuse(frame, at, error),
            },
            Value::Place(_) => {
                let value = self.settled(frame, at, value.clone())?;
                self.written_json(frame, at, &value)?
            }
            Value::Data(it) => self.data(frame, at, it, value)?,
            Value::Open(_) => return self.refuse(frame, at, super::into::UNTOLD),
            Value::Iterator(_) | Value::Function(_) | Value::Formatter(_) | Value::Serializer => {
                return self.refuse(frame, at, "cannot be written as JSON");
            }
        })
    }

    /// A key of a map, as serde_json writes it.
    fn key_of(&self, frame: &Frame, at: &impl quote::ToTokens, key: &Value) -> Eval<String> {
        Ok(match key {
            Value::Text(it, _) => it.clone(),
            Value::Char(it) => it.to_string(),
            Value::Bool(it) => it.to_string(),
            Value::Int(it, _) => it.to_string(),
            Value::Data(_) | Value::Foreign(..) => match self.written_json(frame, at, key)? {
                Json::String(it) => it,
                Json::Number(it) if it.is_i64() || it.is_u64() => it.to_string(),
                Json::Bool(it) => it.to_string(),
                _ => return self.refuse(frame, at, "has a key that is no text"),
            },
            _ => return self.refuse(frame, at, "has a key that is no text"),
        })
    }

    fn data(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        data: &Data,
        value: &Value,
    ) -> Eval<Json> {
        let of = (data.id, &data.arguments[..]);
        if let Some(own) = self.of_trait(frame, at, of, "serde::Serialize", "serialize")? {
            let given = vec![value.clone(), Value::Serializer];
            let found = self.run(frame, at, own, given, &Ty::Unknown)?;
            return self.written(frame, at, found);
        }
        if !self.derives(data.id, "serde::Serialize")? {
            let name = &self.world.items[data.id].name;
            return self.refuse(frame, at, format!("is a `{name}`, whose `Serialize` is not read"));
        }
        let there = self.inside(data.id, &data.arguments);
        let input = self.world.settled(data.id).map_err(|it| Stop::Problem(Box::new(it)))?;
        self.world.unchanged(data.id, &input).map_err(|it| Stop::Problem(Box::new(it)))?;
        let found = serde::read(&input, Derive::Serialize, |it| self.derived(&there, at, it, data));
        match found {
            Ok(found) => found,
            Err(error) => Err(self.stop(&there, error.span(), error.to_string())),
        }
    }

    /// What a function of `serialize_with` writes.
    pub fn written_by(&self, frame: &Frame, path: &syn::ExprPath, value: Value) -> Eval<Json> {
        let given = super::call::Given::Values(vec![value, Value::Serializer]);
        let found = self.call_path(frame, path, path, given, &Ty::Unknown)?;
        self.written(frame, path, found)
    }

    /// What a `Serialize` that was run has written.
    pub fn written(&self, frame: &Frame, at: &impl quote::ToTokens, found: Value) -> Eval<Json> {
        match found {
            Value::Result(Ok(it)) => match *it {
                Value::Json(it) => Ok(it),
                _ => self.refuse(frame, at, "is written by code that is not read"),
            },
            _ => self.refuse(frame, at, "is written by code that is not read"),
        }
    }

    /// What `skip_serializing_if` says of a value.
    pub fn skipped(&self, frame: &Frame, path: &syn::ExprPath, value: &Value) -> Eval<bool> {
        let bool = Ty::known("bool");
        let given = super::call::Given::Values(vec![value.clone()]);
        match self.call_path(frame, path, path, given, &bool)? {
            Value::Bool(it) => Ok(it),
            _ => self.refuse(frame, path, "says neither yes nor no"),
        }
    }

    /// Methods of what `Serialize` writes to.
    pub fn serializer_method<A: quote::ToTokens>(
        &self,
        call: &Call<'_, '_, A>,
    ) -> Eval<Option<Value>> {
        let (frame, at) = (call.frame, call.at);
        let argument = |index: usize, ty: &Ty| {
            let value = self.take(frame, at, &call.given, index, ty)?;
            self.settled(frame, at, value)
        };
        let (name, count) = call.shape();
        let json = match (name, count) {
            ("serialize_str", 1) => {
                let it = argument(0, &Ty::known("str"))?;
                self.json_of(frame, at, &it)?
            }
            ("collect_str", 1) => {
                let it = argument(0, &Ty::Unknown)?;
                self.display(frame, at, &it)?.into()
            }
            ("serialize_none" | "serialize_unit", 0) => Json::Null,
            ("serialize_some", 1) | ("serialize_newtype_struct", 2) => {
                let it = argument(count - 1, &Ty::Unknown)?;
                self.json_of(frame, at, &it)?
            }
            ("is_human_readable", 0) => return Ok(Some(Value::Bool(true))),
            (name, 1) => {
                let ty = name.strip_prefix("serialize_").unwrap_or_default();
                let scalar = super::number::integer(ty).is_some()
                    || matches!(ty, "bool" | "char" | "f32" | "f64");
                if !scalar {
                    return Ok(None);
                }
                let it = argument(0, &Ty::known(ty))?;
                self.json_of(frame, at, &it)?
            }
            _ => return Ok(None),
        };
        Ok(Some(Value::ok(Value::Json(json))))
    }
}
