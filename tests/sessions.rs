//! Every page in `docs/recorded` is played in a fresh folder and must come out word for word: each
//! line that begins with `$ ` is given to bash there, and what follows it is what was said, stdout
//! before stderr, then `[exit N]` where it is not 0. A line that ends in a backslash or `<<'END'` goes on.
//!
//! Where `examples/` has a project of the page's name, the folder must come out byte for byte.
//! Other pages of the site, in `docs/`, are played in the same way if they have a console block.
//! `UPDATE=1 cargo test --test sessions` writes down what the tool does now.

#![allow(clippy::disallowed_methods, reason = "the walls stand in src; a test looks from outside")]

mod support;

use std::{collections::BTreeSet, env, fs, path::Path};

use support::page::Player;

/// A test a page, so that they are played side by side and fail one by one.
macro_rules! pages {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            let name = stringify!($name).replace('_', "-");
            check(&format!("docs/recorded/{name}.md"));
        })*

        const PAGES: &[&str] = &[$(stringify!($name)),*];
    };
}

pages! {
    adopt
    bundle
    bundle_diff
    bundle_image
    bundle_validate
    catalog
    catalog_mistakes
    certificates
    chart_check
    chart
    compiled
    crds_diff
    crds_in_ci
    crds_refused
    delete_api
    first_operator
    forge
    formatters
    generate_crds
    habits
    hand_edits
    inside_a_project
    installer
    interrupted
    kinds_and_versions
    manual_pages
    kinds_by_hand
    memcached_operator
    namespaced
    messages
    mistakes
    on_a_cluster
    operator_sdk_tutorial
    optional_files
    other_kinds
    project_file
    reference_docs
    refusals
    run_bundle
    samples
    schemas
    status
    storage_version
    symlinks
    testing
    types
    warnings
    webhook_markers
    webhooks
}

/// A test for each page of the site.
macro_rules! site {
    ($($name:ident: $path:literal,)*) => {
        mod site {
            $(#[test]
            fn $name() {
                super::check($path);
            })*
        }

        const SITE: &[&str] = &[$($path),*];
    };
}

site! {
    readme: "README.md",
    backup_operator: "docs/backup-operator.md",
    commands: "docs/reference/commands.md",
    from_operator_sdk_tutorial: "docs/from/operator-sdk-tutorial.md",
    bundle_rules: "docs/reference/bundle-rules.md",
    how_to_bundle: "docs/how-to/bundle.md",
    how_to_bundle_diff: "docs/how-to/bundle-diff.md",
    how_to_bundle_image: "docs/how-to/bundle-image.md",
    how_to_bundle_validate: "docs/how-to/bundle-validate.md",
    how_to_catalog: "docs/how-to/catalog.md",
    how_to_chart: "docs/how-to/chart.md",
    how_to_chart_check: "docs/how-to/chart-check.md",
    how_to_ci: "docs/how-to/ci.md",
    how_to_crds_diff: "docs/how-to/crds-diff.md",
    how_to_crds_in_ci: "docs/how-to/crds-in-ci.md",
    how_to_delete_api: "docs/how-to/delete-api.md",
    how_to_hand_edits: "docs/how-to/hand-edits.md",
    how_to_inside_a_project: "docs/how-to/inside-a-project.md",
    how_to_installer: "docs/how-to/installer.md",
    how_to_kinds_and_versions: "docs/how-to/kinds-and-versions.md",
    how_to_kinds_by_hand: "docs/how-to/kinds-by-hand.md",
    how_to_mistakes: "docs/how-to/mistakes.md",
    how_to_on_a_cluster: "docs/how-to/on-a-cluster.md",
    how_to_operatorhub: "docs/how-to/operatorhub.md",
    how_to_optional_files: "docs/how-to/optional-files.md",
    how_to_other_kinds: "docs/how-to/other-kinds.md",
    how_to_own_logic: "docs/how-to/own-logic.md",
    how_to_rbac: "docs/how-to/rbac.md",
    how_to_samples: "docs/how-to/samples.md",
    how_to_storage_version: "docs/how-to/storage-version.md",
    how_to_types: "docs/how-to/types.md",
    how_to_update: "docs/how-to/update.md",
    how_to_webhooks: "docs/how-to/webhooks.md",
    messages: "docs/reference/messages.md",
    output: "docs/reference/output.md",
    start: "docs/start.md",
    tutorial: "docs/tutorial.md",
    tutorials_chart: "docs/tutorials/chart.md",
    tutorials_existing_operator: "docs/tutorials/existing-operator.md",
    website_operator: "docs/website-operator.md",
}

