use crate::{
    commands::{Outcome, rendered},
    disk::Root,
    model::{Image, Namespace, Project, ProjectPath},
    plan::Plan,
    yaml,
};

/// Render config/ into one stream of objects, for `kubectl apply --server-side -f -`
#[derive(clap::Args)]
pub struct Args {
    /// Only the CustomResourceDefinitions
    #[arg(long)]
    crds_only: bool,
    /// The manager's image [default: what config/manager says]
    #[arg(long, conflicts_with = "crds_only")]
    image: Option<Image>,
    /// Another namespace than config/default says
    #[arg(long, conflicts_with = "crds_only")]
    namespace: Option<Namespace>,
    /// The file to write, inside the project [default: stdout]
    #[arg(long, value_name = "FILE")]
    output: Option<ProjectPath>,
}

impl Args {
    pub fn outcome(self, root: &Root, project: &Project) -> anyhow::Result<Outcome> {
        let folder = if self.crds_only { rendered::CRDS } else { rendered::EVERYTHING };
        let objects =
            rendered::objects(root, project, folder, self.image.as_ref(), self.namespace.as_ref())?;
        let text = objects.iter().map(yaml::to_text).collect::<Vec<_>>().join("---\n");
        Ok(match self.output {
            None => Outcome::Text(text),
            Some(path) => {
                let mut plan = Plan::default();
                plan.generate(path, text, "config/ and the Rust source");
                plan.into()
            }
        })
    }
}
