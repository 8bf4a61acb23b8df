//! The files that the templates render for one kind, for every way to call `create api`.

use crate::app::api::context::Choices;
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
