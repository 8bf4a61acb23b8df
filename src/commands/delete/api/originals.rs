//! The files that the templates render for one kind, for every way to call `create api`.

use crate::app::api::{context::Choices, place::Place, sample::copied_sample};
use crate::project::Operator;
use crate::source::conversion;
use model::{ProjectPath, Tree};

/// The choices that may have been made for a type and its controller, as far as their files show them.
pub fn choices(tree: &impl Tree, files: &[ProjectPath]) -> anyhow::Result<Vec<Choices>> {
    let mut texts = String::new();
    for path in files {
        texts += &tree.read(path)?.unwrap_or_default();
    }
    let number = |start: &str| {
        let rest = texts.split_once(start)?.1.trim_start();
        rest[..rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())].parse::<i64>().ok()
    };
    let port = number("fn default_container_port() -> i32 {").or_else(|| number("containerPort: "));
    let lines = || texts.lines().map(str::trim);
    let shortnames = lines().filter(|it| it.starts_with("shortname = \""));
    let shared: Vec<String> = shortnames.map(|it| it.trim_end_matches(',').to_owned()).collect();
    let words = lines().filter_map(|it| it.strip_prefix("r#\"")?.strip_suffix("\"#,"));
    let base = Choices {
        shared,
        port: port.and_then(|it| u16::try_from(it).ok()),
        run_as_user: number("run_as_user: Some("),
        container_command: words.map(str::to_owned).collect(),
        ..Choices::default()
    };
    let mut res = Vec::new();
    for finalizer in [false, true] {
        for storage in [false, true] {
            res.push(Choices { finalizer, storage, ..base.clone() });
        }
    }
    Ok(res)
}

/// The files that `create api --from` writes for a version in `file`: copies of those of the other versions.
pub fn copies(
    tree: &impl Tree,
    source: &Operator,
    place: &Place,
    group: &str,
    file: &ProjectPath,
) -> anyhow::Result<Vec<(ProjectPath, String)>> {
    let (kind, version) = (place.kind.to_string(), place.version.to_string());
    let mut res = Vec::new();
    for it in &source.kinds {
        let is_kind = it.group.as_deref() == Some(group) && it.kind.as_deref() == Some(&*kind);
        if !is_kind || it.version.as_ref() == Some(&version) {
            continue;
        }
        let text = tree.read(&it.place.path.as_str().parse()?)?.unwrap_or_default();
        let copy = conversion::copy(&text, &kind, &version).ok();
        res.extend(copy.map(|it| (file.clone(), it)));
    }
    for other in &place.other_versions {
        res.extend(copied_sample(tree, place, other.version)?);
    }
    Ok(res)
}
