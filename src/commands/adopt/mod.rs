//! `operator-rs adopt`

mod files;
mod outside;
mod own_kinds;
mod package;

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use self::{
    files::RepositoryFiles,
    outside::{CHART_COMMAND, CRDS_COMMAND, MANIFESTS_COMMAND, parse_project_path},
    own_kinds::{Evidence, OwnKinds},
};
use super::{OutputMode, RunCommand, WorkingDirectory, writing};
use crate::{
    app::{
        cargo::{Workspace, feature_flags::FeatureFlags, tree_sources::TreeSources},
        compile,
        crds::declared,
        output::refusal::{refusal, unread},
    },
    disk::Root,
    plan::{Plan, WorkTree},
    project::{DeclaredKind, Inputs, Layout, Problem, Project, Resource},
    source::{KindUses, Reading},
    terminal,
};
use diagnostics::{Diagnostic, Hint as _, with_hints};
use model::{Domain, FileContent, ProjectName, ProjectPath, Tree as _, Version};

/// Record in PROJECT where the parts of an existing operator are
///
/// Nothing is moved, and no other file is written. The other commands then find these parts without flags. A PROJECT file of
/// kubebuilder gets the record as one of its plugins.
#[derive(clap::Args)]
#[command(mut_arg("force", |flag| flag.hide(true)), after_help = "\
Examples:
  operator-rs adopt --diff    # show what it would record
  operator-rs adopt --package my-operator --manifests deploy")]
pub struct Args {
    /// Package of the operator's program [default: the only one with a program that depends on kube]
    #[arg(long, value_name = "PACKAGE")]
    package: Option<String>,
    /// Kustomization, directory of YAML files, or file that deploys the operator [default: the only one there]
    #[arg(long, value_name = "DIR|FILE", value_parser = |path: &str| parse_project_path(path, MANIFESTS_COMMAND))]
    manifests: Option<ProjectPath>,
    /// Directory that the CRDs are written to (can be repeated) [default: those with files as `generate crds` names them, or
    /// the only one with CRDs]
    #[arg(long, value_name = "DIR", value_parser = |path: &str| parse_project_path(path, CRDS_COMMAND))]
    crds: Vec<ProjectPath>,
    /// Directory of the operator's chart [default: the only one with a workload]
    #[arg(long, value_name = "DIR", value_parser = |path: &str| parse_project_path(path, CHART_COMMAND))]
    chart: Option<ProjectPath>,
    /// Name of the project, which marks what belongs to the operator on a cluster [default: the package's name]
    #[arg(long, value_name = "NAME")]
    project_name: Option<ProjectName>,
    /// Domain of the project, which is also part of its label on a cluster [default: that of the kinds' groups]
    #[arg(long, value_name = "DOMAIN")]
    domain: Option<Domain>,
    #[command(flatten)]
    features: FeatureFlags,
    #[command(flatten)]
    compile: compile::CompileFlags,
    #[command(flatten)]
    mode: OutputMode,
}

impl RunCommand for Args {
    fn working_directory(&self) -> WorkingDirectory {
        WorkingDirectory::Exact
    }

    fn run(self, dir: &Path) -> anyhow::Result<()> {
        let workspace = Workspace::find(dir, None)?;
        let top: PathBuf = workspace.root.resolved_path().to_owned();
        if self.mode.force {
            return Err(terminal::usage_error(
                clap::error::ErrorKind::ArgumentConflict,
                "`--force` has no effect: `adopt` replaces no generated file",
            ));
        }
        writing(&top, &self.mode.clone(), |tree, root| self.write_files(tree, root))
    }
}

