use super::*;
use crate::plan::WorkTree;
use diagnostics::{Diagnostics, find_error};
use model::FileContent;

/// A directory without files.
struct Empty;

impl Tree for Empty {
    fn read_content(&self, _: &ProjectPath) -> anyhow::Result<FileContent> {
        Ok(FileContent::Nothing)
    }
    fn list_names(&self, _: &str) -> anyhow::Result<Vec<String>> {
        Ok(Vec::new())
    }
    fn list_files(&self, _: &ProjectPath) -> anyhow::Result<Vec<ProjectPath>> {
        Ok(Vec::new())
    }
}

const LOCK: &str = include_str!("../../../../templates/init/Cargo.lock");
const MANIFEST: &str = "[dependencies]\noperator-rs-runtime = { path = \"vendor/operator-rs-runtime\" } # ours\n\n\
                        [dev-dependencies]\noperator-rs-runtime = { path = \"vendor/operator-rs-runtime\", features = [\"testing\"] }\n";
/// A client in the same repository.
const MEMBER: &str =
    "[dependencies.operator-rs-runtime]\npath = \"../vendor/operator-rs-runtime/\"\n";

fn project(is_vendored: bool) -> Project {
    let name = "p".parse().expect("a name");
    let inputs =
        crate::project::Inputs { vendor: is_vendored, ..crate::project::Inputs::default() };
    Project::new(name, "a.io".parse().expect("a domain"), false, &inputs)
}

/// What the registry has after a release.
fn published() -> Vec<Published> {
    let crates =
        SupportCode::new(&project(false), &[]).expect("the templates are well-formed").crates;
    let leak = |it: String| -> &'static str { it.leak() };
    let published = |it: SupportCrate| Published {
        name: leak(it.name),
        version: leak(it.version.to_string()),
        checksum: "c0ffee",
    };
    crates.into_iter().map(published).collect()
}

fn support(is_vendored: bool, published: &[Published]) -> SupportCode {
    SupportCode::new(&project(is_vendored), published).expect("the templates are well-formed")
}

/// The files of a new project.
fn new(support: &SupportCode) -> Plan {
    let mut plan = Plan::default();
    plan.scaffold(ProjectPath::fixed("Cargo.toml"), MANIFEST.to_owned());
    plan.scaffold(ProjectPath::fixed("Cargo.lock"), LOCK.to_owned());
    support.plan(&mut plan, &Empty).expect("it can be planned");
    plan
}

/// A tree as a plan leaves it.
fn with(disk: &dyn Tree, plan: Plan) -> WorkTree<'_> {
    let mut tree = WorkTree::new(disk, false);
    tree.apply(plan).expect("it can be read");
    tree.writable_changes().expect("no conflict");
    tree
}

fn text(tree: &impl Tree, path: &str) -> String {
    tree.read_text(&ProjectPath::fixed(path)).ok().flatten().unwrap_or_default()
}

#[test]
fn a_project_depends_on_what_is_published() {
    let published = published();
    let tree = with(&Empty, new(&support(false, &published)));
    assert!(tree.list_files(&ProjectPath::fixed("vendor")).expect("it lists").is_empty());
    let version = published.iter().find(|it| it.name == "operator-rs-runtime");
    let version = version.expect("it is one of the crates").version;
    assert_eq!(
        text(&tree, "Cargo.toml"),
        MANIFEST
            .replace("path = \"vendor/operator-rs-runtime\"", &format!("version = \"{version}\""))
    );
    let lock = text(&tree, "Cargo.lock");
    assert_eq!(lock.matches("checksum = \"c0ffee\"\n").count(), published.len());
    let source =
        "source = \"registry+https://github.com/rust-lang/crates.io-index\"\nchecksum = \"c0ffee\"";
    assert!(lock.contains(source));
    assert_eq!(lock.lines().count(), LOCK.lines().count() + 2 * published.len());

    // Another version is not what this program generates code for.
    let other: Vec<_> = published.iter().map(|it| Published { version: "0.0.1", ..*it }).collect();
    for (is_vendored, published) in [(false, &[][..]), (false, &other), (true, &published)] {
        let tree = with(&Empty, new(&support(is_vendored, published)));
        assert_eq!(text(&tree, "Cargo.toml"), MANIFEST);
        assert_eq!(text(&tree, "Cargo.lock"), LOCK);
        assert!(!text(&tree, "vendor/operator-rs-runtime/src/lib.rs").is_empty());
    }
}

#[test]
fn the_source_in_a_project_of_before_is_replaced_and_comes_back() {
    let published = published();
    let mut before = new(&support(false, &[]));
    before.scaffold(ProjectPath::fixed("client/Cargo.toml"), MEMBER.to_owned());
    let before = with(&Empty, before);

    let mut plan = Plan::default();
    support(false, &published).plan(&mut plan, &before).expect("it can be planned");
    let after = with(&before, plan);
    let expected = with(&Empty, new(&support(false, &published)));
    for path in ["Cargo.toml", "Cargo.lock"] {
        assert_eq!(text(&after, path), text(&expected, path));
    }
    assert!(after.list_files(&ProjectPath::fixed("vendor")).expect("it lists").is_empty());
    let member = text(&after, "client/Cargo.toml");
    assert!(member.contains("version = ") && !member.contains("path"), "{member}");

    let mut plan = Plan::default();
    support(true, &published).plan(&mut plan, &after).expect("it can be planned");
    let vendored = with(&after, plan);
    for path in ["Cargo.toml", "Cargo.lock", "vendor/operator-rs-runtime/src/lib.rs"] {
        assert_eq!(text(&vendored, path), text(&before, path));
    }
    let member = MEMBER.replace("runtime/\"", "runtime\"");
    assert_eq!(text(&vendored, "client/Cargo.toml"), member);
}

