//! The files that depend on the source, put together in steps. Their order decides which of several errors is reported.

use std::collections::{BTreeMap, BTreeSet};

use super::{GenerateOptions, MissingWebhooks, RbacMarkers};
use crate::app::{
    cargo::tree_sources::TreeSources,
    config::roles,
    generation::{agreement, generated_crds, samples, types_list, unserved, webhooks},
    output::refusal::{refusal, unread},
};
use crate::project::{MANIFESTS_COMMAND, Operator, Problem, Project};
use crate::{
    manifests::{self, GeneratedManifests, Manifest},
    plan::{Plan, WorkTree},
    source::Reading,
};
use diagnostics::with_hints;
use model::ProjectPath;

pub const NOT_GENERATED: &str = "the manifests cannot be generated, and nothing was written";

/// The files that depend on the source.
pub struct SourceFiles {
    pub plan: Plan,
    /// The files of the CRDs in PROJECT.
    pub crds: Vec<ProjectPath>,
    pub markers: RbacMarkers,
}

/// Generates the files from a source that was read completely.
pub fn generate(
    tree: &mut WorkTree<'_>,
    project: &Project,
    options: &GenerateOptions,
    reading: Reading,
    missing: MissingWebhooks<'_>,
) -> anyhow::Result<SourceFiles> {
    refuse_problems(&reading, tree)?;
    let mut generation = Generation::begin(tree, project, options, reading)?;
    generation.generate_manifests()?;
    generation.require_agreement()?;
    generation.report_missing_webhooks(missing)?;
    generation.check_samples()?;
    generation.plan_roles()?;
    generation.plan_webhooks()?;
    generation.plan_manifests()?;
    generation.warn_of_source();
    generation.plan_types_list()?;
    Ok(generation.finish())
}

/// What is generated so far.
struct Generation<'a, 'root> {
    tree: &'a mut WorkTree<'root>,
    project: &'a Project,
    options: &'a GenerateOptions,
    reading: Reading,
    operator: Operator,
    manifests: Vec<Manifest>,
    /// Warnings of the generators.
    warnings: Vec<Problem>,
    plan: Plan,
}

impl<'a, 'root> Generation<'a, 'root> {
    fn begin(
        tree: &'a mut WorkTree<'root>,
        project: &'a Project,
        options: &'a GenerateOptions,
        mut reading: Reading,
    ) -> anyhow::Result<Self> {
        let mut operator = std::mem::take(&mut reading.operator);
        operator.registers_webhooks = webhooks::registers(project, tree)?;
        let (manifests, warnings, plan) = (Vec::new(), Vec::new(), Plan::default());
        Ok(Self { tree, project, options, reading, operator, manifests, warnings, plan })
    }

    /// CRDs, roles and webhook configurations.
    fn generate_manifests(&mut self) -> anyhow::Result<()> {
        let GeneratedManifests { manifests, problems, warnings } =
            manifests::generate(&self.operator, &self.options.crd_options);
        let rivals = roles::rivals(self.project, self.tree, &self.operator.rules)?;
        let problems = [problems, rivals].concat();
        if !problems.is_empty() {
            return Err(refusal(NOT_GENERATED, on_disk(self.quote(problems), self.tree)));
        }
        (self.manifests, self.warnings) = (manifests, warnings);
        Ok(())
    }

    /// The files on disk agree with the source.
    fn require_agreement(&self) -> anyhow::Result<()> {
        agreement::require(self.tree.files_on_disk(), &self.operator)
    }

    /// The webhooks that PROJECT lists and the source does not have.
    fn report_missing_webhooks(&mut self, missing: MissingWebhooks<'_>) -> anyhow::Result<()> {
        self.plan = missing(webhooks::missing(self.project, &self.operator)?)?;
        Ok(())
    }

    /// Samples that the CRDs refuse.
    fn check_samples(&mut self) -> anyhow::Result<()> {
        if self.options.samples {
            let objects = self.manifests.iter().flat_map(|manifest| &manifest.objects);
            samples::warn(&mut self.plan, self.tree, &samples::crds(objects))?;
        }
        Ok(())
    }

