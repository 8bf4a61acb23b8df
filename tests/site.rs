//! The site in `docs/`: it builds without warnings, its links lead somewhere, its lists are complete, and its
//! search works in a browser. `tests/sessions.rs` plays its console blocks.

#![allow(clippy::disallowed_methods, reason = "the walls stand in src; a test looks from outside")]
#![allow(clippy::print_stderr, reason = "external links are listed, not fetched")]

mod support;
#[path = "site/tables.rs"]
mod tables;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use regex_lite::Regex;

/// The folder of the built site; none if mdBook is not installed.
static SITE: LazyLock<Option<PathBuf>> = LazyLock::new(|| {
    let mdbook = support::tool("mdbook")?;
    let dir = support::fresh("site");
    let mut command = support::command(mdbook, support::home());
    let output = command.args(["build", "--dest-dir"]).arg(&dir).output().expect("mdBook starts");
    let text = support::said(&output);
    let has_warning = text.contains("WARN") || text.contains("ERROR");
    assert!(output.status.success() && !has_warning, "{text}");
    Some(dir)
});

/// A page of the built site.
struct Page {
    anchors: BTreeSet<String>,
    links: BTreeSet<String>,
}

/// Every page by its path, without the one for printing, which repeats the others.
fn pages(site: &Path) -> BTreeMap<String, Page> {
    let links = Regex::new(r#"<(?:a|img|script|link)\s[^>]*?(?:href|src)="([^"]*)""#).unwrap();
    let anchors = Regex::new(r#"\sid="([^"]*)""#).unwrap();
    let all = |pattern: &Regex, text: &str| {
        pattern.captures_iter(text).map(|it| it[1].replace("&amp;", "&")).collect()
    };
    let files = support::tree(site).into_iter();
    let html = files.filter(|(path, _)| path.ends_with(".html") && path != "print.html");
    html.map(|(path, bytes)| {
        let text = String::from_utf8(bytes).expect("pages are UTF-8");
        (path, Page { anchors: all(&anchors, &text), links: all(&links, &text) })
    })
    .collect()
}

/// The path that a link on a page leads to, and its anchor.
fn resolve(page: &str, link: &str) -> (String, String) {
    let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
    if path.is_empty() {
        return (page.to_owned(), anchor.to_owned());
    }
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "." | "" => {}
            ".." => drop(parts.pop()),
            other => parts.push(other),
        }
    }
    (parts.join("/"), anchor.to_owned())
}

#[test]
fn no_link_is_dead() {
    let Some(site) = SITE.as_ref() else { return };
    let pages = pages(site);
    let mut dead = Vec::new();
    let mut external = BTreeSet::new();
    for (path, page) in &pages {
        for link in &page.links {
            if link.contains("://") || link.starts_with("mailto:") {
                external.insert(link);
                continue;
            }
            // A server looks up what the page for missing pages names; here it stands at the top.
            let (target, anchor) = resolve(path, link);
            let has_anchor = |it: &Page| anchor.is_empty() || it.anchors.contains(&anchor);
            let exists = match pages.get(&target) {
                Some(it) => has_anchor(it),
                None => anchor.is_empty() && site.join(&target).is_file(),
            };
            if !exists {
                dead.push(format!("{path}: {link}"));
            }
        }
    }
    assert!(pages.len() > 20 && !external.is_empty(), "{} pages", pages.len());
    eprintln!("external links, not fetched: {external:#?}");
    assert!(dead.is_empty(), "dead links:\n{}", dead.join("\n"));
}

#[test]
fn links_lead_where_a_browser_goes() {
    let check = |page, link, target: &str, anchor: &str| {
        assert_eq!(resolve(page, link), (target.to_owned(), anchor.to_owned()));
    };
    check("a/b.html", "../c.html#d", "c.html", "d");
    check("a/b.html", "c.html", "a/c.html", "");
    check("a/b.html", "#d", "a/b.html", "d");
}

