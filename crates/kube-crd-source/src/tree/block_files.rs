//! Files in blocks: those that `include!` names in the place of an expression, and those of modules in blocks.
//!
//! Only their effects outside of the block matter, so their tokens are kept, and no items.

use std::collections::BTreeSet;

use proc_macro2::{Span, TokenStream};

use super::blocks::BlockItem;
use super::files::{Files, ItemLocation};
use super::included::{NotRead, UnreadPlace, included_path};
use super::tokens::Tokens;
use super::world::World;
use crate::cargo::cfg::{self, Cfg};
use crate::text::raw_tokens::RawTokens;
use crate::text::sources::{OUTSIDE_HINT, outside_message};
use crate::text::{MacroCall, SourcePath, below, macro_calls, syntax, unraw_name};

/// A file in a block.
pub struct BlockFile {
    /// The place in a file of the module.
    span: Span,
    named: FileSyntax,
    /// The folder of another file in a block that includes this one.
    folder: Option<String>,
}

/// The syntax that names the file.
enum FileSyntax {
    /// The arguments of `include!`.
    Include(TokenStream),
    /// A module, with the modules in braces around it.
    Module(Box<syn::ItemMod>, Vec<String>),
}

impl BlockFile {
    pub fn from_include(call: MacroCall) -> Self {
        Self { span: call.span, named: FileSyntax::Include(call.arguments), folder: None }
    }

    pub fn of_module(module: &syn::ItemMod, around: &[String]) -> Self {
        let named = FileSyntax::Module(Box::new(module.clone()), around.to_vec());
        Self { span: module.ident.span(), named, folder: None }
    }
}

impl Files<'_> {
    /// Reads the files that are in the blocks of an item, and those that these include.
    pub fn read_block_files(
        &mut self,
        world: &mut World,
        here: ItemLocation<'_>,
        mut files: Vec<BlockFile>,
    ) {
        let (module, mut seen) = (here.module, BTreeSet::new());
        while let Some(file) = files.pop() {
            let span = file.span;
            let found = self.path_of_block_file(world, here, &file).and_then(|path| match path {
                Some(path) if seen.insert(path.clone()) => {
                    Ok(Some((self.tokens_of_block_file(world, here, &path)?, path)))
                }
                _ => Ok(None),
            });
            match found {
                Ok(Some((tokens, path))) => {
                    if Tokens::of_arguments(tokens.clone()).loads_files {
                        let why = format!(
                            "a module in `{path}` has a file of its own, which is not read"
                        );
                        world.unread.push(UnreadPlace::of_file(module, span, why));
                    }
                    let folder = below(&path, "..");
                    let calls = macro_calls(&tokens).into_iter();
                    let included =
                        calls.filter(|call| call.name == "include").map(BlockFile::from_include);
                    files.extend(included.map(|inner| BlockFile {
                        span,
                        folder: Some(folder.clone()),
                        ..inner
                    }));
                    let macro_names = Vec::new();
                    world.block_items.push(BlockItem { module, tokens, macro_names, span });
                }
                Ok(None) => {}
                Err(NotRead { why, hint, is_problem: true }) => {
                    self.report_problem(world.place_in(module, span), why, hint.as_deref());
                }
                Err(NotRead { why, .. }) => {
                    world.unread.push(UnreadPlace::of_file(module, span, why));
                }
            }
        }
    }

    /// Returns the path of a file; none of a module that a `cfg` leaves out.
    fn path_of_block_file(
        &self,
        world: &World,
        here: ItemLocation<'_>,
        file: &BlockFile,
    ) -> Result<Option<String>, NotRead> {
        let module = here.module;
        Ok(Some(match &file.named {
            FileSyntax::Include(arguments) => {
                let folder = file.folder.clone().unwrap_or_else(|| {
                    let here_file = world.place_in(module, file.span).path;
                    here_file.parent().map_or_else(String::new, |folder| folder.to_string())
                });
                let package = &world.crates[world.modules[module].krate].folder;
                included_path(arguments, &folder, package)?
            }
            FileSyntax::Module(item, around) => {
                let settled = cfg::resolve_cfgs(&item.attrs, world.features_of(module));
                let Ok(settled) = settled else { return Ok(None) };
                if settled.cfg == Cfg::No {
                    return Ok(None);
                }
                if settled.doubtful.iter().any(|meta| meta.path().is_ident("path")) {
                    let name = unraw_name(&item.ident);
                    let why = format!("where module `{name}` is depends on a `cfg_attr`");
                    return Err(NotRead::generated(&why));
                }
                let attr = settled.attrs.iter().find(|attr| attr.path().is_ident("path"));
                let path = attr.and_then(|attr| {
                    super::modules::string_value(attr.meta.require_name_value().ok()?)
                });
                let path = path.unwrap_or_else(|| format!("{}.rs", unraw_name(&item.ident)));
                below(&here.folder.paths, &[around.as_slice(), &[path]].concat().join("/"))
            }
        }))
    }

    fn tokens_of_block_file(
        &self,
        world: &mut World,
        here: ItemLocation<'_>,
        path: &str,
    ) -> Result<TokenStream, NotRead> {
        if !self.texts.allows_path(path) {
            return Err(NotRead::problem(outside_message(path), Some(OUTSIDE_HINT)));
        }
        let text = path.parse::<SourcePath>().ok().and_then(|path| {
            let text =
                self.texts.contains_key(&path).then(|| self.texts.read_text(&path)).flatten()?;
            world.beside.push((here.module, path));
            Some(text)
        });
        let not_read = || {
            let why = format!("cannot read `{path}`, which a function body includes");
            NotRead::problem(why, Some("add the file, or remove the line"))
        };
        self.tokens_within_limit(&text.ok_or_else(not_read)?).ok_or_else(not_read)
    }

    /// Splits a text into tokens, if there are not too many of them and they are not nested too deep.
    fn tokens_within_limit(&self, text: &str) -> Option<TokenStream> {
        let text = syntax::normalize_text(text, 0);
        let raw = RawTokens::split(&text).ok()?;
        let left = self.texts.tokens_left.get().checked_sub(raw.parsing_cost(0..raw.len()))?;
        self.texts.tokens_left.set(left);
        let tokens = syntax::parse_tokens(&text).ok()?;
        syntax::refuse_deep_nesting(&tokens).is_ok().then_some(tokens)
    }
}
