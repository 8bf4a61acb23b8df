//! `automod::dir!`, of the crate automod: a module for each Rust file in a folder.

use syn::parse::Parser as _;
use syn::spanned::Spanned as _;

use super::files::{Files, ItemLocation};
use super::world::World;
use crate::cargo::Extern;
use crate::text::below;

/// The files that automod passes over, as `source_file_names` of automod 1.0 has them.
const NO_MODULES: &[&str] = &["lib.rs", "main.rs", "mod.rs"];

impl Files<'_> {
    /// Returns the modules that a macro call declares if it is one of `automod::dir!`.
    ///
    /// None if it is another macro, or if automod would not find a module.
    pub fn modules_of_automod(
        &self,
        world: &World,
        here: ItemLocation<'_>,
        call: &syn::ItemMacro,
    ) -> Option<Vec<syn::ItemMod>> {
        let krate = &world.crates[world.modules[here.module].krate];
        let names: Vec<_> =
            call.mac.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let [package, name] = &names[..] else { return None };
        let is_automod = name == "dir"
            && matches!(krate.externs.get(package), Some(Extern::Elsewhere(word))
                if word == "automod" && !world.unpublished.contains(word));
        if !is_automod {
            return None;
        }
        let arguments = |input: syn::parse::ParseStream<'_>| {
            Ok((input.parse::<syn::Visibility>()?, input.parse::<syn::LitStr>()?))
        };
        let (vis, path) = arguments.parse2(call.mac.tokens.clone()).ok()?;
        let folder = below(&krate.folder, &path.value());
        if path.value().starts_with('/') || !self.texts.allows_path(&folder) {
            return None;
        }
        let mut files = self.texts.list_names(&folder);
        files.retain(|file| file.ends_with(".rs") && !NO_MODULES.contains(&file.as_str()));
        files.sort();
        let modules: Option<Vec<_>> =
            files.iter().map(|file| module_of_file(file, &vis, call)).collect();
        modules.filter(|modules| !modules.is_empty())
    }
}

/// The module of a file, as `mod_item` of automod 1.0 declares it; none if the file has no name of a module.
fn module_of_file(
    file: &str,
    vis: &syn::Visibility,
    call: &syn::ItemMacro,
) -> Option<syn::ItemMod> {
    let stem = file.strip_suffix(".rs")?;
    let mut name = stem.replace('-', "_");
    if name.starts_with(|first: char| first.is_ascii_digit()) {
        name.insert(0, '_');
    }
    let mut ident: syn::Ident = syn::parse_str(&name).ok()?;
    ident.set_span(call.mac.path.span());
    let mut attrs = call.attrs.clone();
    if name != stem {
        attrs.push(syn::parse_quote!(#[path = #file]));
    }
    Some(syn::ItemMod {
        attrs,
        vis: vis.clone(),
        unsafety: None,
        mod_token: syn::Token![mod](call.mac.path.span()),
        ident,
        content: None,
        semi: Some(syn::Token![;](call.mac.path.span())),
    })
}
