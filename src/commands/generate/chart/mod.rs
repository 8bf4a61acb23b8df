//! `operator-rs generate chart`
//!
//! The objects of config/default are data in the chart, and templates that are the same in every chart read them: no
//! text of the project becomes a template.

mod manager;
mod metadata;
mod names;
mod numbers;
mod release;
mod roles;
mod switches;
mod values;

use std::collections::BTreeMap;

use crate::{
    app::{
        charts::{self, GENERATED_BY as BY, GENERATED_FOLDER as FOLDER},
        release_secret, shipped,
    },
    commands::{Mode, Outcome},
    disk::Root,
    plan::{self, Plan, WorkTree},
    project::Project,
    scaffold, terminal,
};
use diagnostics::{Diagnostic, Diagnostics, Hint as _};
use go_data::yaml::{self, Value, pointer};
use manager::Manager;
use metadata::Metadata;
use model::{Image, ProjectPath, Tree};
use values::Values;

const EDIT: &str = "config/ and the Rust source";
/// Values, and templates that somebody adds, change what ours do.
const EDIT_VALUES: &str = "values.yaml or another template";

/// Write a Helm chart of config/ and the Rust source
///
/// values.yaml, Chart.yaml and templates/NOTES.txt are written once, and yours from then on, as are templates that you add.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  operator-rs generate chart --image quay.io/example/memcached-operator:v0.0.1
  operator-rs generate chart --check    # in CI
  helm install memcached-operator chart --namespace memcached-operator-system --create-namespace")]
pub struct Args {
    /// Directory of the chart in the project
    #[arg(long, value_name = "DIR", default_value = FOLDER, value_parser = ProjectPath::from_system)]
    output_dir: ProjectPath,
    /// Image of the manager [default: the one in config/manager]
    #[arg(long)]
    image: Option<Image>,
    #[command(flatten)]
    pub mode: Mode,
}

/// The files of a chart, by their paths in it.
#[derive(Default)]
struct Chart {
    /// Written again each time.
    generated: BTreeMap<String, String>,
    /// Written once.
    scaffolded: BTreeMap<String, String>,
    /// All objects with the placeholders of their names.
    manifest: String,
    /// The namespace of the project.
    namespace: String,
    warnings: Vec<Diagnostic>,
}

impl Args {
    pub fn write(self, tree: &mut WorkTree<'_>, root: &Root) -> anyhow::Result<Outcome> {
        let project = Project::read(root)?;
        self.require_our_folder(tree)?;
        let chart = self.chart(tree, root, &project)?;
        let mut plan = Plan::default();
        for (name, text) in chart.scaffolded.clone() {
            let path = self.path(&name)?;
            if tree.read(&path)?.is_none() {
                plan.scaffold(path, text);
            }
        }
        for (name, text) in chart.generated.clone() {
            let edit = if name.starts_with("files/") { EDIT } else { EDIT_VALUES };
            plan.generate(self.path(&name)?, text, edit, BY);
        }
        plan.own(self.path("files")?, &["yaml"], BY);
        self.sweep_templates(tree, &chart, &mut plan)?;
        let size = self.size(tree, &chart)?;
        if release_secret::LIMIT < size {
            return Err(anyhow::format_err!(
                "Helm could not install the chart: the Secret of a release would have about {} KiB, and an API server accepts {}",
                size / 1024,
                release_secret::LIMIT / 1024
            ))
            .hint("shorten the descriptions in the CRDs, or publish the CRDs apart from the chart");
        }
        chart.warnings.into_iter().for_each(|it| plan.warn(it));
        plan.next(format!(
            "Helm stores a release in one Secret: about {} KiB of the {} KiB that a Secret can hold.\nNext: check the chart, and install it:\n  helm lint --strict {dir}\n  helm install {} {dir} --namespace {} --create-namespace",
            size.div_ceil(1024),
            release_secret::LIMIT / 1024,
            project.name,
            chart.namespace,
            dir = terminal::shell_word(self.output_dir.as_str()),
        ));
        tree.apply(plan)?;
        Ok(Outcome::Files)
    }

