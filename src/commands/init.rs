use std::{fmt, path::Path};

use serde::Serialize;

use super::{
    Mode,
    derive::{self, How},
};
use crate::{
    disk::{self, Above, Root},
    hint::Hint as _,
    model::{Domain, Project, ProjectName, ProjectPath},
    plan::{Found, Plan, Tree as _},
    scaffold,
};

/// Start a new operator project
#[derive(clap::Args)]
pub struct Args {
    /// The domain that the API groups live under
    #[arg(long, default_value = "my.domain", allow_hyphen_values = true)]
    domain: Domain,
    /// The project's name [default: the folder's name]
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    project_name: Option<ProjectName>,
    /// Who owns it: named in LICENSE and as the bundle's provider
    #[arg(long, default_value = "", hide_default_value = true)]
    owner: String,
    /// The license: a LICENSE file and the field in Cargo.toml
    #[arg(long, value_enum, default_value_t = License::Apache2)]
    license: License,
    /// Watch the operator's own namespace only: a Role in place of a ClusterRole
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t = false, default_missing_value = "true", action = clap::ArgAction::Set)]
    namespaced: bool,
    /// Start a project inside another one
    #[arg(long)]
    force_nested: bool,
    /// Leave out what building and running does not need: AGENTS.md, workflows, a dev container, editor settings
    #[arg(long)]
    minimal: bool,
    #[command(flatten)]
    pub mode: Mode,
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum License {
    Apache2,
    None,
}

impl fmt::Display for License {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Apache2 => "apache2",
            Self::None => "none",
        })
    }
}

/// What `templates/init` may say.
#[derive(Serialize)]
struct Context<'a> {
    #[serde(flatten)]
    names: derive::Names<'a>,
    owner: &'a str,
    license: &'static str,
    minimal: bool,
}

impl Args {
    pub fn plan(self, dir: &Path, root: &Root) -> anyhow::Result<Plan> {
        if let Found::Text(_) | Found::Other(_) = root.look(&Project::path())? {
            return Err(anyhow::format_err!("there is a project here already: PROJECT"))
                .hint("go on with `operator-rs create api`, or choose another folder");
        }
        if !self.force_nested {
            refuse_nested(dir)?;
        }
        let name = match self.project_name {
            Some(name) => name,
            None => name_of(root)?,
        };
        if self.owner.contains(|c: char| c.is_control() || c == '"' || c == '\\') {
            anyhow::bail!(
                "`--owner` is one line, without quotes, backslashes and control characters"
            );
        }
        let project = Project::new(name, self.domain, self.namespaced, env!("CARGO_PKG_VERSION"));
        let (license, sets): (_, &[&str]) = match self.license {
            License::Apache2 => ("Apache-2.0", &["init", "license/apache2"]),
            License::None => ("", &["init"]),
        };
        let names = derive::Names::new(&project);
        let context = Context { names, owner: &self.owner, license, minimal: self.minimal };
        let mut plan = scaffold::scaffold(sets, &context)?;
        if !self.minimal {
            plan.extend(scaffold::scaffold(&["extras"], &context)?.offered());
        }
        for theirs in ["README.md", "LICENSE"] {
            plan.only_offer(&ProjectPath::fixed(theirs));
        }
        plan.only_lines(&ProjectPath::fixed(".gitignore"));
        let mut taken = false;
        // Carried as it is: to parse so long a template would take longer than all the others together.
        plan.rework(&ProjectPath::fixed("Cargo.lock"), |lock| {
            let lock = lock.replace("{{project_name}}", &project.name.to_string());
            taken = has_twice(&lock, &project.name.to_string());
            sorted_lock(&lock)
        });
        if taken {
            return Err(anyhow::format_err!(
                "a crate that the project would depend on is called `{}`, too",
                project.name
            ))
            .hint(format!(
                "give the project another name: `--project-name {}-operator`",
                project.name
            ));
        }
        plan.scaffold(Project::path(), project.text().to_owned());
        derive::everything(&mut plan, root, &project, &How::default())?;
        plan.next(
            "Next: add an API, and see that it compiles:\n  \
             operator-rs create api --group cache --kind Memcached --image memcached:1.6.39-alpine --port 11211\n  \
             cargo test"
                .to_owned(),
        );
        Ok(plan)
    }
}

/// Refuses a folder that is inside of another project: most likely, `init` was run in the wrong folder.
fn refuse_nested(dir: &Path) -> anyhow::Result<()> {
    let name = Project::path();
    let Some(Above { folder, same_owner: true }) = disk::above(dir, name.as_str())? else {
        return Ok(());
    };
    let outer = Root::new(&folder)?.read(&name).ok().flatten();
    let outer = match outer.map(|text| Project::from_text(&text)) {
        Some(Ok(project)) => format!("the project `{}`", project.name),
        _ => "another project".to_owned(),
    };
    let path = folder.join(name);
    Err(anyhow::format_err!("this folder is inside of {outer}: `{}`", path.display())).hint(
        "choose a folder elsewhere; or give `--force-nested`, and commands in this folder will use the inner project",
    )
}

/// The folder's name in lower case, if a project can be called so.
fn name_of(root: &Root) -> anyhow::Result<ProjectName> {
    let folder = root.name()?;
    folder
        .to_lowercase()
        .parse()
        .map_err(|it| {
            anyhow::format_err!("the folder's name `{folder}` cannot be the project's: it {it}")
        })
        .hint("give the project a name of its own: `--project-name memcached-operator`")
}

/// Whether the project's packages are not the only ones of their names: cargo would then write the
/// lock file in another way.
fn has_twice(lock: &str, project: &str) -> bool {
    let count = |name: &str| lock.matches(&format!("\nname = \"{name}\"\n")).count();
    1 < count(project) || 1 < count(&format!("{project}-api"))
}

/// Cargo.lock with its packages, and the dependencies of each, in cargo's order whatever the project
/// is called; else cargo would write the file anew, and `--locked` would refuse.
fn sorted_lock(text: &str) -> String {
    let mut parts = text.trim_end().split("\n\n[[package]]\n");
    let head = parts.next().unwrap_or_default();
    let mut packages: Vec<String> = parts.map(sorted_dependencies).collect();
    packages.sort_by_cached_key(|it| key(it));
    packages.iter().fold(head.to_owned(), |res, it| res + "\n\n[[package]]\n" + it) + "\n"
}

fn sorted_dependencies(package: &str) -> String {
    let lines: Vec<&str> = package.lines().collect();
    let is_dependency = |it: &&str| it.starts_with(" \"");
    let mut dependencies: Vec<&str> = lines.iter().copied().filter(is_dependency).collect();
    dependencies.sort_by_key(|it| it.trim_matches([' ', '"', ',']));
    let mut sorted = dependencies.into_iter();
    let pick = |line: &&str| {
        if is_dependency(line) { sorted.next().unwrap_or(line) } else { line }.to_owned()
    };
    lines.iter().map(pick).collect::<Vec<_>>().join("\n")
}

/// Name, then version: `version` follows `name` in every package, and versions of one name are few.
fn key(package: &str) -> (String, Option<semver::Version>) {
    let field = |name: &str| {
        let line = package.lines().find_map(|it| it.strip_prefix(name)?.strip_prefix(" = "));
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
