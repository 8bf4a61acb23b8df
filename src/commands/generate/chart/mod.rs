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
        charts::{self, GENERATED_BY as BY, GENERATED_FOLDER as FOLDER, release_secret},
        cluster_access::shipped,
    },
    commands::{Outcome, OutputMode},
    disk::Root,
    plan::{self, Plan, WorkTree},
    project::Project,
    scaffold, terminal,
};
use diagnostics::{Diagnostic, Diagnostics, Hint as _};
use go_data::yaml::{self, Value, pointer};
use manager::Manager;
use metadata::ChartMetadata;
use model::{Image, ProjectPath, Tree};
use values::Values;

const EDIT: &str = "config/ and the Rust source";
/// Values and additional templates change what generated templates do.
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
    pub mode: OutputMode,
}

/// The files of a chart, by their paths in it.
#[derive(Default)]
struct ChartFiles {
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
    pub fn write_files(self, tree: &mut WorkTree<'_>, root: &Root) -> anyhow::Result<Outcome> {
        let project = Project::read(root)?;
        self.require_our_folder(tree)?;
        let chart = self.build_chart(tree, root, &project)?;
        let mut plan = Plan::default();
        for (name, text) in chart.scaffolded.clone() {
            let path = self.path_of(&name)?;
            if tree.read_text(&path)?.is_none() {
                plan.scaffold(path, text);
            }
        }
        for (name, text) in chart.generated.clone() {
            let edit = if name.starts_with("files/") { EDIT } else { EDIT_VALUES };
            plan.generate(self.path_of(&name)?, text, edit, BY);
        }
        plan.remove_stale(self.path_of("files")?, &["yaml"], BY);
        self.sweep_templates(tree, &chart, &mut plan)?;
        let size = self.release_size(tree, &chart)?;
        if size > release_secret::LIMIT {
            return Err(anyhow::format_err!(
                "Helm could not install the chart: the Secret of a release would have about {} KiB, and an API server accepts {}",
                size / 1024,
                release_secret::LIMIT / 1024
            ))
            .hint("shorten the descriptions in the CRDs, or publish the CRDs apart from the chart");
        }
        chart.warnings.into_iter().for_each(|warning| plan.warn(warning));
        plan.set_next_steps(format!(
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

    /// Returns the arguments that check the chart in the default directory, with this image.
    pub fn for_check(image: Option<Image>) -> Self {
        let mode = OutputMode { dry_run: false, diff: false, check: true, force: false };
        Self { output_dir: ProjectPath::fixed(FOLDER), image, mode }
    }

    /// Returns the image in the existing chart.
    pub fn generated_image(&self, tree: &impl Tree) -> anyhow::Result<Option<Image>> {
        let text = tree.read_text(&self.path_of("files/manager.yaml")?)?.unwrap_or_default();
        Ok(Manager::image_in(&text).and_then(|image| image.parse().ok()))
    }

    /// Returns whether `generate chart` has written the chart in the directory.
    pub fn is_generated(&self, tree: &impl Tree) -> anyhow::Result<bool> {
        charts::is_generated(tree, &self.output_dir)
    }

    fn path_of(&self, name: &str) -> anyhow::Result<ProjectPath> {
        Ok(self.output_dir.join(name)?)
    }

    /// Refuses a directory with a chart of another origin, which would be mixed with the generated one.
    fn require_our_folder(&self, tree: &WorkTree<'_>) -> anyhow::Result<()> {
        if self.is_generated(tree)? {
            return Ok(());
        }
        let folder = &self.output_dir;
        let message = match tree.read_text(&self.path_of("Chart.yaml")?)? {
            None if tree.list_names(folder.as_str())?.is_empty() => return Ok(()),
            None => format!("`{folder}` has files, and is not a chart"),
            Some(_) => format!("`{folder}` is a chart that operator-rs has not generated"),
        };
        Err(anyhow::format_err!(message)).hint("name another directory: `--output-dir DIR`")
    }

    fn build_chart(
        &self,
        tree: &WorkTree<'_>,
        root: &Root,
        project: &Project,
    ) -> anyhow::Result<ChartFiles> {
        let names::RenamedObjects { all: mut objects, namespace, warnings } =
            names::render_objects(root, project, self.image.as_ref())?;
        let placeholder = shipped::placeholder(&objects);
        let mut chart = ChartFiles { namespace, warnings, ..ChartFiles::default() };
        chart.warnings.extend(placeholder);
        numbers::require_exact(&objects)?;
        chart.manifest = objects.iter().map(yaml::to_text).collect::<Vec<_>>().join("---\n");
        release::separate_releases(&mut objects);
        let is_crd = |object: &Value| object["kind"] == "CustomResourceDefinition";
        let (crds, mut objects): (Vec<_>, Vec<_>) = objects.into_iter().partition(is_crd);
        let manager = Manager::take_from(&mut objects)?;
        let (roles, warnings) = if manager.watches_namespaces() {
            roles::take_roles(&mut objects, &crds)
        } else {
            Default::default()
        };
        chart.warnings.extend(warnings);
        let switches = switches::take_switches(&mut objects, &crds, &manager, &roles);
        let context = values::build_context(&manager, &objects, &switches);
        let metadata = ChartMetadata::read(tree, project, &crds)?;
        let budget = !objects.iter().any(|object| object["kind"] == "PodDisruptionBudget");
        chart.add_data("files", "manager", &manager.render_file(budget, &switches));
        if let Some(account) = &manager.account {
            chart.add_data("files", "serviceaccount", account);
        }
        for crd in &crds {
            chart.add_data("files/crds", pointer::text(crd, "/metadata/name"), crd);
        }
        chart.add_objects("objects", &objects);
        switches.iter().for_each(|switch| chart.add_objects(switch.name, &switch.objects));
        for role in &roles {
            chart.add_data("files/roles", short_name(role.name()), &role.render_file());
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
        chart: &mut ChartFiles,
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
        let path = self.path_of("values.yaml")?;
        let theirs = tree.read_text(&path)?;
        let values = Values::read(&path, theirs.as_deref(), &fresh, &schema)?;
        let list = values.find_problems();
        if !list.is_empty() {
            return Err(Diagnostics { headline: "nothing was written".to_owned(), list }.into());
        }
        chart.warnings.extend(values.find_warnings());
        let schema = format!("{:#}\n", values.adapted_schema());
        let schema = schema.strip_prefix("{\n").unwrap_or(&schema);
        chart.generated.insert("values.schema.json".to_owned(), schema.to_owned());
        chart.scaffolded.insert("values.yaml".to_owned(), fresh);
        chart.generated.extend(files.into_iter().map(|(name, text)| (name, own(&text))));
        Ok(())
    }

    fn add_metadata(
        &self,
        tree: &WorkTree<'_>,
        chart: &mut ChartFiles,
        metadata: &ChartMetadata,
    ) -> anyhow::Result<()> {
        let path = self.path_of("Chart.yaml")?;
        if let Some(text) = tree.read_text(&path)? {
            chart.warnings.extend(metadata.compare_with(&path, &text)?);
        }
        chart.scaffolded.insert("Chart.yaml".to_owned(), metadata.to_yaml());
        Ok(())
    }

    /// Removes templates of ours that are gone. Those that people add are not mentioned.
    fn sweep_templates(
        &self,
        tree: &WorkTree<'_>,
        chart: &ChartFiles,
        plan: &mut Plan,
    ) -> anyhow::Result<()> {
        for path in tree.list_files(&self.path_of("templates")?)? {
            let name = path.as_str().strip_prefix(&format!("{}/", self.output_dir));
            if name.is_none_or(|path_in_chart| chart.generated.contains_key(path_in_chart)) {
                continue;
            }
            let model::FileContent::Text(text) = tree.read_content(&path)? else { continue };
            if plan::is_unchanged_output(&path, &text, BY) {
                plan.delete_file(path, vec![text]);
            }
        }
        Ok(())
    }

    /// With the user's own files, which are in the Secret as well.
    fn release_size(&self, tree: &WorkTree<'_>, chart: &ChartFiles) -> anyhow::Result<usize> {
        let mut files = chart.scaffolded.clone();
        for path in tree.list_files(&self.output_dir)? {
            let name = path.as_str().strip_prefix(&format!("{}/", self.output_dir));
            if let (Some(name), model::FileContent::Text(text)) = (name, tree.read_content(&path)?)
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

impl ChartFiles {
    /// Adds a file for each object.
    fn add_objects(&mut self, folder: &str, objects: &[Value]) {
        for object in objects {
            let kind = pointer::text(object, "/kind").to_lowercase();
            let name = short_name(pointer::text(object, "/metadata/name"));
            self.add_data(&format!("files/{folder}"), &format!("{kind}-{name}"), object);
        }
    }

    /// Adds a file of data, under a name that is free.
    fn add_data(&mut self, folder: &str, name: &str, value: &Value) {
        let is_plain = |character: char| {
            character.is_ascii_alphanumeric() || character == '-' || character == '.'
        };
        let name = name.replace(|character| !is_plain(character), "-");
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
fn short_name(name: &str) -> &str {
    let rest = name.strip_prefix(names::FULLNAME);
    rest.and_then(|rest| rest.strip_prefix('-')).unwrap_or(name)
}
