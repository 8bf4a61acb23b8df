//! Renders templates into a plan. The path of a template is the path of the file that it renders:
//!
//! ```text
//! templates/<set>/src/{{kind_module}}.rs.hbs       a whole file, rendered; without `.hbs` it is copied
//! templates/<set>/src/main.rs@controllers.hbs     entries to add above `+operator-rs:scaffold:controllers`
//! ```
//!
//! The latter is a small copy of the file, which shows where the entries belong: `[env]` and the new line, or the keys
//! down to a list and its new items.
//!
//! A template that renders to an empty text writes no file. This module does not touch the disk: the templates are in
//! the binary.

use std::cell::RefCell;

use anyhow::Context as _;
use handlebars::{Handlebars, handlebars_helper, no_escape};
use rust_embed::Embed;

use serde::Serialize;

use crate::plan::Plan;
use go_data::yaml::{self, Value};
use model::ProjectPath;

// In a checkout without symlinks, as git makes it on Windows unless `core.symlinks` is set, projects would lack these
// crates: this does not compile there.
const _: &str = include_str!("../templates/generate/vendor/operator-rs-runtime/src/lib.rs");
const _: &str = include_str!("../templates/generate/vendor/operator-rs-testing/src/lib.rs");

#[derive(Embed)]
#[folder = "templates"]
struct Templates;

handlebars_helper!(eq: |a: Value, b: Value| a == b);

/// The output of a template.
pub enum Target {
    File(ProjectPath),
    /// A small copy of the file with only the entries to add above a marker.
    Entries(ProjectPath, String),
}

/// Scaffolds files of the user: whole files, which are written once, and lines above markers.
pub fn scaffold(sets: &[&str], context: &impl Serialize) -> anyhow::Result<Plan> {
    let mut plan = Plan::default();
    add(&mut plan, sets, context)?;
    Ok(plan)
}

/// Adds more sets to a plan, e.g. with another context.
pub fn add(plan: &mut Plan, sets: &[&str], context: &impl Serialize) -> anyhow::Result<()> {
    for set in sets {
        for (target, text) in render(set, context)? {
            match target {
                Target::File(path) => plan.scaffold(path, text),
                Target::Entries(path, marker) => plan.add_entries(path, &marker, text),
            }
        }
    }
    Ok(())
}

/// Renders generated files of the command `by`. `edit` returns the place to edit instead of each one.
pub fn generate(
    set: &str,
    context: &impl Serialize,
    by: &'static str,
    edit: fn(&ProjectPath) -> &'static str,
) -> anyhow::Result<Plan> {
    let mut plan = Plan::default();
    for (target, text) in render(set, context)? {
        match target {
            Target::File(path) => {
                let edit = edit(&path);
                plan.generate(path, text, edit, by);
            }
            Target::Entries(path, _) => {
                anyhow::bail!(
                    "templates/{set} has entries to add to {path}, but renders generated files"
                )
            }
        }
    }
    Ok(plan)
}

/// The text of one file of a set, for use outside a project.
pub fn text(set: &str, path: &str, context: &impl Serialize) -> anyhow::Result<String> {
    let found = files(set, context)?.into_iter().find(|(it, _)| it.as_str() == path);
    Ok(found.with_context(|| format!("templates/{set} has no {path}"))?.1)
}

/// The whole files of a set.
pub fn files(set: &str, context: &impl Serialize) -> anyhow::Result<Vec<(ProjectPath, String)>> {
    let files = render(set, context)?.into_iter().filter_map(|(target, text)| match target {
        Target::File(it) => Some((it, text)),
        Target::Entries(..) => None,
    });
    Ok(files.collect())
}

/// Renders every template of a set, path and text alike, with one context.
pub fn render(set: &str, context: &impl Serialize) -> anyhow::Result<Vec<(Target, String)>> {
    let context = yaml::to_value(context);

    let mut res = Vec::new();
    for place in Templates::iter() {
        let Some(name) = place.strip_prefix(set).and_then(|it| it.strip_prefix('/')) else {
            continue;
        };
        if name.ends_with("/tests.rs") {
            continue; // unit tests of a vendored crate
        }
        let file =
            Templates::get(&place).with_context(|| format!("templates/{place} is missing"))?;
        let text = str::from_utf8(&file.data)
            .with_context(|| format!("templates/{place} is not UTF-8"))?;
        let render = |template: &str| {
            rendered(template, &context).with_context(|| format!("cannot render templates/{place}"))
        };
        let (target, text) = match name.strip_suffix(".hbs") {
            Some(name) => (render(name)?, render(text)?),
            None => (render(name)?, text.to_owned()),
        };
        let text = if name.ends_with(".rs") { without_unit_tests(&text) } else { text };
        if text.trim().is_empty() {
            continue;
        }
        let target = match target.split_once('@') {
            Some((path, marker)) => Target::Entries(path.parse()?, marker.to_owned()),
            None => Target::File(target.parse()?),
        };
        res.push((target, text));
    }
    Ok(res)
}

