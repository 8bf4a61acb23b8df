//! What a path in code that is run names: a variable, an item, what is of a type, a variant, what another crate has.

use std::rc::Rc;

use syn::ExprPath;

use super::ty::parameters;
use super::value::{Data, Function, Value};
use super::{Eval, Evaluator, Frame, Ty};
use crate::names::{Miss, Named, Space};
use crate::world::{ItemId, Kind, Path, plain};

/// What a path names, where code is run.
pub enum What {
    Local(Value),
    Item(ItemId),
    /// A function or constant of a type.
    Of(Ty, String),
    Variant(ItemId, Vec<Ty>, String),
    Foreign(String, Vec<Ty>),
    /// A method of a trait of the project.
    Method(String),
}

impl<'a> Evaluator<'a> {
    pub fn what(&self, frame: &Frame, path: &ExprPath) -> Eval<What> {
        let segments = &path.path.segments;
        let Some(last) = segments.last() else {
            return self.refuse(frame, path, "names nothing");
        };
        let name = plain(&last.ident);
        let front: Vec<_> = segments.iter().take(segments.len() - 1).collect();
        if let Some(qself) = &path.qself {
            let ty = self.ty(frame, &qself.ty)?;
            // What a trait of the project says of a type of the language is not known here.
            let of: Vec<_> = segments.iter().take(qself.position).cloned().collect();
            if !of.is_empty() && !matches!(ty, Ty::Data(..)) {
                let of = syn::Path {
                    leading_colon: path.path.leading_colon,
                    segments: of.into_iter().collect(),
                };
                let found = self.world.resolve(frame.module, &Path::from(&of), Space::Types);
                if !matches!(found, Ok(Named::Foreign(_))) {
                    return self.refuse(frame, path, "is of a trait that is not read");
                }
            }
            // `<T>::name` and `<T as Trait>::name`.
            return match front.len() == qself.position {
                true => Ok(What::Of(ty, name)),
                false => self.refuse(frame, path, "is a path that is not read"),
            };
        }
        if segments.len() == 1 && path.path.leading_colon.is_none() {
            if let Some(slot) = frame.local(&name) {
                return Ok(What::Local(slot.borrow().clone()));
            }
            if let Some(Ty::Known(constant, _)) = frame.parameters.get(&name)
                && let Some(text) = constant.strip_prefix('=')
            {
                return match text.parse() {
                    Ok(number) => Ok(What::Local(Value::Int(number, None))),
                    Err(_) => self.refuse(frame, path, "is a parameter that is not read"),
                };
            }
            if name == "Self" {
                return match &frame.itself {
                    Some(Ty::Data(id, _)) => Ok(What::Item(*id)),
                    _ => self.refuse(frame, path, "is a path that is not read"),
                };
            }
        }
        if let [first] = front[..] {
            let first = plain(&first.ident);
            let known = match first.as_str() {
                "Self" => frame.itself.clone(),
                first => frame.parameters.get(first).cloned(),
            };
            match known {
                Some(Ty::Data(id, arguments)) if self.is_variant(id, &name) => {
                    return Ok(What::Variant(id, arguments, name));
                }
                Some(Ty::Unknown) => {
                    return self.refuse(frame, path, "is of a type that cannot be told here");
                }
                Some(ty) => return Ok(What::Of(ty, name)),
                None => {}
            }
        }
        match self.world.resolve(frame.module, &Path::from(&path.path), Space::Values) {
            Ok(Named::Item(id)) => Ok(What::Item(id)),
            Ok(Named::Member(id, name)) => {
                let of = syn::Path {
                    leading_colon: path.path.leading_colon,
                    segments: front.into_iter().cloned().collect(),
                };
                // A variant may also be imported by itself.
                let ty = match of.segments.is_empty() {
                    true => Ty::Data(id, Vec::new()),
                    false => self.ty(
                        frame,
                        &syn::Type::Path(syn::TypePath {
                            attrs: Vec::new(),
                            qself: None,
                            path: of,
                        }),
                    )?,
                };
                match ty {
                    _ if self.is_variant(id, &name) => {
                        let arguments = match ty {
                            Ty::Data(it, arguments) if it == id => arguments,
                            _ => Vec::new(),
                        };
                        Ok(What::Variant(id, arguments, name))
                    }
                    Ty::Data(..) => Ok(What::Of(ty, name)),
                    _ => Ok(What::Of(Ty::Data(id, Vec::new()), name)),
                }
            }
            Ok(Named::Foreign(found)) => {
                let arguments = match front.last() {
                    Some(it) => self.turbofish(frame, &it.arguments)?,
                    None => Vec::new(),
                };
                Ok(What::Foreign(found, arguments))
            }
            Ok(Named::Module(_)) => self.refuse(frame, path, "is a module"),
            Err(Miss::Doubt(why)) => {
                self.refuse(frame, path, format!("cannot be resolved with certainty: {why}"))
            }
            Err(_) => match self.is_trait(frame, path) {
                true => Ok(What::Method(name)),
                false => self.refuse(frame, path, "is not found"),
            },
        }
    }

