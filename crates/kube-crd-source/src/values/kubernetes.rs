//! Structs of k8s-openapi as code writes them: their fields, and how each is written, stand in the crate's source.

use serde_json::{Map, Value as Json};
use syn::ExprStruct;

use super::construct::Construct;
use super::syntax::member;
use super::ty::Ty;
use super::value::Value;
use super::{Eval, Evaluator, Frame};
use crate::builtin::kubernetes::{Field, Miss, Structure};

impl Evaluator<'_> {
    /// `ResourceRequirements { limits: …, ..Default::default() }`.
    pub fn kubernetes_struct(&self, frame: &Frame, it: &ExprStruct, path: &str) -> Eval<Value> {
        let (mut res, fields) = match self.world.kubernetes.structure(path) {
            Some(Ok(Structure::Struct { texts, fields, .. })) => {
                let texts = texts.into_iter().map(|(key, text)| (key, Json::from(text)));
                (texts.collect::<Map<_, _>>(), fields)
            }
            Some(Err(Miss::Unread { file, what })) => {
                return self.refuse(
                    frame,
                    it,
                    format!("k8s-openapi's {file} cannot be read: {what}"),
                );
            }
            Some(_) => return self.unsupported(frame, it),
            None => {
                let why = format!("the fields of `{path}` are not known; run `cargo fetch`");
                return self.refuse(frame, it, why);
            }
        };
        let mut given: Vec<String> = Vec::new();
        for field in &it.fields {
            if !self.is_active(frame, &field.attrs, "a field")? {
                continue;
            }
            let name = member(&field.member);
            let Some(found) = fields.iter().find(|it| it.name == name) else {
                return self.refuse(frame, &field.member, "it is not a field of this type");
            };
            let Some(ty) = field_type(&found.ty) else {
                return self.unsupported(frame, &field.member);
            };
            match (self.eval(frame, &field.expr, &ty)?, found.optional) {
                // What may be left out is `None`, and is.
                (Value::Option(None), true) => {}
                (Value::Option(Some(value)), true) => {
                    let json = self.json_of(frame, &field.expr, &value)?;
                    res.insert(found.json.clone(), json);
                }
                (_, true) => return self.unsupported(frame, &field.expr),
                (value, false) => {
                    let json = self.json_of(frame, &field.expr, &value)?;
                    res.insert(found.json.clone(), json);
                }
            }
            given.push(name);
        }
        let left: Vec<&Field> = fields.iter().filter(|it| !given.contains(&it.name)).collect();
        self.add_rest(frame, it, path, &left, &mut res)?;
        self.accept(Construct::KubernetesStruct);
        Ok(Value::foreign(path, Json::Object(res)))
    }

    /// The fields that `..rest` gives.
    fn add_rest(
        &self,
        frame: &Frame,
        it: &ExprStruct,
        path: &str,
        left: &[&Field],
        res: &mut Map<String, Json>,
    ) -> Eval<()> {
        match (&it.rest, left.first()) {
            (Some(rest), _) => {
                let Value::Foreign(_, before) = self.eval(frame, rest, &Ty::foreign(path))? else {
                    return self.unsupported(frame, rest);
                };
                for field in left {
                    if let Some(json) = before.get(&field.json) {
                        res.insert(field.json.clone(), json.clone());
                    }
                }
                Ok(())
            }
            (None, Some(field)) => {
                self.refuse(frame, it, format!("it lacks the field `{}`", field.name))
            }
            (None, None) => Ok(()),
        }
    }
}

/// A type as the crate writes it: by its whole path.
fn field_type(it: &syn::Type) -> Option<Ty> {
    let syn::Type::Path(it) = it else { return None };
    let last = it.path.segments.last()?;
    let parts: Vec<String> = it.path.segments.iter().map(|it| it.ident.to_string()).collect();
    let arguments: Vec<Ty> = match &last.arguments {
        syn::PathArguments::AngleBracketed(it) => it
            .args
            .iter()
            .map(|it| match it {
                syn::GenericArgument::Type(it) => field_type(it),
                _ => None,
            })
            .collect::<Option<_>>()?,
        _ => Vec::new(),
    };
    let path = match parts.join("::").as_str() {
        "Option" => "std::option::Option".to_owned(),
        path => match path.strip_prefix("crate::") {
            Some(path) if path.starts_with("serde_json::") => path.to_owned(),
            Some(path) => format!("k8s_openapi::{path}"),
            None => path.to_owned(),
        },
    };
    Some(match (path.as_str(), arguments.len()) {
        ("std::boxed::Box", 1) => arguments.into_iter().next()?,
        (path, 0) => Ty::foreign(path),
        _ => Ty::Foreign(path, arguments),
    })
}
