//! Within a folder, too, what a module needs is below it: otherwise none of its modules can be understood, or changed,
//! alone.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};

use super::{
    reader::{paths_in, without_tests},
    support,
};

/// Modules, each with those that it needs, and where it names each of these.
type Needs = BTreeMap<String, BTreeMap<String, String>>;

/// A source file of a crate.
struct SourceFile {
    /// Its path below `src`.
    path: String,
    /// Its module, from the crate's root.
    module: Vec<String>,
    tokens: TokenStream,
}

/// Looks at the modules of each crate and of each folder in `src`. Only paths count: a method that a module adds to a
/// type of another one can be called from anywhere. Test code may name the modules above it: what has `#[test]` or
/// `#[cfg(test)]` does not count, nor do the files of modules that are declared so.
#[test]
fn the_modules_of_a_folder_need_each_other_in_no_circle() {
    let tool = read_files(rust_files("src"));
    let folders: BTreeSet<&String> =
        tool.iter().filter(|file| file.module.len() > 1).map(|file| &file.module[0]).collect();
    assert!(folders.len() > 5, "{folders:?}");
    let mut problems = Vec::new();
    for folder in folders {
        let place = format!("src/{folder}");
        problems.extend(describe_circle(&place, &needs(folder, &tool)));
    }
    for place in crates() {
        problems.extend(describe_circle(&place, &needs("", &read_files(rust_files(&place)))));
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn circles_are_found() {
    let check = |files: &[(&str, &str)], folder: &str| {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
        find_circle(&needs(folder, &read_files(files))).map(|modules| modules.join(" "))
    };
    let found = |of_a: &str, of_b: &str| {
        let files = [("app/a/mod.rs", of_a), ("app/b.rs", of_b), ("app/c.rs", "use super::a;")];
        check(&files, "app")
    };
    assert_eq!(found("use super::b;", "use crate::plan::Plan;"), None);
    assert_eq!(found("use super::{b, x};", "fn f() { crate::app::a::g() }").unwrap(), "a b a");
    assert_eq!(found("mod t { use super::super::c::D; }", "").unwrap(), "a c a");
    assert_eq!(found("mod b { use super::c::D; }", ""), None);
    // Test code does not count.
    let test = "#[cfg(test)] mod tests { use super::super::b; } #[test] fn t() { super::b::f() }";
    assert_eq!(found(test, "use super::a;"), None);
    assert_eq!(found("fn f() { #[cfg(all(test, unix))] super::b::f(); }", "use super::a;"), None);
    let only_in_tests = "#[cfg(test)] use super::b::{self, C}; use super::b::D;";
    assert_eq!(found(only_in_tests, "use super::a;").unwrap(), "a b a");
    assert_eq!(found("#[cfg(not(test))] use super::b;", "use super::a;").unwrap(), "a b a");
    // The modules of a crate, whose root also lists a module of tests.
    let found = |root: &str, of_a: &str| {
        let b = ("b/mod.rs", "mod c; #[cfg(test)] mod tests;");
        let files = [("lib.rs", root), ("a.rs", of_a), b, ("b/c.rs", "use super::super::a::A;")];
        check(
            &[&files[..], &[("b/tests/deep.rs", "use crate::t;"), ("t.rs", "use crate::b;")]]
                .concat(),
            "",
        )
    };
    assert_eq!(found("", "use crate::x::B;"), None);
    assert_eq!(found("", "use crate::b::B;").unwrap(), "a b a");
    assert_eq!(found("", "mod t { use super::super::b; }").unwrap(), "a b a");
    assert_eq!(found("#[cfg(test)] mod a;", "use crate::b::B;"), None);
    // By the names of items that the root takes from its modules.
    assert_eq!(found("pub use self::{b::{c::B, D}};", "use crate::D;").unwrap(), "a b a");
    assert_eq!(found("pub use b::B as Best;", "fn f(it: super::Best) {}").unwrap(), "a b a");
    assert_eq!(found("pub use b::B as Best;", "fn f(it: super::B) {}"), None);
    assert_eq!(found("pub use b::*; pub struct E;", "use crate::{E, F};"), None);
    let all =
        |of_b| check(&[("lib.rs", "use b::*;"), ("a.rs", "use crate::B;"), ("b.rs", of_b)], "");
    assert_eq!(all("use super::a; pub(crate) struct B;").unwrap(), "a b a");
    assert_eq!(all("use super::a; pub(crate) struct C;"), None);
}

#[test]
fn a_circle_is_described_with_the_paths_that_make_it() {
    let files =
        [("lib.rs", "use b::B;"), ("a.rs", "use crate::{B, C};"), ("b.rs", "use crate::a;")];
    let files = files.map(|(path, text)| (path.to_owned(), text.to_owned()));
    let expected = [
        "the modules of crates/x/src need each other in a circle: a → b → a",
        "  a.rs names `crate::B`",
        "  b.rs names `crate::a`",
        "move what they share into a module below them",
    ];
    let described = describe_circle("crates/x/src", &needs("", &read_files(files)));
    assert_eq!(described.unwrap(), expected.join("\n"));
}

/// The folder of each crate's sources.
fn crates() -> Vec<String> {
    let folders = std::fs::read_dir(support::home().join("crates")).unwrap();
    let names = folders.map(|folder| folder.unwrap().file_name().into_string().unwrap());
    names.map(|name| format!("crates/{name}/src")).collect()
}

/// The Rust files below a folder, by their paths there.
fn rust_files(folder: &str) -> BTreeMap<String, String> {
    let files = support::tree(&support::home().join(folder)).into_iter();
    let files = files.filter(|file| file.0.ends_with(".rs"));
    files.map(|(path, bytes)| (path, String::from_utf8(bytes).unwrap())).collect()
}

/// Reads files by their paths below `src`, without test code.
fn read_files(sources: impl IntoIterator<Item = (String, String)>) -> Vec<SourceFile> {
    let mut test_modules = BTreeSet::new();
    let mut files = Vec::new();
    for (path, text) in sources {
        let (tokens, tests) = without_tests(text.parse().expect("it is Rust"));
        let names = path.trim_end_matches(".rs").split('/').map(str::to_owned);
        let module: Vec<String> =
            names.filter(|it| !matches!(it.as_str(), "mod" | "lib" | "main")).collect();
        let below = |name: String| [&module[..], &[name]].concat();
        test_modules.extend(tests.into_iter().map(below));
        files.push(SourceFile { path, module, tokens });
    }
    files.retain(|file| !test_modules.iter().any(|tests| file.module.starts_with(tests)));
    files
}

/// The modules of a folder in `src`, or of the whole crate, and what each of them needs.
fn needs(folder: &str, files: &[SourceFile]) -> Needs {
    let mut needs = Needs::new();
    for file in files {
        if let [module, ..] = names_below(folder, &file.module) {
            needs.entry(module.clone()).or_default();
        }
    }
    let imported = imported_names(folder, files, &needs);
    for file in files {
        let [own, ..] = names_below(folder, &file.module) else { continue };
        for (words, depth) in paths_in(file.tokens.clone(), file.module.len()) {
            let Some(path) = resolve(&words, depth, &file.module) else { continue };
            let [name, ..] = names_below(folder, &path) else { continue };
            let module = if needs.contains_key(name) { Some(name) } else { imported.get(name) };
            if let Some(module) = module.filter(|module| *module != own) {
                let named = format!("{} names `{}`", file.path, words.join("::"));
                let of_own = needs.get_mut(own).expect("each file's module is there");
                of_own.entry(module.clone()).or_insert(named);
            }
        }
    }
    needs
}

/// The names that a folder's root takes from the modules in it, each with its module.
fn imported_names(folder: &str, files: &[SourceFile], modules: &Needs) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    for root in files.iter().filter(|file| file.module.join("/") == folder) {
        for (mut words, depth) in paths_in(root.tokens.clone(), root.module.len()) {
            if modules.contains_key(&words[0]) {
                words.insert(0, "self".to_owned());
            }
            let Some(path) = resolve(&words, depth, &root.module) else { continue };
            let [module, .., name] = names_below(folder, &path) else { continue };
            if name == "*" {
                let of_module = files.iter().filter(|file| file.module == path[..path.len() - 1]);
                let all = of_module.flat_map(|file| defined_names(&file.tokens));
                names.extend(all.map(|name| (name, module.clone())));
            } else {
                names.insert(name.clone(), module.clone());
            }
        }
    }
    names
}

/// The names of the items that a file defines.
fn defined_names(tokens: &TokenStream) -> Vec<String> {
    const KEYWORDS: [&str; 8] =
        ["const", "enum", "fn", "static", "struct", "trait", "type", "union"];
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let items = tokens.windows(2).filter(|pair| KEYWORDS.contains(&pair[0].to_string().as_str()));
    items.map(|pair| pair[1].to_string()).collect()
}

/// The names after a folder's own in a path from the crate's root; none for a path elsewhere.
fn names_below<'a>(folder: &str, path: &'a [String]) -> &'a [String] {
    match path {
        _ if folder.is_empty() => path,
        [top, names @ ..] if top == folder => names,
        _ => &[],
    }
}

