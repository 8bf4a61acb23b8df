//! Schemas that are written by hand: `impl JsonSchema for Type`, and functions that `schema_with` names.
//!
//! Their bodies are run, as far as they only put a schema together; for the schemas of other types they ask the
//! generator that they would be given. Anything else in them is refused at its place.

mod call;
mod expr;
mod json;
mod macros;
mod methods;
mod run;
mod value;

use std::collections::BTreeMap;
use std::rc::Rc;

use schemars::{Schema, SchemaGenerator};
use syn::ImplItem;

use self::run::{Frame, Run, Stop};
use self::value::Value;
use super::Reader;
use crate::cfg::{self, Cfg};
use crate::model::Problem;
use crate::names::{Named, Space};
pub use crate::types::Function;
use crate::types::{Scope, Type};
use crate::world::{Impl, Path, World, plain};

/// An `impl JsonSchema` that is written by hand.
pub struct Written {
    /// Which of all impls.
    imp: usize,
    scope: Scope,
}

impl World {
    /// The `impl JsonSchema` of a type; none where there is none.
    pub fn written(&self, ty: &Type) -> Result<Option<Written>, Problem> {
        let (item, arguments) = match ty {
            Type::Data(id, arguments) => (*id, &arguments[..]),
            Type::Root(id) => (self.root_of(*id).unwrap_or(*id), &[][..]),
            _ => return Ok(None),
        };
        let mut found = Vec::new();
        for (index, imp) in self.impls.iter().enumerate() {
            let Some((trait_, _)) = &imp.syntax.trait_ else { continue };
            if !self.is_impl_for(imp, item) {
                continue;
            }
            let named = self.resolve(imp.module, &Path::from(trait_), Space::Types);
            let named = named == Ok(Named::Foreign("schemars::JsonSchema".to_owned()));
            // It may go by the name that it was imported by.
            if imp.trait_.as_deref() != Some("JsonSchema") && !named {
                continue;
            }
            let refuse = |what: &str| {
                let span = syn::spanned::Spanned::span(&imp.syntax.self_ty);
                Err(self.problem(imp.module, span, format!("this `impl JsonSchema` {what}"), ""))
            };
            if !named {
                return refuse("cannot be told to be of schemars' trait");
            }
            let inert = ["doc", "allow", "expect", "automatically_derived", "cfg"];
            let settled = cfg::settle(&imp.syntax.attrs, self.features(imp.module));
            let sure = settled.is_ok_and(|it| it.cfg == Cfg::Yes && it.doubtful.is_empty());
            if !sure || self.modules[imp.module].cfg == Cfg::Depends {
                return refuse("depends on a `cfg` that the source does not settle");
            }
            if !imp.syntax.attrs.iter().all(|it| inert.iter().any(|name| it.path().is_ident(name)))
            {
                return refuse("has attributes that may change it");
            }
            if imp.syntax.items.iter().any(|it| matches!(it, ImplItem::Macro(_))) {
                return refuse("calls a macro, which is not expanded");
            }
            for name in ["schema_name", "json_schema"] {
                let there = |it: &ImplItem| matches!(it, ImplItem::Fn(it) if it.sig.ident == name);
                if !imp.syntax.items.iter().any(there) {
                    return refuse(&format!("lacks `{name}`"));
                }
            }
            if let Some(bound) = self.unified(imp, arguments)? {
                found.push((index, bound));
            }
        }
        let mut found = found.into_iter();
        match (found.next(), found.next()) {
            (None, _) => Ok(None),
            (Some((imp, mut parameters)), None) => {
                parameters.insert("Self".to_owned(), Rc::new(ty.clone()));
                let module = self.impls[imp].module;
                let scope = Scope { module, parameters: Rc::new(parameters) };
                Ok(Some(Written { imp, scope }))
            }
            (Some(_), Some((imp, _))) => {
                let imp = &self.impls[imp];
                let span = syn::spanned::Spanned::span(&imp.syntax.self_ty);
                let message = "this type has more than one `impl JsonSchema`";
                Err(self.problem(imp.module, span, message, "keep one of them"))
            }
        }
    }

