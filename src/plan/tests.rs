use std::collections::BTreeMap;

use super::*;

/// A tree in a test's map.
#[derive(Default)]
struct Map(BTreeMap<ProjectPath, String>);

impl Tree for Map {
    fn look(&self, path: &ProjectPath) -> anyhow::Result<Found> {
        Ok(self.0.get(path).map_or(Found::Nothing, |it| Found::Text(it.clone())))
    }
    fn names(&self, _: &str) -> anyhow::Result<Vec<String>> {
        Ok(Vec::new())
    }
    fn list(&self, folder: &ProjectPath) -> anyhow::Result<Vec<ProjectPath>> {
        Ok(self.0.keys().filter(|it| it.is_in(folder)).cloned().collect())
    }
}

fn path(text: &str) -> ProjectPath {
    ProjectPath::fixed(text)
}

/// Meets a plan with a tree of one file `a.rs`; says what that is afterwards, or what went wrong.
fn check(before: Option<&str>, plan: impl FnOnce(&mut Plan), expected: Result<&str, &str>) {
    let tree = Map(before.map(|it| (path("a.rs"), it.to_owned())).into_iter().collect());
    let mut it = Plan::default();
    plan(&mut it);
    let after = it.against(&tree, false).map_err(|it| it.to_string()).map(|changes| {
        let after = changes.iter().next().map(|it| it.after.clone().unwrap_or_default());
        after.unwrap_or_else(|| before.unwrap_or_default().to_owned())
    });
    assert_eq!(after.as_deref().map_err(String::as_str), expected);
}

fn mark(text: &'static str) -> impl FnOnce(&mut Plan) {
    move |plan| plan.insert(path("a.rs"), "m", text.to_owned())
}

#[test]
fn a_fragment_goes_above_its_marker_once_and_as_deep() {
    check(
        Some("x\n    // +operator-rs:scaffold:m\ny"),
        mark("a(\n  1\n)\n"),
        Ok("x\n    a(\n      1\n    )\n    // +operator-rs:scaffold:m\ny"),
    );
    check(
        Some("a;\nb;\n//+operator-rs:scaffold:m\n"),
        mark("a;\n"),
        Ok("a;\nb;\n//+operator-rs:scaffold:m\n"),
    );
    check(
        Some("# +operator-rs:scaffold:m\r\n"),
        mark("a"),
        Ok("a\r\n# +operator-rs:scaffold:m\r\n"),
    );
}

#[test]
fn text_that_occurs_inside_another_line_is_not_taken_for_the_fragment() {
    let marker = "// +operator-rs:scaffold:m\n";
    check(
        Some(&format!("// pub mod a;\n{marker}")),
        mark("pub mod a;"),
        Ok(&format!("// pub mod a;\npub mod a;\n{marker}")),
    );
    check(
        Some(&format!("pub mod ab;\n{marker}")),
        mark("pub mod a;"),
        Ok(&format!("pub mod ab;\npub mod a;\n{marker}")),
    );
}

#[test]
fn a_marker_that_is_missing_doubled_or_code_is_told_with_its_place() {
    let missing = "nothing was written:\n  a.rs:1:1: there is no line `// +operator-rs:scaffold:m`";
    check(Some("x\n"), mark("a"), Err(missing));
    check(Some("let s = \"+operator-rs:scaffold:m\";\n"), mark("a"), Err(missing));
    let twice = "// +operator-rs:scaffold:m\n// +operator-rs:scaffold:m\n";
    check(
        Some(twice),
        mark("a"),
        Err(
            "nothing was written:\n  a.rs:2:1: the marker `+operator-rs:scaffold:m` is also in line 1",
        ),
    );
    check(None, mark("a"), Err("nothing was written:\n  a.rs: it is missing"));
}

#[test]
fn a_merge_conflict_of_generated_files_is_named_and_replaced_by_force() {
    let ours = |text: &str| ours::signed(&path("a.rs"), text, "b", "test");
    let conflict =
        |one: &str, two: &str| format!("<<<<<<< HEAD\n{one}=======\n{two}>>>>>>> topic\n");
    let generate = |plan: &mut Plan| plan.generate(path("a.rs"), "3\n".to_owned(), "b", "test");
    let generated = conflict(&ours("1\n"), &ours("2\n"));
    let named = "nothing was written:\n  a.rs:1:1: the file has an unresolved merge conflict";
    check(Some(&generated), generate, Err(named));
    let by_hand = conflict("1\n", "2\n");
    let theirs = check_error(&by_hand, generate);
    assert!(!theirs.contains("merge conflict"), "{theirs}");
    let tree = Map([(path("a.rs"), generated)].into());
    let mut plan = Plan::default();
    generate(&mut plan);
    let changes = plan.against(&tree, true).expect("`--force` replaces it");
    let after = changes.iter().next().and_then(|it| it.after.clone());
    assert_eq!(after, Some(ours("3\n")));
}