#[test]
fn every_page_is_played() {
    let named: Vec<String> = PAGES.iter().map(|it| it.replace('_', "-") + ".md").collect();
    // They need a cluster with OLM, and are played in `tests/olm`.
    let elsewhere = ["olm.md", "olm-v1.md"];
    for (page, text) in support::tree(&support::home().join("docs")) {
        if let Some(page) = page.strip_prefix("recorded/") {
            assert!(
                named.iter().any(|it| it == page) || elsewhere.contains(&page),
                "docs/recorded/{page} is not in the list `pages!` of tests/sessions.rs"
            );
            continue;
        }
        let (page, text) = (format!("docs/{page}"), String::from_utf8_lossy(&text).into_owned());
        let is_listed = SITE.contains(&page.as_str());
        assert_eq!(is_listed, text.contains("```console"), "{page}: is it in the list above?");
    }
}

/// The page with the help of each command.
const COMMANDS: &str = "docs/reference/commands.md";

/// Replaces each section of common options that the page already has by a line. Sections that differ stay.
fn omit_repeated_options(page: &str) -> String {
    let mut seen = BTreeSet::new();
    let mut lines = page.lines().peekable();
    let mut shorter = String::new();
    while let Some(line) = lines.next() {
        let mut section = format!("{line}\n");
        if line == "Common options:" {
            while let Some(line) = lines.next_if(|line| line.is_empty() || line.starts_with(' ')) {
                section += &format!("{line}\n");
            }
            if !seen.insert(section.clone()) {
                let end = &section[section.trim_end().len()..];
                section = format!("Common options: see above{end}");
            }
        }
        shorter += &section;
    }
    shorter
}

#[test]
fn common_options_that_differ_stay() {
    let one = "Common options:\n  -a\n\n  -b\n\nExamples:\n";
    let other = "Common options:\n  -b\n```\n";
    let page = format!("{one}{other}{one}{other}");
    let rest = "Common options: see above\n\nExamples:\nCommon options: see above\n```\n";
    assert_eq!(omit_repeated_options(&page), format!("{one}{other}{rest}"));
}

/// Every command has its help on the site.
#[test]
fn every_command_is_in_the_reference() {
    let page = fs::read_to_string(support::home().join(COMMANDS)).unwrap();
    let mut commands = vec![String::new()];
    while let Some(command) = commands.pop() {
        let line = format!("\n$ operator-rs{command} --help\n");
        assert!(
            page.contains(&line),
            "docs/reference/commands.md has no line `{}`: add it in a console block; with UPDATE=1, this suite adds the help",
            line.trim()
        );
        let help = support::done(support::home(), &format!("{command} --help"));
        let below = support::commands_in(&help).into_iter();
        commands.extend(below.map(|it| format!("{command} {it}")));
    }
}

#[test]
fn every_example_has_its_page() {
    let folder = support::home().join("examples");
    for entry in fs::read_dir(folder).expect("it can be listed") {
        let name = entry.expect("it can be listed").file_name().into_string().expect("UTF-8");
        if name == "README.md" {
            continue;
        }
        let is_session = PAGES.contains(&name.replace('-', "_").as_str());
        let is_on_the_site = SITE.contains(&format!("docs/{name}.md").as_str());
        assert!(is_session || is_on_the_site, "examples/{name} has no page");
    }
}

/// The pages that cannot be played with the program for Windows under wine, a line each, with the reason.
const IMPOSSIBLE_ON_WINDOWS: &str = include_str!("windows/impossible.txt");

/// Plays a page. With `PROGRAMS=tests/windows/bin`, a page that is listed as impossible has to fail, so that the list
/// names no page that can be played, and another one may fail once: wine 8 crashes now and then when a program ends.
fn check(path: &str) {
    let plays_windows = env::var("PROGRAMS").is_ok_and(|folder| folder.ends_with("windows/bin"));
    let mut listed = IMPOSSIBLE_ON_WINDOWS.lines().filter_map(|line| line.split_once(": "));
    let is_impossible = listed.any(|(page, _)| page == path);
    match plays_windows.then(|| std::panic::catch_unwind(|| compare(path))) {
        Some(result) if is_impossible => assert!(
            result.is_err(),
            "{path} can be played: remove it from tests/windows/impossible.txt"
        ),
        Some(Ok(())) => {}
        _ => compare(path),
    }
}

