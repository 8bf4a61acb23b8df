//! Values as serde_json writes them: derived as serde's attributes say, or by a `Serialize` that can be run.

use serde_derive_internals::{Derive, ast, attr};
use serde_json::{Map, Value as Json};

use super::methods::Call;
use super::value::{Data, Float, Value};
use super::{Eval, Evaluator, Frame, Stop, Ty};
use crate::source::attributes::serde;
use crate::source::derives::{Derived, derives};
use crate::source::world::plain;

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
                    || crate::source::builtin::find(path).is_some();
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
                let doubt = (self.world.modules.iter().flat_map(|it| &it.macros))
                    .any(|it| it.may_be_for(name))
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

    fn written_json(&self, frame: &Frame, at: &impl quote::ToTokens, value: &Value) -> Eval<Json> {
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

    fn derived(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        container: &ast::Container<'_>,
        data: &Data,
    ) -> Eval<Json> {
        if let Some(ty) = container.attrs.type_into() {
            let ty = self.ty(frame, ty)?;
            let value = Value::Data(data.clone());
            let value = self.into(frame, at, value, &ty)?;
            return self.written_json(frame, at, &value);
        }
        if container.attrs.remote().is_some() {
            return self.refuse(frame, at, "is written for another type");
        }
        match &container.data {
            ast::Data::Struct(style, fields) => {
                if container.attrs.transparent() {
                    let field = fields.iter().find(|it| it.attrs.transparent());
                    return match field {
                        Some(it) => match self.field(frame, at, it, data, true)? {
                            Some(json) => Ok(json),
                            None => self.refuse(frame, at, "writes nothing"),
                        },
                        None => self.refuse(frame, at, "has no field that it stands for"),
                    };
                }
                let mut res = match style {
                    ast::Style::Struct => self.object(frame, at, fields, data)?,
                    style => self.shape(frame, at, *style, fields, data)?,
                };
                if let (attr::TagType::Internal { tag }, Json::Object(it)) =
                    (container.attrs.tag(), &mut res)
                {
                    let name = container.attrs.name().serialize_name().value.clone();
                    it.insert(tag.clone(), name.into());
                }
                Ok(res)
            }
            ast::Data::Enum(variants) => {
                let name = data.variant.as_deref().unwrap_or_default();
                let Some(it) = variants.iter().find(|it| plain(&it.ident) == name) else {
                    return self.refuse(frame, at, "is no variant");
                };
                self.variant(frame, at, container, it, data)
            }
        }
    }

    fn variant(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        container: &ast::Container<'_>,
        variant: &ast::Variant<'_>,
        data: &Data,
    ) -> Eval<Json> {
        let name = variant.attrs.name().serialize_name().value.clone();
        if variant.attrs.skip_serializing() {
            let what = format!("is the variant `{name}`, which cannot be written");
            return match self.refuse(frame, at, what) {
                Err(Stop::Problem(it)) => Err(Stop::Unwritten(it)),
                found => found,
            };
        }
        let inside = || match variant.attrs.serialize_with() {
            Some(path) => {
                let mut given: Vec<Value> = data.fields.iter().map(|(_, it)| it.clone()).collect();
                given.push(Value::Serializer);
                let given = super::call::Given::Values(given);
                let found = self.call_path(frame, path, path, given, &Ty::Unknown)?;
                self.written(frame, path, found)
            }
            None => match variant.style {
                ast::Style::Struct => self.object(frame, at, &variant.fields, data),
                style => self.shape(frame, at, style, &variant.fields, data),
            },
        };
        let unit =
            matches!(variant.style, ast::Style::Unit) && variant.attrs.serialize_with().is_none();
        let one = |key: String, value: Json| Json::Object(Map::from_iter([(key, value)]));
        if variant.attrs.untagged() {
            return inside();
        }
        Ok(match container.attrs.tag() {
            attr::TagType::External if unit => name.into(),
            attr::TagType::External => one(name, inside()?),
            attr::TagType::None => inside()?,
            attr::TagType::Internal { tag } if unit => one(tag.clone(), name.into()),
            attr::TagType::Internal { tag } => match (self.held(data)?, inside()?) {
                (Held::Other, Json::Object(mut it)) => {
                    // The tag goes first, and what is inside may say it again.
                    it.entry(tag.clone()).or_insert_with(|| name.into());
                    Json::Object(it)
                }
                (Held::UnitVariant, Json::String(inner)) => {
                    Json::Object(Map::from_iter([(tag.clone(), name.into()), (inner, Json::Null)]))
                }
                (Held::Unit | Held::UnitVariant, Json::Null) => one(tag.clone(), name.into()),
                (Held::Refused, _)
                | (Held::Other, Json::Bool(_) | Json::Number(_) | Json::Array(_)) => {
                    return match self.refuse(frame, at, "is tagged, and no object") {
                        Err(Stop::Problem(it)) => Err(Stop::Unwritten(it)),
                        found => found,
                    };
                }
                _ => return self.refuse(frame, at, "is tagged, and no object"),
            },
            attr::TagType::Adjacent { tag, .. } if unit => one(tag.clone(), name.into()),
            attr::TagType::Adjacent { tag, content } => Json::Object(Map::from_iter([
                (tag.clone(), name.into()),
                (content.clone(), inside()?),
            ])),
        })
    }

    /// What is in a unit, a newtype or a tuple.
    fn shape(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        style: ast::Style,
        fields: &[ast::Field<'_>],
        data: &Data,
    ) -> Eval<Json> {
        match style {
            ast::Style::Unit => Ok(Json::Null),
            ast::Style::Newtype => match fields.first() {
                Some(it) => match self.field(frame, at, it, data, true)? {
                    Some(json) => Ok(json),
                    None => self.refuse(frame, at, "writes nothing"),
                },
                None => Ok(Json::Null),
            },
            _ => {
                let mut res = Vec::new();
                for it in fields {
                    res.extend(self.field(frame, at, it, data, false)?);
                }
                Ok(Json::Array(res))
            }
        }
    }

    fn object(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        fields: &[ast::Field<'_>],
        data: &Data,
    ) -> Eval<Json> {
        let mut res = Map::new();
        for it in fields {
            let Some(json) = self.field(frame, at, it, data, false)? else { continue };
            if !it.attrs.flatten() {
                res.insert(it.attrs.name().serialize_name().value.clone(), json);
                continue;
            }
            match json {
                Json::Object(more) => res.extend(more),
                Json::Null => {}
                Json::String(name) if self.is_unit_variant(data, it)? => {
                    res.insert(name, Json::Null);
                }
                Json::Bool(_) | Json::Number(_) | Json::Array(_)
                    if it.attrs.serialize_with().is_none() =>
                {
                    return match self.refuse(frame, at, "flattens what is no object") {
                        Err(Stop::Problem(it)) => Err(Stop::Unwritten(it)),
                        found => found,
                    };
                }
                _ => return self.refuse(frame, at, "flattens what is no object"),
            }
        }
        Ok(Json::Object(res))
    }

    /// Whether a flattened field is a variant without content, of which serde makes a key.
    fn is_unit_variant(&self, data: &Data, field: &ast::Field<'_>) -> Eval<bool> {
        let syn::Member::Named(name) = &field.member else { return Ok(false) };
        let name = plain(name);
        let mut value = data.fields.iter().find(|(it, _)| *it == name).map(|(_, it)| it);
        while let Some(Value::Option(inside)) = value {
            value = inside.as_deref();
        }
        if field.attrs.serialize_with().is_some() {
            return Ok(false);
        }
        match value {
            Some(Value::Data(of)) => self.is_plain_variant(of),
            _ => Ok(false),
        }
    }

    /// What a variant that is tagged within holds: serde takes some of it, and refuses the rest.
    fn held(&self, data: &Data) -> Eval<Held> {
        let [(name, value)] = &data.fields[..] else { return Ok(Held::Other) };
        Ok(match value {
            _ if name != "0" => Held::Other,
            Value::Option(_) | Value::Text(..) | Value::Char(_) => Held::Refused,
            Value::Unit => Held::Unit,
            Value::Data(of) if self.is_plain_variant(of)? => Held::UnitVariant,
            // What is in a newtype is looked at in its place.
            Value::Data(of) if of.variant.is_none() => match self.held(of)? {
                Held::Other => Held::Other,
                _ => Held::Unsure,
            },
            _ => Held::Other,
        })
    }

    /// Whether a value is a variant without content, written by what serde derives.
    fn is_plain_variant(&self, of: &Data) -> Eval<bool> {
        if of.variant.is_none() || !of.fields.is_empty() {
            return Ok(false);
        }
        if !self.functions(of.id, &of.arguments, "serialize")?.is_empty() {
            return Ok(false);
        }
        let input = self.world.settled(of.id).map_err(|it| Stop::Problem(Box::new(it)))?;
        let plain = serde::read(&input, Derive::Serialize, |it| {
            Ok::<_, syn::Error>(it.attrs.type_into().is_none())
        });
        Ok(plain.is_ok_and(|it| it.unwrap_or(false)))
    }

    /// A field; none where it is left out. `bare` says that nothing can be left out.
    fn field(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        field: &ast::Field<'_>,
        data: &Data,
        bare: bool,
    ) -> Eval<Option<Json>> {
        let name = match &field.member {
            syn::Member::Named(it) => plain(it),
            syn::Member::Unnamed(it) => it.index.to_string(),
        };
        if field.attrs.skip_serializing() && !bare {
            return Ok(None);
        }
        let Some((_, value)) = data.fields.iter().find(|(it, _)| *it == name) else {
            return self.refuse(frame, at, "lacks a field");
        };
        if let (Some(path), false) = (field.attrs.skip_serializing_if(), bare)
            && self.skipped(frame, path, value)?
        {
            return Ok(None);
        }
        if let Some(path) = field.attrs.serialize_with() {
            return self.written_by(frame, path, value.clone()).map(Some);
        }
        self.written_json(frame, at, value).map(Some)
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

/// What a variant that is tagged within holds.
enum Held {
    Unit,
    UnitVariant,
    /// What serde does not take there.
    Refused,
    Unsure,
    Other,
}