fn check_error(before: &str, plan: impl FnOnce(&mut Plan)) -> String {
    let tree = Map([(path("a.rs"), before.to_owned())].into());
    let mut it = Plan::default();
    plan(&mut it);
    it.against(&tree, false).expect_err("it is refused").to_string()
}

#[test]
fn what_is_theirs_is_written_once() {
    let scaffold = |plan: &mut Plan| plan.scaffold(path("a.rs"), "new\n".to_owned());
    check(None, scaffold, Ok("new\n"));
    check(Some("new\n"), scaffold, Ok("new\n"));
    check(
        Some("old\n"),
        scaffold,
        Err("nothing was written:\n  a.rs: already exists and was not created by operator-rs"),
    );
    let offer = |plan: &mut Plan| {
        scaffold(plan);
        plan.only_offer(&path("a.rs"));
    };
    check(Some("old\n"), offer, Ok("old\n"));
}

#[test]
fn what_is_ours_is_replaced_unless_a_hand_was_at_it() {
    let ours = super::ours::signed(&path("a.rs"), "old\n", "b", "test");
    let new = super::ours::signed(&path("a.rs"), "new\n", "b", "test");
    let generate = |plan: &mut Plan| plan.generate(path("a.rs"), "new\n".to_owned(), "b", "test");
    check(Some(&ours), generate, Ok(&new));
    check(
        Some("mine\n"),
        generate,
        Err("nothing was written:\n  a.rs: already exists and was not created by operator-rs"),
    );
    check(
        Some(&format!("{ours}x\n")),
        generate,
        Err("nothing was written:\n  a.rs: was generated by operator-rs, and then edited by hand"),
    );
}

#[test]
fn a_file_gains_the_lines_it_lacks() {
    let lines = |plan: &mut Plan| {
        plan.scaffold(path("a.rs"), "a\nb\n".to_owned());
        plan.only_lines(&path("a.rs"));
    };
    check(None, lines, Ok("a\nb\n"));
    check(Some("b"), lines, Ok("b\na\n"));
    check(Some("b\n\na\n"), lines, Ok("b\n\na\n"));
}

#[test]
fn every_conflict_is_told_at_once() {
    let tree = Map([("a.rs", "x"), ("b.rs", "y")].map(|(at, it)| (path(at), it.to_owned())).into());
    let mut plan = Plan::default();
    plan.scaffold(path("a.rs"), String::new());
    plan.scaffold(path("b.rs"), String::new());
    plan.scaffold(path("c.rs"), String::new());
    let error = plan.against(&tree, true).expect_err("two are in the way").to_string();
    assert_eq!(error.lines().count(), 3, "{error}");
}

#[test]
fn in_a_folder_of_ours_only_what_this_command_has_generated_goes() {
    let signed = |at: &str, by: &str| super::ours::signed(&path(at), "a: 1\n", "b", by);
    let stale = signed("d/stale.yaml", "test");
    let older = "# @generated by operator-rs, 375903d90a6f: edit b, not this\na: 1\n".to_owned();
    assert_eq!(
        super::ours::state(&path("d/older.yaml"), &older, "test"),
        super::ours::State::Older
    );
    let tree = Map([
        ("d/copy.yaml", stale.clone()),
        ("d/edited.yaml", signed("d/edited.yaml", "test") + "b: 2\n"),
        ("d/mine.yaml", "x".to_owned()),
        ("d/note.txt", "x".to_owned()),
        ("d/older.yaml", older),
        ("d/other.yaml", signed("d/other.yaml", "another")),
        ("d/stale.yaml", stale),
    ]
    .map(|(at, it)| (path(at), it))
    .into());
    let mut plan = Plan::default();
    plan.generate(path("d/new.yaml"), "a: 2\n".to_owned(), "b", "test");
    plan.own(path("d"), &["yaml"], "test");
    for force in [false, true] {
        let changes = plan.against(&tree, force).expect("no conflict");
        assert_eq!(
            changes.to_string(),
            "create  d/new.yaml\n\
             delete  d/stale.yaml\n\
             leave   d/copy.yaml (no longer generated, and edited or copied by hand)\n\
             leave   d/edited.yaml (no longer generated, and edited or copied by hand)\n\
             leave   d/mine.yaml (not generated by operator-rs)\n\
             leave   d/older.yaml (no longer generated, or copied by hand: delete it if nothing needs it)\n\
             leave   d/other.yaml (generated by `operator-rs another`)\n"
        );
    }
    let changes = plan.against(&tree, false).expect("no conflict");
    let after = Overlay::new(&tree, &changes);
    let names: Vec<String> =
        after.list(&path("d")).expect("it lists").iter().map(ToString::to_string).collect();
    assert_eq!(names.len(), 7);
    assert!(!names.contains(&"d/stale.yaml".to_owned()));
}

#[test]
fn what_another_command_generates_is_not_replaced() {
    let text = super::ours::signed(&path("a.rs"), "old\n", "b", "another");
    let generate = |plan: &mut Plan| plan.generate(path("a.rs"), "new\n".to_owned(), "b", "test");
    let told = "nothing was written:\n  a.rs: `operator-rs another` generates this file";
    check(Some(&text), generate, Err(told));
}

