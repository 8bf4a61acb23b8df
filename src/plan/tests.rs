use std::collections::BTreeMap;

use super::{entries::READINGS, *};
use model::{FileContent, Tree};

/// A tree in a test's map.
#[derive(Default)]
struct Map(BTreeMap<ProjectPath, String>);

impl Tree for Map {
    fn read_content(&self, path: &ProjectPath) -> anyhow::Result<FileContent> {
        Ok(self.0.get(path).map_or(FileContent::Nothing, |it| FileContent::Text(it.clone())))
    }
    fn list_names(&self, _: &str) -> anyhow::Result<Vec<String>> {
        Ok(Vec::new())
    }
    fn list_files(&self, folder: &ProjectPath) -> anyhow::Result<Vec<ProjectPath>> {
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
    let after = it.changes_against(&tree, false).map_err(|it| it.to_string()).map(|changes| {
        let after = changes.iter().next().map(|it| it.after.clone().unwrap_or_default());
        after.unwrap_or_else(|| before.unwrap_or_default().to_owned())
    });
    assert_eq!(after.as_deref().map_err(String::as_str), expected);
}

#[test]
fn a_merge_conflict_of_generated_files_is_named_and_replaced_by_force() {
    let ours = |text: &str| ours::add_signature(&path("a.rs"), text, "b", "test");
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
    let changes = plan.changes_against(&tree, true).expect("`--force` replaces it");
    let after = changes.iter().next().and_then(|it| it.after.clone());
    assert_eq!(after, Some(ours("3\n")));
}

fn check_error(before: &str, plan: impl FnOnce(&mut Plan)) -> String {
    let tree = Map([(path("a.rs"), before.to_owned())].into());
    let mut it = Plan::default();
    plan(&mut it);
    it.changes_against(&tree, false).expect_err("it is refused").to_string()
}

#[test]
fn scaffolded_files_are_written_once() {
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
        plan.create_if_missing(&path("a.rs"));
    };
    check(Some("old\n"), offer, Ok("old\n"));
}

#[test]
fn generated_files_are_replaced_unless_they_were_edited() {
    let ours = super::ours::add_signature(&path("a.rs"), "old\n", "b", "test");
    let new = super::ours::add_signature(&path("a.rs"), "new\n", "b", "test");
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
        Err("nothing was written:\n  a.rs: this generated file was edited by hand"),
    );
}

#[test]
fn a_file_gains_the_lines_it_lacks() {
    let lines = |plan: &mut Plan| {
        plan.scaffold(path("a.rs"), "a\nb\n".to_owned());
        plan.append_missing_lines(&path("a.rs"));
    };
    check(None, lines, Ok("a\nb\n"));
    check(Some("b"), lines, Ok("b\na\n"));
    check(Some("b\n\na\n"), lines, Ok("b\n\na\n"));
}

#[test]
fn every_conflict_is_reported_at_once() {
    let tree = Map([("a.rs", "x"), ("b.rs", "y")].map(|(at, it)| (path(at), it.to_owned())).into());
    let mut plan = Plan::default();
    plan.scaffold(path("a.rs"), String::new());
    plan.scaffold(path("b.rs"), String::new());
    plan.scaffold(path("c.rs"), String::new());
    let error = plan.changes_against(&tree, true).expect_err("two files conflict").to_string();
    assert_eq!(error.lines().count(), 3, "{error}");
}

