//! Types of other crates, by their paths.

use std::rc::Rc;

use syn::spanned::Spanned as _;

use super::lookup::{Depth, WAY_OUT};
use super::type_::stands_for;
use super::{Scope, Type, Types};
use crate::builtin::kubernetes::{KubernetesMiss as NoType, RESTORE};
use crate::builtin::{self, crates};
use crate::names::{Named, Space};
use crate::text::{Problem, format_tokens};
use crate::tree::{ModuleId, Path};

impl Types {
    pub(super) fn foreign_type(
        &self,
        scope: &Scope,
        path: &syn::Path,
        name: &str,
        mut arguments: Vec<&syn::GenericArgument>,
        depth: Depth,
    ) -> Result<Rc<Type>, Problem> {
        let refuse = |what: &str, hint: &str| {
            self.problem_at(
                scope.module,
                path.span(),
                format!("`{}` {what}", format_tokens(path)),
                hint,
            )
        };
        let zone = arguments.first().and_then(|argument| self.foreign_path(scope.module, argument));
        arguments.truncate(crates::arguments_that_count(name));
        let arguments = arguments.iter().map(|argument| match argument {
            syn::GenericArgument::Type(it) => self.type_at(scope, it, depth),
            _ => Err(refuse("has an unsupported generic argument", WAY_OUT)),
        });
        let arguments: Vec<Rc<Type>> = arguments.collect::<Result<_, _>>()?;
        if let Some(found) = self.kubernetes.find_type(name) {
            return match found {
                Ok(model) if arguments.is_empty() => Ok(Rc::new(Type::Kubernetes(model))),
                Ok(_) => Err(refuse("takes no type arguments", WAY_OUT)),
                Err(miss) => Err(self.no_type(scope.module, path, name, &miss)),
            };
        }
        let (name, arguments) = stands_for(name, arguments, zone.as_deref());
        let count = arguments.len();
        match (builtin::find(&name), Type::foreign(&name, arguments)) {
            (_, Some(ty)) => Ok(ty),
            (Some((_, it)), None) => {
                Err(refuse(&format!("has {count} type arguments, not {}", it.arguments), WAY_OUT))
            }
            (None, None) => {
                self.note_need(&name);
                let (what, hint) = self.explain_unknown(name);
                Err(refuse(&what, &hint))
            }
        }
    }

    /// Why a type of another crate is not known, and how to mend that.
    fn explain_unknown(&self, name: String) -> (String, String) {
        if crates::TWOFOLD.contains(&name.as_str()) {
            return (
                format!("is `{name}`, which has two JSON types: no CRD can describe that"),
                "choose one with `#[schemars(with = \"String\")]` on the field".to_owned(),
            );
        }
        self.explain_absence(&name).unwrap_or_else(|| {
            (
                format!("is `{name}`, whose schema is not known"),
                "use a type of this project, of std or of k8s-openapi".to_owned(),
            )
        })
    }

    /// Explains that a path leads into a package whose source cannot be read, with a hint.
    pub(super) fn explain_absence(&self, path: &str) -> Option<(String, String)> {
        let absent = self.absent.get(path.split("::").next()?)?;
        Some((absent.why.clone(), absent.hint.clone()))
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
            NoType::Unread { file, what } => {
                (format!("is `{name}`, but k8s-openapi's {file} cannot be read: {what}"), RESTORE)
            }
        };
        self.problem_at(module, path.span(), format!("`{}` {what}", format_tokens(path)), hint)
    }

    /// The path of a type that is not of this project.
    fn foreign_path(&self, module: ModuleId, ty: &syn::GenericArgument) -> Option<String> {
        let syn::GenericArgument::Type(syn::Type::Path(it)) = ty else { return None };
        match self.resolve_path(module, &Path::from(&it.path), Space::Types) {
            Ok(Named::Foreign(path)) if it.qself.is_none() => Some(path),
            _ => None,
        }
    }
}
