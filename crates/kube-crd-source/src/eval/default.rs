//! What `Default` gives: of the language's types, of std's, of derived and hand-written impls.

use super::call::Given;
use super::value::{Data, Float, Open, Value};
use super::{Eval, Evaluator, Frame, Stop, Ty};
use crate::derives::Derived;
use crate::world::{Kind, plain};

impl Evaluator<'_> {
    /// `<T>::default()`, where a function that the type has by itself comes before the trait's.
    pub fn default_by_name(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        ty: &Ty,
    ) -> Eval<Value> {
        match ty {
            Ty::Data(..) => {
                let nothing = Given::Values(Vec::new());
                self.call_of(frame, at, ty, "default", nothing, Vec::new(), ty)
            }
            _ => self.default_of(frame, at, ty),
        }
    }

    /// `<T as Default>::default()`.
    pub fn default_of(&self, frame: &Frame, at: &impl quote::ToTokens, ty: &Ty) -> Eval<Value> {
        self.deeper(frame, at, || self.default_of_(frame, at, ty))
    }

    fn default_of_(&self, frame: &Frame, at: &impl quote::ToTokens, ty: &Ty) -> Eval<Value> {
        let (id, arguments) = match ty {
            Ty::Unknown => return Ok(Value::Open(Open::Default)),
            // A field of k8s-openapi that is left to its default is left out.
            Ty::Known(..) if ty.is_any() => return Ok(Value::Unit),
            Ty::Known(path, arguments) => {
                return match self.standard(frame, at, path, arguments)? {
                    Some(it) => Ok(it),
                    None => {
                        let name = self.name_of(ty);
                        self.refuse(
                            frame,
                            at,
                            format!("has a default of `{name}`, which is not known"),
                        )
                    }
                };
            }
            Ty::Data(id, arguments) => (*id, arguments),
        };
        let own = self.of_trait(frame, at, (id, arguments), "std::default::Default", "default")?;
        if let Some(own) = own {
            return self.run(frame, at, own, Vec::new(), ty);
        }
        let name = &self.world.items[id].name;
        match self.world.derived(id, "std::default::Default") {
            Ok(Derived::Yes) => {}
            Ok(_) => {
                let what = format!("has a default of `{name}`, whose `Default` is not read");
                return self.refuse(frame, at, what);
            }
            Err(problem) => return Err(Stop::Problem(Box::new(problem))),
        }
        let Kind::Data(input) = &self.world.items[id].kind else {
            return self.refuse(frame, at, "is no type");
        };
        let there = self.inside(id, arguments);
        let mut variant = None;
        if let syn::Data::Enum(it) = &input.data {
            let marked = it
                .variants
                .iter()
                .find(|it| it.attrs.iter().any(|it| it.path().is_ident("default")));
            match marked {
                Some(it) => variant = Some(plain(&it.ident)),
                None => return self.refuse(frame, at, "has no default variant"),
            }
        }
        let mut fields = Vec::new();
        for (name, ty) in self.fields(id, variant.as_deref()) {
            let real = self.ty(&there, ty)?;
            fields.push((name, self.default_of(&there, ty, &real)?));
        }
        Ok(Value::Data(Data { id, arguments: arguments.clone(), variant, fields }))
    }

    fn standard(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        path: &str,
        arguments: &[Ty],
    ) -> Eval<Option<Value>> {
        if let Some(ty) = super::number::integer(path) {
            return Ok(Some(Value::Int(0, Some(ty))));
        }
        if let Some(count) = path.strip_prefix("[;").and_then(|it| it.strip_suffix(']')) {
            let count: i128 = count.parse().unwrap_or(i128::MAX);
            if 32 < count {
                return Ok(None);
            }
            let inner = arguments.first().cloned().unwrap_or(Ty::Unknown);
            let value = match count {
                0 => Value::Unit,
                _ => self.default_of(frame, at, &inner)?,
            };
            return Ok(Some(Value::List(self.repeated(frame, at, value, count)?, "[;]")));
        }
        if path.starts_with('(') && path != "()" {
            let items: Eval<Vec<_>> =
                arguments.iter().map(|it| self.default_of(frame, at, it)).collect();
            return Ok(Some(Value::Tuple(items?)));
        }
        if super::functions::is_transparent(path) || path == "std::ops::Range" {
            let inner = arguments.first().cloned().unwrap_or(Ty::Unknown);
            let inside = self.default_of(frame, at, &inner)?;
            let json = self.json_of(frame, at, &inside)?;
            return Ok(Some(Value::Foreign(
                path.to_owned(),
                match path {
                    "std::ops::Range" => serde_json::json!({ "start": json, "end": json }),
                    _ => json,
                },
            )));
        }
        Ok(Some(match path {
            "()" => Value::Unit,
            "bool" => Value::Bool(false),
            "char" => Value::Char('\0'),
            "f32" => Value::Float(Float::F32(0.0)),
            "f64" => Value::Float(Float::F64(0.0)),
            "str" => Value::str(""),
            "std::string::String" => Value::text(""),
            "std::option::Option" => Value::Option(None),
            "std::time::Duration" => Value::Duration(std::time::Duration::ZERO),
            "serde_json::Value" => Value::Json(serde_json::Value::Null),
            "[]" => Value::List(Vec::new(), "[]"),
            "std::marker::PhantomData" => Value::Foreign(path.to_owned(), serde_json::Value::Null),
            path => match super::functions::empty(path) {
                Some(it) => it,
                None => match self.world.kubernetes.default_of(path) {
                    Some(it) => Value::Foreign(path.to_owned(), it),
                    None => return Ok(super::foreign::default(path)),
                },
            },
        }))
    }
}
