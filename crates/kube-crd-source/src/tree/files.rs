//! A crate's files, read into modules and items.

use super::attribute_macros;
use super::macros::RulesId;
use super::modules::Folder;
use super::source_file::{NotParsed, ParseOptions, SourceFile};
use super::world::{Module, ModuleId, World, place_at, place_in};
use crate::cargo::{Krate, cfg};
use crate::text::sources::Texts;
use crate::text::{Place, Problem, SourcePath, find_conflict_in_malformed, format_tokens};

/// The hint for kinds that only a macro declares.
pub const WRITE_OUT: &str = "declare the kinds without the macro";

/// Reads more crates into a world.
pub fn load_crates(
    world: &mut World,
    texts: &Texts<'_>,
    crates: Vec<Krate>,
    problems: &mut Vec<Problem>,
) {
    let before = world.crates.len();
    world.crates.extend(crates);
    let mut files = Files { texts, problems, macros: Vec::new() };
    for krate in before..world.crates.len() {
        let Krate { root, name, cfg, is_read, .. } = &world.crates[krate];
        if !is_read {
            continue;
        }
        let root = root.clone();
        let module = Module::new(krate, None, name.clone(), root.clone(), *cfg);
        let module = world.add_module(module);
        world.roots.insert(root.clone(), module);
        files.macros.clear();
        let parents = [root.clone()];
        let folder = Folder::of_file(&root, true);
        files.read_file(world, ItemLocation { module, folder: &folder, parents: &parents });
    }
}

pub struct Files<'a> {
    pub texts: &'a Texts<'a>,
    problems: &'a mut Vec<Problem>,
    /// The `macro_rules!` above, in the order of the text; without an id where a `cfg` leaves it in doubt.
    pub macros: Vec<(String, Option<RulesId>)>,
}

/// Where items are declared: their module, its folder and the files that lead to it.
#[derive(Clone, Copy)]
pub struct ItemLocation<'a> {
    pub module: ModuleId,
    /// The folder of the modules that are declared here.
    pub folder: &'a Folder,
    /// The files that lead here, this one last.
    pub parents: &'a [SourcePath],
}

impl Files<'_> {
    pub fn report_problem(&mut self, place: Place, message: impl Into<String>, hint: Option<&str>) {
        let problem = Problem::new(place, message);
        self.problems.push(Problem { hint: hint.map(str::to_owned), ..problem });
    }

    /// Reports that an attribute macro may declare kinds.
    pub fn report_kinds(&mut self, place: Place, attr: &syn::Attribute) {
        let name = format_tokens(attr.path());
        let message = format!("`#[{name}]` may declare kinds here, and is not expanded");
        self.report_problem(place, message, Some(WRITE_OUT));
    }

    /// Parses a file of a module whose lines are counted on from others.
    pub fn parse_file(
        &self,
        world: &World,
        module: ModuleId,
        text: &str,
        lines_before: usize,
    ) -> Result<SourceFile, NotParsed> {
        let tokens_left = &self.texts.tokens_left;
        let omits_tests = !world.features_of(module).possible.has_name("test");
        let options = ParseOptions { lines_before, most_tokens: tokens_left.get(), omits_tests };
        let source = SourceFile::parse(text, options)?;
        tokens_left.set(tokens_left.get().saturating_sub(source.tokens));
        Ok(source)
    }

    fn report_not_parsed(&mut self, file: &SourcePath, text: &str, error: &NotParsed) {
        if matches!(error, NotParsed::TooMuch) && self.texts.tokens_left.take() == 0 {
            // One file has said so.
            return;
        }
        match find_conflict_in_malformed(file, text) {
            Some(problem) => self.problems.push(problem),
            None => self.report_problem(place_at(file, error.position()), error.to_string(), None),
        }
    }

    /// Reads the file of a module.
    pub fn read_file(&mut self, world: &mut World, here: ItemLocation<'_>) {
        let file = world.modules[here.module].file.clone();
        let Some(text) = self.texts.read_text(&file) else {
            world.modules[here.module].broken = Some(format!("{file} cannot be read"));
            return;
        };
        let source = match self.parse_file(world, here.module, &text, 0) {
            Ok(source) => source,
            Err(error) => {
                world.modules[here.module].broken = Some(format!("{file} cannot be parsed"));
                self.report_not_parsed(&file, &text, &error);
                return;
            }
        };
        let syntax = source.syntax;
        world.add_bodies(&file, source.bodies);
        world.add_unparsed(here.module, &source.unparsed);
        match cfg::resolve_cfgs(&syntax.attrs, world.features_of(here.module)) {
            Ok(settled) => {
                let module = &mut world.modules[here.module];
                module.cfg = module.cfg.and(settled.cfg);
                module.features.extend(cfg::named_features(&syntax.attrs));
                self.read_items(world, here, syntax.items);
            }
            Err(error) => {
                self.report_problem(place_in(&file, error.span()), error.to_string(), None)
            }
        }
    }

    pub fn read_items(&mut self, world: &mut World, here: ItemLocation<'_>, items: Vec<syn::Item>) {
        for item in items {
            if let Err(error) = self.read_item(world, here, item) {
                let place = world.place_in(here.module, error.span());
                self.report_problem(place, error.to_string(), None);
            }
        }
    }

    /// Reports an attribute macro that may declare kinds, on a module or a struct.
    pub fn check_for_kinds(
        &mut self,
        world: &World,
        module: ModuleId,
        item: &syn::Item,
        attrs: &[syn::Attribute],
    ) {
        let (attr, span) = match item {
            syn::Item::Mod(_) => {
                let attr = attribute_macros::of_item(item, attrs);
                (attr, attr.map(syn::spanned::Spanned::span))
            }
            syn::Item::Struct(it) => {
                let makes = |it: &&syn::Attribute| attribute_macros::is_versioned(it);
                (attrs.iter().find(makes), Some(it.ident.span()))
            }
            _ => return,
        };
        if let (Some(attr), Some(span)) = (attr, span)
            && attribute_macros::may_declare_kinds_of(item)
        {
            self.report_kinds(world.place_in(module, span), attr);
        }
    }
}
