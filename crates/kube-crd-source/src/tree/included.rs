//! `include!` at the place of an item: the items of the file are items of the module.
//!
//! The lines of an included file are counted on behind those of the file that includes it, so a span in a module has one
//! place, whichever of its files it is in.

use std::collections::BTreeMap;

use proc_macro2::{LineColumn, Span};
use syn::spanned::Spanned as _;

use super::files::{Files, ItemLocation};
use super::macros::Call;
use super::modules::Folder;
use super::world::{ModuleId, World, place_at};
use crate::text::sources::{OUTSIDE_HINT, outside_message};
use crate::text::{Place, SourcePath, below};

/// Limit of the files that one file includes, directly or not: each is parsed with the lines of those before it.
const MOST_INCLUDED: usize = 100;

/// The files that are included, by the file that their lines are counted on from.
#[derive(Default)]
pub struct IncludedFiles(BTreeMap<SourcePath, Vec<IncludedFile>>);

struct IncludedFile {
    path: SourcePath,
    /// The number of lines that are counted before its first one.
    lines_before: usize,
    lines: usize,
}

impl IncludedFiles {
    /// The place of a span in a file or in one that it includes.
    pub fn place_in(&self, file: &SourcePath, span: Span) -> Place {
        self.place_at(file, span.start())
    }

    fn place_at(&self, file: &SourcePath, start: LineColumn) -> Place {
        let start = place_at(file, start);
        let included = self.0.get(file).into_iter().flatten();
        match { included }.rfind(|included| included.lines_before < start.line) {
            Some(it) => {
                Place { path: it.path.clone(), line: start.line - it.lines_before, ..start }
            }
            None => start,
        }
    }

    /// Adds a file, and returns how many lines are counted before its first one; none if there are too many files.
    fn add_file(
        &mut self,
        file: &SourcePath,
        lines_of_file: usize,
        path: &SourcePath,
        text: &str,
    ) -> Option<usize> {
        let included = self.0.entry(file.clone()).or_default();
        if included.len() >= MOST_INCLUDED {
            return None;
        }
        let lines_before =
            included.last().map_or(lines_of_file, |last| last.lines_before + last.lines);
        let lines = text.lines().count() + 1;
        included.push(IncludedFile { path: path.clone(), lines_before, lines });
        Some(lines_before)
    }
}

/// An included file that is not read.
pub struct NotRead {
    pub why: String,
    pub hint: Option<String>,
    /// True if the code does not compile, or not yet: the file is missing.
    pub is_problem: bool,
}

impl NotRead {
    pub fn generated(why: &str) -> Self {
        Self { why: why.to_owned(), hint: None, is_problem: false }
    }

    pub fn problem(why: String, hint: Option<&str>) -> Self {
        Self { why, hint: hint.map(str::to_owned), is_problem: true }
    }
}

impl Files<'_> {
    /// Returns whether an item includes a file. A macro of the project can have the same name.
    pub fn is_include(&self, item: &syn::ItemMacro) -> bool {
        let names: Vec<String> =
            item.mac.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        match &names.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["include"] => !self.macros.iter().any(|(name, _)| name == "include"),
            ["std" | "core", "include"] => true,
            _ => false,
        }
    }

    /// Reads the items of an included file into the module.
    ///
    /// `is_certain`: no condition decides whether the file is included.
    pub fn read_include(
        &mut self,
        world: &mut World,
        here: ItemLocation<'_>,
        item: &syn::ItemMacro,
        is_certain: bool,
    ) {
        let span = item.mac.path.span();
        let Err(NotRead { why, hint, is_problem }) =
            self.try_include(world, here, item, is_certain)
        else {
            return;
        };
        let place = world.place_in(here.module, span);
        if is_problem {
            self.report_problem(place, why.clone(), hint.as_deref());
        } else {
            world.unread.push(UnreadPlace::of_file(here.module, span, why.clone()));
        }
        world.modules[here.module].macros.push(Call::of_unknown(item, &why));
    }

    fn try_include(
        &mut self,
        world: &mut World,
        here: ItemLocation<'_>,
        item: &syn::ItemMacro,
        is_certain: bool,
    ) -> Result<(), NotRead> {
        let module = here.module;
        let here_file = world.place_in(module, item.mac.path.span()).path;
        let folder = here_file.parent().map_or_else(String::new, |path| path.to_string());
        let package = world.crates[world.modules[module].krate].folder.clone();
        let path = included_path(&item.mac.tokens, &folder, &package)?;
        let Ok(file) = path.parse::<SourcePath>() else {
            return Err(NotRead::problem(
                format!("`{path}` is not a path below the project"),
                None,
            ));
        };
        if !self.texts.allows_path(&path) {
            return Err(NotRead::problem(outside_message(&path), Some(OUTSIDE_HINT)));
        }
        if !self.texts.contains_key(&file) {
            return Err(NotRead::problem(
                format!("the included file `{path}` does not exist"),
                Some("add the file, or remove the line"),
            ));
        }
        world.beside.push((module, file.clone()));
        if !is_certain {
            return Err(NotRead::generated("whether the file is included depends on a `cfg`"));
        }
        if here.parents.contains(&file) {
            return Err(NotRead::problem(format!("`{path}` includes itself"), None));
        }
        let Some(text) = self.texts.read_text(&file) else {
            return Err(NotRead::generated(&format!("{file} cannot be read")));
        };
        let module_file = world.modules[module].file.clone();
        let lines = self.texts.read_text(&module_file).map_or(0, |text| text.lines().count() + 1);
        let Some(lines_before) = world.included.add_file(&module_file, lines, &file, &text) else {
            return Err(NotRead::problem(
                format!("{module_file} includes more than {MOST_INCLUDED} files"),
                Some("declare modules with `mod` in place of `include!`"),
            ));
        };
        let source = self.parse_file(world, module, &text, lines_before).map_err(|error| {
            let place = world.included.place_at(&module_file, error.position());
            NotRead::problem(format!("`{path}`, line {}, {error}", place.line), None)
        })?;
        let syntax = source.syntax;
        world.add_bodies(&module_file, source.bodies);
        world.add_unparsed(module, &source.unparsed);
        if !syntax.attrs.is_empty() {
            return Err(NotRead::problem(
                format!("`{path}` has an inner attribute, which an included file cannot have"),
                None,
            ));
        }
        // A module that an included file declares is found beside that file, as in rustc's `expand_include`.
        let folder = Folder::of_file(&file, true);
        let parents: Vec<SourcePath> = here.parents.iter().cloned().chain([file]).collect();
        self.read_items(
            world,
            ItemLocation { module, folder: &folder, parents: &parents },
            syntax.items,
        );
        Ok(())
    }
}