/// Types a word into the search, as the address does, and reads the page that a browser then shows.
#[test]
fn a_browser_finds_a_word() {
    let Some(site) = SITE.as_ref() else { return };
    let Some(browser) = browser() else { return };
    let url = format!("file://{}/index.html?search=finalizer", site.display());
    let profile = support::fresh("site-browser");
    let mut command = support::command(browser, &profile);
    command.env("HOME", &profile).args(["--headless", "--no-sandbox", "--disable-gpu"]);
    let output = command.args(["--virtual-time-budget=10000", "--dump-dom", &url]).output();
    let output = output.expect("the browser starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("search results for 'finalizer'"), "{}", support::said(&output));
    let result = r#"href="[^"]*other-kinds\.html\?highlight=finalizer[^"]*""#;
    assert!(Regex::new(result).unwrap().is_match(&text), "{text}");
    // The table of contents comes from a script, too.
    assert!(text.contains("Start in five minutes"), "{text}");
}

/// Chromium on PATH, or the one that is unpacked beside the other tools.
fn browser() -> Option<PathBuf> {
    support::installed(
        &["chromium", "chromium-headless-shell", "google-chrome"],
        "browser",
        "browser",
    )
}

fn read(path: &str) -> String {
    fs::read_to_string(support::home().join(path)).unwrap_or_else(|it| panic!("{path}: {it}"))
}

/// What a page does not mention.
fn missing(page: &str, names: impl IntoIterator<Item = String>) -> Vec<String> {
    let text = read(page);
    names.into_iter().filter(|it| !text.contains(it.as_str())).collect()
}

#[test]
fn every_page_is_in_the_summary() {
    let pages = support::tree(&support::home().join("docs")).into_keys();
    let pages = pages.filter(|it| it.ends_with(".md") && it != "SUMMARY.md");
    let links = pages.map(|it| format!("]({it})"));
    assert_eq!(missing("docs/SUMMARY.md", links), [""; 0]);
}

#[test]
fn every_session_is_listed() {
    let pages = support::tree(&support::home().join("docs/recorded")).into_keys();
    let links = pages.map(|it| format!("](recorded/{it})"));
    assert_eq!(missing("docs/sessions.md", links), [""; 0]);
}

/// A forge shows what only mdBook replaces, such as an include, as it is.
#[test]
fn pages_are_complete_without_mdbook() {
    let pages = support::tree(&support::home().join("docs")).into_iter();
    let has_include = |it: &[u8]| String::from_utf8_lossy(it).contains("{{#include");
    let faults: Vec<_> = pages.filter(|it| has_include(&it.1)).map(|it| it.0).collect();
    assert_eq!(faults, [""; 0], "write the text into the page; `check_list` keeps a copy current");
}

/// Names in quotes on the left of `=>`, below a line of the source.
fn arms(path: &str, from: &str) -> Vec<String> {
    let text = read(path);
    let (_, text) = text.split_once(from).unwrap_or_else(|| panic!("{path} has no `{from}`"));
    let text = text.split("\n}\n").next().expect("a split has a first part");
    let arm = Regex::new(r#"(?m)^ +\(?"([A-Za-z0-9]+)"(?: =>|,$|, Shape)"#).unwrap();
    arm.captures_iter(text).map(|it| format!("`{}`", &it[1])).collect()
}

#[test]
fn the_references_leave_nothing_out() {
    let mut fields = arms("crates/kustomize/src/load/fields.rs", "impl");
    fields.extend(arms("crates/kustomize/src/load/fields.rs", "const UNSUPPORTED"));
    assert!(fields.len() > 30, "{fields:?}");
    assert_eq!(missing("docs/reference/kustomize.md", fields), [""; 0]);

    let marker = Regex::new(r"\+operator-rs:scaffold:[a-z]+").unwrap();
    let templates = support::tree(&support::home().join("templates")).into_values();
    let texts = templates.map(|it| String::from_utf8_lossy(&it).into_owned());
    let markers: BTreeSet<String> = texts
        .flat_map(|it| marker.find_iter(&it).map(|it| it.as_str().to_owned()).collect::<Vec<_>>())
        .collect();
    assert!(markers.len() > 9, "{markers:?}");
    assert_eq!(missing("docs/reference/markers.md", markers), [""; 0]);

    let rooms = Regex::new(r"(?m)^mod ([a-z]+);").unwrap();
    let main = read("src/main.rs");
    let rooms = rooms.captures_iter(&main).map(|it| format!("`{}`", &it[1]));
    assert_eq!(missing("docs/inside/architecture.md", rooms), [""; 0]);
}
