//! Struct literals of the k8s-openapi that is linked here: its own code says which fields there are, and whether
//! what was read is a value of it.

use serde_json::{Map, Value as Json};
use syn::ExprStruct;

use super::value::Value;
use super::{Eval, Evaluator, Frame, Ty};
use crate::builtin;
use crate::builtin::kubernetes::Kubernetes;

/// The type of a field of a linked type: whatever it is, the type itself checks it in the end.
const ANY: &str = "~";

impl Ty {
    /// Whether it is what a linked type will check.
    pub fn is_any(&self) -> bool {
        self.path() == ANY
    }
}

impl Evaluator<'_> {
    /// A struct by its path; refused where it is none that is linked.
    pub fn linked_structure(&self, frame: &Frame, it: &ExprStruct, path: &str) -> Eval<Value> {
        let not_read =
            || self.refuse(frame, it, format!("is a `{path}`, whose fields are not read"));
        let linked = path.starts_with("k8s_openapi::")
            && matches!(self.world.kubernetes, Kubernetes::Linked);
        let known = builtin::find(path).and_then(|(_, it)| Some(((it.fields?)(), it.written?)));
        let Some((fields, written)) = known.filter(|_| linked) else { return not_read() };
        let mut res = Map::new();
        if let Some(rest) = &it.rest {
            match self.part(frame, rest, &Ty::known(path))? {
                Value::Foreign(of, Json::Object(before)) if of == path => res = before,
                _ => return self.refuse(frame, rest, "is of another type"),
            }
        }
        for field in &it.fields {
            if let Some(attr) = field.attrs.first() {
                return self.refuse(frame, attr, "on a field is not read");
            }
            let name = super::place::member(&field.member);
            let Some(json) = fields.iter().find(|it| same(it, &name)) else {
                return self.refuse(frame, &field.member, "is no field of it that is read");
            };
            let value = self.part(frame, &field.expr, &Ty::known(ANY))?;
            let left_out = matches!(value, Value::Option(None) | Value::Unit);
            match left_out {
                true => drop(res.remove(*json)),
                false => {
                    drop(res.insert((*json).to_owned(), self.json_of(frame, &field.expr, &value)?))
                }
            }
        }
        match written(Json::Object(res)) {
            Some(found) => Ok(Value::Foreign(path.to_owned(), found)),
            None => not_read(),
        }
    }
}

/// Whether a name in Rust is a name in JSON: `cluster_ip` and `clusterIP`, `type_` and `type`.
fn same(one: &str, other: &str) -> bool {
    let plain = |it: &str| it.replace('_', "").to_lowercase();
    plain(one) == plain(other)
}
