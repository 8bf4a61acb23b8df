//! `include_str!` in the place of documentation: the text of a file beside the code.

use syn::spanned::Spanned as _;

use crate::text::{SourcePath, below, is_inside, text};
use crate::tree::ModuleId;
use crate::types::Types;

/// The text that `include_str!("…")` stands for.
pub fn included_text(types: &Types, module: ModuleId, call: &syn::Macro) -> syn::Result<String> {
    let refuse = |why: &str| {
        let message = format!("`{}` is not read: {why}", text(call));
        Err(syn::Error::new(call.span(), message))
    };
    let Ok(name) = call.parse_body_with(one_literal) else { return refuse("it is not a literal") };
    let place = types.place(module, call.path.span());
    let folder = place.path.parent().map_or_else(String::new, |it| it.to_string());
    let path = below(&folder, &name).parse::<SourcePath>().ok();
    let Some(path) = path.filter(|_| !name.starts_with('/')) else {
        return refuse("its path is not relative");
    };
    // A clone may name any file that its reader has, and what is read is printed.
    let package = &types.crates[types.modules[module].krate].folder;
    let in_package = path.as_str().strip_prefix(package).is_some_and(|it| it.starts_with('/'));
    if !is_inside(path.as_str()) && !in_package {
        return refuse(&format!("{path} is outside of the project"));
    }
    match types.included.get(&path) {
        Some(Some(it)) => Ok(it.to_string()),
        Some(None) => refuse(&format!("there is no {path}")),
        None => {
            types.need_file(path.clone());
            refuse(&format!("{path} is not available"))
        }
    }
}

/// One literal, and a comma perhaps.
fn one_literal(input: syn::parse::ParseStream<'_>) -> syn::Result<String> {
    let literal: syn::LitStr = input.parse()?;
    input.parse::<Option<syn::Token![,]>>()?;
    Ok(literal.value())
}