#[test]
fn in_a_folder_of_ours_only_what_this_command_has_generated_goes() {
    let signed = |at: &str, by: &str| super::ours::add_signature(&path(at), "a: 1\n", "b", by);
    let stale = signed("d/stale.yaml", "test");
    let tree = Map([
        ("d/copy.yaml", stale.clone()),
        ("d/edited.yaml", signed("d/edited.yaml", "test") + "b: 2\n"),
        ("d/mine.yaml", "x".to_owned()),
        ("d/note.txt", "x".to_owned()),
        ("d/other.yaml", signed("d/other.yaml", "another")),
        ("d/stale.yaml", stale),
    ]
    .map(|(at, it)| (path(at), it))
    .into());
    let mut plan = Plan::default();
    plan.generate(path("d/new.yaml"), "a: 2\n".to_owned(), "b", "test");
    plan.remove_stale(path("d"), &["yaml"], "test");
    for force in [false, true] {
        let changes = plan.changes_against(&tree, force).expect("no conflict");
        assert_eq!(
            changes.to_string(),
            "create  d/new.yaml\n\
             delete  d/stale.yaml\n\
             leave   d/copy.yaml (no longer generated, and edited or copied by hand)\n\
             leave   d/edited.yaml (no longer generated, and edited or copied by hand)\n\
             leave   d/mine.yaml (not generated by operator-rs)\n\
             leave   d/other.yaml (generated by `operator-rs another`)\n"
        );
    }
    let mut after = WorkTree::new(&tree, false);
    after.apply(plan).expect("it is read");
    let names: Vec<String> =
        after.list_files(&path("d")).expect("it lists").iter().map(ToString::to_string).collect();
    assert_eq!(names.len(), 6);
    assert!(!names.contains(&"d/stale.yaml".to_owned()));
}

#[test]
fn what_another_command_generates_is_not_replaced() {
    let text = super::ours::add_signature(&path("a.rs"), "old\n", "b", "another");
    let generate = |plan: &mut Plan| plan.generate(path("a.rs"), "new\n".to_owned(), "b", "test");
    let message = "nothing was written:\n  a.rs: `operator-rs another` generates this file";
    check(Some(&text), generate, Err(message));
}

#[test]
fn the_line_ends_of_a_checkout_are_kept() {
    let crlf = |it: &str| it.replace('\n', "\r\n");
    let signed = |text: &str| super::ours::add_signature(&path("a.rs"), text, "b", "test");
    let generate = |plan: &mut Plan| plan.generate(path("a.rs"), "new\n".to_owned(), "b", "test");
    check(Some(&crlf(&signed("new\n"))), generate, Ok(&crlf(&signed("new\n"))));
    check(Some(&crlf(&signed("old\n"))), generate, Ok(&crlf(&signed("new\n"))));
    let scaffold = |plan: &mut Plan| plan.scaffold(path("a.rs"), "a\nb\n".to_owned());
    check(Some("a\r\nb\r\n"), scaffold, Ok("a\r\nb\r\n"));
}

#[test]
fn an_edit_of_what_is_not_there_any_more_is_refused() {
    let edit =
        |plan: &mut Plan| plan.edit_file(path("a.rs"), "read\n".to_owned(), "edited\n".to_owned());
    check(Some("read\n"), edit, Ok("edited\n"));
    let message = "nothing was written:\n  a.rs: it changed while the command ran";
    check(Some("mine\n"), edit, Err(message));
    check(None, edit, Err(message));
}

#[test]
fn a_users_file_is_deleted_as_it_was_scaffolded_and_an_edited_one_with_force() {
    let known = || vec!["old\n".to_owned(), "new\n".to_owned()];
    let delete = |plan: &mut Plan| plan.delete_file(path("a.rs"), known());
    for text in ["old\n", "new\n", "new\r\n"] {
        check(Some(text), delete, Ok(""));
    }
    let edited = "nothing was written:\n  a.rs: was edited by hand, and the last commit does not have this text:\n    @@ -1 +1 @@\n    -old\n    +edited";
    check(Some("edited\n"), delete, Err(edited));
    let mut plan = Plan::default();
    delete(&mut plan);
    let shown = |text: Option<&str>| {
        let tree = Map(text.map(|it| (path("a.rs"), it.to_owned())).into_iter().collect());
        plan.changes_against(&tree, true).expect("no conflict").to_string()
    };
    assert_eq!(shown(Some("edited\n")), "delete  a.rs (was edited)\n");
    assert_eq!(shown(None), "");
}