    /// Whether what stands before the last part of a path is a trait of the project.
    fn is_trait(&self, frame: &Frame, path: &ExprPath) -> bool {
        let mut front = Path::from(&path.path);
        front.parts.pop();
        match self.world.resolve(frame.module, &front, Space::Types) {
            Ok(Named::Item(id)) => matches!(self.world.items[id].kind, Kind::Trait(_)),
            _ => false,
        }
    }

    /// The value of a path that is not called.
    pub fn path(&self, frame: &Frame, path: &ExprPath, want: &Ty) -> Eval<Value> {
        match self.what(frame, path)? {
            What::Local(value) => Ok(value),
            What::Item(id) => {
                let item = &self.world.items[id];
                let there = Frame::new(item.module);
                match &item.kind {
                    Kind::Const(it) => {
                        let ty = self.ty(&there, &it.ty)?;
                        self.expr_as(&there, &it.expr, &ty)
                    }
                    Kind::Static(it) => {
                        if !matches!(it.mutability, syn::StaticMutability::None) {
                            return self.refuse(frame, path, "may change, and is not read");
                        }
                        let ty = self.ty(&there, &it.ty)?;
                        self.expr_as(&there, &it.expr, &ty)
                    }
                    Kind::Data(input) => match &input.data {
                        syn::Data::Struct(it) if matches!(it.fields, syn::Fields::Unit) => {
                            Ok(Value::Data(Data {
                                id,
                                arguments: self.wanted(id, want, Vec::new()),
                                variant: None,
                                fields: Vec::new(),
                            }))
                        }
                        _ => Ok(self.function(frame, path)),
                    },
                    Kind::Fn(_) => Ok(self.function(frame, path)),
                    _ => self.refuse(frame, path, "is no value that is read"),
                }
            }
            What::Variant(id, arguments, name) => match self.fields(id, Some(&name)).is_empty() {
                true => Ok(Value::Data(Data {
                    id,
                    arguments: self.wanted(id, want, arguments),
                    variant: Some(name),
                    fields: Vec::new(),
                })),
                false => Ok(self.function(frame, path)),
            },
            What::Of(Ty::Data(id, arguments), name) => {
                match self.associated(frame, path, (id, &arguments), &name)? {
                    Some(value) => Ok(value),
                    None => Ok(self.function(frame, path)),
                }
            }
            What::Of(ty, name) => {
                let whole = format!("{}::{name}", ty.path());
                Ok(super::functions::constant(&whole).unwrap_or_else(|| self.function(frame, path)))
            }
            What::Method(_) => Ok(self.function(frame, path)),
            What::Foreign(name, _) => Ok(match name.as_str() {
                "std::option::Option::None" => Value::Option(None),
                name => {
                    super::functions::constant(name).unwrap_or_else(|| self.function(frame, path))
                }
            }),
        }
    }

    fn function(&self, frame: &Frame, path: &ExprPath) -> Value {
        Value::Function(Function::Path(Rc::new(path.clone()), frame.taken()))
    }

    /// The arguments of a type: as said, or as wanted.
    pub fn wanted(&self, id: ItemId, want: &Ty, said: Vec<Ty>) -> Vec<Ty> {
        let open = said.iter().all(|it| *it == Ty::Unknown);
        match want {
            Ty::Data(it, arguments) if *it == id && open => arguments.clone(),
            _ if !said.is_empty() => said,
            _ => match &self.world.items[id].kind {
                Kind::Data(it) => parameters(&it.generics).map(|_| Ty::Unknown).collect(),
                _ => said,
            },
        }
    }
}
