mod lock;
mod recreate;

use std::path::{Path, PathBuf};

use super::{OutputMode, RunCommand, WorkingDirectory, writing};
use clap::ValueEnum as _;
use serde::Serialize;

use crate::app::{
    generation::derive::{self, GenerateOptions},
    scaffolding::{
        license,
        support::{PUBLISHED, SupportCode},
        template_names::TemplateNames,
    },
};
use crate::project::{Inputs, Project};
use crate::{
    disk::{self, Ancestor, Root},
    plan::{Plan, WorkTree},
    scaffold,
};
use diagnostics::{Diagnostic, Hint as _, Lines};
use model::{Domain, FileContent, ProjectName, ProjectPath, Tree, display_path};

/// Create a new operator project
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  operator-rs init --domain example.com --owner 'Example, Inc.'
  operator-rs init --domain example.com --dir memcached-operator    # in a new directory
  operator-rs init --with release,dependabot    # also in a project that exists
  operator-rs init --from ../memcached-operator/PROJECT --dir ../fresh    # to compare with what was edited")]
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
    license: Option<LicenseChoice>,
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
    /// Recreate the files of a project, as `init` and `create` wrote them, from its PROJECT file, in an empty directory
    #[arg(long, value_name = "FILE", conflicts_with_all = ["domain", "project_name", "owner", "license", "namespaced", "vendor", "with", "repo"])]
    from: Option<PathBuf>,
    /// Accepted because Go tutorials use it
    #[arg(long, hide = true)]
    repo: Option<String>,
    #[command(flatten)]
    mode: OutputMode,
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum LicenseChoice {
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
struct InitContext<'a> {
    #[serde(flatten)]
    names: TemplateNames<'a>,
    owner: &'a str,
    license: &'a str,
    /// The license file, if the license has no known identifier.
    license_file: &'a str,
    is_vendored: bool,
}

const README: &str = "README.md";

impl RunCommand for Args {
    fn working_directory(&self) -> WorkingDirectory {
        WorkingDirectory::Created
    }

    fn run(self, dir: &Path) -> anyhow::Result<()> {
        writing(dir, &self.mode.clone(), |tree, root| self.write_files(dir, tree, root))
    }
}

impl Args {
    fn write_files(self, dir: &Path, tree: &mut WorkTree<'_>, root: &Root) -> anyhow::Result<()> {
        if let Some(project) = self.find_existing(root)? {
            return self.add_extras(tree, &project);
        }
        if !self.force_nested {
            refuse_nested(dir)?;
        }
        if let Some(file) = &self.from {
            return recreate::recreate_project(file, tree, root);
        }
        let name = match &self.project_name {
            Some(name) => name.clone(),
            None => name_of(root)?,
        };
        let domain = match &self.domain {
            Some(domain) => domain.clone(),
            None => "my.domain".parse()?,
        };
        let project = Project::new(name, domain, self.namespaced, &self.build_inputs(root)?);
        create_project(&project, tree, root)?;
        if self.repo.is_some() {
            tree.warn("`--repo` has no effect: a Cargo package has no import path".to_owned());
        }
        if self.domain.is_none() {
            let note = "API groups end in `my.domain`: to choose another domain, run `operator-rs init --domain example.com` in an empty directory";
            tree.warn(Diagnostic::from(note).into_note());
        }
        tree.set_next_steps(
            "Next: add an API, then compile and test:\n  \
             operator-rs create api --group cache --kind Memcached --image memcached:1.6.39-alpine --port 11211\n  \
             cargo test"
                .to_owned(),
        );
        Ok(())
    }

    /// Returns the existing project, which another tool may have created, if only `--with` is given.
    fn find_existing(&self, root: &Root) -> anyhow::Result<Option<Project>> {
        let project = match root.read_content(&Project::path())? {
            FileContent::Text(text) => Some(Project::from_text(&text)?),
            FileContent::Other(_) => None,
            _ => return Ok(None),
        };
        let is_new = self.domain.is_some()
            || self.project_name.is_some()
            || !self.owner.is_empty()
            || self.license.is_some()
            || self.from.is_some()
            || self.namespaced
            || self.force_nested
            || self.vendor;
        if let Some(project) = project.filter(|_| !self.with.is_empty() && !is_new) {
            return Ok(Some(project));
        }
        Err(anyhow::format_err!("this directory already has a project: PROJECT exists")).hint(
            if is_new && !self.with.is_empty() {
                "to add files to it, pass only `--with`"
            } else {
                "add an API with `operator-rs create api`, or choose another directory"
            },
        )
    }