#[test]
fn the_changes_of_a_users_file_are_made_in_their_order() {
    let remove = |plan: &mut Plan| {
        plan.remove_entries(path("a.rs"), vec!["pub mod a;\n".to_owned()], LastCommit::Text(None));
    };
    let add = |plan: &mut Plan| plan.add_entries(path("a.rs"), "m", "pub mod b;\n".to_owned());
    let marked = "pub mod a;\n// +operator-rs:scaffold:m\n";
    let expected = Ok("pub mod b;\n// +operator-rs:scaffold:m\n");
    check(
        Some(marked),
        |plan| {
            remove(plan);
            add(plan);
        },
        expected,
    );
    check(
        Some(marked),
        |plan| {
            add(plan);
            remove(plan);
        },
        expected,
    );
    let edit = |plan: &mut Plan| {
        plan.edit_file(path("a.rs"), "pub mod a;\n".to_owned(), "pub mod a;\nmod x;\n".to_owned());
        remove(plan);
    };
    check(Some("pub mod a;\n"), edit, Ok("mod x;\n"));
    for change in [remove, add] {
        check(None, change, Err("nothing was written:\n  a.rs: it is missing"));
    }
}

#[test]
fn a_file_that_is_kept_is_not_written_and_is_listed_with_the_reason() {
    let keep = |plan: &mut Plan| {
        plan.scaffold(path("a.rs"), "new\n".to_owned());
        plan.keep_file(path("a.rs"), "it was here before");
    };
    check(Some("old\n"), keep, Ok("old\n"));
    let tree = Map([(path("a.rs"), "old\n".to_owned())].into());
    let mut plan = Plan::default();
    keep(&mut plan);
    let changes = plan.changes_against(&tree, false).expect("no conflict");
    assert!(changes.is_empty());
    assert_eq!(changes.to_string(), "leave   a.rs (it was here before)\n");
}

/// A work tree over one file `a.rs` on disk.
fn over(disk: &Map) -> WorkTree<'_> {
    WorkTree::new(disk, false)
}

fn scaffold(at: &str, text: &str) -> Plan {
    let mut plan = Plan::default();
    plan.scaffold(path(at), text.to_owned());
    plan
}

fn generate(at: &str, text: &str) -> Plan {
    let mut plan = Plan::default();
    plan.generate(path(at), text.to_owned(), "b", "test");
    plan
}

#[test]
fn a_step_reads_what_the_steps_before_it_wrote() {
    let disk = Map([(
        path("old/x.yaml"),
        ours::add_signature(&path("old/x.yaml"), "a: 1\n", "b", "test"),
    )]
    .into());
    let mut tree = over(&disk);
    tree.apply(scaffold("new/a.yaml", "list:\n# +operator-rs:scaffold:list\n"))
        .expect("it applies");
    for item in ["one", "two"] {
        let mut plan = Plan::default();
        plan.add_entries(path("new/a.yaml"), "list", format!("list:\n- {item}\n"));
        tree.apply(plan).expect("it applies");
    }
    let list = "list:\n- one\n- two\n# +operator-rs:scaffold:list\n";
    assert_eq!(tree.read_text(&path("new/a.yaml")).expect("it reads").as_deref(), Some(list));
    let mut plan = Plan::default();
    plan.remove_stale(path("old"), &["yaml"], "test");
    tree.apply(plan).expect("it applies");
    assert_eq!(tree.read_content(&path("old/x.yaml")).expect("it looks"), FileContent::Nothing);
    assert!(tree.list_files(&path("old")).expect("it lists").is_empty());
    assert_eq!(
        tree.files_on_disk().list_files(&path("old")).expect("it lists"),
        [path("old/x.yaml")]
    );
    // A later step needs the file all the same.
    tree.apply(generate("old/x.yaml", "a: 2\n")).expect("it applies");
    let text = tree.read_text(&path("old/x.yaml")).expect("it reads").expect("it is there");
    assert!(text.ends_with("a: 2\n"), "{text}");
    tree.keep_as_on_disk(&path("new/a.yaml"));
    assert_eq!(tree.read_content(&path("new/a.yaml")).expect("it looks"), FileContent::Nothing);
    assert_eq!(tree.writable_changes().expect("no conflict").to_string(), "update  old/x.yaml\n");
}

