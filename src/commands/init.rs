use std::path::Path;

use clap::ValueEnum as _;
use serde::Serialize;

use super::Mode;
use crate::app::{
    derive::{self, GenerateOptions},
    license,
    support::{PUBLISHED, Support},
};
use crate::project::Project;
use crate::{
    disk::{self, Ancestor, Root},
    plan::{Plan, WorkTree},
    scaffold,
};
use diagnostics::{Diagnostic, Hint as _, Lines};
use model::{Domain, Found, ProjectName, ProjectPath, Tree};

/// Create a new operator project
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  operator-rs init --domain example.com --owner 'Example, Inc.'
  operator-rs init --domain example.com --dir memcached-operator    # in a new directory
  operator-rs init --with release,dependabot    # also in a project that exists")]
pub struct Args {
    /// Domain of the API groups [default: my.domain]
    #[arg(long, allow_hyphen_values = true)]
    domain: Option<Domain>,
    /// Name of the project [default: the directory's name]
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    project_name: Option<ProjectName>,
    /// Copyright holder in LICENSE and provider of the bundle
    #[arg(long, default_value = "", hide_default_value = true)]
    owner: String,
    /// License: the LICENSE file and the field in Cargo.toml [default: that of the LICENSE file, or apache2]
    #[arg(long, value_enum)]
    license: Option<License>,
    /// Watch only the operator's own namespace, with a Role instead of a ClusterRole
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t = false, default_missing_value = "true", action = clap::ArgAction::Set)]
    namespaced: bool,
    /// Start a project inside another one
    #[arg(long)]
    force_nested: bool,
    /// Keep the source of operator-rs' crates in vendor/, also once they are published
    #[arg(long)]
    vendor: bool,
    /// Also create these files; in an existing project, create only these
    #[arg(long, value_enum, value_name = "NAMES", value_delimiter = ',')]
    with: Vec<Extra>,
    /// Accepted because Go tutorials use it
    #[arg(long, hide = true)]
    repo: Option<String>,
    #[command(flatten)]
    pub mode: Mode,
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum License {
    Apache2,
    None,
}

/// The folders of `templates/extras`.
#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum Extra {
    /// AGENTS.md: instructions for coding agents
    Agents,
    /// A workflow that checks licenses, sources and advisories of dependencies, and its settings in deny.toml
    Deny,
    /// Settings of Dependabot, which updates crates, actions and images
    Dependabot,
    /// A dev container with Rust and a cluster
    Devcontainer,
    /// A workflow that publishes images, the bundle and a GitHub release for each tag
    Release,
    /// Settings of VS Code, and how it debugs the manager
    Vscode,
    /// All of these
    All,
}

/// The variables of `templates/init` and `templates/extras`.
#[derive(Serialize)]
struct Context<'a> {
    #[serde(flatten)]
    names: derive::Names<'a>,
    owner: &'a str,
    license: &'static str,
    /// The license file, if the license has no known identifier.
    license_file: &'a str,
    is_vendored: bool,
}

