//! Rust types as written → [`Type`]: which type of the project, or which of another crate, with what in it.

use std::rc::Rc;

use quote::ToTokens;
use syn::spanned::Spanned as _;

use super::builtin::kubernetes::{Miss as NoType, Model};
use super::builtin::{self, Builtin};
use super::names::{Miss, Named, Space};
use super::world::{ItemId, Kind, ModuleId, Path, World};
use crate::model::Problem;

#[derive(Clone)]
pub enum Type {
    /// A struct or enum of the project.
    Data(ItemId),
    /// The resource that `#[derive(CustomResource)]` makes of a struct of the project.
    Root(ItemId),
    Foreign {
        path: &'static str,
        builtin: &'static Builtin,
        arguments: Vec<Rc<Self>>,
    },
    /// A type of k8s-openapi whose source was read.
    Kubernetes(Rc<Model>),
}

impl Type {
    pub fn foreign(path: &str, arguments: Vec<Rc<Self>>) -> Option<Rc<Self>> {
        let (path, builtin) = builtin::find(path)?;
        (builtin.arguments == arguments.len())
            .then(|| Rc::new(Self::Foreign { path, builtin, arguments }))
    }

    /// The path of a foreign type; empty for a type of the project.
    pub fn path(&self) -> &str {
        match self {
            Self::Foreign { path, .. } => path,
            Self::Kubernetes(model) => &model.path,
            _ => "",
        }
    }
}

/// Tokens as one would write them, for messages.
pub fn text(tokens: &impl ToTokens) -> String {
    let mut res = String::new();
    for part in tokens.to_token_stream().to_string().split(' ') {
        let before = res.chars().last();
        let word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        if (word(before) && word(part.chars().next())) || before == Some(',') {
            res.push(' ');
        }
        res.push_str(part);
    }
    res
}

const WAY_OUT: &str = "write the type out, or use one whose schema can be read";

impl World {
    pub fn problem(
        &self,
        module: ModuleId,
        span: proc_macro2::Span,
        message: impl Into<String>,
        hint: &str,
    ) -> Problem {
        Problem {
            way: Vec::new(),
            place: self.place(module, span),
            message: message.into(),
            hint: (!hint.is_empty()).then(|| hint.to_owned()),
        }
    }

    /// What a type in a module's code is.
    pub fn type_(&self, module: ModuleId, ty: &syn::Type) -> Result<Rc<Type>, Problem> {
        self.type_at(module, ty, 0)
    }

