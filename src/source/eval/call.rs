//! Paths and calls: what is named, and what it gives.

use std::rc::Rc;

use syn::{Expr, ExprCall, ExprPath, ExprStruct, spanned::Spanned as _};

use super::impls::{Own, bind};
use super::ty::parameters;
use super::value::{Data, Function, Value};
use super::{Eval, Evaluator, Frame, Stop, Ty};
use crate::source::names::{Miss, Named, Space};
use crate::source::types::text;
use crate::source::values::peel;
use crate::source::world::{ItemId, Kind, Path, plain};

/// What a function is given.
pub enum Given<'x> {
    Values(Vec<Value>),
    /// Values, then expressions in their frame.
    Exprs(&'x Frame, Vec<Value>, Vec<&'x Expr>),
}

impl Given<'_> {
    pub fn len(&self) -> usize {
        match self {
            Self::Values(it) => it.len(),
            Self::Exprs(_, first, rest) => first.len() + rest.len(),
        }
    }
}

/// What a path names, where code is run.
enum What {
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
    /// One of the values that a function is given, as the type that it wants.
    pub fn take(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        given: &Given<'_>,
        index: usize,
        want: &Ty,
    ) -> Eval<Value> {
        match given {
            Given::Values(it) => match it.get(index) {
                Some(it) => self.conform(frame, at, it.clone(), want),
                None => self.refuse(frame, at, "is given too little"),
            },
            Given::Exprs(there, first, rest) => match first.get(index) {
                Some(it) => self.conform(frame, at, it.clone(), want),
                None => match rest.get(index - first.len()) {
                    Some(it) => {
                        let value = self.expr(there, it, want)?;
                        self.conform(there, it, value, want)
                    }
                    None => self.refuse(frame, at, "is given too little"),
                },
            },
        }
    }

