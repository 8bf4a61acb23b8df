use crate::project::Project;
use crate::{
    app::{
        cluster_access::shipped,
        deployment::{
            given::ManifestsArg,
            rendered::{self, RenderChanges, RenderPurpose},
        },
        output::stdout,
    },
    commands::{Outcome, OutputMode},
    disk::Root,
    plan::{Plan, WorkTree},
    terminal,
};
use go_data::yaml;
use model::{Image, Namespace, ProjectPath};

/// Render config/ as one YAML stream, for `kubectl apply --server-side -f -`
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  operator-rs generate installer --image quay.io/example/memcached-operator:v0.0.1 --output-file dist/install.yaml
  operator-rs generate installer --crds-only | kubectl apply --server-side -f -")]
pub struct Args {
    /// Render only the CRDs
    #[arg(long)]
    crds_only: bool,
    /// Image of the manager [default: the one in config/manager]
    #[arg(long, conflicts_with = "crds_only")]
    image: Option<Image>,
    /// Namespace of the manager [default: the one in config/default]
    #[arg(long, short, conflicts_with = "crds_only")]
    namespace: Option<Namespace>,
    /// Write this file in the project; `-` is stdout [default: stdout]
    #[arg(long, value_name = "FILE", value_parser = stdout::yaml_file::<ProjectPath>)]
    output_file: Option<ProjectPath>,
    #[command(flatten)]
    given: ManifestsArg,
    #[command(flatten)]
    pub mode: OutputMode,
}

impl Args {
    /// Returns whether the output goes to stdout. Flags about files are refused then.
    pub fn prints_to_stdout(&self) -> anyhow::Result<bool> {
        match self.output_path() {
            Some(_) => Ok(false),
            None => self.mode.require("--output-file").map(|()| true),
        }
    }

    fn output_path(&self) -> Option<&ProjectPath> {
        stdout::file(&self.output_file)
    }

    pub fn write_files(self, tree: &mut WorkTree<'_>, root: &Root) -> anyhow::Result<Outcome> {
        let project = Project::read_any_layout(root)?;
        let (image, namespace) = (self.image.as_ref(), self.namespace.as_ref());
        let objects = if self.crds_only {
            rendered::crds(root, &project, self.given.until(None))?
        } else {
            rendered::everything(
                root,
                &project,
                self.given.until(None),
                RenderPurpose::Apply,
                RenderChanges { image, namespace },
            )?
        };
        let text = objects.iter().map(yaml::to_text).collect::<Vec<_>>().join("---\n");
        let warnings = [shipped::placeholder(&objects), shipped::custom_resources(&objects)];
        let warnings = warnings.into_iter().flatten();
        Ok(match self.output_path().cloned() {
            None => {
                terminal::warn_all(warnings);
                Outcome::Text(text)
            }
            Some(path) => {
                let mut plan = Plan::default();
                warnings.for_each(|warning| plan.warn(warning));
                plan.generate(path, text, "config/ and the Rust source", "generate installer");
                tree.apply(plan)?;
                Outcome::Files
            }
        })
    }
}
