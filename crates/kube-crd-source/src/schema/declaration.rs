//! Checks of the declaration of a kind that do not depend on its fields.

use crate::cargo::Cfg;
use crate::names::{Named, Space};
use crate::text::Problem;
use crate::tree::{ItemId, Path};
use crate::types::Types;

/// Functions that the derive calls by the names of the prelude, as of kube-derive 5.0.
const VALUES: &[&str] = &["None", "Some"];
const MACRO: &str = "vec";

/// Returns the problem that a type is in a package of edition 2015, whose paths lead elsewhere.
pub fn edition_problem(world: &Types, id: ItemId) -> Option<Problem> {
    let item = &world.items[id];
    if !world.crates[world.modules[item.module].krate].old {
        return None;
    }
    let message =
        format!("`{}` is in a package of edition 2015, which is not supported", item.name);
    let hint = "set `edition = \"2021\"` or a later one in its Cargo.toml";
    Some(world.problem_at(item.module, item.span, message, hint))
}

/// Returns the problem that no derive of a type with `#[kube(…)]` is known to be kube's.
pub fn unknown_derive(world: &Types, id: ItemId) -> Problem {
    let item = &world.items[id];
    let message = format!(
        "`{}` has `#[kube(…)]`, but none of its derives is known to be kube's `CustomResource`",
        item.name
    );
    let hint = "import it by name: `use kube::CustomResource;`";
    world.problem_at(item.module, item.span, message, hint)
}

/// Returns the problem that it is not known whether a type has kube's derive.
pub fn derive_under_condition(world: &Types, id: ItemId) -> Problem {
    let item = &world.items[id];
    let message = format!(
        "whether `{}` is a custom resource depends on a `cfg` that only the compiler can evaluate",
        item.name
    );
    world.problem_at(item.module, item.span, message, "")
}

/// Returns the problem that it is not known whether a kind exists.
pub fn condition_problem(world: &Types, kind: ItemId) -> Option<Problem> {
    let item = &world.items[kind];
    if item.cfg != Cfg::Depends {
        return None;
    }
    let message = format!(
        "whether `{}` exists depends on a `cfg` that only the compiler can evaluate",
        item.name
    );
    let hint = "remove the condition: a CRD exists or it does not";
    Some(world.problem_at(item.module, item.span, message, hint))
}

/// Returns the problem that the module of a kind defines or imports another meaning of such a name.
pub fn redefined_name(world: &Types, kind: ItemId) -> Option<Problem> {
    let item = &world.items[kind];
    let path = |name: &str| Path { global: false, parts: vec![name.to_owned()], span: item.span };
    let is_redefined = |name: &&&str| {
        let found = world.resolve_path(item.module, &path(name), Space::Values);
        matches!(found, Ok(Named::Item(_) | Named::Member(..)))
    };
    let name = if world.may_be_own_macro(item.module, &path(MACRO)) {
        format!("{MACRO}!")
    } else {
        (*VALUES.iter().find(is_redefined)?).to_owned()
    };
    let message = format!("kube's derive uses `{name}`, which the project defines itself");
    Some(world.problem_at(item.module, item.span, message, "give it another name"))
}