    /// What the parameters of an impl stand for, where it is for a type of these arguments.
    fn unified(
        &self,
        imp: &Impl,
        arguments: &[Rc<Type>],
    ) -> Result<Option<BTreeMap<String, Rc<Type>>>, Problem> {
        let syn::Type::Path(ty) = &*imp.syntax.self_ty else { return Ok(None) };
        let own: Vec<String> = imp
            .syntax
            .generics
            .params
            .iter()
            .filter_map(|it| match it {
                syn::GenericParam::Type(it) => Some(plain(&it.ident)),
                syn::GenericParam::Const(it) => Some(plain(&it.ident)),
                syn::GenericParam::Lifetime(_) => None,
            })
            .collect();
        let mut res = BTreeMap::new();
        let said: Vec<&syn::GenericArgument> = match ty.path.segments.last().map(|it| &it.arguments)
        {
            Some(syn::PathArguments::AngleBracketed(it)) => it
                .args
                .iter()
                .filter(|it| !matches!(it, syn::GenericArgument::Lifetime(_)))
                .collect(),
            _ => Vec::new(),
        };
        if said.is_empty() {
            // Nothing said: every parameter is its default.
            let there = self.type_in(&Scope::from(imp.module), &imp.syntax.self_ty)?;
            let same = matches!(&*there, Type::Data(_, of) if **of == *arguments);
            return Ok((arguments.is_empty() || same).then_some(res));
        }
        for (said, argument) in said.into_iter().zip(arguments) {
            match said {
                syn::GenericArgument::Type(syn::Type::Path(it))
                    if it.path.get_ident().is_some_and(|it| own.contains(&plain(it))) =>
                {
                    let name = it.path.get_ident().map(plain).unwrap_or_default();
                    let before = res.insert(name, argument.clone());
                    if before.is_some_and(|it| it != *argument) {
                        return Ok(None);
                    }
                }
                syn::GenericArgument::Type(it) => {
                    if self.type_in(&Scope::from(imp.module), it)? != *argument {
                        return Ok(None);
                    }
                }
                _ => {
                    let span = syn::spanned::Spanned::span(said);
                    let message = "this `impl JsonSchema` is for types that are not read";
                    return Err(self.problem(imp.module, span, message, ""));
                }
            }
        }
        Ok(Some(res))
    }
}

impl Reader {
    /// What a function of a hand-written impl gives; none where the impl leaves it out.
    fn run_written(
        &self,
        written: &Written,
        name: &str,
        generator: Option<&mut SchemaGenerator>,
    ) -> Option<Result<Value, Problem>> {
        let imp = &self.world.impls[written.imp].syntax;
        let function = imp.items.iter().find_map(|it| match it {
            ImplItem::Fn(it) if it.sig.ident == name => Some(it),
            _ => None,
        })?;
        let given = if generator.is_some() { vec![Value::Generator] } else { Vec::new() };
        let frame = Frame::new(written.scope.clone());
        let mut run = Run { reader: self, generator, steps: 0, depth: 0 };
        let ran = run.call(&frame, &function.sig, &function.attrs, &function.block, given);
        Some(ended(ran))
    }

    pub fn written_text(&self, written: &Written, name: &str) -> Option<String> {
        match self.run_written(written, name, None)? {
            Ok(value) => match value.text() {
                Some(it) => Some(it),
                None => {
                    self.refuse(self.odd(written, name));
                    Some(String::new())
                }
            },
            Err(problem) => {
                self.refuse(problem);
                Some(String::new())
            }
        }
    }

    pub fn written_flag(&self, written: &Written, name: &str) -> Option<bool> {
        match self.run_written(written, name, None)? {
            Ok(value) => match value.json() {
                Some(serde_json::Value::Bool(it)) => Some(it),
                _ => {
                    self.refuse(self.odd(written, name));
                    Some(true)
                }
            },
            Err(problem) => {
                self.refuse(problem);
                Some(true)
            }
        }
    }

    pub fn written_schema(
        &self,
        written: &Written,
        name: &str,
        generator: &mut SchemaGenerator,
    ) -> Option<Schema> {
        let ran = self.run_written(written, name, Some(generator))?;
        let schema = ran.map(|it| methods::schema(&it));
        match schema {
            Ok(Some(it)) => return Some(it),
            Ok(None) => self.refuse(self.odd(written, name)),
            Err(problem) => self.refuse(problem),
        }
        Some(Schema::default())
    }