/// The path from the crate's root that words mean in a module; none for one that does not begin with `crate`, `super`
/// or `self`, or that leads to a module in the same file, which is below its own.
fn resolve(words: &[String], depth: usize, module: &[String]) -> Option<Vec<String>> {
    let is_up = |word: &&String| matches!(word.as_str(), "crate" | "super" | "self");
    let (up, names) = words.split_at(words.iter().take_while(is_up).count());
    let above = match up.first()?.as_str() {
        "crate" => 0,
        _ => depth.checked_sub(up.iter().filter(|word| *word == "super").count())?,
    };
    Some(module.get(..above)?.iter().chain(names).cloned().collect())
}

/// Says which modules form a circle, and by which paths.
fn describe_circle(place: &str, needs: &Needs) -> Option<String> {
    let circle = find_circle(needs)?;
    let steps = circle.windows(2).map(|pair| format!("\n  {}", needs[&pair[0]][&pair[1]]));
    let (circle, steps) = (circle.join(" → "), steps.collect::<String>());
    let way_out = "move what they share into a module below them";
    Some(format!("the modules of {place} need each other in a circle: {circle}{steps}\n{way_out}"))
}

/// Modules of which each needs the next, and the last is the first.
fn find_circle(needs: &Needs) -> Option<Vec<String>> {
    fn from<'a>(
        module: &'a String,
        needs: &'a Needs,
        way: &mut Vec<&'a String>,
        seen: &mut BTreeSet<&'a String>,
    ) -> bool {
        let is_circle = way.contains(&module);
        way.push(module);
        if is_circle {
            return true;
        }
        if seen.insert(module) && needs[module].keys().any(|next| from(next, needs, way, seen)) {
            return true;
        }
        way.pop();
        false
    }
    let mut seen = BTreeSet::new();
    needs.keys().find_map(|module| {
        let mut way = Vec::new();
        from(module, needs, &mut way, &mut seen).then(|| {
            let first =
                way.iter().position(|other| *other == way[way.len() - 1]).unwrap_or_default();
            way[first..].iter().map(|module| (*module).clone()).collect()
        })
    })
}
