//! config/webhook/manifests.yaml, and the kustomization that has to list it.

use super::derive::MANIFESTS;
use crate::manifests::WEBHOOKS;
use crate::plan::{self, Plan};
use crate::project::Project;
use diagnostics::Diagnostic;
use go_data::yaml::{self, Value};
use model::{Found, ProjectPath, Tree};

const LIST: &str = "config/webhook/kustomization.yaml";

/// The file in which the operator registers its webhooks.
const REGISTRATIONS: &str = "src/webhook/mod.rs";

/// Whether the operator registers all of its webhooks, as `create webhook` does it.
pub fn registers(project: &Project, tree: &impl Tree) -> anyhow::Result<bool> {
    let file = tree.look(&ProjectPath::fixed(REGISTRATIONS))?;
    Ok(project.has_webhooks() || file != Found::Nothing)
}

/// Plans the removal of a file of webhooks that is generated no longer, and warns of a kustomization that does not list the
/// file, or lists one that is not there.
pub fn update(plan: &mut Plan, tree: &impl Tree, is_generated: bool) -> anyhow::Result<()> {
    let path = ProjectPath::fixed(WEBHOOKS);
    let (name, list) = (path.name(), tree.read(&ProjectPath::fixed(LIST))?);
    let is_listed = list.is_some_and(|it| lists(&it, name));
    if is_generated {
        if !is_listed {
            let message = "no kustomization lists the webhook configurations";
            plan.warn(Diagnostic::in_file(WEBHOOKS, message).with_hint(format!(
                "list `{name}` under `resources` in {LIST}, and `../webhook` in config/default/kustomization.yaml; \
                 `operator-rs create webhook` does that, too"
            )));
        }
        return Ok(());
    }
    let Found::Text(text) = tree.look(&path)? else { return Ok(()) };
    if !plan::is_generated_by(&path, &text, MANIFESTS) {
        return Ok(());
    }
    let hint = "restore the +kubebuilder:webhook comments, or give `--force` to delete the file";
    plan.retire(path.clone(), MANIFESTS, hint);
    if is_listed {
        let message = format!("`{name}` is no longer generated: the source has no webhooks");
        let hint = format!("remove `{name}` from `resources`");
        plan.warn(Diagnostic::in_file(LIST, message).with_hint(hint));
    }
    Ok(())
}

/// Whether a kustomization lists a file beside it.
pub fn lists(kustomization: &str, name: &str) -> bool {
    let documents = yaml::documents(kustomization, yaml::Dialect::Kubernetes).unwrap_or_default();
    let is_it = |it: &Value| it.as_str().is_some_and(|it| it.trim_start_matches("./") == name);
    let resources = |it: &Value| it["resources"].as_array().is_some_and(|it| it.iter().any(is_it));
    documents.iter().any(resources)
}
