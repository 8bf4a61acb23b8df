//! What an interrupted run seems to have left, but which somebody else has written: a journal that
//! names files outside, and temporary files that are links.

use serde_json::{Value, json};

use super::Trick;
use crate::{plant, world::World};

/// Paths that no journal of the program's own would name.
const VICTIMS: &[&str] = &[
    "../victim/bashrc",
    "{world}/victim/bashrc",
    "../victim/made",
    ".git/hooks/post-checkout",
    "./../victim/bashrc",
    "config/../../victim/bashrc",
    "linked/bashrc",
    "linked/made",
    "NOTES.md",
    "hand-written",
    "..",
    "",
    "/",
    "a\u{0}b",
    "\u{1b}[2J",
];

/// Where a journal might be looked for.
const PLACES: &[&str] = &[
    ".operator-rs.journal",
    ".operator-rs.journal.operator-rs-new",
    ".git/operator-rs.journal",
    "target/.operator-rs.journal",
    "target/operator-rs/journal",
];

pub fn all() -> Vec<Trick> {
    let mut res = Vec::new();
    for victim in VICTIMS {
        for (name, form) in forms() {
            let name = format!("a journal that would {name} {victim:?}");
            res.push(Trick::new(name, "", move |world| plant_journal(world, victim, &form)));
        }
    }
    for text in [
        "",
        "{",
        "[]",
        "null",
        "\u{0}",
        "{\"phase\":\"commit\"}",
        "\u{1b}[2J",
        "commit ../victim/bashrc\n",
        "{\"phase\":\"commit\",\"folders\":[],\"steps\":[]}",
        "{\"phase\":\"prepare\",\"folders\":[\"../victim/empty\"],\"steps\":[]}",
        "{\"phase\":\"prepare\",\"folders\":[\"../victim/empty\",\"linked/empty\",\"hand-written/x\"],\"steps\":[{\"path\":\"../victim/bashrc\",\"new\":\"../victim/bashrc\",\"before\":null}]}",
    ] {
        res.push(Trick::new(format!("a journal of {text:?}"), "", move |world| {
            links(world)?;
            PLACES.iter().try_for_each(|it| plant::file(world, it, text.as_bytes()))
        }));
    }
    let deep = "[".repeat(100_000);
    res.push(Trick::new("a journal of many brackets", "", move |world| {
        plant::file(world, PLACES[0], deep.as_bytes())
    }));
    res.push(Trick::new("a journal that goes on and on", "", |world| {
        plant::sparse(world, PLACES[0])
    }));
    res.push(Trick::new("a temporary file for each file is a link", "", |world| {
        for path in super::links::FILES {
            let (folder, name) = path.rsplit_once('/').unwrap_or((".", path));
            plant::link_up(world, &format!("{folder}/.{name}.operator-rs-new"), "victim/bashrc")?;
        }
        Ok(())
    }));
    res.into_iter().map(Trick::recovering).collect()
}

/// A link to a folder outside, for a journal to go through.
fn links(world: &World) -> std::io::Result<()> {
    plant::link(world, "linked", world.dir.join("victim"))
}

/// What a journal may have been told to do with the path `VICTIM`.
fn forms() -> Vec<(&'static str, Value)> {
    let step = |phase: &str, path: &str, new: Value, before: Value| {
        json!({
            "version": 1, "phase": phase, "folders": [],
            "steps": [{"path": path, "new": new, "before": before}],
        })
    };
    // The start of the SHA-256 of the victim's text, as if that had been written by the program.
    let hash = json!("HASH");
    vec![
        ("replace", step("commit", "VICTIM", json!(".new"), Value::Null)),
        ("replace the known", step("commit", "VICTIM", json!(".new"), hash.clone())),
        ("replace with a link", step("commit", "VICTIM", json!(".linked-new"), hash.clone())),
        ("remove", step("commit", "VICTIM", Value::Null, hash)),
        ("remove as temporary", step("prepare", "README.md", json!("VICTIM"), Value::Null)),
        ("move away", step("commit", "stolen.txt", json!("VICTIM"), Value::Null)),
        ("move away over nothing", step("commit", "./stolen", json!("VICTIM"), Value::Null)),
        ("remove as folder", json!({"phase": "prepare", "folders": ["VICTIM"], "steps": []})),
    ]
}

fn plant_journal(world: &World, victim: &str, form: &Value) -> std::io::Result<()> {
    use sha2::{Digest as _, Sha256};
    links(world)?;
    plant::file(world, ".new", b"owned\n")?;
    plant::link(world, ".linked-new", world.dir.join("victim/bashrc"))?;
    let victim = victim.replace("{world}", &world.dir.to_string_lossy());
    let at = world.project.join(&victim);
    let digest = std::fs::read(at).map(Sha256::digest).unwrap_or_default();
    let hash: String = digest[..16].iter().map(|it| format!("{it:02x}")).collect();
    let quoted = serde_json::to_string(&victim).expect("a text is JSON");
    let text = form.to_string().replace("\"VICTIM\"", &quoted).replace("HASH", &hash);
    PLACES.iter().try_for_each(|it| plant::file(world, it, text.as_bytes()))
}
