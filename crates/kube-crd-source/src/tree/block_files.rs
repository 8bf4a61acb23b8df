//! Files in blocks: those that `include!` names in the place of an expression, and those of modules in blocks.
//!
//! Only their effects outside of the block matter, so their tokens are kept, and no items.

use proc_macro2::{Span, TokenStream};

use super::blocks::BlockItem;
use super::files::{Files, Here};
use super::included::{NotRead, UnreadPlace, included_path};
use super::world::World;
use crate::cargo::cfg::{self, Cfg};
use crate::text::raw_tokens::RawTokens;
use crate::text::sources::{OUTSIDE_HINT, outside};
use crate::text::{MacroCall, SourcePath, below, plain, syntax};

/// A file in a block.
pub struct BlockFile {
    span: Span,
    named: Named,
}

/// The syntax that names the file.
enum Named {
    /// The arguments of `include!`.
    Include(TokenStream),
    /// A module, with the modules in braces around it.
    Module(Box<syn::ItemMod>, Vec<String>),
}

impl BlockFile {
    pub fn included(call: MacroCall) -> Self {
        Self { span: call.span, named: Named::Include(call.arguments) }
    }

    pub fn of_module(module: &syn::ItemMod, around: &[String]) -> Self {
        let named = Named::Module(Box::new(module.clone()), around.to_vec());
        Self { span: module.ident.span(), named }
    }
}

impl Files<'_> {
    /// Reads the files that are in the blocks of an item.
    pub fn read_block_files(&mut self, world: &mut World, here: Here<'_>, files: Vec<BlockFile>) {
        for file in files {
            let span = file.span;
            match self.tokens_of_block_file(world, here, &file) {
                Ok(Some(tokens)) => {
                    let module = here.module;
                    world.block_items.push(BlockItem {
                        module,
                        tokens,
                        macro_names: Vec::new(),
                        span,
                    });
                }
                Ok(None) => {}
                Err(NotRead { why, hint, is_problem: true }) => {
                    self.report(world.place(here.module, span), why, hint.as_deref());
                }
                Err(NotRead { why, .. }) => {
                    world.unread.push(UnreadPlace { module: here.module, span, why });
                }
            }
        }
    }

    /// Returns the tokens of a file; none of a module that a `cfg` leaves out.
    fn tokens_of_block_file(
        &self,
        world: &mut World,
        here: Here<'_>,
        file: &BlockFile,
    ) -> Result<Option<TokenStream>, NotRead> {
        let module = here.module;
        let here_file = world.place(module, file.span).path;
        let folder = here_file.parent().map_or_else(String::new, |it| it.to_string());
        let path = match &file.named {
            Named::Include(arguments) => {
                let package = &world.crates[world.modules[module].krate].folder;
                included_path(arguments, &folder, package)?
            }
            Named::Module(item, around) => {
                let settled = cfg::settle(&item.attrs, world.features(module));
                let Ok(settled) = settled else { return Ok(None) };
                if settled.cfg == Cfg::No {
                    return Ok(None);
                }
                let attr = settled.attrs.iter().find(|attr| attr.path().is_ident("path"));
                let path = attr
                    .and_then(|attr| super::modules::string(attr.meta.require_name_value().ok()?));
                let path = path.unwrap_or_else(|| format!("{}.rs", plain(&item.ident)));
                below(&folder, &[around.as_slice(), &[path]].concat().join("/"))
            }
        };
        if !self.texts.allows(&path) {
            return Err(NotRead::problem(outside(&path), Some(OUTSIDE_HINT)));
        }
        let text = path.parse::<SourcePath>().ok().and_then(|path| {
            let text = self.texts.contains_key(&path).then(|| self.texts.get(&path)).flatten()?;
            world.beside.push((module, path));
            Some(text)
        });
        let not_read = || {
            let why = format!("cannot read `{path}`, which a function body includes");
            NotRead::problem(why, Some("add the file, or remove the line"))
        };
        let tokens = self.tokens_within_limit(&text.ok_or_else(not_read)?);
        Ok(Some(tokens.ok_or_else(not_read)?))
    }

    /// Splits a text into tokens, if there are not too many of them and they are not nested too deep.
    fn tokens_within_limit(&self, text: &str) -> Option<TokenStream> {
        let text = syntax::normalized(text, 0);
        let raw = RawTokens::split(&text).ok()?;
        let left = self.texts.tokens_left.get().checked_sub(raw.cost(0..raw.len()))?;
        self.texts.tokens_left.set(left);
        let tokens = syntax::tokens(&text).ok()?;
        syntax::guarded(&tokens).is_ok().then_some(tokens)
    }
}
