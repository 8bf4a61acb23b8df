//! Resolves paths in expressions.

use std::rc::Rc;

use syn::{ExprPath, PathArguments, spanned::Spanned as _};

use super::{Eval, Evaluator, Frame, Stop};
use crate::names::{Miss, Named, Space};
use crate::text::unraw_name;
use crate::text::{Problem, format_tokens};
use crate::tree::{ItemId, ItemKind, Path};
use crate::types::Type;

pub enum PathTarget {
    Local(String),
    /// A function, a constant, a struct that is made by its name.
    Item(ItemId),
    /// `Self`, where it makes a value.
    Own,
    /// A variant of an enum, with the arguments of the enum where the path gives them.
    Variant(ItemId, Option<Rc<Type>>, String),
    /// Something in an `impl` of a type of the project.
    Associated(Rc<Type>, String),
    /// Something of a type parameter, which only its bounds give.
    Parameter(Rc<Type>, String),
    /// `<T as Trait>::name`, by the whole path of the trait.
    Trait(syn::Type, String, String),
    /// By its whole path, with the type before its last name where one can be read.
    Foreign(String, Option<syn::Type>),
}

impl Evaluator<'_> {
    pub fn resolve_target(&self, frame: &Frame, path: &ExprPath) -> Eval<PathTarget> {
        self.step(frame, path)?;
        if let Some(qself) = &path.qself {
            return self.resolve_qualified(frame, path, qself);
        }
        let segments = &path.path.segments;
        if let Some(name) = path.path.get_ident().map(unraw_name)
            && frame.find_local(&name).is_some()
        {
            return Ok(PathTarget::Local(name));
        }
        let (Some(first), Some(last)) = (segments.first(), segments.last()) else {
            return self.unsupported(frame, path);
        };
        let (first, last) = (unraw_name(&first.ident), unraw_name(&last.ident));
        if let (Some(of), None) = (frame.scope.parameters.get(&first), path.path.leading_colon) {
            return match (segments.len(), first.as_str()) {
                (1, "Self") => Ok(PathTarget::Own),
                (2, "Self") => self.resolve_member(frame, path, of.clone(), last),
                (2, _) => Ok(PathTarget::Parameter(of.clone(), last)),
                _ => self.unsupported(frame, path),
            };
        }
        match self.world.resolve_path(frame.scope.module, &Path::from(&path.path), Space::Values) {
            Ok(Named::Item(id)) => Ok(PathTarget::Item(id)),
            Ok(Named::Member(id, name)) => self.member_of(frame, path, id, name),
            Ok(Named::Foreign(name)) => Ok(PathTarget::Foreign(name, type_before(path))),
            Ok(Named::Module(_)) => self.refuse(frame, path, "it is a module"),
            Err(Miss::Nothing | Miss::Unreachable) => {
                let message = format!("`{}` is not found", format_tokens(path));
                let hint = "define it, or import it by name";
                let problem = self.problem(frame, path.span(), message, hint);
                Err(Stop::Problem(Problem { does_not_compile: true, ..*problem }.into()))
            }
            Err(Miss::Doubt(why) | Miss::Perhaps(why)) => {
                self.world.need_for(&why);
                let message =
                    format!("`{}` cannot be resolved with certainty: {why}", format_tokens(path));
                Err(Stop::Problem(self.problem(frame, path.span(), message, "import it by name")))
            }
        }
    }

    /// `<T>::name` and `<T as Trait>::name`.
    fn resolve_qualified(
        &self,
        frame: &Frame,
        path: &ExprPath,
        qself: &syn::QSelf,
    ) -> Eval<PathTarget> {
        let parts = path.path.segments.len();
        let Some(last) = path.path.segments.last().map(|segment| unraw_name(&segment.ident)) else {
            return self.unsupported(frame, path);
        };
        if qself.position + 1 != parts {
            return self.unsupported(frame, path);
        }
        if qself.position == 0 {
            if frame.is_parameter(&qself.ty) {
                return Ok(PathTarget::Parameter(self.schema_type(frame, &qself.ty)?, last));
            }
            // A type of the project may have an inherent function of this name.
            return match self.schema_type(frame, &qself.ty) {
                Ok(of) if matches!(*of, Type::Data(..)) => {
                    self.resolve_member(frame, path, of, last)
                }
                Ok(of) => Ok(PathTarget::Foreign(
                    format!("{}::{last}", of.path()),
                    Some((*qself.ty).clone()),
                )),
                Err(stop) => Err(stop),
            };
        }
        let mut of = Path::from(&path.path);
        of.parts.pop();
        match self.world.resolve_path(frame.scope.module, &of, Space::Types) {
            Ok(Named::Foreign(name)) => Ok(PathTarget::Trait((*qself.ty).clone(), name, last)),
            _ => self.refuse(frame, path, "traits of the project are not evaluated"),
        }
    }

    /// `Type::name`, where the type may be given arguments.
    fn member_of(
        &self,
        frame: &Frame,
        path: &ExprPath,
        id: ItemId,
        name: String,
    ) -> Eval<PathTarget> {
        let segments = &path.path.segments;
        let of = segments.iter().rev().nth(1);
        let has_arguments =
            of.is_some_and(|segment| !matches!(segment.arguments, PathArguments::None));
        if self.is_variant(frame, id, &name)? {
            let given = match (has_arguments, type_before(path)) {
                (true, Some(ty)) => Some(self.schema_type(frame, &ty)?),
                _ => None,
            };
            return Ok(PathTarget::Variant(id, given, name));
        }
        match (has_arguments, self.has_parameters(id), type_before(path)) {
            (true, _, Some(ty)) => Ok(PathTarget::Associated(self.schema_type(frame, &ty)?, name)),
            (false, false, _) => {
                Ok(PathTarget::Associated(Rc::new(Type::Data(id, Vec::new())), name))
            }
            _ => self.untyped(frame, path),
        }
    }

    /// `Self::name`, or `name` of another type that is known.
    fn resolve_member(
        &self,
        frame: &Frame,
        path: &ExprPath,
        of: Rc<Type>,
        name: String,
    ) -> Eval<PathTarget> {
        match &*of {
            Type::Data(id, _) if self.is_variant(frame, *id, &name)? => {
                let id = *id;
                Ok(PathTarget::Variant(id, Some(of), name))
            }
            Type::Data(..) | Type::Root(_) => Ok(PathTarget::Associated(of, name)),
            _ => self.unsupported(frame, path),
        }
    }

    fn has_parameters(&self, id: ItemId) -> bool {
        match &self.world.items[id].kind {
            ItemKind::Data(it) => crate::types::has_parameters(&it.generics),
            _ => false,
        }
    }
}

/// The type that a path has before its last name: `Vec::<u8>` of `Vec::<u8>::new`.
pub fn type_before(path: &ExprPath) -> Option<syn::Type> {
    let mut path = path.path.clone();
    path.segments.pop();
    path.segments.pop_punct();
    (!path.segments.is_empty())
        .then(|| syn::Type::Path(syn::TypePath { attrs: Vec::new(), qself: None, path }))
}