    /// What checks the chart of a project in the default directory, with this image.
    pub fn check(image: Option<Image>) -> Self {
        let mode = Mode { dry_run: false, diff: false, check: true, force: false };
        Self { output_dir: ProjectPath::fixed(FOLDER), image, mode }
    }

    /// The image in the chart that is there.
    pub fn image_there(&self, tree: &impl Tree) -> anyhow::Result<Option<Image>> {
        let text = tree.read(&self.path("files/manager.yaml")?)?.unwrap_or_default();
        Ok(Manager::image_in(&text).and_then(|it| it.parse().ok()))
    }

    /// Whether `generate chart` has written a chart there.
    pub fn is_there(&self, tree: &impl Tree) -> anyhow::Result<bool> {
        charts::is_generated(tree, &self.output_dir)
    }

    fn path(&self, name: &str) -> anyhow::Result<ProjectPath> {
        Ok(self.output_dir.join(name)?)
    }

    /// A chart that somebody else has written would be mixed with ours.
    fn require_our_folder(&self, tree: &WorkTree<'_>) -> anyhow::Result<()> {
        if self.is_there(tree)? {
            return Ok(());
        }
        let folder = &self.output_dir;
        let message = match tree.read(&self.path("Chart.yaml")?)? {
            None if tree.names(folder.as_str())?.is_empty() => return Ok(()),
            None => format!("`{folder}` has files, and is not a chart"),
            Some(_) => format!("`{folder}` is a chart that operator-rs has not generated"),
        };
        Err(anyhow::format_err!(message)).hint("name another directory: `--output-dir DIR`")
    }

    fn chart(&self, tree: &WorkTree<'_>, root: &Root, project: &Project) -> anyhow::Result<Chart> {
        let names::Objects { all: mut objects, namespace, warnings } =
            names::objects(root, project, self.image.as_ref())?;
        let placeholder = shipped::placeholder(&objects);
        let mut chart = Chart { namespace, warnings, ..Chart::default() };
        chart.warnings.extend(placeholder);
        numbers::require_exact(&objects)?;
        chart.manifest = objects.iter().map(yaml::to_text).collect::<Vec<_>>().join("---\n");
        release::separate(&mut objects);
        let is_crd = |it: &Value| it["kind"] == "CustomResourceDefinition";
        let (crds, mut objects): (Vec<_>, Vec<_>) = objects.into_iter().partition(is_crd);
        let manager = Manager::take(&mut objects)?;
        let (roles, warnings) = match manager.watches() {
            true => roles::take(&mut objects, &crds),
            false => Default::default(),
        };
        chart.warnings.extend(warnings);
        let switches = switches::take(&mut objects, &crds, &manager, &roles);
        let context = values::context(&manager, &objects, &switches);
        let metadata = Metadata::read(tree, project, &crds)?;
        let budget = !objects.iter().any(|it| it["kind"] == "PodDisruptionBudget");
        chart.add_data("files", "manager", &manager.file(budget, &switches));
        if let Some(account) = &manager.account {
            chart.add_data("files", "serviceaccount", account);
        }
        for it in &crds {
            chart.add_data("files/crds", pointer::text(it, "/metadata/name"), it);
        }
        chart.add_objects("objects", &objects);
        switches.iter().for_each(|it| chart.add_objects(it.name, &it.objects));
        for it in &roles {
            chart.add_data("files/roles", short(it.name()), &it.file());
        }
        self.add_templates(tree, project, &mut chart, &context)?;
        self.add_metadata(tree, &mut chart, &metadata)?;
        Ok(chart)
    }

