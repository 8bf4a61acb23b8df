//! Something planted behind every form of syntax: the reader must see it, or say that it did not look.
//!
//! Each case plants a kind, a type, a trait or an `impl` where it changes an answer. All cases are compiled in one
//! program; the reader gets each of them alone, in a library or in a binary. What it reads must be what kube prints, and
//! a kind that it does not name must be behind a place that it says is not read.
//!
//! | file | |
//! |---|---|
//! | `plants` | what is planted, and the type whose schema shows its effect |
//! | `forms` | the ways by which items come to a module: files, macros, conditions, imports, crates |
//! | `blocks` | the places of a block, for each variant of syn's enums of code |
//! | `syntax` | checks that a variant is not missing there |
//! | `judge` | compiles, reads and compares |

mod blocks;
mod forms;
mod judge;
mod plants;
mod syntax;

use std::collections::BTreeMap;

use forms::{Brings, Form};
use plants::{Effect, Plant};

/// A plant in its place.
pub struct Case {
    pub number: usize,
    pub name: String,
    pub plant: &'static Plant,
    /// It is in the compiled program, by all that its form says.
    pub is_there: bool,
    /// Lines of the crate's root, above its modules.
    pub root: String,
    /// By their paths in the workspace; one of them is the module of the case.
    pub files: BTreeMap<String, String>,
    /// It needs the library, and is in the binary.
    pub needs_library: bool,
}

/// The code around a plant, before the plant is in it.
struct Planting {
    name: String,
    code: String,
    brings: Brings,
    root: &'static str,
    files: &'static [(&'static str, &'static str)],
}

/// A plant in every place, each time another one; with `EXHAUSTIVE` every plant in every place where Rust allows it.
pub fn cases() -> Vec<Case> {
    let is_exhaustive = std::env::var_os("EXHAUSTIVE").is_some();
    let mut cases = Vec::new();
    let of_items = plantings().into_iter().map(|planting| (planting, plants::PLANTS));
    let of_values = values().into_iter().map(|planting| (planting, plants::VALUES));
    for (index, (planting, plants)) in of_items.chain(of_values).enumerate() {
        let fitting: Vec<_> = plants.iter().filter(|plant| fits(plant, &planting)).collect();
        for (number, plant) in fitting.iter().enumerate() {
            if is_exhaustive || number == index % fitting.len() {
                add(&mut cases, &planting, plant);
            }
        }
    }
    cases
}

/// Every form at the place of items, every one in the body of a function, and every place of a block.
fn plantings() -> Vec<Planting> {
    let at_items =
        forms::FORMS.iter().map(|form| Planting::new(form, form.code.to_owned(), form.brings));
    let in_bodies = forms::FORMS
        .iter()
        .filter(|form| can_be_in_a_body(form) && !is_of_another_crate(form))
        .map(|form| {
            let code = format!("fn outer() {{ {} }}", form.code);
            Planting::new(form, code, Brings::Block)
        });
    let blocks = blocks::ITEMS.iter().chain(blocks::TYPES).map(|(_, code)| (*code).to_owned());
    let expressions = blocks::VALUES.iter().chain(blocks::EXPRESSIONS).map(|(_, code)| *code);
    let expressions = expressions.enumerate().map(|(index, code)| {
        const AROUND: &[&str] = &[
            "fn outer() -> u8 { HERE }",
            "async fn outer() -> u8 { HERE }",
            "struct Outer; impl Outer { fn outer(&self) -> u8 { HERE } }",
            "trait Outer { fn outer(&self) -> u8 { HERE } }",
            "static OUTER: fn() -> u8 = || { HERE };",
            "const _: fn() = { fn outer() -> u8 { HERE } || () };",
            "struct Outer([u8; { fn outer() -> u8 { HERE } 1 }]);",
        ];
        AROUND[index % AROUND.len()].replace("HERE", code)
    });
    let blocks = blocks.chain(expressions).map(Planting::block);
    at_items.chain(in_bodies).chain(blocks).collect()
}

/// Every way to a value in a function that is evaluated.
fn values() -> Vec<Planting> {
    let blocks = blocks::VALUES.iter().map(|(_, code)| Planting::block((*code).to_owned()));
    let forms = forms::FORMS
        .iter()
        .filter(|form| can_be_in_a_body(form))
        .map(|form| Planting::new(form, format!("{} $V", form.code), form.brings));
    blocks.chain(forms).collect()
}

impl Planting {
    fn new(form: &Form, code: String, brings: Brings) -> Self {
        Self { name: code.clone(), code, brings, root: form.root, files: form.files }
    }

    /// Whether a `cfg` leaves the plant in the program.
    fn is_there(&self) -> bool {
        let is_left_out = self.code.contains("any()") || self.code.contains("#[test]");
        self.brings != Brings::Nothing && !is_left_out
    }

    fn block(code: String) -> Self {
        Self { name: code.clone(), code, brings: Brings::Block, root: "", files: &[] }
    }
}

/// Modules in blocks have no files of their own, but by a path.
fn can_be_in_a_body(form: &Form) -> bool {
    let is_file = form.code.contains("mod m;") && !form.code.contains("#[path")
        || form.code.contains("pub mod n;")
        || form.files.iter().any(|(_, text)| text.starts_with("mod "));
    let is_left_out = form.brings == Brings::Nothing || form.brings == Brings::Block;
    // Paths to what a block declares begin in the block.
    let is_path = form.code.contains("self::")
        || form.code.contains("super::m")
        || form.code.contains("own::");
    // A macro gives an expression there, or one statement.
    let is_other =
        ["include!", "inside!", "gone!", "macro_export"].iter().any(|it| form.code.contains(it));
    !is_file && !is_left_out && !is_path && !is_other
}