#[test]
fn every_page_that_is_impossible_on_windows_exists_and_has_a_reason() {
    for line in IMPOSSIBLE_ON_WINDOWS.lines() {
        let (page, reason) = line.split_once(": ").expect("a page and a reason");
        assert!(support::home().join(page).is_file() && !reason.is_empty(), "{line}");
    }
}

/// Fails if a page, or the example that it makes, differs from what happens today.
fn compare(path: &str) {
    let page = support::home().join(path);
    let name = page.file_stem().and_then(|it| it.to_str()).expect("a page has a name");
    // The folder is named as in the page's title, for `init` takes the project's name from it. Pages of other
    // directories may have the same name.
    let dir = support::fresh(&format!("played/{}", path.trim_end_matches(".md"))).join(name);
    fs::create_dir(&dir).unwrap();
    let was = fs::read_to_string(&page).unwrap();
    let mut is = play(&was, &dir);
    if path == COMMANDS {
        is = omit_repeated_options(&is);
    }
    let example = support::home().join("examples").join(name);
    if env::var_os("UPDATE").is_some() {
        fs::write(&page, &is).unwrap();
        if example.exists() {
            fs::remove_dir_all(&example).unwrap();
            support::put(&support::tree(&dir), &example);
        }
    }
    let was = fs::read_to_string(&page).unwrap();
    if was != is {
        let diff = similar::TextDiff::from_lines(&was, &is);
        panic!("{name}.md goes otherwise now:\n{}", diff.unified_diff());
    }
    if !example.exists() {
        return;
    }
    let (mut committed, mut made) = (support::tree(&example), support::tree(&dir));
    committed.retain(|path, _| !is_vendored(path));
    made.retain(|path, bytes| {
        let is_vendored = is_vendored(path);
        if is_vendored {
            require_copy(path, bytes);
        }
        !is_vendored
    });
    if let Some(difference) = support::difference(&committed, &made) {
        panic!("examples/{name} is not what the page makes now: {difference}");
    }
}

/// Returns whether a file belongs to the copies of the two crates, which `examples/` does not have in git.
fn is_vendored(path: &str) -> bool {
    path.starts_with("vendor/")
}

/// Fails unless a vendored file is that of the crate without its unit tests, below a line that says so.
fn require_copy(path: &str, bytes: &[u8]) {
    let Some(path) = path.strip_prefix("vendor/") else { return };
    if path.ends_with('/') || !path.contains('/') {
        return;
    }
    let original = fs::read_to_string(support::home().join("crates").join(path));
    let original = original.unwrap_or_else(|error| panic!("crates/{path}: {error}"));
    let copy = String::from_utf8_lossy(bytes);
    let mut original = original.lines();
    let is_part = copy
        .lines()
        .filter(|line| !line.contains("@generated by operator-rs"))
        .all(|line| original.any(|other| other == line));
    assert!(is_part, "vendor/{path} is not the file of the crate");
}

/// The page again, as it is played in a folder.
fn play(page: &str, dir: &Path) -> String {
    let cargo = [
        // A project whose lock has what kinds need.
        ("SCHEMAS", support::home().join("tests/schemas")),
        // What a page compiles is compiled where other tests do so.
        ("CARGO_TARGET_DIR", support::generated_target()),
        ("CARGO_PROFILE_DEV_DEBUG", "0".into()),
        ("CARGO_INCREMENTAL", "0".into()),
    ];
    let variables = cargo.map(|(name, it)| (name, it.into_os_string())).into();
    Player { dir: dir.to_owned(), variables, shown: Vec::new() }.play(page)
}

#[test]
fn a_page_is_rewritten_with_the_actual_output() {
    let dir = support::fresh("sessions-of-its-own");
    let page = "# Title\n\n```console\n$ echo one; echo two >&2; exit 3\nold\n\n$ mkdir x; cd \\\nx\n$ basename \"$PWD\"\n```\n\nend\n";
    let want = "# Title\n\n```console\n$ echo one; echo two >&2; exit 3\none\ntwo\n[exit 3]\n\n$ mkdir x; cd \\\nx\n\n$ basename \"$PWD\"\nx\n```\n\nend\n";
    assert_eq!(play(page, &dir), want);
    fs::remove_dir(dir.join("x")).unwrap();
    assert_eq!(play(want, &dir), want);
}

#[test]
#[should_panic(expected = "the page plays nothing")]
fn a_page_that_plays_nothing_is_no_page() {
    play("# Title\n\n```\n$ echo\n```\n", &support::fresh("sessions-nothing"));
}