    /// Builds the record of the flags and of the existing files for PROJECT.
    fn build_inputs(&self, root: &Root) -> anyhow::Result<Inputs> {
        let theirs = license::find(root)?;
        let identifier = license_identifier(self.license, theirs.as_ref())?;
        let readme = ProjectPath::fixed(README);
        let mut kept = Vec::new();
        if root.read_content(&readme)? != FileContent::Nothing {
            kept.push(readme);
        }
        let is_unknown = identifier.is_empty() && self.license.is_none();
        let license_file =
            theirs.as_ref().filter(|_| is_unknown).map(|license| license.path.clone());
        kept.extend(
            theirs.into_iter().flat_map(|license| [Some(license.path), license.other]).flatten(),
        );
        Ok(Inputs {
            kept,
            license: match identifier {
                "" => license_file.is_none().then(|| "none".to_owned()),
                "Apache-2.0" => None,
                other => Some(other.to_owned()),
            },
            license_file,
            owner: self.owner.clone(),
            vendor: self.vendor,
            with: self.extra_names(),
            ..Inputs::default()
        })
    }

    /// The names of the chosen folders of `templates/extras`.
    fn extra_names(&self) -> Vec<String> {
        let all = self.with.contains(&Extra::All);
        let chosen = Extra::value_variants().iter().filter(|extra| **extra != Extra::All);
        let chosen = chosen.filter(|extra| all || self.with.contains(extra));
        chosen
            .filter_map(Extra::to_possible_value)
            .map(|value| value.get_name().to_owned())
            .collect()
    }

    /// Adds the files of `--with` to a project that exists.
    fn add_extras(&self, tree: &mut WorkTree<'_>, project: &Project) -> anyhow::Result<()> {
        let mut inputs = project.inputs.clone();
        inputs.with.extend(self.extra_names());
        let known =
            |name: &String| Extra::value_variants().iter().position(|at| at.is_called(name));
        inputs.with.sort_by_key(known);
        inputs.with.dedup();
        let edited = project.with_inputs(&inputs)?;
        let support = SupportCode::new(project, PUBLISHED)?;
        let mut plan = plan_extras(&self.extra_names(), &InitContext::new(project, &support))?;
        plan.edit_file(Project::path(), project.text().to_owned(), edited.text().to_owned());
        tree.apply(plan)
    }
}

impl Extra {
    fn is_called(self, name: &str) -> bool {
        self.to_possible_value().is_some_and(|value| value.get_name() == name)
    }
}

/// Writes a new project.
fn create_project(project: &Project, tree: &mut WorkTree<'_>, root: &Root) -> anyhow::Result<()> {
    let inputs = &project.inputs;
    let support = SupportCode::new(project, PUBLISHED)?;
    let context = InitContext::new(project, &support);
    if inputs.owner.contains(|c: char| c.is_control() || c == '"' || c == '\\') {
        anyhow::bail!(
            "`--owner` must be one line without quotes, backslashes and control characters"
        );
    }
    let readme = ProjectPath::fixed(README);
    let is_theirs = inputs.kept.iter().any(|path| *path != readme);
    let sets: &[&str] = match context.license {
        "Apache-2.0" if !is_theirs => &["init", "license/apache2"],
        _ => &["init"],
    };
    let mut plan = scaffold::scaffold(sets, &context)?;
    plan.create_if_missing_in(&ProjectPath::fixed(".github"));
    plan.extend(plan_extras(&inputs.with, &context)?);
    keep_theirs(&mut plan, root, inputs, context.license)?;
    plan.append_missing_lines(&ProjectPath::fixed(".gitignore"));
    warn_of_ignored_lock(&mut plan, root)?;
    lock::name_project(&mut plan, &project.name)?;
    plan.scaffold(Project::path(), project.text().to_owned());
    derive::everything(tree, plan, project, &support, &GenerateOptions::default())?;
    Ok(())
}