impl Args {
    pub fn write(self, dir: &Path, tree: &mut WorkTree<'_>, root: &Root) -> anyhow::Result<()> {
        if let Some(project) = self.existing(root)? {
            let support = Support::new(&project, PUBLISHED)?;
            return tree.apply(self.extras(&Context::new(&project, &support))?);
        }
        if !self.force_nested {
            refuse_nested(dir)?;
        }
        let name = match &self.project_name {
            Some(name) => name.clone(),
            None => name_of(root)?,
        };
        if self.owner.contains(|c: char| c.is_control() || c == '"' || c == '\\') {
            anyhow::bail!(
                "`--owner` must be one line without quotes, backslashes and control characters"
            );
        }
        let has_domain = self.domain.is_some();
        let domain = match &self.domain {
            Some(domain) => domain.clone(),
            None => "my.domain".parse()?,
        };
        let version = env!("CARGO_PKG_VERSION");
        let project = Project::new(name, domain, self.namespaced, self.vendor, version);
        let support = Support::new(&project, PUBLISHED)?;
        let existing = license::find(root)?;
        let license = identifier(self.license, existing.as_ref())?;
        let sets: &[&str] = match (self.license, &existing) {
            (Some(License::Apache2) | None, None) => &["init", "license/apache2"],
            _ => &["init"],
        };
        let is_unknown = license.is_empty() && self.license.is_none();
        let file = existing.as_ref().filter(|_| is_unknown);
        let license_file = file.map_or("", |it| it.path.as_str());
        let context = Context {
            owner: &self.owner,
            license,
            license_file,
            ..Context::new(&project, &support)
        };
        let mut plan = scaffold::scaffold(sets, &context)?;
        plan.only_offer_in(&ProjectPath::fixed(".github"));
        plan.extend(self.extras(&context)?);
        keep_theirs(&mut plan, root, existing, license)?;
        if self.repo.is_some() {
            plan.warn("`--repo` has no effect: a Cargo package has no import path".to_owned());
        }
        if !has_domain {
            plan.warn(
                "API groups end in `my.domain`: to choose another domain, run `operator-rs init --domain example.com` in an empty directory"
                    .to_owned(),
            );
        }
        plan.only_lines(&ProjectPath::fixed(".gitignore"));
        warn_of_ignored_lock(&mut plan, root)?;
        lock(&mut plan, &project.name)?;
        plan.scaffold(Project::path(), project.text().to_owned());
        derive::everything(tree, plan, &project, &support, &GenerateOptions::default())?;
        tree.next(
            "Next: add an API, then compile and test:\n  \
             operator-rs create api --group cache --kind Memcached --image memcached:1.6.39-alpine --port 11211\n  \
             cargo test"
                .to_owned(),
        );
        Ok(())
    }
}

impl Args {
    /// The project that is here already. It may be that of another tool, and only `--with` can be given.
    fn existing(&self, root: &Root) -> anyhow::Result<Option<Project>> {
        let project = match root.look(&Project::path())? {
            Found::Text(text) => Some(Project::from_text(&text)?),
            Found::Other(_) => None,
            _ => return Ok(None),
        };
        let is_new = self.domain.is_some()
            || self.project_name.is_some()
            || !self.owner.is_empty()
            || self.license.is_some()
            || self.namespaced
            || self.force_nested
            || self.vendor;
        if let Some(project) = project.filter(|_| !self.with.is_empty() && !is_new) {
            return Ok(Some(project));
        }
        Err(anyhow::format_err!("this directory already has a project: PROJECT exists")).hint(
            match is_new && !self.with.is_empty() {
                true => "to add files to it, give only `--with`",
                false => "add an API with `operator-rs create api`, or choose another directory",
            },
        )
    }

    /// The files of `--with`, which are the user's. Those that exist stay as they are.
    fn extras(&self, context: &Context<'_>) -> anyhow::Result<Plan> {
        let all = self.with.contains(&Extra::All);
        let chosen = Extra::value_variants().iter().filter(|it| all || self.with.contains(it));
        let mut plan = Plan::default();
        for it in chosen.filter_map(Extra::to_possible_value) {
            let set = format!("extras/{}", it.get_name());
            plan.extend(scaffold::scaffold(&[&set], context)?.offered());
        }
        Ok(plan)
    }
}

impl<'a> Context<'a> {
    fn new(project: &'a Project, support: &Support) -> Self {
        let names = derive::Names::new(project);
        let is_vendored = support.is_vendored;
        Self { names, owner: "", license: "", license_file: "", is_vendored }
    }
}

/// The license's SPDX identifier; empty if there is none or it is unknown.
fn identifier(
    license: Option<License>,
    existing: Option<&license::License>,
) -> anyhow::Result<&'static str> {
    match (license, existing) {
        (Some(License::None), _) => Ok(""),
        (Some(License::Apache2), Some(it)) if it.identifier != Some("Apache-2.0") => {
            Err(anyhow::format_err!("{} is not the Apache License 2.0", it.path))
                .hint(format!("leave out `--license` to keep {}, or delete that file", it.path))
        }
        (_, Some(it)) => Ok(it.identifier.unwrap_or_default()),
        (_, None) => Ok("Apache-2.0"),
    }
}