/// Renders a template, which is parsed once in a process.
fn rendered(template: &str, context: &Value) -> anyhow::Result<String> {
    thread_local! {
        static ENGINE: RefCell<Handlebars<'static>> = {
            let mut engine = Handlebars::new();
            engine.set_strict_mode(true);
            engine.register_escape_fn(no_escape);
            engine.register_helper("eq", Box::new(eq));
            RefCell::new(engine)
        };
    }
    // Nothing is to be filled in: it need not be parsed.
    if !template.contains("{{") {
        return Ok(template.to_owned());
    }
    ENGINE.with_borrow_mut(|engine| {
        if !engine.has_template(template) {
            engine.register_template_string(template, template)?;
        }
        Ok(engine.render(template, context)?)
    })
}

/// A source without its unit tests: a vendored crate is tested where it comes from. The text is as rustfmt writes it, so
/// the module of a file's tests is one line, or ends at the first line that is nothing but its brace.
fn without_unit_tests(text: &str) -> String {
    let starts = ["#[cfg(test)]", "#[cfg(all(test,", "#[cfg(doctest)]"];
    let mut res = String::new();
    let mut lines = text.split_inclusive('\n');
    while let Some(line) = lines.next() {
        if !starts.iter().any(|it| line.starts_with(it)) {
            res.push_str(line);
            continue;
        }
        if res.ends_with("\n\n") {
            res.pop(); // the blank line before it
        }
        if lines.next().is_some_and(|it| it.ends_with("{\n")) {
            lines.by_ref().take_while(|it| *it != "}\n").for_each(drop);
        }
    }
    res
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unit_tests_are_left_out() {
        let check = |text: &str, expected: &str| assert_eq!(without_unit_tests(text), expected);
        check("mod a;\n#[cfg(test)]\nmod tests;\nmod z;\n", "mod a;\nmod z;\n");
        check("fn a() {\n}\n\n#[cfg(test)]\npub(crate) mod tests;\n", "fn a() {\n}\n");
        check("mod a;\n#[cfg(doctest)]\nmod tests;\n", "mod a;\n");
        check("mod a;\n#[cfg(all(test, feature = \"b\"))]\nmod tests;\n", "mod a;\n");
        check("a\n\n#[cfg(test)]\nmod tests {\n    fn a() {\n    }\n}\n\nz\n", "a\n\nz\n");
    }

    /// A file with the type of a kind has no other name that a kind may have.
    #[test]
    fn no_kind_hides_a_name_of_the_files_that_use_it() {
        let mut found = std::collections::BTreeSet::new();
        for path in
            Templates::iter().filter(|it| it.starts_with("create/") && !it.contains("/in-place/"))
        {
            let file = Templates::get(&path).unwrap();
            let text = std::str::from_utf8(&file.data).unwrap();
            let words = |it: &str| {
                it.split(|c: char| !c.is_alphanumeric()).map(str::to_owned).collect::<Vec<_>>()
            };
            let uses = text.split("\nuse ").skip(1).filter_map(|it| it.split(';').next());
            let uses: Vec<&str> =
                uses.filter(|it| !it.contains("{{") && !it.ends_with(" as _")).collect();
            let is_of_kind = ["::{{kind}};", "use {{type_path}};", "kind = \"{{kind}}\""];
            if !path.contains(".rs") || !is_of_kind.iter().any(|it| text.contains(it)) {
                continue;
            }
            found.extend(uses.iter().flat_map(|it| words(it)));
            let declared = ["struct ", "enum ", "trait ", "\ntype "];
            let names = declared.iter().flat_map(|it| text.split(it).skip(1));
            found.extend(names.filter_map(|it| words(it).into_iter().next()));
        }
        let is_name =
            |it: &&String| it.starts_with(|c: char| c.is_ascii_uppercase()) && it.len() > 1;
        // `create webhook` refuses these.
        for name in ["Defaulter", "FieldErrors", "Request", "Validator", "Verdict"] {
            assert!(found.remove(name), "{name}");
        }
        let allowed: Vec<&String> =
            found.iter().filter(is_name).filter(|it| it.parse::<model::Kind>().is_ok()).collect();
        assert!(allowed.is_empty(), "qualify these, or refuse them as kinds: {allowed:?}");
        assert!(found.contains("Ctx") && found.contains("Arc"), "{found:?}");
    }

    #[test]
    fn vendored_crates_have_no_tests() {
        let names = serde_json::json!({ "project_name": "a", "tool_version": "1" });
        let mut count = 0;
        for (target, text) in render("generate/vendor", &names).unwrap() {
            let Target::File(path) = target else { panic!("entries") };
            assert!(
                !text.contains("cfg(test)")
                    && !text.contains("cfg(all(test")
                    && !text.contains("cfg(doctest)")
                    && path.name() != "tests.rs",
                "{path}"
            );
            count += usize::from(path.extension() == "rs");
        }
        assert!(80 < count, "{count} files");
    }
}