    /// The templates, the values and their schema.
    fn add_templates(
        &self,
        tree: &WorkTree<'_>,
        project: &Project,
        chart: &mut Chart,
        context: &Value,
    ) -> anyhow::Result<()> {
        let own = |text: &str| text.replace("project-name.", &format!("{}.", project.name));
        let mut files: BTreeMap<String, String> = scaffold::files("chart", context)?
            .into_iter()
            .map(|(path, text)| (path.to_string(), text))
            .collect();
        let mut take = |name: &str| files.remove(name).unwrap_or_default();
        let (fresh, schema) = (take("values.yaml"), take("values.schema.json"));
        let notes = take("templates/NOTES.txt");
        chart.scaffolded.insert("templates/NOTES.txt".to_owned(), own(&notes));
        let path = self.path("values.yaml")?;
        let theirs = tree.read(&path)?;
        let values = Values::read(&path, theirs.as_deref(), &fresh, &schema)?;
        let list = values.problems();
        if !list.is_empty() {
            return Err(Diagnostics { headline: "nothing was written".to_owned(), list }.into());
        }
        chart.warnings.extend(values.warnings());
        let schema = format!("{:#}\n", values.schema());
        let schema = schema.strip_prefix("{\n").unwrap_or(&schema);
        chart.generated.insert("values.schema.json".to_owned(), schema.to_owned());
        chart.scaffolded.insert("values.yaml".to_owned(), fresh);
        chart.generated.extend(files.into_iter().map(|(name, text)| (name, own(&text))));
        Ok(())
    }

    fn add_metadata(
        &self,
        tree: &WorkTree<'_>,
        chart: &mut Chart,
        metadata: &Metadata,
    ) -> anyhow::Result<()> {
        let path = self.path("Chart.yaml")?;
        if let Some(text) = tree.read(&path)? {
            chart.warnings.extend(metadata.compare(&path, &text)?);
        }
        chart.scaffolded.insert("Chart.yaml".to_owned(), metadata.text());
        Ok(())
    }

    /// Removes templates of ours that are gone. Those that people add are not mentioned.
    fn sweep_templates(
        &self,
        tree: &WorkTree<'_>,
        chart: &Chart,
        plan: &mut Plan,
    ) -> anyhow::Result<()> {
        for path in tree.list(&self.path("templates")?)? {
            let name = path.as_str().strip_prefix(&format!("{}/", self.output_dir));
            if name.is_none_or(|it| chart.generated.contains_key(it)) {
                continue;
            }
            let model::Found::Text(text) = tree.look(&path)? else { continue };
            if plan::is_ours(&path, &text, BY) {
                plan.delete(path, vec![text]);
            }
        }
        Ok(())
    }

    /// With the user's own files, which are in the Secret as well.
    fn size(&self, tree: &WorkTree<'_>, chart: &Chart) -> anyhow::Result<usize> {
        let mut files = chart.scaffolded.clone();
        for path in tree.list(&self.output_dir)? {
            let name = path.as_str().strip_prefix(&format!("{}/", self.output_dir));
            if let (Some(name), model::Found::Text(text)) = (name, tree.look(&path)?)
                && !plan::is_generated_by(&path, &text, BY)
            {
                files.insert(name.to_owned(), text);
            }
        }
        files.extend(chart.generated.clone());
        let files = files.iter().map(|(name, text)| (name.as_str(), text.as_bytes()));
        Ok(release_secret::size(files, &chart.manifest))
    }
}

impl Chart {
    /// Adds a file for each object.
    fn add_objects(&mut self, folder: &str, objects: &[Value]) {
        for it in objects {
            let kind = pointer::text(it, "/kind").to_lowercase();
            let name = short(pointer::text(it, "/metadata/name"));
            self.add_data(&format!("files/{folder}"), &format!("{kind}-{name}"), it);
        }
    }

    /// Adds a file of data, under a name that is free.
    fn add_data(&mut self, folder: &str, name: &str, value: &Value) {
        let is_plain = |it: char| it.is_ascii_alphanumeric() || it == '-' || it == '.';
        let name = name.replace(|it| !is_plain(it), "-");
        let mut path = format!("{folder}/{name}.yaml");
        let mut count = 1;
        while self.generated.contains_key(&path) {
            count += 1;
            path = format!("{folder}/{name}-{count}.yaml");
        }
        self.generated.insert(path, yaml::to_text(value));
    }
}

/// The name of an object, as the project has it.
fn short(name: &str) -> &str {
    let rest = name.strip_prefix(names::FULLNAME);
    rest.and_then(|it| it.strip_prefix('-')).unwrap_or(name)
}
