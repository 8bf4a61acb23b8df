//! Updates a project whose runtime is still a module of its package: the crate replaces the module, and the project's
//! own files can still use the old names.

use toml_edit::{Array, DocumentMut, InlineTable, Item, Value, value};

use crate::{
    commands::derive::{Names, SUPPORT},
    hint::Hint as _,
    model::{Project, ProjectPath},
    plan::{self, Found, Plan, Tree},
    scaffold,
};

/// The runtime's package.
const PACKAGE: &str = "operator-rs-runtime";

/// The line of src/lib.rs that declares the module.
const MODULE: &str = "pub mod runtime;";

/// Cargo.lock needs the new package.
const NEXT: &str = "Next: the runtime is now a package of this workspace; add it to Cargo.lock:\n  \
    cargo update --workspace\n  cargo test";

/// Whether a project's runtime is a module.
pub fn is_module(tree: &impl Tree) -> anyhow::Result<bool> {
    let lib = tree.read(&ProjectPath::fixed("src/lib.rs"))?.unwrap_or_default();
    Ok(lib.lines().any(|it| it.trim() == MODULE))
}

/// Refuses a project whose runtime has not been moved.
pub fn refuse_module(tree: &impl Tree) -> anyhow::Result<()> {
    let manifest = tree.read(&ProjectPath::fixed("Cargo.toml"))?.unwrap_or_default();
    if is_module(tree)? && !manifest.contains(PACKAGE) {
        return Err(anyhow::format_err!("this project has its runtime in src/runtime/, where an earlier version put it"))
            .hint("run `operator-rs generate`, which moves it into its own package, then run this command again");
    }
    Ok(())
}

/// Adds the runtime to the workspace, and keeps the names that the project's files use for it.
pub fn bring(plan: &mut Plan, tree: &impl Tree, project: &Project) -> anyhow::Result<()> {
    if !is_module(tree)? {
        return Ok(());
    }
    retire_module(plan, tree)?;
    let edit = |_: &ProjectPath| "your own files, so that they need it no more";
    plan.extend(scaffold::generate("moved", &Names::new(project), SUPPORT, edit)?);
    let path = ProjectPath::fixed("Cargo.toml");
    let Some(before) = tree.read(&path)? else { return Ok(()) };
    let after = with_runtime(&before)?;
    if before != after {
        plan.edit(path, before, after);
        plan.next(NEXT.to_owned());
    }
    image(plan, tree)
}

/// Removes the files of the module, unless one was edited.
fn retire_module(plan: &mut Plan, tree: &impl Tree) -> anyhow::Result<()> {
    let mut edited = Vec::new();
    for path in tree.list(&ProjectPath::fixed("src/runtime"))? {
        match tree.look(&path)? {
            Found::Text(text) if plan::is_ours(&path, &text, SUPPORT) => plan.retire(path, SUPPORT),
            _ => edited.push(format!("\n  {path}")),
        }
    }
    plan.retire(ProjectPath::fixed("tests/runtime.rs"), SUPPORT);
    match edited.is_empty() {
        true => Ok(()),
        false => Err(anyhow::format_err!(
            "the runtime becomes its own package, but these files in src/runtime/ are yours, or were edited:{}",
            edited.concat()
        ))
        .hint("nothing was written; move your changes into other files and delete these, then run `operator-rs generate` again"),
    }
}

/// Cargo.toml with the runtime as a member and a dependency.
fn with_runtime(text: &str) -> anyhow::Result<String> {
    let mut document: DocumentMut =
        text.parse().map_err(|error| anyhow::format_err!("Cargo.toml does not parse: {error}"))?;
    let dependency = |is_for_tests: bool| {
        let mut table = InlineTable::new();
        table.insert("package", PACKAGE.into());
        table.insert("path", "runtime".into());
        if is_for_tests {
            table.insert("features", Value::Array(Array::from_iter(["testing"])));
        }
        value(table)
    };
    let tables = [("dependencies", false), ("dev-dependencies", true)];
    for (name, is_for_tests) in tables {
        let table = document.entry(name).or_insert(toml_edit::table());
        let table = table.as_table_like_mut();
        let table =
            table.ok_or_else(|| anyhow::format_err!("`{name}` in Cargo.toml is not a table"))?;
        match table.get("runtime") {
            Some(it) if it.get("package").and_then(Item::as_str) == Some(PACKAGE) => {}
            Some(_) => {
                return Err(anyhow::format_err!("`{name}` in Cargo.toml has another `runtime`"))
                    .hint("rename that dependency, then run `operator-rs generate` again");
            }
            None => drop(table.insert("runtime", dependency(is_for_tests))),
        }
    }
    let members = document
        .get_mut("workspace")
        .and_then(|it| it.get_mut("members"))
        .and_then(Item::as_array_mut);
    let Some(members) = members else {
        return Err(anyhow::format_err!("Cargo.toml has no `members` in `[workspace]`"))
            .hint("put `members = [\"api\"]` back, then run `operator-rs generate` again");
    };
    if !members.iter().any(|it| it.as_str() == Some("runtime")) {
        members.push("runtime");
    }
    Ok(document.to_string())
}

/// The Dockerfile also needs to copy the directory of the runtime.
fn image(plan: &mut Plan, tree: &impl Tree) -> anyhow::Result<()> {
    let lines = [
        ("Dockerfile", "COPY api/Cargo.toml api/", "COPY runtime runtime"),
        (".dockerignore", "!api/", "!runtime/"),
    ];
    for (path, anchor, line) in lines {
        let path = ProjectPath::fixed(path);
        let Some(before) = tree.read(&path)? else { continue };
        if before.lines().any(|it| it.trim() == line || it.trim() == "COPY . .") {
            continue;
        }
        match before.split_inclusive('\n').any(|it| it.trim() == anchor) {
            true => {
                let add = |it: &str| match it.trim() == anchor {
                    true => format!("{}\n{line}\n", it.trim_end_matches(['\r', '\n'])),
                    false => it.to_owned(),
                };
                let after: String = before.split_inclusive('\n').map(add).collect();
                plan.edit(path, before, after);
            }
            false if path.as_str() == "Dockerfile" => {
                plan.warn("Dockerfile: the build also needs the directory `runtime/`: add `COPY runtime runtime`".to_owned());
            }
            false => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_toml_gains_the_runtime_and_keeps_the_rest() {
        let before =
            "[dependencies]\n# mine\nfutures = \"0.3\"\n\n[workspace]\nmembers = [\"api\"] # all\n";
        let after = with_runtime(before).unwrap();
        let expected = "[dependencies]\n# mine\nfutures = \"0.3\"\nruntime = { package = \"operator-rs-runtime\", path = \"runtime\" }\n\n\
            [workspace]\nmembers = [\"api\", \"runtime\"] # all\n\n\
            [dev-dependencies]\nruntime = { package = \"operator-rs-runtime\", path = \"runtime\", features = [\"testing\"] }\n";
        assert_eq!(after, expected);
        assert_eq!(with_runtime(&after).unwrap(), after);
        assert!(
            with_runtime("[dependencies]\nruntime = \"1\"\n[workspace]\nmembers = []\n").is_err()
        );
        assert!(with_runtime("[package]\nname = \"a\"\n").is_err());
    }
}
