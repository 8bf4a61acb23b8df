//! `operator-rs generate docs`

use std::path::{Path, PathBuf};

use super::kind_files::{CrdSource, KindFiles, KindFolders};
use crate::{
    app::deployment::manifest_files,
    commands::{OutputMode, reading},
};
use crd::reference;
use diagnostics::Hint as _;
use go_data::yaml::Value;
use model::Tree as _;
use model::display_path;

/// The samples of a project.
const SAMPLES: &str = "config/samples";

/// Write reference documentation of the kinds of any cargo workspace, as Markdown
///
/// There is a page for each kind with all of its versions, `GROUP/KIND.md`, and an index, `README.md`. The anchor of a
/// field is its path: `#spec-size` in the first version of a page, `#v1alpha1-spec-size` in others. Descriptions keep their
/// Markdown, except for HTML, headings, and links to other places than the web.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  operator-rs generate docs --output-dir docs/api
  operator-rs generate docs --crds config/crd/bases --output-dir docs/api --check    # in CI")]
pub struct Args {
    /// Directory of the pages (can be repeated)
    #[arg(long, value_name = "DIR", required = true)]
    output_dir: Vec<PathBuf>,
    /// Show the objects in these files as examples of their kinds [default: config/samples, if there is one]
    #[arg(long, value_name = "DIR|FILE")]
    samples: Option<PathBuf>,
    #[command(flatten)]
    from: CrdSource,
    #[command(flatten)]
    mode: OutputMode,
}

impl Args {
    pub fn run(&self, dir: &Path) -> anyhow::Result<()> {
        let output = KindFolders {
            folders: &self.output_dir,
            by: "generate docs",
            extension: ".md",
            from: &self.from,
        };
        output.write_or_check(dir, &self.mode, || {
            let (mut kinds, reason_for_more_kinds) = self.from.read_kinds(dir)?;
            kinds.samples = self.read_samples(dir, &kinds.crds)?;
            let pages = reference::render_pages(&kinds)?;
            let files: anyhow::Result<_> =
                pages.into_iter().map(|page| Ok((page.path.parse()?, page.text))).collect();
            Ok(KindFiles { files: files?, reason_for_more_kinds })
        })
    }

    fn read_samples(&self, dir: &Path, crds: &[Value]) -> anyhow::Result<Vec<Value>> {
        let root = reading(dir)?;
        let Some(path) = &self.samples else {
            return if root.list_names(SAMPLES)?.is_empty() {
                Ok(Vec::new())
            } else {
                manifest_files::objects(&root, &dir.join(SAMPLES))
                    .hint("name other samples: `--samples DIR|FILE`")
            };
        };
        let samples = manifest_files::objects(&root, path)?;
        let is_of = |sample: &Value, crd: &Value| sample["kind"] == crd["spec"]["names"]["kind"];
        if samples.iter().any(|sample| crds.iter().any(|crd| is_of(sample, crd))) {
            Ok(samples)
        } else {
            Err(anyhow::format_err!("`{}` has no object of these kinds", display_path(&path)))
                .hint("name YAML files or a kustomization with objects of the kinds to document")
        }
    }
}
