//! Reads the derives of a type, and checks that no other attribute may change it.

use std::rc::Rc;

use syn::{Attribute, DeriveInput, Meta, Token, punctuated::Punctuated, spanned::Spanned};

use super::Types;
use super::attribute_macros::is_known_derive;
use crate::builtin::names::is_table;
use crate::cargo::cfg::{self, Cfg, Settled};
use crate::names::{Miss, Named, Space};
use crate::text::{Problem, derive_paths, format_tokens};
use crate::tree::{Impl, ItemId, ItemKind, Path};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Derived {
    Yes,
    No,
    /// It depends on a `cfg`.
    Depends,
}

/// Limit of the fields or variants of a type, for the memory that their schemas take. A field with its schema has at least
/// 24 bytes, and etcd takes 1.5 MiB: a CRD with more fields cannot be stored.
const MOST_MEMBERS: usize = 65_536;

/// A path in `#[derive(…)]`.
pub struct Derive {
    path: syn::Path,
    target: Result<Named, Miss>,
    derived: Derived,
}

impl Types {
    /// A type after every `cfg` that the source settles.
    pub fn settled_input(&self, id: ItemId) -> Result<DeriveInput, Problem> {
        let item = &self.items[id];
        let ItemKind::Data(input) = &item.kind else {
            return Err(self.problem_at(item.module, item.span, "is not a struct or enum", ""));
        };
        self.require_few_members(item.module, item.span, &input.data)?;
        let mut resolved = (**input).clone();
        self.skip_serializing_none(item.module, &mut resolved);
        // An item that is there by a `cfg` that depends was refused when its name was looked up.
        resolved.attrs = self
            .evaluate_cfg_attributes(item.module, std::mem::take(&mut resolved.attrs), true)?
            .attrs;
        match &mut resolved.data {
            syn::Data::Struct(it) => self.settle_fields(item.module, &mut it.fields)?,
            syn::Data::Enum(it) => {
                let mut variants = Punctuated::new();
                for mut variant in std::mem::take(&mut it.variants) {
                    let attrs = std::mem::take(&mut variant.attrs);
                    let settled = self.evaluate_cfg_attributes(item.module, attrs, false)?;
                    if settled.cfg == Cfg::No {
                        continue;
                    }
                    variant.attrs = settled.attrs;
                    self.settle_fields(item.module, &mut variant.fields)?;
                    variants.push(variant);
                }
                it.variants = variants;
            }
            syn::Data::Union(_) => {}
        }
        Ok(resolved)
    }

    /// Refuses a type with more fields or variants than are read.
    fn require_few_members(
        &self,
        module: usize,
        span: proc_macro2::Span,
        data: &syn::Data,
    ) -> Result<(), Problem> {
        let count = match data {
            syn::Data::Struct(data) => data.fields.len(),
            syn::Data::Enum(data) => data.variants.len(),
            syn::Data::Union(_) => 0,
        };
        if count <= MOST_MEMBERS {
            return Ok(());
        }
        let message = format!("has {count} fields or variants, and the limit is {MOST_MEMBERS}");
        Err(self.problem_at(module, span, message, "use a map or a list of values"))
    }

    fn settle_fields(&self, module: usize, fields: &mut syn::Fields) -> Result<(), Problem> {
        let kept = |list: Punctuated<syn::Field, Token![,]>| {
            let mut active = Punctuated::new();
            for mut field in list {
                let attrs = std::mem::take(&mut field.attrs);
                let settled = self.evaluate_cfg_attributes(module, attrs, false)?;
                if settled.cfg != Cfg::No {
                    field.attrs = settled.attrs;
                    active.push(field);
                }
            }
            Ok(active)
        };
        match fields {
            syn::Fields::Named(it) => it.named = kept(std::mem::take(&mut it.named))?,
            syn::Fields::Unnamed(it) => it.unnamed = kept(std::mem::take(&mut it.unnamed))?,
            syn::Fields::Unit => {}
        }
        Ok(())
    }

    fn evaluate_cfg_attributes(
        &self,
        module: usize,
        attrs: Vec<Attribute>,
        is_item: bool,
    ) -> Result<Settled, Problem> {
        let condition = attrs.iter().find(|attr| attr.path().is_ident("cfg")).map(Spanned::span);
        let settled = cfg::settle_owned(attrs, self.features_of(module))
            .map_err(|error| self.problem_at(module, error.span(), error.to_string(), ""))?;
        let way_out = "remove the condition, or move what depends on it to a type of its own";
        if settled.cfg == Cfg::Depends && !is_item {
            let span = condition.unwrap_or_else(proc_macro2::Span::call_site);
            let message =
                "whether this exists depends on a `cfg` that only the compiler can evaluate";
            return Err(self.problem_at(module, span, message, way_out));
        }
        if let Some(meta) = settled.doubtful.iter().find(|meta| !is_harmless(meta)) {
            let message = format!(
                "whether `{}` applies here depends on a `cfg_attr` that only the compiler can evaluate",
                format_tokens(meta.path())
            );
            return Err(self.problem_at(module, meta.span(), message, way_out));
        }
        Ok(settled)
    }