    /// The role of the manager, and what binds it.
    fn plan_roles(&mut self) -> anyhow::Result<()> {
        if self.operator.rules.is_empty() && roles::calls_for_role(self.tree)? {
            let namespace = self.project.namespaced.then(|| roles::namespace(self.project));
            self.manifests.push(manifests::without_rules(namespace.as_deref()));
        }
        roles::update(&mut self.plan, self.tree, self.project, &self.operator.rules)
    }

    /// What webhooks need, and what is wrong with them.
    fn plan_webhooks(&mut self) -> anyhow::Result<()> {
        let Self { project, operator, .. } = self;
        webhooks::update(&mut self.plan, self.tree, !operator.webhooks.is_empty())?;
        let warnings = [
            webhooks::unlisted(project, operator)?,
            webhooks::astray(project, operator, &self.manifests)?,
            webhooks::untrusted(project, operator, self.tree)?,
            unserved::warnings(project, operator),
        ];
        self.warn(warnings.concat());
        webhooks::warn_of_deadlocks(&mut self.plan, self.tree, self.project, &self.manifests)
    }

    fn plan_manifests(&mut self) -> anyhow::Result<()> {
        for manifest in &self.manifests {
            let (path, text) = (manifest.path.clone(), manifest.to_text());
            self.plan.generate(path, text, &manifest.edit, MANIFESTS_COMMAND);
        }
        generated_crds::own(&mut self.plan, self.tree, self.project, &self.reading, &self.manifests)
    }

    /// What has no effect, or was not read, and what the generators warn of.
    fn warn_of_source(&mut self) {
        let generated = std::mem::take(&mut self.warnings);
        let warnings = [self.operator.warnings.clone(), self.reading.unread.clone(), generated];
        self.warn(warnings.concat());
    }

    fn plan_types_list(&mut self) -> anyhow::Result<()> {
        let (types, unlisted) = match types_list::types(&self.operator, self.project) {
            Ok(types) => types,
            Err(error) => {
                // Files that cannot be written are reported first.
                self.tree.apply(std::mem::take(&mut self.plan))?;
                return Err(error);
            }
        };
        self.warn(unlisted);
        self.plan.extend(types_list::plan(types)?);
        Ok(())
    }

    fn finish(self) -> SourceFiles {
        let listed = self.project.resources.iter().filter(|resource| resource.api.is_some());
        let listed: BTreeSet<(String, String)> =
            listed.map(|resource| (resource.api_group(), resource.kind.to_string())).collect();
        let is_listed = |version: &manifests::Version<'_>| {
            listed.contains(&(version.group().to_owned(), version.kind().to_owned()))
        };
        let versions = manifests::versions(&self.operator).filter(is_listed);
        let crds: BTreeSet<ProjectPath> =
            versions.map(|kind| manifests::crd_path(kind.group(), kind.plural())).collect();
        SourceFiles {
            plan: self.plan,
            crds: crds.into_iter().collect(),
            markers: RbacMarkers { list: self.operator.rules, reading: self.reading },
        }
    }

    /// Adds warnings with the lines that they are about.
    fn warn(&mut self, warnings: Vec<Problem>) {
        for warning in self.quote(warnings) {
            self.plan.warn(warning);
        }
    }

    fn quote(&self, problems: Vec<Problem>) -> Vec<Problem> {
        self.reading.quote_source(&TreeSources::new(self.tree), problems)
    }
}

/// All problems in one error.
fn refuse_problems(reading: &Reading, tree: &WorkTree<'_>) -> anyhow::Result<()> {
    match &on_disk(reading.all_problems(), tree)[..] {
        [] => Ok(()),
        problems => {
            let error = refusal(
                &format!("{}, and nothing was written", unread(reading)),
                problems.iter().cloned(),
            );
            with_hints(error, reading.hint.iter().cloned())
        }
    }
}

/// Returns problems of files that the command changes, at their lines on disk: nothing is written where there are
/// problems.
fn on_disk(mut problems: Vec<Problem>, tree: &WorkTree<'_>) -> Vec<Problem> {
    let mut lines = BTreeMap::new();
    for Problem { place, .. } in &mut problems {
        let of_file = lines.entry(place.path.clone());
        let of_file = of_file.or_insert_with(|| tree.lines_before(place.path.as_str()));
        let before = of_file.as_ref().and_then(|lines| *lines.get(place.line.checked_sub(1)?)?);
        place.line = before.unwrap_or(place.line);
    }
    problems
}