fn is_of_another_crate(form: &Form) -> bool {
    matches!(form.brings, Brings::OtherCrate | Brings::OtherCrateGlob)
}

/// Whether a plant can have an effect that comes in such a way, and compiles.
fn fits(plant: &Plant, planting: &Planting) -> bool {
    let Planting { code, brings, files, .. } = planting;
    // The shared crate depends on neither.
    let is_shared = files.iter().any(|(path, _)| path.starts_with("shared/"));
    if is_shared && ["::mangle", "::shared"].iter().any(|krate| plant.items.contains(krate)) {
        return false;
    }
    let is_trait = plant.name.starts_with("trait");
    match (plant.effect, *brings) {
        (Effect::Value(is_const), _) => is_evaluated(plant, planting, is_const),
        (Effect::Needed, _) if !planting.is_there() => false,
        (Effect::Kind, _) => true,
        (Effect::Everywhere | Effect::Needed, Brings::OtherCrate | Brings::OtherCrateGlob) => false,
        (Effect::Everywhere | Effect::Needed, _) => true,
        (_, Brings::Block) => false,
        (_, Brings::Nothing) => true,
        (_, Brings::Traits) => is_trait,
        (Effect::InScope, _) => true,
        (Effect::Derive, Brings::Names) => !["!", "#[", "$R"].iter().any(|it| code.contains(it)),
        (Effect::Derive, _) => false,
        (Effect::Shadowing, Brings::Glob | Brings::OtherCrateGlob) => false,
        (Effect::Shadowing, _) => true,
    }
}

fn is_evaluated(plant: &Plant, planting: &Planting, is_const: bool) -> bool {
    let is_item = !matches!(plant.name, "variable-in-a-body" | "macro-in-a-body");
    match planting.brings {
        Brings::Block => is_const || !planting.code.contains("$L"),
        Brings::Names | Brings::Glob => is_item,
        Brings::Traits => plant.name == "trait-in-a-body",
        Brings::OtherCrate | Brings::OtherCrateGlob => {
            is_item && plant.name != "implementation-in-a-body"
        }
        Brings::Nothing => false,
    }
}

fn add(cases: &mut Vec<Case>, planting: &Planting, plant: &'static Plant) {
    let number = cases.len();
    let is_value = matches!(plant.effect, Effect::Value(_));
    let fill = |text: &str| plants::written_out(&filled(text, plant, number));
    let victim = if is_value {
        plant.victim.replace("HERE", &planting.code)
    } else {
        format!("{}\n{}", planting.code, plant.victim)
    };
    let module = format!("{}{}", plants::HEAD, fill(&victim));
    let mut files: BTreeMap<String, String> =
        planting.files.iter().map(|(path, text)| (fill(path), fill(text))).collect();
    let needs_library = files.contains_key(&format!("src/p{number}.rs"));
    files.insert(format!("src/k{number}.rs"), module);
    cases.push(Case {
        number,
        name: format!("{}: {}", plant.name, planting.name),
        plant,
        is_there: planting.is_there(),
        root: fill(planting.root),
        files,
        needs_library,
    });
}

/// A text with the plant in it.
fn filled(text: &str, plant: &Plant, number: usize) -> String {
    let items = plants::written_out(plant.items);
    let renamed = |text: &str| {
        plant
            .names
            .iter()
            .fold(text.to_owned(), |text, name| replace_word(&text, name, &format!("{name}Other")))
    };
    let value = if plant.value.is_empty() { "1u8" } else { plant.value };
    let block = |value: &str| format!("{{ {items} {value} }}");
    let names = plant.names.join(", ");
    let other: Vec<String> =
        plant.names.iter().map(|name| format!("{name}Other as {name}")).collect();
    let anonymous: Vec<String> = plant.names.iter().map(|name| format!("{name} as _")).collect();
    let (length, discriminant) = match plant.value {
        "" => ("1usize".to_owned(), "1isize".to_owned()),
        value => (format!("({value}) as usize"), format!("({value}) as isize")),
    };
    text.replace("$B", &block(value))
        .replace("$L", &block(&length))
        .replace("$I", &block(&discriminant))
        .replace("$V", value)
        .replace("$U", &names)
        .replace("$M", &other.join(", "))
        .replace("$A", &anonymous.join(", "))
        .replace("$R", &renamed(&items))
        .replace("$P", &items)
        .replace("$N", &number.to_string())
}

/// Replaces a whole word of the code, but not a segment of a longer path.
fn replace_word(text: &str, word: &str, by: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = String::new();
    let mut rest = text;
    while let Some(index) = rest.find(word) {
        let (before, after) = rest.split_at(index);
        let after = &after[word.len()..];
        let is_inner =
            before.ends_with(is_word) || before.ends_with("::") || after.starts_with(is_word);
        found += before;
        found += if is_inner { word } else { by };
        rest = after;
    }
    found + rest
}

#[test]
fn what_is_planted_anywhere_is_read_as_kube_prints_it_or_doubted() {
    judge::judge(&cases());
}
