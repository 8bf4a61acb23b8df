//! What code takes from outside of itself when it is compiled: `include_str!` of a file, `env!` of what cargo says
//! of the package. Of the environment nothing else is told.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use proc_macro2::Span;
use syn::spanned::Spanned as _;

use super::types::text;
use super::world::{ModuleId, World};
use crate::model::{SourcePath, below};

/// Texts that code asks for, by their paths; none where there is none.
#[derive(Default)]
pub struct Included {
    pub texts: BTreeMap<SourcePath, Option<Rc<str>>>,
    pub wanted: std::cell::RefCell<BTreeSet<SourcePath>>,
}

impl World {
    /// The text that `env!(…)` or `include_str!(…)` stands for.
    pub fn outside(&self, module: ModuleId, call: &syn::Macro) -> syn::Result<String> {
        let refuse = |what: &str| {
            let message = format!("`{}` takes what is outside of the code: {what}", text(call));
            Err(syn::Error::new(call.span(), message))
        };
        let Ok(said) = call.parse_body_with(only) else {
            return refuse("it is read of a literal only");
        };
        let found = match call.path.segments.last().map(|it| it.ident.to_string()).as_deref() {
            Some("env") => self.variable(module, &said),
            _ => self.included_text(module, call.path.span(), &said),
        };
        found.or_else(|what| refuse(&what))
    }

    fn variable(&self, module: ModuleId, name: &str) -> Result<String, String> {
        let krate = &self.crates[self.modules[module].krate];
        let package = &krate.package;
        let version = || package.version.as_ref().ok_or("its version is not known");
        let found = match name {
            "CARGO_CRATE_NAME" => krate.name.clone(),
            "CARGO_PKG_NAME" if !package.name.is_empty() => package.name.clone(),
            "CARGO_PKG_VERSION" => version()?.to_string(),
            "CARGO_PKG_VERSION_MAJOR" => version()?.major.to_string(),
            "CARGO_PKG_VERSION_MINOR" => version()?.minor.to_string(),
            "CARGO_PKG_VERSION_PATCH" => version()?.patch.to_string(),
            "CARGO_PKG_VERSION_PRE" => version()?.pre.to_string(),
            _ => return Err("it depends on how the project is built".to_owned()),
        };
        if let Some(script) = &package.build
            && self.text(script)?.is_some_and(|it| it.contains(name))
        {
            return Err(format!("{script} may say it otherwise"));
        }
        Ok(found)
    }

    fn included_text(&self, module: ModuleId, at: Span, said: &str) -> Result<String, String> {
        let beside = |it: &SourcePath| it.parent().map_or_else(String::new, |it| it.to_string());
        let folder = beside(&self.place(module, at).path);
        // From a macro's definition elsewhere it would be seen from where the macro is called.
        if said.starts_with('/') || folder != beside(&self.modules[module].file) {
            return Err("the file is not beside the code".to_owned());
        }
        // Of Rust files not everything is kept.
        let path = below(&folder, said).parse::<SourcePath>().ok();
        let Some(path) = path.filter(|_| !said.ends_with(".rs")) else {
            return Err("it is no text that is read".to_owned());
        };
        // A clone may name any file that its reader has, and what is read goes into what is printed.
        let package = &self.crates[self.modules[module].krate].package.folder;
        let in_package = path.as_str().strip_prefix(package).is_some_and(|it| it.starts_with('/'));
        if !crate::text::is_inside(path.as_str()) && !in_package {
            return Err(format!("{path} is outside of the project"));
        }
        match self.text(&path)? {
            Some(it) => Ok(it.to_string()),
            None => Err(format!("there is no {path}")),
        }
    }

    /// The text of a file; where it was not read yet, it is read after this.
    fn text(&self, path: &SourcePath) -> Result<Option<&Rc<str>>, String> {
        match self.included.texts.get(path) {
            Some(it) => Ok(it.as_ref()),
            None => {
                self.included.wanted.borrow_mut().insert(path.clone());
                Err(format!("{path} was not read"))
            }
        }
    }
}

/// One literal, and a message where it cannot be found.
fn only(input: syn::parse::ParseStream<'_>) -> syn::Result<String> {
    let said: syn::LitStr = input.parse()?;
    if input.parse::<Option<syn::Token![,]>>()?.is_some() && !input.is_empty() {
        input.parse::<syn::LitStr>()?;
        input.parse::<Option<syn::Token![,]>>()?;
    }
    Ok(said.value())
}
