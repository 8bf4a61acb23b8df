//! Every page in `tests/sessions` is played in a fresh folder and must come out word for word: each
//! line that begins with `$ ` is given to bash there, and what follows it is what was said, stdout
//! before stderr, then `[exit N]` where it is not 0. A line that ends in a backslash or `<<'END'` goes on.
//!
//! Where `examples/` has a project of the page's name, the folder must come out byte for byte.
//! Pages of the site, in `docs/`, are played in the same way if they have a console block.
//! `UPDATE=1 cargo test --test sessions` writes down what the tool does now.

#![allow(clippy::disallowed_methods, reason = "the walls stand in src; a test looks from outside")]

mod support;

use std::{
    env, fs,
    path::{Path, PathBuf},
};

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
    bundle
    bundle_validate
    compiled
    crds_diff
    crds_in_ci
    delete_api
    first_operator
    forge
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
    moved_runtime
    namespaced
    messages
    mistakes
    on_a_cluster
    operator_sdk_tutorial
    other_kinds
    project_file
    samples
    testing
    types
    warnings
    website_operator
}

/// The same for pages of the site.
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
    commands: "docs/reference/commands.md",
    output: "docs/reference/output.md",
    start: "docs/start.md",
    tutorial: "docs/tutorial.md",
}

#[test]
fn every_page_is_played() {
    let named: Vec<String> = PAGES.iter().map(|it| it.replace('_', "-") + ".md").collect();
    for page in support::tree(&support::home().join("tests/sessions")).keys() {
        assert!(named.contains(page), "tests/sessions/{page} is not in the list of pages above");
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
        assert!(page.contains(&line), "docs/reference/commands.md has no line `{}`", line.trim());
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

/// The page again, with each `$ ` line followed by what is said to it today.
fn play(page: &str, dir: &Path) -> String {
    let mut dir = dir.to_owned();
    let mut res = String::new();
    let mut played = 0;
    let mut console = false;
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if line == "```console" {
            console = true;
            res += &format!("{line}\n");
        } else if line == "```" && console {
            console = false;
            res.truncate(res.trim_end_matches('\n').len());
            res += "\n```\n";
        } else if !console {
            res += &format!("{line}\n");
        } else if let Some(command) = line.strip_prefix("$ ") {
            let mut command = command.to_owned();
            let here = command.ends_with("<<'END'");
            while command.ends_with('\\') || here && !command.ends_with("\nEND") {
                let more = lines.next().expect("a command that goes on has an end");
                command += &format!("\n{more}");
            }
            res += &format!("$ {command}\n{}\n", answer(&command, &mut dir));
            played += 1;
        }
    }
    assert!(!console, "a console block of the page has no end");
    assert!(played > 0, "the page plays nothing");
    res
}

/// What bash says to a command. As at a terminal, `cd` lasts until the page's end.
fn answer(command: &str, dir: &mut PathBuf) -> String {
    let mut path = Path::new(support::BINARY).parent().unwrap().as_os_str().to_owned();
    path.push(":/usr/bin:/bin:");
    path.push(Path::new(env!("CARGO")).parent().unwrap());
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!(
        "place-{}",
        std::thread::current().name().unwrap_or("page").replace(':', "-")
    ));
    let output = support::command("bash", dir)
        .args(["-c", &format!("trap 'pwd -P >\"$PLACE\"' EXIT; {command}")])
        .envs([("PATH", path.as_os_str()), ("PLACE", place.as_os_str())])
        // Projects that earlier versions have made, and one whose lock has what kinds need.
        .env("EARLIER", support::home().join("tests/earlier"))
        .env("SCHEMAS", support::home().join("tests/schemas"))
        // What a page compiles is compiled where other tests do so.
        .env_remove("CARGO")
        .env("CARGO_TARGET_DIR", support::generated_target())
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env("CARGO_INCREMENTAL", "0")
        .output()
        .expect("there is bash");
    *dir = fs::read_to_string(&place).unwrap().trim_end_matches('\n').into();
    let mut res = String::from_utf8_lossy(&output.stdout).into_owned();
    let err = String::from_utf8_lossy(&output.stderr);
    if !res.is_empty() && !res.ends_with('\n') {
        res += "\n";
    }
    // Bash names the line of its own complaints.
    res += &err.replace("bash: line 1: ", "bash: ");
    if !res.is_empty() && !res.ends_with('\n') {
        res += "\n";
    }
    if !output.status.success() {
        res += &match output.status.code() {
            Some(code) => format!("[exit {code}]\n"),
            None => format!("[{}]\n", output.status),
        };
    }
    assert!(!res.lines().any(|it| it == "```"), "what is said would end the block:\n{res}");
    res
}

#[test]
fn a_page_comes_out_as_it_is_played() {
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