/// Names the project in Cargo.lock. That is no template: parsing so long a file would take longer than rendering all
/// templates together.
fn lock(plan: &mut Plan, name: &ProjectName) -> anyhow::Result<()> {
    let mut taken = false;
    plan.rework(&ProjectPath::fixed("Cargo.lock"), |lock| {
        let lock = lock.replace("{{project_name}}", &name.to_string());
        taken = has_twice(&lock, &name.to_string());
        sorted_lock(&lock)
    });
    match taken {
        false => Ok(()),
        true => Err(anyhow::format_err!(
            "`{name}` is also the name of a crate that the project would depend on"
        ))
        .hint(format!("give the project another name: `--project-name {name}-operator`")),
    }
}

/// Keeps the existing README and license, and says where the text of the scaffold's README is.
fn keep_theirs(
    plan: &mut Plan,
    root: &Root,
    existing: Option<license::License>,
    identifier: &str,
) -> anyhow::Result<()> {
    let readme = ProjectPath::fixed("README.md");
    if root.look(&readme)? != Found::Nothing {
        let ours = ProjectPath::fixed("docs/operator-rs.md");
        let why = format!("it already exists: {ours} describes how to work with this project");
        plan.relocate(&readme, ours);
        plan.keep(readme, &why);
    }
    if let Some(it) = existing {
        let why = match identifier {
            "" => {
                "it already exists; its license is unknown, so Cargo.toml names the file".to_owned()
            }
            license => format!("it already exists: Cargo.toml has `license = \"{license}\"`"),
        };
        for path in [Some(it.path), it.other].into_iter().flatten() {
            plan.keep(path, &why);
        }
    }
    Ok(())
}

/// The `.gitignore` that forges offer for Rust may list Cargo.lock.
fn warn_of_ignored_lock(plan: &mut Plan, tree: &impl Tree) -> anyhow::Result<()> {
    let path = ProjectPath::fixed(".gitignore");
    let Found::Text(text) = tree.look(&path)? else { return Ok(()) };
    let patterns = ["Cargo.lock", "/Cargo.lock", "**/Cargo.lock", "*.lock"];
    let about = |line: &str| patterns.contains(&line.trim_start_matches('!'));
    // The last pattern that matches decides.
    let last = text.lines().map(str::trim_end).enumerate().filter(|it| about(it.1)).last();
    if let Some((at, line)) = last.filter(|it| !it.1.starts_with('!')) {
        plan.warn(
            Diagnostic::in_file(path.to_string(), "git ignores Cargo.lock")
                .at(at + 1, 1)
                .quote(&mut Lines::of(&text))
                .with_hint(format!(
                    "remove the line `{line}`: `cargo --locked`, which the workflows use, needs Cargo.lock in git"
                )),
        );
    }
    Ok(())
}

/// Refuses a directory inside another project: most likely, `init` was run in the wrong directory.
fn refuse_nested(dir: &Path) -> anyhow::Result<()> {
    let name = Project::path();
    let Some(Ancestor { folder, same_owner: true }) = disk::find_up(dir, name.as_str())? else {
        return Ok(());
    };
    let outer = Root::new(&folder)?.read(&name).ok().flatten();
    let outer = match outer.map(|text| Project::from_text(&text)) {
        Some(Ok(project)) => format!("the project `{}`", project.name),
        _ => "another project".to_owned(),
    };
    let path = folder.join(name);
    Err(anyhow::format_err!("this directory is inside {outer}: `{}`", path.display())).hint(
        "choose a directory outside that project; with `--force-nested`, commands in this directory will use the inner project",
    )
}

/// The directory's name in lower case, if it is a valid project name.
fn name_of(root: &Root) -> anyhow::Result<ProjectName> {
    let folder = root.name()?;
    folder
        .to_lowercase()
        .parse()
        .map_err(|it| {
            anyhow::format_err!(
                "the directory's name `{folder}` is not a valid project name: it {it}"
            )
        })
        .hint("choose another name for the project, e.g. `--project-name memcached-operator`")
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
