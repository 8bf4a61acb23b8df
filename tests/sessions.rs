//! Every page in `tests/sessions` is played in a fresh folder and must come out word for word: each
//! line that begins with `$ ` is given to bash there, and what follows it is what was said, stdout
//! before stderr, then `[exit N]` where it is not 0. A line that ends in a backslash or `<<'END'` goes on.
//!
//! Where `examples/` has a project of the page's name, the folder must come out byte for byte.
//! Pages of the site, in `docs/`, are played in the same way if they have a console block.
//! `UPDATE=1 cargo test --test sessions` writes down what the tool does now.

#![allow(clippy::disallowed_methods, reason = "the walls stand in src; a test looks from outside")]

mod support;

use std::{env, fs, path::Path};

use support::page::Player;

/// A test a page, so that they are played side by side and fail one by one.
macro_rules! pages {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            let name = stringify!($name).replace('_', "-");
            check(&format!("tests/sessions/{name}.md"));
        })*

        const PAGES: &[&str] = &[$(stringify!($name)),*];
    };
}

pages! {
    adopt
    bundle
    bundle_diff
    bundle_image
    bundle_rules
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
    testing
    types
    warnings
    webhook_markers
    webhooks
    website_operator
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
    backup_operator: "docs/backup-operator.md",
    commands: "docs/reference/commands.md",
    output: "docs/reference/output.md",
    start: "docs/start.md",
    tutorial: "docs/tutorial.md",
}

#[test]
fn every_page_is_played() {
    let named: Vec<String> = PAGES.iter().map(|it| it.replace('_', "-") + ".md").collect();
    for page in support::tree(&support::home().join("tests/sessions")).keys() {
        assert!(
            named.contains(page),
            "tests/sessions/{page} is not in the list `pages!` of tests/sessions.rs"
        );
    }
    for (page, text) in support::tree(&support::home().join("docs")) {
        let (page, text) = (format!("docs/{page}"), String::from_utf8_lossy(&text).into_owned());
        let is_listed = SITE.contains(&page.as_str());
        assert_eq!(is_listed, text.contains("```console"), "{page}: is it in the list above?");
    }
}

/// Every command has its help on the site.
#[test]
fn every_command_is_in_the_reference() {
    let page = fs::read_to_string(support::home().join("docs/reference/commands.md")).unwrap();
    let mut commands = vec![String::new()];
    while let Some(command) = commands.pop() {
        let line = format!("\n$ operator-rs{command} --help\n");
        assert!(
            page.contains(&line),
            "docs/reference/commands.md has no line `{}`: add it in a console block; with UPDATE=1, this suite adds the help",
            line.trim()
        );
        let help = support::done(support::home(), &format!("{command} --help"));
        let below = help.split("\nCommands:\n").nth(1).unwrap_or_default();
        // A line that goes on is indented further.
        for line in below.lines().take_while(|it| !it.is_empty()) {
            let name = line.strip_prefix("  ").and_then(|it| it.split(' ').next());
            if let Some(name) = name.filter(|it| !it.is_empty() && *it != "help") {
                commands.push(format!("{command} {name}"));
            }
        }
    }
}

#[test]
fn every_example_has_its_page() {
    let folder = support::home().join("examples");
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let name = entry.expect("it can be listed").file_name().into_string().expect("UTF-8");
        assert!(PAGES.contains(&name.replace('-', "_").as_str()), "examples/{name} has no page");
    }
}

fn check(page: &str) {
    let page = support::home().join(page);
    let name = page.file_stem().and_then(|it| it.to_str()).expect("a page has a name");
    // The folder is named as in the page's title, for `init` takes the project's name from it.
    let dir = support::fresh(&format!("sessions/{name}")).join(name);
    fs::create_dir(&dir).unwrap();
    let was = fs::read_to_string(&page).unwrap();
    let is = play(&was, &dir);
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
    if example.exists()
        && let Some(it) = support::difference(&support::tree(&example), &support::tree(&dir))
    {
        panic!("examples/{name} is not what the page makes now: {it}");
    }
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