/// Git has checked the files out with the line ends of Windows.
#[test]
fn files_with_crlf_are_current_and_keep_their_line_ends() {
    let crlf = |text: &str| text.replace('\n', "\r\n");
    let published = published();
    let mut before = Plan::default();
    before.scaffold(ProjectPath::fixed("Cargo.toml"), crlf(MANIFEST));
    before.scaffold(ProjectPath::fixed("Cargo.lock"), crlf(LOCK));
    let before = with(&Empty, before);

    let mut plan = Plan::default();
    support(false, &[]).plan(&mut plan, &before).expect("it can be planned");
    let current = with(&before, plan);
    for path in ["Cargo.toml", "Cargo.lock"] {
        assert_eq!(text(&current, path), text(&before, path));
    }

    let mut plan = Plan::default();
    support(false, &published).plan(&mut plan, &before).expect("it can be planned");
    let after = with(&before, plan);
    let expected = with(&Empty, new(&support(false, &published)));
    for path in ["Cargo.toml", "Cargo.lock"] {
        assert_eq!(text(&after, path), crlf(&text(&expected, path)));
    }
}

#[test]
fn an_edited_source_is_not_lost() {
    let mut edited = new(&support(false, &[]));
    let path = ProjectPath::fixed("vendor/operator-rs-runtime/src/lib.rs");
    let lib = text(&with(&Empty, edited.clone()), path.as_str());
    edited.scaffold(path, lib + "// mine\n");
    let before = with(&Empty, edited);
    let mut plan = Plan::default();
    support(false, &published()).plan(&mut plan, &before).expect("it can be planned");
    let refused = plan.changes_against(&before, false).map(|_| ()).expect_err("it is refused");
    let problem = find_error::<Diagnostics>(&refused).and_then(|it| it.list.first());
    let problem = problem.expect("it has a place");
    assert_eq!(problem.message, "this file is no longer generated, and it was edited by hand");
    assert_eq!(
        problem.hints,
        [
            "commit it and pass `--force` to delete it; or keep the source in `vendor/`: set `vendor: true` for `rust.operator-rs.io/v1` under `plugins` in PROJECT"
        ]
    );
    let mut after = WorkTree::new(&before, true);
    after.apply(plan).expect("`--force` deletes it");
    let vendor = ProjectPath::fixed("vendor");
    assert!(after.list_files(&vendor).expect("it lists").is_empty());
}

#[test]
fn only_our_dependencies_change() {
    let (published, crates) = (published(), ["operator-rs-runtime"]);
    let version = published.iter().find(|it| it.name == crates[0]).expect("it is one").version;
    let check = |before: &str, after: &str| {
        let found = manifest::depend(before, &support(false, &published), "");
        assert_eq!(found, after.replace("VERSION", version));
        let back =
            manifest::depend(&after.replace("VERSION", version), &support(true, &published), "");
        assert_eq!(back, before);
    };
    check(
        "# a\n[target.'cfg(unix)'.dependencies]\noperator-rs-runtime={ path = \"vendor/operator-rs-runtime\" }# b\n",
        "# a\n[target.'cfg(unix)'.dependencies]\noperator-rs-runtime={ version = \"VERSION\" }# b\n",
    );
    for same in [
        "[dependencies]\noperator-rs-runtime = { path = \"../fork\" }\n",
        "[dependencies]\noperator-rs-runtime = { git = \"https://example.com/fork\", version = \"0.1.0\" }\n",
        "[dependencies]\noperator-rs-runtime = { workspace = true }\n",
        "[dependencies]\nother = { path = \"vendor/operator-rs-runtime\" }\n",
        "[patch.crates-io]\noperator-rs-runtime = { path = \"vendor/operator-rs-runtime\" }\n",
        "[dependencies\n",
    ] {
        check(same, same);
    }
    // Requirements that admit this version are the user's.
    let by_version = support(false, &published);
    for (before, after) in [
        ("operator-rs-runtime = \"0.0.1\"", "operator-rs-runtime = \"VERSION\""),
        ("operator-rs-runtime = \"=0.0.1\"", "operator-rs-runtime = \"=0.0.1\""),
        ("operator-rs-runtime = \"99.0.0\"", "operator-rs-runtime = \"99.0.0\""),
    ] {
        let found = manifest::depend(&format!("[dependencies]\n{before}\n"), &by_version, "");
        let after = format!("[dependencies]\n{}\n", after.replace("VERSION", version));
        assert_eq!(found, after);
    }
}