impl Args {
    fn write_files(self, tree: &mut WorkTree<'_>, root: &Root) -> anyhow::Result<()> {
        let before = self.read_project(root)?;
        let reading = self.read_source(root)?;
        let kinds = &reading.operator.kinds;
        let package = self.package.as_deref();
        let known = before.as_ref().map(|project| project.inputs.clone()).unwrap_or_default();
        let package = package::find_operator_package(
            root,
            &reading.crates,
            package.or(known.package.as_deref()),
        )?;
        self.ensure_paths_exist(root)?;
        let files = RepositoryFiles::scan_repository(root, kinds)?;
        let uses = KindUses::read(&TreeSources::new(root), &reading.crates, kinds);
        let OwnKinds { own, others, domain } = match &before {
            Some(before) => OwnKinds::listed_in_project(kinds, before),
            None => {
                let domain = self.domain.as_ref().map(ToString::to_string);
                let is_committed = &|kind: &DeclaredKind| files.has_crd(kind);
                Evidence { kinds, uses: &uses, domain: domain.as_deref(), is_committed }
                    .classify_kinds()
            }
        };
        let mut notes = Vec::new();
        if !others.is_empty() {
            notes.push(format!(
                "kinds {}: {}; if they are the operator's own, add them to `resources`",
                if before.is_none() {
                    "that nothing shows to be the operator's own"
                } else {
                    "whose group PROJECT does not list"
                },
                declared::names(others)
            ));
        }
        let inputs = self.choose_inputs(root, &files, package.clone(), known, &mut notes)?;
        notes.extend(outside::collect_notes(root, kinds, &files)?);
        let (project, text_before) = match before {
            Some(before) => (before.with_inputs(&inputs)?, Some(before.text().to_owned())),
            None => {
                let (name, domain) = (self.choose_name(&package)?, self.choose_domain(domain)?);
                (Project::new_in_place(&name, &domain, &inputs)?, None)
            }
        };
        let is_controlled = |kind: &DeclaredKind| uses.is_controlled(kind, kinds);
        let (listed, unread) = build_resources(&own, &project.domain, &is_controlled);
        let project = match project.layout() {
            Layout::Other => project,
            _ => listed.into_iter().try_fold(project, |project, resource| {
                if project.resources.iter().any(|other| other.is_same_version(&resource)) {
                    anyhow::Ok(project)
                } else {
                    project.with_resource(resource)
                }
            })?,
        };
        let mut plan = Plan::default();
        match text_before {
            Some(before) => plan.edit_file(Project::path(), before, project.text().to_owned()),
            None => plan.scaffold(Project::path(), project.text().to_owned()),
        }
        unread.into_iter().for_each(|kind| plan.warn(unlisted_warning(kind)));
        plan.set_next_steps(format_summary(&inputs, &project.resources, &notes));
        tree.apply(plan)
    }

    /// The PROJECT file that is there: one of another tool, or one of an earlier run, whose answers stay.
    fn read_project(&self, root: &Root) -> anyhow::Result<Option<Project>> {
        let Some(text) = root.read_text(&Project::path())? else { return Ok(None) };
        let project = Project::parse_any_tool(&text)?;
        if project.layout() == Layout::Own {
            return Err(anyhow::format_err!(
                "this project was created by `operator-rs init`: there is nothing to adopt"
            ))
            .hint("use its commands directly: `operator-rs manifests`, `operator-rs deploy`, …");
        }
        let (name, domain) = (self.project_name.as_ref(), self.domain.as_ref());
        let name =
            name.filter(|name| **name != project.name).map(|name| format!("--project-name {name}"));
        let domain = domain
            .filter(|domain| **domain != project.domain)
            .map(|domain| format!("--domain {domain}"));
        match name.or(domain) {
            None => Ok(Some(project)),
            Some(flag) => Err(anyhow::format_err!("PROJECT has a value that differs from `{flag}`"))
                .hint("edit PROJECT; objects on clusters with the old name and domain then no longer belong to the operator"),
        }
    }

    /// The kinds that the source declares. Where it may declare more than can be read, PROJECT would miss some.
    fn read_source(&self, root: &Root) -> anyhow::Result<Reading> {
        let why = "PROJECT would not list every kind of the operator";
        let reading = declared::reading(root, self.compile, &self.features, why)?;
        let (sources, hints) = (TreeSources::new(root), reading.hint.clone());
        if reading.operator.kinds.is_empty() {
            let problems = reading.quote_source(&sources, reading.all_problems());
            if !problems.is_empty() {
                return with_hints(refusal(&unread(&reading), problems), hints.into_iter());
            }
            return Err(anyhow::format_err!("no kind is declared in {}", reading.members.join(", ")))
                .hint("kinds are structs with `#[derive(CustomResource)]`; `operator-rs generate crds` says why one is not found");
        }
        Ok(reading)
    }