    fn what(&self, frame: &Frame, path: &ExprPath) -> Eval<What> {
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
    fn wanted(&self, id: ItemId, want: &Ty, said: Vec<Ty>) -> Vec<Ty> {
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

    pub fn call(&self, frame: &Frame, it: &ExprCall, want: &Ty) -> Eval<Value> {
        let given = Given::Exprs(frame, Vec::new(), it.args.iter().collect());
        match peel(&it.func) {
            Expr::Path(path) => self.call_path(frame, it, path, given, want),
            func => {
                let function = self.expr(frame, func, &Ty::Unknown)?;
                let values: Eval<Vec<_>> =
                    it.args.iter().map(|it| self.expr(frame, it, &Ty::Unknown)).collect();
                self.apply(frame, it, &function, values?, want)
            }
        }
    }

    /// Calls a function that an attribute names, without arguments.
    pub fn call_named(&self, frame: &Frame, path: &ExprPath, want: &Ty) -> Eval<Value> {
        let value = self.call_path(frame, path, path, Given::Values(Vec::new()), want)?;
        self.conform(frame, path, value, want)
    }

    /// Calls what a path names.
    pub fn call_path(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        path: &ExprPath,
        given: Given<'_>,
        want: &Ty,
    ) -> Eval<Value> {
        let turbofish = match path.path.segments.last() {
            Some(it) => self.turbofish(frame, &it.arguments)?,
            None => Vec::new(),
        };
        match self.what(frame, path)? {
            What::Local(function) => {
                let values: Eval<Vec<_>> = (0..given.len())
                    .map(|index| self.take(frame, at, &given, index, &Ty::Unknown))
                    .collect();
                self.apply(frame, at, &function, values?, want)
            }
            What::Item(id) => match &self.world.items[id].kind {
                Kind::Fn(it) => {
                    let own = Own {
                        frame: Frame::new(self.world.items[id].module),
                        signature: &it.sig,
                        attrs: &it.attrs,
                        block: &it.block,
                        of: None,
                    };
                    self.invoke(frame, at, own, given, turbofish, want)
                }
                Kind::Data(_) => self.tuple(frame, at, id, turbofish, None, given, want),
                _ => self.refuse(frame, path, "is no function"),
            },
            What::Variant(id, arguments, name) => {
                self.tuple(frame, at, id, arguments, Some(name), given, want)
            }
            What::Of(ty, name) => self.call_of(frame, at, &ty, &name, given, turbofish, want),
            What::Method(name) => {
                let mut values = Vec::new();
                for index in 0..given.len() {
                    values.push(self.take(frame, at, &given, index, &Ty::Unknown)?);
                }
                if values.is_empty() {
                    return self.refuse(frame, at, "is of a type that cannot be told here");
                }
                let first = values.remove(0);
                if !matches!(first, Value::Data(_) | Value::Place(_)) {
                    return self.refuse(frame, at, "calls what is not read");
                }
                let rest = Given::Values(values);
                self.call_method(frame, at, first, &name, rest, turbofish, want)
            }
            What::Foreign(name, arguments) => {
                let Some((of, last)) = name.rsplit_once("::") else {
                    return self.refuse(frame, path, "is no function that is read");
                };
                match name.as_str() {
                    "std::default::Default::default" => return self.default_of(frame, at, want),
                    "std::option::Option::Some" => {
                        let inner = self.take(frame, at, &given, 0, &want.inside(0))?;
                        let inner = self.settled(frame, at, inner)?;
                        return Ok(Value::some(inner));
                    }
                    "std::result::Result::Ok" => {
                        return Ok(Value::ok(self.take(frame, at, &given, 0, &want.inside(0))?));
                    }
                    "std::result::Result::Err" => {
                        let inner = self.take(frame, at, &given, 0, &want.inside(1))?;
                        return Ok(Value::Result(Err(Box::new(inner))));
                    }
                    _ => {}
                }
                // `vec::Vec::new` is of a type, `mem::take` of a module.
                let ty = Ty::thinned(of.to_owned(), arguments);
                self.foreign_function(frame, at, &ty, of, last, given, want)
            }
        }
    }

    /// `Type::function(…)`.
    #[allow(clippy::too_many_arguments, reason = "each is another thing that a call says")]
    pub fn call_of(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        ty: &Ty,
        name: &str,
        given: Given<'_>,
        turbofish: Vec<Ty>,
        want: &Ty,
    ) -> Eval<Value> {
        let Ty::Data(id, arguments) = ty else {
            let path = ty.path().to_owned();
            return self.foreign_function(frame, at, ty, &path, name, given, want);
        };
        // What its parameters are, the wanted type may know.
        let arguments = self.wanted(*id, want, arguments.clone());
        let ty = Ty::Data(*id, arguments.clone());
        let mut found = self.functions(*id, &arguments, name)?;
        if name == "from" && 1 < found.len() {
            let value = self.take(frame, at, &given, 0, &Ty::Unknown)?;
            let value = self.settled(frame, at, value)?;
            return self.into(frame, at, value, &ty);
        }
        if found.len() == 1 {
            let own = found.remove(0);
            return self.invoke(frame, at, own, given, turbofish, want);
        }
        if 1 < found.len() {
            return self.refuse(frame, at, format!("has more than one `{name}` to choose from"));
        }
        match (name, given.len()) {
            ("default", 0) => self.default_of(frame, at, &ty),
            ("from", 1) => {
                let value = self.take(frame, at, &given, 0, &Ty::Unknown)?;
                let value = self.settled(frame, at, value)?;
                self.into(frame, at, value, &ty)
            }
            ("clone" | "to_owned", 1) => self.take(frame, at, &given, 0, &ty),
            ("to_string", 1) => {
                let value = self.take(frame, at, &given, 0, &ty)?;
                Ok(Value::text(self.display(frame, at, &value)?))
            }
            _ => self.refuse(frame, at, "calls what is not read"),
        }
    }

    /// Runs a function of the project with values.
    pub fn run(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        own: Own<'a>,
        values: Vec<Value>,
        want: &Ty,
    ) -> Eval<Value> {
        self.invoke(frame, at, own, Given::Values(values), Vec::new(), want)
    }

    pub fn invoke(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        own: Own<'a>,
        given: Given<'_>,
        turbofish: Vec<Ty>,
        want: &Ty,
    ) -> Eval<Value> {
        let Own { frame: mut there, signature, attrs, block, .. } = own;
        const INERT: &[&str] = &[
            "doc",
            "must_use",
            "inline",
            "allow",
            "expect",
            "cold",
            "deprecated",
            "warn",
            "track_caller",
        ];
        let strange = attrs.iter().find(|it| !INERT.iter().any(|name| it.path().is_ident(name)));
        if let Some(attr) = strange {
            let message = format!("`{}` stands on a function, which is not read", text(attr));
            return Err(self.stop(&there, attr.span(), message));
        }
        if signature.asyncness.is_some() || signature.variadic.is_some() {
            return self.refuse(&there, &signature.ident, "is no plain function");
        }
        if signature.inputs.len() != given.len() {
            return self.refuse(frame, at, "is given too much or too little");
        }
        let generic = signature.generics.type_params().count();
        if 0 < generic {
            let mut parameters = (*there.parameters).clone();
            for (index, it) in signature.generics.type_params().enumerate() {
                let said = turbofish.get(index).cloned().unwrap_or(Ty::Unknown);
                parameters.insert(plain(&it.ident), said);
            }
            if let syn::ReturnType::Type(_, ty) = &signature.output {
                bind(ty, want, &mut parameters);
            }
            there.parameters = Rc::new(parameters);
        }
        let there_ = there.clone();
        for (index, input) in signature.inputs.iter().enumerate() {
            let attrs = match input {
                syn::FnArg::Receiver(it) => &it.attrs,
                syn::FnArg::Typed(it) => &it.attrs,
            };
            if let Some(attr) = attrs.iter().find(|it| !it.path().is_ident("allow")) {
                return self.refuse(&there, attr, "on a parameter is not read");
            }
            match input {
                syn::FnArg::Receiver(it) => {
                    let itself = there.itself.clone().unwrap_or(Ty::Unknown);
                    let mut value = self.take(frame, at, &given, index, &itself)?;
                    if !changes(it) {
                        value = self.settled(frame, at, value)?;
                    }
                    there_.bind("self".to_owned(), value);
                }
                syn::FnArg::Typed(it) => {
                    let ty = self.ty(&there, &it.ty)?;
                    let mut value = self.take(frame, at, &given, index, &ty)?;
                    if !matches!(&*it.ty, syn::Type::Reference(it) if it.mutability.is_some()) {
                        value = self.settled(frame, at, value)?;
                    }
                    if 0 < generic {
                        let mut parameters = (*there.parameters).clone();
                        bind(&it.ty, &value.ty(), &mut parameters);
                        there.parameters = Rc::new(parameters);
                    }
                    if !self.matches(&there_, &it.pat, &value)? {
                        return self.refuse(&there_, &it.pat, "does not match its value");
                    }
                }
            }
        }
        let returns = match &signature.output {
            syn::ReturnType::Type(_, ty) => self.ty(&there, ty)?,
            syn::ReturnType::Default => Ty::known("()"),
        };
        let there = Frame { returns: returns.clone(), locals: there_.locals, ..there };
        let value = self.deeper(frame, at, || match self.block(&there, block, &returns) {
            Err(Stop::Return(value)) => Ok(value),
            Err(Stop::Break(..) | Stop::Continue(_)) => {
                self.refuse(&there, &signature.ident, "ends where it must not")
            }
            found => found,
        })?;
        if value.ty().fits(&returns) || matches!(value, Value::Place(_)) {
            return self.conform(&there, &signature.ident, value, &returns);
        }
        self.conform(&there, &signature.ident, value, &returns)
    }

    /// `Struct(…)` or `Enum::Variant(…)`.
    #[allow(clippy::too_many_arguments, reason = "each is another thing that a call says")]
    fn tuple(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        id: ItemId,
        said: Vec<Ty>,
        variant: Option<String>,
        given: Given<'_>,
        want: &Ty,
    ) -> Eval<Value> {
        let arguments = self.wanted(id, want, said);
        let there = self.inside(id, &arguments);
        let fields = self.fields(id, variant.as_deref());
        if fields.len() != given.len() {
            return self.refuse(frame, at, "is given too much or too little");
        }
        let mut res = Vec::new();
        for (index, (name, ty)) in fields.into_iter().enumerate() {
            let ty = self.ty(&there, ty)?;
            let value = self.take(frame, at, &given, index, &ty)?;
            res.push((name, self.settled(frame, at, value)?));
        }
        let arguments = self.learnt(id, variant.as_deref(), arguments, &res);
        Ok(Value::Data(Data { id, arguments, variant, fields: res }))
    }

    /// What the parameters of a type are, told from the values in it.
    fn learnt(
        &self,
        id: ItemId,
        variant: Option<&str>,
        arguments: Vec<Ty>,
        values: &[(String, Value)],
    ) -> Vec<Ty> {
        let Kind::Data(input) = &self.world.items[id].kind else { return arguments };
        if arguments.iter().all(Ty::is_whole) {
            return arguments;
        }
        let names: Vec<String> = parameters(&input.generics).map(|(it, _)| it).collect();
        let mut known: std::collections::BTreeMap<_, _> =
            names.iter().cloned().zip(arguments).collect();
        for ((_, value), (_, ty)) in values.iter().zip(self.fields(id, variant)) {
            let actual = value.ty();
            if actual.is_whole() {
                bind(ty, &actual, &mut known);
            }
        }
        names.iter().map(|it| known.get(it).cloned().unwrap_or(Ty::Unknown)).collect()
    }

    /// `Struct { … }`.
    pub fn structure(&self, frame: &Frame, it: &ExprStruct, want: &Ty) -> Eval<Value> {
        let (id, said, variant) = match self.named_struct(frame, it)? {
            Ok(found) => found,
            Err(path) => return self.foreign_structure(frame, it, &path),
        };
        let arguments = self.wanted(id, want, said);
        let there = self.inside(id, &arguments);
        let fields = self.fields(id, variant.as_deref());
        let mut given: Vec<(String, Value)> = Vec::new();
        // In the order in which they are written, as they may change what is around.
        for field in &it.fields {
            let name = super::place::member(&field.member);
            let Some((_, ty)) = fields.iter().find(|(it, _)| *it == name) else {
                return self.refuse(frame, &field.member, "is no field of it");
            };
            if let Some(attr) = field.attrs.first() {
                return self.refuse(frame, attr, "on a field is not read");
            }
            let ty = self.ty(&there, ty)?;
            given.push((name, self.part(frame, &field.expr, &ty)?));
        }
        let mut rest = None;
        if let Some(it) = &it.rest {
            let ty = Ty::Data(id, arguments.clone());
            match self.part(frame, it, &ty)? {
                Value::Data(data) if data.variant == variant => rest = Some(data),
                _ => return self.refuse(frame, it, "is of another type"),
            }
        }
        let mut res = Vec::new();
        for (name, _) in &fields {
            let at = given.iter().position(|(it, _)| it == name);
            let value = match (at, &rest) {
                (Some(at), _) => given.swap_remove(at).1,
                (None, Some(rest)) => match rest.fields.iter().find(|(it, _)| it == name) {
                    Some((_, value)) => value.clone(),
                    None => return self.refuse(frame, it, format!("lacks the field `{name}`")),
                },
                (None, None) => {
                    return self.refuse(frame, it, format!("lacks the field `{name}`"));
                }
            };
            res.push((name.clone(), value));
        }
        let arguments = self.learnt(id, variant.as_deref(), arguments, &res);
        Ok(Value::Data(Data { id, arguments, variant, fields: res }))
    }

    /// The type of a struct expression; the path of a foreign one.
    #[allow(clippy::type_complexity, reason = "it is taken apart at once")]
    fn named_struct(
        &self,
        frame: &Frame,
        it: &ExprStruct,
    ) -> Eval<Result<(ItemId, Vec<Ty>, Option<String>), String>> {
        if it.qself.is_some() {
            return self.refuse(frame, it, "is a struct that is not read");
        }
        let expr = ExprPath { attrs: Vec::new(), qself: None, path: it.path.clone() };
        // A variant is a value, a struct a type.
        if let Some(first) = it.path.segments.first()
            && (first.ident != "Self" || 1 < it.path.segments.len())
            && !matches!(
                self.world.resolve(frame.module, &Path::from(&it.path), Space::Types),
                Ok(Named::Item(_) | Named::Foreign(_))
            )
            && let What::Variant(id, arguments, name) = self.what(frame, &expr)?
        {
            return Ok(Ok((id, arguments, Some(name))));
        }
        let ty = syn::Type::Path(syn::TypePath {
            attrs: Vec::new(),
            qself: None,
            path: it.path.clone(),
        });
        // Where an expression says nothing, parameters are told by its values, never by their defaults.
        let bare = it.path.segments.iter().all(|it| it.arguments.is_none());
        let direct = match self.world.resolve(frame.module, &Path::from(&it.path), Space::Types) {
            Ok(Named::Item(id)) => matches!(self.world.items[id].kind, Kind::Data(_)),
            _ => false,
        };
        match self.ty(frame, &ty)? {
            Ty::Data(id, arguments) if bare && direct && !it.path.is_ident("Self") => {
                Ok(Ok((id, arguments.iter().map(|_| Ty::Unknown).collect(), None)))
            }
            Ty::Data(id, arguments) => Ok(Ok((id, arguments, None))),
            Ty::Known(path, _) => Ok(Err(path)),
            Ty::Unknown => self.refuse(frame, &it.path, "is a struct that is not read"),
        }
    }
}

/// Whether a receiver is `&mut self`.
pub fn changes(it: &syn::Receiver) -> bool {
    match &it.kind {
        syn::ReceiverKind::Reference(_, _, mutability) => mutability.is_some(),
        syn::ReceiverKind::Typed(_, ty) => {
            matches!(&**ty, syn::Type::Reference(it) if it.mutability.is_some())
        }
        _ => false,
    }
}
