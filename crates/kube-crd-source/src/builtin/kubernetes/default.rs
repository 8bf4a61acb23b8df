//! What `T::default()` of a type of k8s-openapi is, as its `Serialize` writes it.

use serde_json::{Map, Value, json};

use super::{Source, Structure};

impl Source {
    /// None where the type has no default, or none that can be read.
    pub fn default_of(&self, path: &str) -> Option<Value> {
        let model = self.find(path).ok()?;
        match self.structure(&model).ok()? {
            Structure::Struct { texts, fields, default: true } => {
                let mut res: Map<_, _> =
                    texts.into_iter().map(|(key, text)| (key, text.into())).collect();
                // What may be left out is `None`, and is.
                for field in fields.iter().filter(|it| !it.optional) {
                    res.insert(field.json.clone(), self.default_at(&field.ty)?);
                }
                Some(Value::Object(res))
            }
            Structure::Newtype { ty, default: true } => self.default_at(&ty),
            Structure::Enum { variants, default: Some(default) } => {
                let (_, ty) = variants.iter().find(|(it, _)| *it == default)?;
                self.default_at(ty)
            }
            _ => None,
        }
    }

    /// The default of a type as the crate writes it, by its whole path.
    fn default_at(&self, ty: &syn::Type) -> Option<Value> {
        let syn::Type::Path(syn::TypePath { qself: None, path, .. }) = ty else { return None };
        let parts: Vec<String> = path.segments.iter().map(|it| it.ident.to_string()).collect();
        match parts.join("::").as_str() {
            "Option" => Some(Value::Null),
            "bool" => Some(json!(false)),
            "i32" | "i64" => Some(json!(0)),
            "f64" => Some(json!(0.0)),
            "std::string::String" | "crate::ByteString" => Some(json!("")),
            "std::vec::Vec" => Some(json!([])),
            "std::collections::BTreeMap" => Some(json!({})),
            "crate::serde_json::Value" => Some(Value::Null),
            path => self.default_of(&format!("k8s_openapi::{}", path.strip_prefix("crate::")?)),
        }
    }
}