    /// Returns whether a type derives the trait of this whole path.
    pub fn derives_trait(&self, id: ItemId, path: &str) -> Result<Derived, Problem> {
        let item = &self.items[id];
        let last = path.rsplit("::").next().unwrap_or(path);
        let mut result = Derived::No;
        for Derive { path: written, target, derived } in &*self.derives_of(id)? {
            if !matches!(target, Ok(Named::Foreign(found)) if found == path) {
                // Whatever it is called: a derive that is renamed is found by what it names.
                if written.segments.last().is_none_or(|segment| segment.ident != last) {
                    continue;
                }
                match target {
                    Ok(Named::Foreign(other))
                        if let Some((what, hint)) = explain_other_version(other) =>
                    {
                        let message = format!("`{}` belongs to {what}", format_tokens(written));
                        return Err(self.problem_at(item.module, written.span(), message, &hint));
                    }
                    Ok(Named::Foreign(other))
                        if let Some((what, hint)) = self.explain_absence(other) =>
                    {
                        let message = format!("`{}` {what}", format_tokens(written));
                        return Err(self.problem_at(item.module, written.span(), message, &hint));
                    }
                    Ok(Named::Foreign(other)) => self.note_need(other),
                    Err(Miss::Doubt(why)) => self.need_for(why),
                    _ => {}
                }
                let why = match target {
                    Err(Miss::Doubt(why)) => format!(": {why}"),
                    _ => String::new(),
                };
                let message = format!("`{}` may not be `{path}`{why}", format_tokens(written));
                let hint = format!("import it by name: `use {path};`");
                return Err(self.problem_at(item.module, written.span(), message, &hint));
            }
            if result != Derived::Yes {
                result = *derived;
            }
        }
        Ok(result)
    }

    /// The derives of a type, each with its target. Several traits are asked for of each type.
    fn derives_of(&self, id: ItemId) -> Result<Rc<[Derive]>, Problem> {
        let known = self.derives.borrow().get(&id).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let item = &self.items[id];
        let ItemKind::Data(input) = &item.kind else { return Ok(Rc::default()) };
        let settled = cfg::resolve_cfgs(&input.attrs, self.features_of(item.module))
            .map_err(|error| self.problem_at(item.module, error.span(), error.to_string(), ""))?;
        let sure = settled.attrs.iter().map(|attr| (&attr.meta, Derived::Yes));
        let doubtful = settled.doubtful.iter().map(|meta| (meta, Derived::Depends));
        let paths = sure.chain(doubtful).flat_map(|(meta, derived)| {
            derive_paths(meta).into_iter().map(move |path| (path, derived))
        });
        let derives: Rc<[Derive]> = paths
            .map(|(path, derived)| {
                let target = self.resolve_path(item.module, &Path::from(&path), Space::Macros);
                Derive { path, target, derived }
            })
            .collect();
        self.derives.borrow_mut().insert(id, derives.clone());
        Ok(derives)
    }

    /// Refuses a type that an attribute macro may change.
    pub fn check_attribute_macros(&self, id: ItemId, input: &DeriveInput) -> Result<(), Problem> {
        let module = self.items[id].module;
        let own = input.attrs.iter().flat_map(|attr| derive_paths(&attr.meta));
        let theirs = { own }.any(|path| !is_known_derive(&path));
        for attr in &input.attrs {
            if !self.leaves_alone(module, attr, theirs) {
                let message = format!("`#[{}]` may change its type", format_tokens(attr.path()));
                let hint = "replace it with attributes of serde and schemars";
                return Err(self.problem_at(module, attr.span(), message, hint));
            }
        }
        Ok(())
    }

    /// Returns whether an `impl` is for this type.
    pub fn is_impl_for(&self, imp: &Impl, id: ItemId) -> bool {
        let syn::Type::Path(ty) = &*imp.syntax.self_ty else { return false };
        let last = ty.path.segments.last();
        if ty.qself.is_some() || last.is_none_or(|segment| segment.ident != self.items[id].name) {
            return false;
        }
        self.resolve_path(imp.module, &Path::from(&ty.path), Space::Types) == Ok(Named::Item(id))
    }
}

/// Why a path into a known crate is of another version of it than the one that writes the CRDs,
/// and a hint.
fn explain_other_version(path: &str) -> Option<(String, String)> {
    let word = path.split("::").next()?;
    let (name, what) = match (word.split_once('/'), word.split_once('@')) {
        (Some((_, name)), _) => {
            (name, "that is not the published one, and whose output is not known".to_owned())
        }
        (_, Some((name, version))) => {
            (name, format!("{version}, and another version of it writes the CRDs"))
        }
        _ => return None,
    };
    let hint = if word.contains('@') {
        format!("use one version of `{name}` everywhere, or select packages that do (`-p`)")
    } else {
        format!("depend on the published `{name}`")
    };
    is_table(name).then(|| (format!("`{name}` {what}"), hint))
}

/// Returns what changes no schema, there or not.
fn is_harmless(meta: &Meta) -> bool {
    let name = format_tokens(meta.path());
    let quiet = ["derive", "allow", "warn", "deny", "expect", "must_use", "non_exhaustive"];
    if quiet.contains(&name.as_str()) || name.starts_with("rustfmt") || name.starts_with("clippy") {
        return true;
    }
    // Methods that evaluate CEL leave the schema as it is.
    let only_cel = |it: &syn::MetaList| it.tokens.to_string() == "cel";
    let hidden = |it: &syn::MetaList| it.path.is_ident("doc");
    match meta {
        Meta::List(it) if name == "kube" || name == "x_kube" => only_cel(it),
        Meta::List(it) => hidden(it),
        _ => false,
    }
}