    /// Fails unless the paths that were given exist.
    fn ensure_paths_exist(&self, root: &Root) -> anyhow::Result<()> {
        let given = [("--manifests", &self.manifests), ("--chart", &self.chart)];
        for (flag, path) in given {
            let Some(path) = path else { continue };
            if root.read_content(path)? == FileContent::Nothing {
                return Err(anyhow::format_err!("there is no `{path}`")).hint(format!(
                    "`{flag}` is relative to the directory of the workspace's Cargo.toml"
                ));
            }
        }
        for path in &self.crds {
            if matches!(root.read_content(path)?, FileContent::Text(_)) {
                return Err(anyhow::format_err!(
                    "`{path}` is a file, and CRDs are written to a directory"
                ))
                .hint("name the directory that it is in: a CRD stays in the file that has it");
            }
        }
        match &self.chart {
            Some(chart)
                if root.read_content(&chart.join("Chart.yaml")?)? == FileContent::Nothing =>
            {
                anyhow::bail!("`{chart}` is not a chart: it has no Chart.yaml")
            }
            _ => Ok(()),
        }
    }

    fn choose_inputs(
        &self,
        root: &Root,
        files: &RepositoryFiles,
        package: String,
        known: Inputs,
        notes: &mut Vec<String>,
    ) -> anyhow::Result<Inputs> {
        let one = |found: Vec<ProjectPath>, what: &str, flag: &str, notes: &mut Vec<String>| {
            if let [one] = found.as_slice() {
                return Some(one.clone());
            }
            if !found.is_empty() {
                let all = format_first_paths(found.iter());
                notes.push(format!("{what}: {all}; `{flag}` chooses one"));
            }
            None
        };
        let chart = self.chart.clone().or(known.chart);
        let chart = chart.or_else(|| one(files.charts.clone(), "several charts", "--chart", notes));
        let manifests = match self.manifests.as_ref().or(known.manifests.as_ref()) {
            Some(path) => Some(path.clone()),
            None => one(files.find_manifests(root)?, "several manifests", "--manifests", notes)
                .filter(|manifests| has_no_samples(files, manifests, notes)),
        };
        let answers = [self.crds.clone(), known.crds, files.crd_folders()];
        let crds = answers.into_iter().find(|folders| !folders.is_empty()).unwrap_or_default();
        if crds.is_empty() && !files.crds.is_empty() {
            let all = format_first_paths(files.crds.keys());
            notes.push(format!(
                "CRDs that are in {all}; `--crds DIR` chooses where `manifests` writes them"
            ));
        }
        Ok(Inputs { chart, crds, manifests, package: Some(package), ..known })
    }

    fn choose_name(&self, package: &str) -> anyhow::Result<ProjectName> {
        match &self.project_name {
            Some(name) => Ok(name.clone()),
            None => package.replace('_', "-").to_lowercase().parse().map_err(|why| {
                terminal::usage_error(
                    clap::error::ErrorKind::MissingRequiredArgument,
                    &format!(
                        "the package's name cannot be the project's name: it {why}; pass `--project-name`"
                    ),
                )
            }),
        }
    }

    /// Returns the domain that was given, or the one that most kinds have.
    fn choose_domain(&self, of_kinds: Option<String>) -> anyhow::Result<Domain> {
        if let Some(domain) = &self.domain {
            return Ok(domain.clone());
        }
        const HINT: &str = "give one: `--domain example.com`; with the project's name, it marks the operator's objects on a cluster";
        let Some(domain) = of_kinds else {
            return Err(anyhow::format_err!("most groups of the kinds do not have one domain"))
                .hint(HINT);
        };
        domain
            .parse()
            .map_err(|why| {
                anyhow::format_err!(
                    "the domain of the kinds' groups, `{domain}`, cannot be the project's: it {why}"
                )
            })
            .hint(HINT)
    }
}