    fn type_at(&self, module: ModuleId, ty: &syn::Type, depth: u8) -> Result<Rc<Type>, Problem> {
        let refuse =
            |what: &str| self.problem(module, ty.span(), format!("`{}` {what}", text(ty)), WAY_OUT);
        if 32 < depth {
            return Err(refuse("is an alias that leads to itself"));
        }
        let foreign = |path: &str, arguments| {
            Type::foreign(path, arguments).ok_or_else(|| refuse("has no schema"))
        };
        match ty {
            syn::Type::Paren(it) => self.type_at(module, &it.elem, depth),
            syn::Type::Group(it) => self.type_at(module, &it.elem, depth),
            syn::Type::Reference(it) if it.mutability.is_none() => {
                foreign("&", vec![self.type_at(module, &it.elem, depth)?])
            }
            syn::Type::Slice(it) => foreign("[]", vec![self.type_at(module, &it.elem, depth)?]),
            syn::Type::Array(it) => {
                let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(length), .. }) = &it.len
                else {
                    return Err(refuse("has a length that is no number"));
                };
                let length = length.base10_digits();
                foreign(&format!("[;{length}]"), vec![self.type_at(module, &it.elem, depth)?])
            }
            syn::Type::Tuple(it) if it.elems.is_empty() => foreign("()", Vec::new()),
            syn::Type::Tuple(it) => {
                let parts: Result<Vec<_>, _> =
                    it.elems.iter().map(|it| self.type_at(module, it, depth)).collect();
                foreign(&format!("({})", it.elems.len()), parts?)
            }
            syn::Type::Macro(it) => match self.opened(module, &it.mac) {
                Ok(Some(made)) => self.type_at(module, &made, depth + 1),
                Ok(None) => Err(refuse("is a macro that is not read")),
                Err(error) => Err(refuse(&format!("cannot be read: {error}"))),
            },
            syn::Type::Path(it) if it.qself.is_some() => {
                Err(refuse("is a type of a trait, which is not read"))
            }
            syn::Type::Path(it) => self.path_type(module, ty, &it.path, depth),
            _ => Err(refuse("is a kind of type that is not read")),
        }
    }

    fn path_type(
        &self,
        module: ModuleId,
        ty: &syn::Type,
        path: &syn::Path,
        depth: u8,
    ) -> Result<Rc<Type>, Problem> {
        let refuse = |what: String, hint: &str| {
            self.problem(module, path.span(), format!("`{}` {what}", text(path)), hint)
        };
        let mut arguments = Vec::new();
        for (index, segment) in path.segments.iter().enumerate() {
            let last = index + 1 == path.segments.len();
            match &segment.arguments {
                syn::PathArguments::None => {}
                syn::PathArguments::AngleBracketed(it) if last => {
                    for it in &it.args {
                        match it {
                            syn::GenericArgument::Type(it) => arguments.push(it),
                            syn::GenericArgument::Lifetime(_) => {}
                            _ => return Err(refuse("takes what is not read".into(), WAY_OUT)),
                        }
                    }
                }
                _ => return Err(refuse("is a kind of type that is not read".into(), WAY_OUT)),
            }
        }
        if path.is_ident("Self") {
            return Err(refuse("names the type it stands in".into(), "write the type's name"));
        }
        match self.resolve(module, &Path::from(path), Space::Types) {
            Ok(Named::Item(id)) => self.item_type(module, ty, id, !arguments.is_empty(), depth),
            Ok(Named::Foreign(name)) => {
                let parts: Result<Vec<_>, _> =
                    arguments.iter().map(|it| self.type_at(module, it, depth)).collect();
                let parts = parts?;
                if let Some(found) = self.kubernetes.find(&name) {
                    return match found {
                        Ok(model) if parts.is_empty() => Ok(Rc::new(Type::Kubernetes(model))),
                        Ok(_) => Err(refuse("takes no types".into(), WAY_OUT)),
                        Err(miss) => Err(self.no_type(module, path, &name, &miss)),
                    };
                }
                let name = match name.as_str() {
                    "serde_json::Map" => "std::collections::BTreeMap",
                    "std::borrow::Cow" => "&",
                    name => name,
                };
                match builtin::find(name) {
                    Some((_, it)) if it.arguments == parts.len() => {
                        Ok(Type::foreign(name, parts).expect("it is there, with as many types"))
                    }
                    Some((_, it)) => Err(refuse(
                        format!("has {} types in it, not {}", parts.len(), it.arguments),
                        WAY_OUT,
                    )),
                    None => Err(refuse(
                        format!("is `{name}`, whose schema is not known"),
                        "use a type of this project, of std or of k8s-openapi",
                    )),
                }
            }
            Ok(Named::Module(_)) => Err(refuse("is a module".into(), "")),
            Ok(Named::Member(..)) => Err(refuse("is no type by itself".into(), WAY_OUT)),
            Err(Miss::Nothing | Miss::Lost) => {
                Err(refuse("is not found".into(), "define it, or import it by name"))
            }
            Err(Miss::Doubt(why) | Miss::Perhaps(why)) => Err(refuse(
                format!("cannot be resolved with certainty: {why}"),
                "import the type by its name",
            )),
        }
    }

    /// Why there is no type of k8s-openapi at a path.
    fn no_type(&self, module: ModuleId, path: &syn::Path, name: &str, miss: &NoType) -> Problem {
        let (what, hint) = match miss {
            NoType::Absent => (
                format!("is `{name}`, which k8s-openapi does not have at this version and feature"),
                "choose the `v1_…` feature of k8s-openapi that has it",
            ),
            NoType::Bare => (
                format!("is `{name}`, which has no schema"),
                "use a type that implements `JsonSchema`",
            ),
            NoType::Unread { file, what } => (
                format!("is `{name}`, but k8s-openapi's {file} cannot be read: {what}"),
                "bring the crate's source with `cargo fetch`",
            ),
        };
        self.problem(module, path.span(), format!("`{}` {what}", text(path)), hint)
    }

    fn item_type(
        &self,
        module: ModuleId,
        ty: &syn::Type,
        id: ItemId,
        arguments: bool,
        depth: u8,
    ) -> Result<Rc<Type>, Problem> {
        let item = &self.items[id];
        let generic = |generics: &syn::Generics| arguments || !generics.params.is_empty();
        let refuse =
            |what: &str| self.problem(module, ty.span(), format!("`{}` {what}", text(ty)), WAY_OUT);
        match &item.kind {
            Kind::Data(input) if generic(&input.generics) => {
                Err(refuse("is generic, which is not read yet"))
            }
            Kind::Data(_) => Ok(Rc::new(Type::Data(id))),
            Kind::Root(spec) => Ok(Rc::new(Type::Root(*spec))),
            Kind::Alias(it) if generic(&it.generics) => {
                Err(refuse("is a generic alias, which is not read yet"))
            }
            Kind::Alias(it) => self.type_at(item.module, &it.ty, depth + 1),
            Kind::Other(what) => Err(refuse(&format!("is {what}, which has no schema"))),
            _ => Err(refuse("is no type")),
        }
    }
}

#[test]
fn types_are_shown_as_they_are_written() {
    let ty: syn::Type = syn::parse_quote!(BTreeMap<String, Option<&'static str>>);
    assert_eq!(text(&ty), "BTreeMap<String, Option<&'static str>>");
}