#[test]
fn a_file_that_an_older_version_has_generated_is_replaced_when_it_differs() {
    let older = "// @generated by operator-rs, 375903d90a6f: edit b, not this\na: 1\n";
    let same = |plan: &mut Plan| plan.generate(path("a.rs"), "a: 1\n".to_owned(), "b", "test");
    check(Some(older), same, Ok(older));
    let differs = |plan: &mut Plan| plan.generate(path("a.rs"), "a: 2\n".to_owned(), "b", "test");
    check(Some(older), differs, Ok(&super::ours::signed(&path("a.rs"), "a: 2\n", "b", "test")));
}

#[test]
fn the_line_ends_of_a_checkout_are_kept() {
    let crlf = |it: &str| it.replace('\n', "\r\n");
    let signed = |text: &str| super::ours::signed(&path("a.rs"), text, "b", "test");
    let generate = |plan: &mut Plan| plan.generate(path("a.rs"), "new\n".to_owned(), "b", "test");
    check(Some(&crlf(&signed("new\n"))), generate, Ok(&crlf(&signed("new\n"))));
    check(Some(&crlf(&signed("old\n"))), generate, Ok(&crlf(&signed("new\n"))));
    let scaffold = |plan: &mut Plan| plan.scaffold(path("a.rs"), "a\nb\n".to_owned());
    check(Some("a\r\nb\r\n"), scaffold, Ok("a\r\nb\r\n"));
}

#[test]
fn an_edit_of_what_is_not_there_any_more_is_refused() {
    let edit =
        |plan: &mut Plan| plan.edit(path("a.rs"), "read\n".to_owned(), "edited\n".to_owned());
    check(Some("read\n"), edit, Ok("edited\n"));
    let told = "nothing was written:\n  a.rs: it changed while the command ran";
    check(Some("mine\n"), edit, Err(told));
    check(None, edit, Err(told));
}

#[test]
fn a_users_file_is_deleted_as_it_was_scaffolded_and_an_edited_one_with_force() {
    let known = || vec!["old\n".to_owned(), "new\n".to_owned()];
    let delete = |plan: &mut Plan| plan.delete(path("a.rs"), known());
    for text in ["old\n", "new\n", "new\r\n"] {
        check(Some(text), delete, Ok(""));
    }
    let edited = "nothing was written:\n  a.rs: was edited by hand, and the last commit does not have this text";
    check(Some("edited\n"), delete, Err(edited));
    let mut plan = Plan::default();
    delete(&mut plan);
    let shown = |text: Option<&str>| {
        let tree = Map(text.map(|it| (path("a.rs"), it.to_owned())).into_iter().collect());
        plan.against(&tree, true).expect("no conflict").to_string()
    };
    assert_eq!(shown(Some("edited\n")), "delete  a.rs\n");
    assert_eq!(shown(None), "");
}

#[test]
fn a_line_is_removed_wherever_it_is_and_however_it_is_indented() {
    let remove = |plan: &mut Plan| plan.remove_line(path("a.rs"), "pub mod a;");
    check(Some("x\n  pub mod a;\r\npub mod ab;\n"), remove, Ok("x\npub mod ab;\n"));
    check(Some("// pub mod a;\n"), remove, Ok("// pub mod a;\n"));
    check(None, remove, Err("nothing was written:\n  a.rs: it is missing"));
    // Together with the other changes of a file, whichever is asked for first.
    let marked = "pub mod a;\n// +operator-rs:scaffold:m\n";
    let both = |plan: &mut Plan| {
        remove(plan);
        mark("pub mod b;")(plan);
    };
    check(Some(marked), both, Ok("pub mod b;\n// +operator-rs:scaffold:m\n"));
    let both = |plan: &mut Plan| {
        mark("pub mod b;")(plan);
        remove(plan);
    };
    check(Some(marked), both, Ok("pub mod b;\n// +operator-rs:scaffold:m\n"));
    let both = |plan: &mut Plan| {
        plan.edit(path("a.rs"), "pub mod a;\n".to_owned(), "pub mod a;\nx\n".to_owned());
        remove(plan);
    };
    check(Some("pub mod a;\n"), both, Ok("x\n"));
}

#[test]
fn a_file_that_is_kept_is_not_written_and_is_listed_with_the_reason() {
    let keep = |plan: &mut Plan| {
        plan.scaffold(path("a.rs"), "new\n".to_owned());
        plan.keep(path("a.rs"), "it was here before");
    };
    check(Some("old\n"), keep, Ok("old\n"));
    let tree = Map([(path("a.rs"), "old\n".to_owned())].into());
    let mut plan = Plan::default();
    keep(&mut plan);
    let changes = plan.against(&tree, false).expect("no conflict");
    assert!(changes.is_empty());
    assert_eq!(changes.to_string(), "leave   a.rs (it was here before)\n");
}
