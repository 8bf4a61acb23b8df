//! The CRDs that the source of any cargo workspace declares.

use super::{
    cargo::Workspace,
    compile::{self, Compile},
    refusal::{refusal, unread},
    tree_sources::TreeSources,
};
use crate::project::Project;
use crate::{
    manifests::{self, CrdOptions},
    source::{self, Options},
    terminal,
};
use diagnostics::hinted;
use go_data::yaml::Value;

/// The CRDs of all members of a workspace; of an operator in place, those of its own kinds. One that cannot be read
/// refuses all.
pub fn crds(workspace: &Workspace, flags: compile::Flags) -> anyhow::Result<Vec<Value>> {
    let sources = TreeSources::new(&workspace.root);
    let mut reading = source::read(&sources, &Options::default());
    if let Some(project) = Project::find(&workspace.root)? {
        reading.operator.kinds.retain(|it| project.owns(it));
    }
    let compile = Compile {
        top: workspace.root.real(),
        flags: Some(flags),
        all: false,
        modules: &[],
        keeps_going: false,
        is_on_disk: true,
    };
    compile::complete(&compile, &mut reading)?;
    let operator = reading.whole();
    let generated = manifests::crds(&operator, &CrdOptions::default());
    let found = reading.quote(&sources, generated.problems);
    let problems = [reading.all_problems(), found].concat();
    if !problems.is_empty() {
        return hinted(refusal(&unread(&reading), problems), reading.hint.iter().cloned());
    }
    let warnings = [operator.warnings, generated.warnings].concat();
    reading.quote(&sources, warnings).into_iter().for_each(terminal::warn);
    Ok(generated.manifests.into_iter().flat_map(|it| it.objects).collect())
}
