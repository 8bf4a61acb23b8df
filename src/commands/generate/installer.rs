use crate::{
    commands::{Outcome, derive},
    disk::Root,
    kustomize,
    model::{Image, Project, ProjectPath},
    plan::{Overlay, Plan},
    yaml,
};

/// Render config/ into one stream of objects, for `kubectl apply --server-side -f -`
#[derive(clap::Args)]
pub struct Args {
    /// Only the CustomResourceDefinitions
    #[arg(long)]
    crds_only: bool,
    /// The manager's image [default: what config/manager says]
    #[arg(long)]
    image: Option<Image>,
    /// The file to write, inside the project [default: stdout]
    #[arg(long, value_name = "FILE")]
    output: Option<ProjectPath>,
}

impl Args {
    pub fn outcome(self, root: &Root, project: &Project) -> anyhow::Result<Outcome> {
        // What the source calls for now, whether or not it has been written.
        let mut derived = Plan::default();
        derive::source(&mut derived, root, project)?;
        let changes = derived.against(root, true)?;
        let tree = Overlay::new(root, &changes);

        let folder =
            ProjectPath::fixed(if self.crds_only { "config/crd" } else { "config/default" });
        let images: Vec<kustomize::Image> =
            self.image.iter().map(kustomize::Image::of_manager).collect();
        let objects = kustomize::build(&tree, &folder, &images)?;
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