#[test]
fn a_conflict_that_stays_is_told_with_those_that_force_would_settle() {
    let edited = ours::add_signature(&path("a.rs"), "1\n", "b", "test") + "x\n";
    let disk = Map([(path("a.rs"), edited), (path("b.rs"), "mine\n".to_owned())].into());
    for (force, lines) in [(false, 3), (true, 2)] {
        let mut tree = WorkTree::new(&disk, force);
        tree.apply(generate("a.rs", "2\n")).expect("it applies");
        tree.require_writable().expect("`--force` would settle it");
        tree.apply(generate("b.rs", "2\n")).expect("it applies");
        let error = tree.require_writable().expect_err("b.rs is the user's").to_string();
        assert_eq!(error.lines().count(), lines, "{error}");
    }
}

#[test]
fn a_file_that_is_written_twice_has_one_conflict_and_one_change() {
    let edited = ours::add_signature(&path("a.rs"), "1\n", "b", "test") + "x\n";
    let disk = Map([(path("a.rs"), edited)].into());
    let mut tree = over(&disk);
    tree.apply(generate("a.rs", "2\n")).expect("it applies");
    tree.apply(generate("a.rs", "3\n")).expect("it applies");
    tree.require_writable().expect("`--force` would settle it");
    // The steps that follow see the generated file, whose edits are reported at the end.
    let text = tree.read_text(&path("a.rs")).expect("it reads").expect("it is there");
    assert!(text.ends_with("3\n"), "{text}");
    let error = tree.writable_changes().map(|_| ()).expect_err("it was edited").to_string();
    assert_eq!(error.lines().count(), 2, "{error}");
    let shown = tree.changes().to_string();
    assert_eq!(shown, "update  a.rs (needs `--force`)\n");

    let disk = Map([(path("a.rs"), "mine\n".to_owned())].into());
    let mut tree = over(&disk);
    tree.apply(generate("a.rs", "2\n")).expect("it applies");
    let error = tree.require_writable().expect_err("it is the user's").to_string();
    assert!(error.contains("was not created by operator-rs"), "{error}");
    assert_eq!(tree.read_text(&path("a.rs")).expect("it reads").as_deref(), Some("mine\n"));
}

/// Each reading is of the whole file: readings that grow with the entries make the work grow with their square.
#[test]
fn many_entries_are_added_by_a_fixed_number_of_readings_of_their_file() {
    let readings_of_file = |entries: usize| {
        let text = "resources:\n# +operator-rs:scaffold:m\n".to_owned();
        let tree = Map([(path("kustomization.yaml"), text)].into());
        let mut plan = Plan::default();
        for number in 0..entries {
            let fragment = format!("resources:\n- {number}.yaml\n");
            plan.add_entries(path("kustomization.yaml"), "m", fragment);
        }
        let before = READINGS.get();
        let changes = plan.changes_against(&tree, false).expect("the entries can be added");
        let after = changes.iter().next().and_then(|change| change.after.as_ref());
        let lines = after.map(|after| after.lines().count());
        assert_eq!(lines, Some(entries + 2));
        // Each fragment is read once.
        READINGS.get() - before - entries
    };
    assert_eq!(readings_of_file(3), readings_of_file(300));
}

#[test]
fn changes_in_generated_source_are_listed_as_one_line() {
    let mut plan = Plan::default();
    plan.list_as_one(path("vendor/a"));
    plan.list_as_one(path("vendor/b"));
    for name in ["src/x.rs", "vendor/a/1.rs", "vendor/a/2.rs", "vendor/a/3.rs", "vendor/a/src/4.rs"]
    {
        plan.generate(path(name), String::new(), "it", "generate");
    }
    plan.generate(path("vendor/b/1.rs"), String::new(), "it", "generate");
    let changes = plan.changes_against(&Map(BTreeMap::new()), false).expect("there is no conflict");
    let expected = "create  src/x.rs\ncreate  vendor/a/ (4 files; `--verbose` lists them)\ncreate  vendor/b/1.rs\n";
    assert_eq!(changes.format_list(), expected);
    assert_eq!(changes.to_string().lines().count(), 6);
}