/// The files of some folders of `templates/extras`, which are the user's. Those that exist stay as they are.
fn plan_extras(names: &[String], context: &InitContext<'_>) -> anyhow::Result<Plan> {
    let mut plan = Plan::default();
    for name in names {
        plan.extend(
            scaffold::scaffold(&[&format!("extras/{name}")], context)?.keep_existing_files(),
        );
    }
    Ok(plan)
}

impl<'a> InitContext<'a> {
    fn new(project: &'a Project, support: &SupportCode) -> Self {
        let inputs = &project.inputs;
        Self {
            names: TemplateNames::new(project),
            owner: &inputs.owner,
            license: match inputs.license.as_deref() {
                Some("none") => "",
                Some(identifier) => identifier,
                None if inputs.license_file.is_some() => "",
                None => "Apache-2.0",
            },
            license_file: inputs.license_file.as_ref().map_or("", ProjectPath::as_str),
            is_vendored: support.is_vendored,
        }
    }
}

/// The license's SPDX identifier; empty if there is none or it is unknown.
fn license_identifier(
    license: Option<LicenseChoice>,
    existing: Option<&license::License>,
) -> anyhow::Result<&'static str> {
    match (license, existing) {
        (Some(LicenseChoice::None), _) => Ok(""),
        (Some(LicenseChoice::Apache2), Some(existing))
            if existing.identifier != Some("Apache-2.0") =>
        {
            Err(anyhow::format_err!("{} is not the Apache License 2.0", existing.path)).hint(
                format!("leave out `--license` to keep {}, or delete that file", existing.path),
            )
        }
        (_, Some(existing)) => Ok(existing.identifier.unwrap_or_default()),
        (_, None) => Ok("Apache-2.0"),
    }
}

/// Keeps the existing README and license, and says where the text of the scaffold's README is.
fn keep_theirs(
    plan: &mut Plan,
    root: &Root,
    inputs: &Inputs,
    identifier: &str,
) -> anyhow::Result<()> {
    let readme = ProjectPath::fixed(README);
    for path in &inputs.kept {
        let why = if *path == readme {
            let ours = ProjectPath::fixed("docs/operator-rs.md");
            let why = format!("it already exists: {ours} describes how to work with this project");
            plan.move_scaffolded(&readme, ours);
            why
        } else if identifier.is_empty() {
            "it already exists; its license is unknown, so Cargo.toml names the file".to_owned()
        } else {
            format!("it already exists: Cargo.toml has `license = \"{identifier}\"`")
        };
        if root.read_content(path)? != FileContent::Nothing {
            plan.keep_file(path.clone(), &why);
        }
    }
    Ok(())
}

/// The `.gitignore` that forges offer for Rust may list Cargo.lock.
fn warn_of_ignored_lock(plan: &mut Plan, tree: &impl Tree) -> anyhow::Result<()> {
    let path = ProjectPath::fixed(".gitignore");
    let FileContent::Text(text) = tree.read_content(&path)? else { return Ok(()) };
    let patterns = ["Cargo.lock", "/Cargo.lock", "**/Cargo.lock", "*.lock"];
    let about = |line: &str| patterns.contains(&line.trim_start_matches('!'));
    // The last pattern that matches decides.
    let last = text.lines().map(str::trim_end).enumerate().filter(|line| about(line.1)).last();
    if let Some((at, line)) = last.filter(|line| !line.1.starts_with('!')) {
        plan.warn(
            Diagnostic::in_file(path.to_string(), "git ignores Cargo.lock")
                .at_position(at + 1, 1)
                .quote(&mut Lines::new(&text))
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
    let outer = Root::new(&folder)?.read_text(&name).ok().flatten();
    let outer = match outer.map(|text| Project::from_text(&text)) {
        Some(Ok(project)) => format!("the project `{}`", project.name),
        _ => "another project".to_owned(),
    };
    let path = folder.join(name);
    Err(anyhow::format_err!("this directory is inside {outer}: `{}`", display_path(&path))).hint(
        "choose a directory outside that project; with `--force-nested`, commands in this directory will use the inner project",
    )
}

/// The directory's name in lower case, if it is a valid project name.
fn name_of(root: &Root) -> anyhow::Result<ProjectName> {
    let folder = root.name()?;
    folder
        .to_lowercase()
        .parse()
        .map_err(|why| {
            anyhow::format_err!(
                "the directory's name `{folder}` is not a valid project name: it {why}"
            )
        })
        .hint("choose another name for the project, e.g. `--project-name memcached-operator`")
}