/// The file that `include_str!` names, or why that is not known. `folder` is that of the file with the call, `package`
/// that of its package.
pub fn included_file(
    tokens: &proc_macro2::TokenStream,
    folder: &str,
    package: &str,
) -> Result<SourcePath, String> {
    let path = included_path(tokens, folder, package).map_err(|not_read| not_read.why)?;
    path.parse().map_err(|_| format!("`{path}` is not a path below the project"))
}

/// The path of the file that `include!` or `include_str!` names: a string, or `concat!` of strings and `env!("CARGO_MANIFEST_DIR")`.
pub fn included_path(
    tokens: &proc_macro2::TokenStream,
    folder: &str,
    package: &str,
) -> Result<String, NotRead> {
    const NOT_A_TEXT: &str = "the path of the included file is not a string";
    let expression: syn::Expr =
        syn::parse2(tokens.clone()).map_err(|_| NotRead::generated(NOT_A_TEXT))?;
    let parts = path_parts(&expression).ok_or_else(|| NotRead::generated(NOT_A_TEXT))?;
    match &parts[..] {
        [PathPart::Variable(name), rest @ ..] if name == "CARGO_MANIFEST_DIR" => {
            let rest: Option<String> = rest.iter().map(PathPart::as_text).collect();
            let rest = rest.ok_or_else(|| NotRead::generated(NOT_A_TEXT))?;
            Ok(below(package, rest.trim_start_matches('/')))
        }
        parts if parts.iter().any(|part| part.as_text().is_none()) => {
            Err(NotRead::generated("the included file is written by a build, which is not run"))
        }
        parts => {
            let path: String = parts.iter().filter_map(PathPart::as_text).collect();
            if path.starts_with('/') {
                Err(NotRead::problem(outside_message(&path), Some(OUTSIDE_HINT)))
            } else {
                Ok(below(folder, &path))
            }
        }
    }
}

enum PathPart {
    Text(String),
    /// An environment variable of the build.
    Variable(String),
}

impl PathPart {
    fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Variable(_) => None,
        }
    }
}

fn path_parts(expression: &syn::Expr) -> Option<Vec<PathPart>> {
    match expression {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => {
            Some(vec![PathPart::Text(text.value())])
        }
        syn::Expr::Macro(call) if call.mac.path.is_ident("env") => {
            let name: syn::LitStr = call.mac.parse_body().ok()?;
            Some(vec![PathPart::Variable(name.value())])
        }
        syn::Expr::Macro(call) if call.mac.path.is_ident("concat") => {
            let list = call.mac.parse_body_with(
                syn::punctuated::Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated,
            );
            let parts: Option<Vec<_>> = list.ok()?.iter().map(path_parts).collect();
            Some(parts?.into_iter().flatten().collect())
        }
        _ => None,
    }
}

/// A place whose items are not read, though it may declare kinds.
pub struct UnreadPlace {
    pub module: ModuleId,
    pub span: Span,
    pub why: String,
    /// An item that cannot be parsed: it is among the unexpanded calls, and does no more than its tokens show.
    pub is_item: bool,
}

impl UnreadPlace {
    /// The place of a file.
    pub fn of_file(module: ModuleId, span: Span, why: String) -> Self {
        Self { module, span, why, is_item: false }
    }
}
