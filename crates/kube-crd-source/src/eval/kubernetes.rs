//! Structs of k8s-openapi as code writes them: their fields, and how each is written, stand in the crate's source.

use serde_json::{Map, Value as Json};
use syn::ExprStruct;

use super::value::Value;
use super::{Eval, Evaluator, Frame, Ty};
use crate::builtin::kubernetes::{Field, Miss, Structure};

impl Evaluator<'_> {
    /// `ResourceRequirements { limits: …, ..Default::default() }`.
    pub fn foreign_structure(&self, frame: &Frame, it: &ExprStruct, path: &str) -> Eval<Value> {
        let (texts, fields) = match self.world.kubernetes.structure(path) {
            Some(Ok(Structure::Struct { texts, fields, .. })) => (texts, fields),
            Some(Err(Miss::Unread { file, what })) => {
                let what = format!("is in k8s-openapi's {file}, which cannot be read: {what}");
                return self.refuse(frame, it, what);
            }
            _ => return self.linked_structure(frame, it, path),
        };
        let mut res: Map<String, Json> =
            texts.into_iter().map(|(key, text)| (key, text.into())).collect();
        let mut given: Vec<String> = Vec::new();
        for field in &it.fields {
            let name = super::place::member(&field.member);
            let Some(found) = fields.iter().find(|it| it.name == name) else {
                return self.refuse(frame, &field.member, "is no field of it");
            };
            if let Some(attr) = field.attrs.first() {
                return self.refuse(frame, attr, "on a field is not read");
            }
            let Some(ty) = ty(&found.ty) else {
                return self.refuse(frame, &field.member, "is of a type that is not read");
            };
            match self.part(frame, &field.expr, &ty)? {
                // What may be left out is `None`, and is.
                Value::Option(None) if found.optional => {}
                Value::Option(Some(value)) if found.optional => {
                    let json = self.json_of(frame, &field.expr, &value)?;
                    res.insert(found.json.clone(), json);
                }
                _ if found.optional => {
                    return self.refuse(frame, &field.expr, "is not known to be some or none");
                }
                value => {
                    let json = self.json_of(frame, &field.expr, &value)?;
                    res.insert(found.json.clone(), json);
                }
            }
            given.push(name);
        }
        let left: Vec<&Field> = fields.iter().filter(|it| !given.contains(&it.name)).collect();
        if let Some(rest) = &it.rest {
            let Value::Foreign(of, Json::Object(mut rest)) =
                self.part(frame, rest, &Ty::known(path))?
            else {
                return self.refuse(frame, it, "takes the rest of a value that is not read");
            };
            if of != path {
                return self.refuse(frame, it, "takes the rest of another type");
            }
            for field in left {
                res.extend(rest.remove(&field.json).map(|it| (field.json.clone(), it)));
            }
        } else if let Some(field) = left.first() {
            return self.refuse(frame, it, format!("lacks the field `{}`", field.name));
        }
        Ok(Value::Foreign(path.to_owned(), Json::Object(res)))
    }
}

/// A type as the crate writes it: by its whole path.
fn ty(it: &syn::Type) -> Option<Ty> {
    let syn::Type::Path(it) = it else { return None };
    let last = it.path.segments.last()?;
    let parts: Vec<String> = it.path.segments.iter().map(|it| it.ident.to_string()).collect();
    let arguments: Vec<Ty> = match &last.arguments {
        syn::PathArguments::AngleBracketed(it) => it
            .args
            .iter()
            .map(|it| match it {
                syn::GenericArgument::Type(it) => ty(it),
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
    Some(Ty::thinned(path, arguments))
}