    fn odd(&self, written: &Written, name: &str) -> Problem {
        let imp = &self.world.impls[written.imp];
        let span = syn::spanned::Spanned::span(&imp.syntax.self_ty);
        self.world.problem(imp.module, span, format!("what `{name}` gives here is not read"), "")
    }

    /// What the function gives that `schema_with` names.
    pub fn function_schema(&self, of: &Function, generator: &mut SchemaGenerator) -> Schema {
        let frame = Frame::new(of.scope.clone());
        let mut run = Run { reader: self, generator: Some(generator), steps: 0, depth: 0 };
        frame.bind("generator".to_owned(), Value::Generator);
        let mut arguments = syn::punctuated::Punctuated::new();
        let span = syn::spanned::Spanned::span(&of.path);
        arguments.push(syn::parse_quote_spanned!(span=> generator));
        let call = syn::ExprCall {
            attrs: Vec::new(),
            func: Box::new(syn::Expr::Path(of.path.clone())),
            paren_token: syn::token::Paren::default(),
            args: arguments,
        };
        let ran = run.expr(&frame, &syn::Expr::Call(call));
        match ended(ran).map(|it| methods::schema(&it)) {
            Ok(Some(it)) => return it,
            Ok(None) => self.refuse(self.world.problem(
                of.scope.module,
                span,
                "this function gives no schema that is read",
                "",
            )),
            Err(problem) => self.refuse(problem),
        }
        Schema::default()
    }
}

impl Reader {
    /// What `transform = …` makes of a schema: a function or a closure, or one of schemars' own transforms.
    pub fn transform(&self, scope: &Scope, expr: &syn::Expr, schema: &mut Schema) {
        use schemars::transform::{self as known, Transform as _};
        let frame = Frame::new(scope.clone());
        let mut run = Run { reader: self, generator: None, steps: 0, depth: 0 };
        let path = match expr {
            syn::Expr::Call(it) => &*it.func,
            syn::Expr::Struct(it) if it.fields.is_empty() => &syn::Expr::Path(syn::ExprPath {
                attrs: Vec::new(),
                qself: None,
                path: it.path.clone(),
            }),
            expr => expr,
        };
        let named = match path {
            syn::Expr::Path(it) if it.qself.is_none() => {
                self.world.resolve(scope.module, &Path::from(&it.path), Space::Values).ok()
            }
            _ => None,
        };
        let foreign = match &named {
            Some(Named::Foreign(it)) => {
                it.strip_prefix("schemars::transform::").unwrap_or_default()
            }
            _ => "",
        };
        let ran = match (foreign.trim_end_matches("::default"), expr) {
            ("RecursiveTransform", syn::Expr::Call(it)) if it.args.len() == 1 => {
                let mut stopped = None;
                known::RecursiveTransform(|schema: &mut Schema| {
                    if stopped.is_none() {
                        stopped = run.apply_to(&frame, &it.args[0], schema).err();
                    }
                })
                .transform(schema);
                stopped.map_or(Ok(()), Err)
            }
            (name, _) if let Some(mut it) = schemars_own(name) => {
                it.transform(schema);
                Ok(())
            }
            _ => run.apply_to(&frame, expr, schema),
        };
        if let Err(Stop::Problem(problem)) = ran {
            self.refuse(*problem);
        }
    }
}

/// A transform of schemars that is made without arguments, by its name.
fn schemars_own(name: &str) -> Option<Box<dyn schemars::transform::Transform>> {
    use schemars::transform as known;
    Some(match name {
        "AddNullable" => Box::new(known::AddNullable::default()),
        "ReplaceBoolSchemas" => Box::new(known::ReplaceBoolSchemas::default()),
        "RemoveRefSiblings" => Box::new(known::RemoveRefSiblings::default()),
        "SetSingleExample" => Box::new(known::SetSingleExample::default()),
        "ReplaceConstValue" => Box::new(known::ReplaceConstValue::default()),
        "ReplacePrefixItems" => Box::new(known::ReplacePrefixItems::default()),
        "ReplaceUnevaluatedProperties" => Box::new(known::ReplaceUnevaluatedProperties::default()),
        _ => return None,
    })
}

fn ended(ran: Result<Value, Stop>) -> Result<Value, Problem> {
    match ran {
        Ok(it) | Err(Stop::Return(it)) => Ok(it),
        Err(Stop::Problem(it)) => Err(*it),
    }
}