/// Builds the entries of PROJECT for every version of the kinds, and returns the kinds that it cannot list.
fn build_resources<'a>(
    own: &[&'a DeclaredKind],
    domain: &Domain,
    is_controlled: &dyn Fn(&DeclaredKind) -> bool,
) -> (Vec<Resource>, Vec<&'a DeclaredKind>) {
    let resource = |declared: &&DeclaredKind| {
        let crd = declared.crd.as_ref().ok();
        let namespaced = crd.map(|crd| crd.spec.scope == "Namespaced").or(declared.namespaced);
        let (kind, version) = (declared.kind.as_deref()?, declared.version.as_deref()?);
        let (kind, version) = (kind.parse().ok()?, version.parse().ok()?);
        let resource =
            Resource::adopted(declared.group.as_deref()?, domain, kind, version, namespaced?)?;
        let plural = crd.and_then(|crd| crd.spec.names.plural.parse().ok());
        Some(Resource { plural, controller: is_controlled(declared), ..resource })
    };
    let mut resources: Vec<Resource> = Vec::new();
    let mut unread = Vec::new();
    for kind in own {
        let Some(resource) = resource(kind) else {
            unread.push(*kind);
            continue;
        };
        if !resources.iter().any(|other| other.is_same_version(&resource)) {
            let is_usual =
                resource.plural.as_ref().is_some_and(|plural| *plural == resource.kind.plural());
            resources.push(Resource {
                plural: resource.plural.clone().filter(|_| !is_usual),
                ..resource
            });
        }
    }
    (resources, unread)
}

/// Warns of a kind that PROJECT does not list. It lists versions of the three usual forms only, as kubebuilder does.
fn unlisted_warning(kind: &DeclaredKind) -> Diagnostic {
    let unusual = kind.version.as_deref().filter(|text| text.parse::<Version>().is_err());
    let (message, hint) = match unusual {
        Some(version) => (
            format!("PROJECT cannot list this kind: its version `{version}` does not look like `v1`, `v1beta1` or `v1alpha1`"),
            "rename the version, e.g. to `v1alpha1`; commands that read the source alone, such as `generate crds`, accept it",
        ),
        None => (
            "the group, the version or the scope of this kind cannot be read, so PROJECT does not list it".to_owned(),
            "add it to `resources`",
        ),
    };
    Diagnostic::from(Problem::new(kind.place.clone(), message)).with_hint(hint)
}

/// Returns whether manifests that the user did not choose have no object of the operator's own kinds, which `deploy`
/// would create.
fn has_no_samples(
    files: &RepositoryFiles,
    manifests: &ProjectPath,
    notes: &mut Vec<String>,
) -> bool {
    let samples = files.samples_in(manifests);
    if !samples.is_empty() {
        let all = format_first_paths(samples.iter().copied());
        notes.push(format!(
            "{manifests}, because `deploy` would also create the custom resources in it: {all}; record it with `--manifests {manifests}`, or name a file"
        ));
    }
    samples.is_empty()
}

/// Formats the first few of several paths, and the number of the others.
fn format_first_paths<'a>(paths: impl ExactSizeIterator<Item = &'a ProjectPath>) -> String {
    const MOST: usize = 4;
    let more = paths.len().saturating_sub(MOST);
    let named: Vec<_> = paths.take(MOST).map(ToString::to_string).collect();
    match more {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

/// Formats what was recorded, and the next step.
fn format_summary(inputs: &Inputs, own: &[Resource], notes: &[String]) -> String {
    let kinds: BTreeSet<String> =
        own.iter().map(|resource| format!("{}.{}", resource.kind, resource.api_group())).collect();
    let kinds: Vec<_> = kinds.into_iter().collect();
    let path = |path: &Option<ProjectPath>| path.as_ref().map(ToString::to_string);
    let crds: Vec<_> = inputs.crds.iter().map(ToString::to_string).collect();
    let parts = [
        ("kinds", Some(kinds.join(", "))),
        ("package", inputs.package.clone()),
        ("CRDs", Some(crds.join(", ")).filter(|names| !names.is_empty())),
        ("manifests", path(&inputs.manifests)),
        ("chart", path(&inputs.chart)),
    ];
    let none = "none".to_owned();
    let mut summary = "Recorded:\n".to_owned();
    for (name, value) in parts {
        summary += &format!("  {name:<9}  {}\n", value.as_ref().unwrap_or(&none));
    }
    for note in notes {
        summary += &format!("Not recorded: {note}\n");
    }
    summary
        + "Next: run `operator-rs test`, which starts an API server with the CRDs of the operator"
}
