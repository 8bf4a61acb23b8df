//! Values as serde_json writes them. Only what serde derives is evaluated; a hand-written `Serialize` is refused.

use std::rc::Rc;

use serde_derive_internals::Derive;
use serde_json::{Map, Value as Json};

use super::construct::Construct;
use super::ty::Ty;
use super::value::{AdtValue, Value, is_list};
use super::{Eval, Evaluator, Frame, Stop};
use crate::names::{Named, Space};
use crate::text::derive_paths;
use crate::tree::{ItemId, Path};
use crate::types::Type;
use crate::types::derives::Derived;
use crate::types::serde;

/// Tells if values of a type can be serialized.
pub enum SerializeSupport {
    Yes,
    No,
    /// It is not certain for this type.
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
    "Subcommand",
    "TypedBuilder",
    "Validate",
    "ValueEnum",
    "VariantNames",
];

impl Evaluator<'_> {
    /// Returns whether a type is `Serialize`.
    pub fn serialize_support(&self, ty: &Ty) -> Eval<SerializeSupport> {
        let all = |types: &[Ty]| -> Eval<SerializeSupport> {
            for it in types {
                match self.serialize_support(it)? {
                    SerializeSupport::Yes => {}
                    other => return Ok(other),
                }
            }
            Ok(SerializeSupport::Yes)
        };
        match ty {
            Ty::Int(_) | Ty::F32 | Ty::F64 => Ok(SerializeSupport::Yes),
            Ty::Unknown | Ty::Any | Ty::Outcome(_) => Ok(SerializeSupport::Unknown("_".to_owned())),
            Ty::Tuple(types) => all(types),
            Ty::Array(inner, _) => self.serialize_support(inner),
            Ty::Foreign(path, inside) => {
                let known = is_list(path)
                    || path.starts_with("k8s_openapi::")
                    || matches!(path.as_str(), "str" | "serde_json::Map")
                    || crate::builtin::find(path).is_some();
                if known { all(inside) } else { Ok(SerializeSupport::Unknown(self.name_of(ty))) }
            }
            Ty::Data(of) => self.data_writes(of),
        }
    }

    fn data_writes(&self, of: &Rc<Type>) -> Eval<SerializeSupport> {
        let Type::Data(id, arguments) = &**of else {
            return Ok(SerializeSupport::Unknown("_".to_owned()));
        };
        let item = &self.world.items[*id];
        if self.has_impl(*id, "serde::Serialize")? {
            return Ok(SerializeSupport::Yes);
        }
        match self.world.derives_trait(*id, "serde::Serialize") {
            Ok(Derived::Yes) => {
                for it in arguments {
                    match self.serialize_support(&Ty::from_type(it))? {
                        SerializeSupport::Yes => {}
                        other => return Ok(other),
                    }
                }
                return Ok(SerializeSupport::Yes);
            }
            Ok(Derived::Depends) => return Ok(SerializeSupport::Unknown(item.name.clone())),
            Ok(Derived::No) => {}
            Err(problem) => return Err(problem.into()),
        }
        let input = self.world.settled_input(*id).map_err(Stop::from)?;
        let is_quiet = |it: &syn::Path| {
            it.segments.last().is_some_and(|segment| QUIET.iter().any(|name| segment.ident == name))
        };
        let quiet =
            input.attrs.iter().flat_map(|attr| derive_paths(&attr.meta)).all(|it| is_quiet(&it));
        if quiet && !self.may_be_implemented(*id, "Serialize") {
            Ok(SerializeSupport::No)
        } else {
            Ok(SerializeSupport::Unknown(item.name.clone()))
        }
    }

    /// Returns whether a macro, or an `impl` for all types, may implement a trait for a type.
    fn may_be_implemented(&self, id: ItemId, trait_: &str) -> bool {
        let by_macro = self.world.why_written(id, "serialize").is_some();
        let of_trait = |it: &&crate::tree::Impl| {
            let Some((path, _)) = &it.syntax.trait_ else { return false };
            let last = path.segments.last().is_some_and(|segment| segment.ident == trait_);
            last || match self.world.resolve_path(it.module, &Path::from(path), Space::Types) {
                Ok(Named::Foreign(path)) => path.ends_with(&format!("::{trait_}")),
                _ => false,
            }
        };
        let is_for_any = |it: &crate::tree::Impl| match &*it.syntax.self_ty {
            syn::Type::Path(ty) => {
                let named = self.world.resolve_path(it.module, &Path::from(&ty.path), Space::Types);
                let is_parameter = ty.path.get_ident().is_some_and(|ident| {
                    it.syntax.generics.type_params().any(|parameter| parameter.ident == *ident)
                });
                is_parameter || !matches!(named, Ok(Named::Item(_) | Named::Foreign(_)))
            }
            syn::Type::Reference(_) => false,
            _ => true,
        };
        by_macro || self.world.impls.iter().filter(of_trait).any(is_for_any)
    }

    /// Returns what `serde_json::to_value` makes of a value; where serde refuses, the code panics.
    pub fn json_of(&self, frame: &Frame, at: &impl quote::ToTokens, value: &Value) -> Eval<Json> {
        match self.serialize_value(frame, at, value) {
            Err(Stop::Unwritten(it)) => Err(Stop::Problem(it)),
            found => found,
        }
    }

    /// The same, which may stop because serde refuses to write it.
    pub fn serialize_value(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        value: &Value,
    ) -> Eval<Json> {
        self.step(frame, at)?;
        let Some(_level) = self.meter.enter_level() else {
            return self.refuse(frame, at, "it is nested too deep");
        };
        let each = |items: &[Value]| -> Eval<Json> {
            items
                .iter()
                .map(|value| self.serialize_value(frame, at, value))
                .collect::<Eval<Vec<_>>>()
                .map(Json::from)
        };
        Ok(match value {
            Value::Bool(it) => (*it).into(),
            Value::Char(it) => it.to_string().into(),
            Value::Int(it, _) => match (i64::try_from(*it), u64::try_from(*it)) {
                (_, Ok(it)) => it.into(),
                (Ok(it), _) => it.into(),
                _ => return self.refuse(frame, at, "a number of more than 64 bits"),
            },
            Value::F32(number) => {
                if number.to_string() != f64::from(*number).to_string() {
                    let span = syn::spanned::Spanned::span(&at.to_token_stream());
                    let place = || self.world.place_in(frame.scope.module, span);
                    self.world.inexact_f32.borrow_mut().get_or_insert_with(place);
                }
                (*number).into()
            }
            Value::F64(it) => (*it).into(),
            Value::Text(it) => {
                self.spend(frame, at, it.len() / 64)?;
                (**it).into()
            }
            Value::Option(None) => Json::Null,
            Value::Option(Some(it)) => self.serialize_value(frame, at, it)?,
            Value::Ok(it) => {
                let inner = self.serialize_value(frame, at, it)?;
                Json::Object(Map::from_iter([("Ok".to_owned(), inner)]))
            }
            Value::Tuple(items) if items.is_empty() => Json::Null,
            Value::List(it) | Value::Tuple(it) => each(it)?,
            Value::Set => Json::Array(Vec::new()),
            Value::Map => Json::Object(Map::new()),
            Value::Json(_, it) | Value::Foreign(_, it) => {
                self.spend(frame, at, super::json::count_values(it))?;
                (**it).clone()
            }
            Value::Data(it) => self.serialize_data(frame, at, it)?,
            Value::Generator => return self.unsupported(frame, at),
        })
    }

    fn serialize_data(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        data: &AdtValue,
    ) -> Eval<Json> {
        let Type::Data(id, _) = *data.ty else { return self.unsupported(frame, at) };
        let name = &self.world.items[id].name;
        if self.has_impl(id, "serde::Serialize")? {
            let why = format!("the hand-written `impl Serialize for {name}` is not evaluated");
            return self.refuse(frame, at, why);
        }
        if !self.derives_for_certain(id, "serde::Serialize")? {
            return self.refuse(frame, at, format!("`{name}` does not derive `Serialize`"));
        }
        let there = Frame::in_scope(self.world.scope_of(&data.ty));
        let input = self.world.settled_input(id).map_err(Stop::from)?;
        self.world.check_attribute_macros(id, &input).map_err(Stop::from)?;
        self.spend(frame, at, 8)?;
        let found = serde::with_container(&input, Derive::Serialize, |container| {
            self.derives_trait(&there, at, container, data)
        });
        self.record_construct(Construct::DerivedSerialize);
        match found {
            Ok(found) => found,
            Err(error) => self.syntax(&there, Err(error)),
        }
    }
}
