//! The project's Cargo.lock.

use crate::plan::Plan;
use diagnostics::Hint as _;
use model::{ProjectName, ProjectPath};

/// Names the project in Cargo.lock. That is no template: parsing so long a file would take longer than rendering all
/// templates together.
pub fn name_project(plan: &mut Plan, project: &ProjectName) -> anyhow::Result<()> {
    let mut taken = false;
    plan.edit_scaffolded(&ProjectPath::fixed("Cargo.lock"), |lock| {
        let lock = lock.replace("{{project_name}}", &project.to_string());
        taken = has_twice(&lock, &project.to_string());
        sorted_lock(&lock)
    });
    if taken {
        Err(anyhow::format_err!(
            "`{project}` is also the name of a crate that the project would depend on"
        ))
        .hint(format!("give the project another name: `--project-name {project}-operator`"))
    } else {
        Ok(())
    }
}

/// Returns whether other packages have the names of the project's packages: cargo would then write the
/// lock file in another way.
fn has_twice(lock: &str, project: &str) -> bool {
    let count = |name: &str| lock.matches(&format!("\nname = \"{name}\"\n")).count();
    count(project) > 1 || count(&format!("{project}-api")) > 1
}

/// Cargo.lock with its packages, and the dependencies of each, in cargo's order whatever the project
/// is called; else cargo would write the file anew, and `--locked` would refuse.
fn sorted_lock(text: &str) -> String {
    let mut parts = text.trim_end().split("\n\n[[package]]\n");
    let head = parts.next().unwrap_or_default();
    let mut packages: Vec<String> = parts.map(sorted_dependencies).collect();
    packages.sort_by_cached_key(|package| sort_key(package));
    packages.iter().fold(head.to_owned(), |lock, package| lock + "\n\n[[package]]\n" + package)
        + "\n"
}

fn sorted_dependencies(package: &str) -> String {
    let lines: Vec<&str> = package.lines().collect();
    let is_dependency = |line: &&str| line.starts_with(" \"");
    let mut dependencies: Vec<&str> = lines.iter().copied().filter(is_dependency).collect();
    dependencies.sort_by_key(|line| line.trim_matches([' ', '"', ',']));
    let mut sorted = dependencies.into_iter();
    let pick = |line: &&str| {
        if is_dependency(line) { sorted.next().unwrap_or(line) } else { line }.to_owned()
    };
    lines.iter().map(pick).collect::<Vec<_>>().join("\n")
}

/// Name, then version: `version` follows `name` in every package, and versions of one name are few.
fn sort_key(package: &str) -> (String, Option<semver::Version>) {
    let field = |name: &str| {
        let line = package.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = "));
        line.unwrap_or_default().trim_matches('"').to_owned()
    };
    (field("name"), field("version").parse().ok())
}

#[test]
fn a_lock_file_is_in_cargos_order_whatever_the_project_is_called() {
    let lock = "# cargo\nversion = 4\n\n[[package]]\nname = \"b\"\nversion = \"10.0.0\"\n\n[[package]]\nname = \"zed\"\n\
                version = \"0.0.1\"\ndependencies = [\n \"zed-api\",\n \"b 10.0.0\",\n]\n\n[[package]]\nname = \"b\"\nversion = \"9.0.0\"\n";
    assert_eq!(
        sorted_lock(lock),
        "# cargo\nversion = 4\n\n[[package]]\nname = \"b\"\nversion = \"9.0.0\"\n\n[[package]]\nname = \"b\"\nversion = \"10.0.0\"\n\n\
         [[package]]\nname = \"zed\"\nversion = \"0.0.1\"\ndependencies = [\n \"b 10.0.0\",\n \"zed-api\",\n]\n"
    );
}

#[test]
fn a_project_called_as_a_crate_it_depends_on_is_noticed() {
    let lock = "\n[[package]]\nname = \"log\"\n\n[[package]]\nname = \"a\"\n\n[[package]]\nname = \"log\"\n";
    assert!(has_twice(lock, "log"));
    assert!(!has_twice(lock, "a"));
}
