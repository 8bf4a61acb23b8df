//! The PROJECT file, and what the source of a project declares.

mod edit;
mod hand_edit;
mod inputs;
mod layout;
mod marker_arguments;
mod operator;
mod resource;
mod shape;
mod spelling;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use anyhow::Context as _;
use serde::Deserialize;

use diagnostics::{Diagnostic, Hint as _};
use go_data::yaml;
use model::{Domain, Kind, ProjectName, ProjectPath, RustPath, Tree, display_path};

pub use inputs::{CONTROLLER_FLAGS, Certificates, Inputs, Options};
pub use kube_crd_source::{
    Crate, FieldNames, Kind as DeclaredKind, Place, Problem, RustPath as KindPath, SourcePath,
    Storage, Target, UnreadValues, Unreadable, below,
};
pub use layout::{CRD_CONFIG, DEFAULT_CONFIG, GENERATE_COMMAND, MANIFESTS_COMMAND};
pub use marker_arguments::{
    Argument, ConfigurationArguments, MarkerArguments, ReadValue, Rule, WebhookArguments,
};
pub use operator::*;
pub use resource::*;
use shape::{nth_resource, project_problem};

/// The layout of the projects that this tool creates.
const LAYOUT: &str = "rust.operator-rs.io/v1";

/// The layout of operators that others have laid out: PROJECT is their only file of this tool.
const ADOPTED: &str = "rust.operator-rs.io/in-place/v1";

/// The PROJECT file: the project's name, its settings and its resources.
///
/// The format is version 3 of kubebuilder's. The text is kept: comments and unknown fields survive every edit.
#[derive(Clone, Debug)]
pub struct Project {
    pub name: ProjectName,
    pub domain: Domain,
    /// True if the operator watches its own namespace only.
    pub namespaced: bool,
    layout: Layout,
    /// The options that the project and its resources were created with.
    pub inputs: Inputs,
    pub resources: Vec<Resource>,
    text: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", expecting = "the fields of a PROJECT file")]
struct File {
    project_name: ProjectName,
    domain: Domain,
    #[serde(default)]
    namespaced: bool,
    plugins: Option<Plugins>,
    #[serde(default)]
    resources: Vec<Resource>,
}

/// The settings of other tools are kept.
#[derive(Deserialize)]
#[serde(expecting = "a map of plugins")]
struct Plugins {
    #[serde(rename = "rust.operator-rs.io/v1")]
    own: Option<Inputs>,
}

/// The fields of PROJECT that are checked before all others.
#[derive(Deserialize)]
#[serde(expecting = "the fields of a PROJECT file")]
struct Head {
    version: Option<yaml::Value>,
    layout: Option<Layouts>,
    #[serde(rename = "cliVersion")]
    cli_version: Option<String>,
    plugins: Option<yaml::Value>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a layout, or a list of layouts")]
enum Layouts {
    One(String),
    Many(Vec<String>),
}

impl Project {
    /// Returns whether PROJECT lists a webhook.
    pub fn has_webhooks(&self) -> bool {
        let mut webhooks = self.resources.iter().filter_map(|resource| resource.webhooks.as_ref());
        webhooks.any(|webhooks| !webhooks.is_empty())
    }

    /// Returns the versions of each kind, by group and name, that the operator converts between.
    pub fn converted_versions(&self) -> BTreeMap<(String, String), Converted> {
        let hubs = self
            .resources
            .iter()
            .filter_map(|resource| Some((resource, resource.webhooks.as_ref()?)));
        let hubs = hubs.filter(|(_, webhooks)| webhooks.conversion);
        hubs.map(|(hub, webhooks)| {
            let spokes = webhooks.spoke.iter().map(ToString::to_string).collect();
            let converted = Converted { hub: hub.version.to_string(), spokes };
            ((hub.api_group(), hub.kind.to_string()), converted)
        })
        .collect()
    }

    /// Returns the project of a tree that this tool has laid out. Every command about its files starts from it.
    pub fn read(tree: &impl Tree) -> anyhow::Result<Self> {
        let project = Self::read_any_layout(tree)?;
        if project.is_adopted() {
            Err(anyhow::format_err!(
                "this operator was adopted, and this command needs the files that `operator-rs init` creates"
            ))
            .hint(IN_PLACE_COMMANDS)
        } else {
            Ok(project)
        }
    }

    /// Returns the project of a tree, in place or not.
    pub fn read_any_layout(tree: &impl Tree) -> anyhow::Result<Self> {
        let Some(text) = tree.read_text(&Self::path())? else {
            let place = match tree.root_dir() {
                Some(dir) if dir != Path::new(".") => format!("in `{}`", display_path(&dir)),
                _ => "here".to_owned(),
            };
            return Err(anyhow::format_err!("there is no PROJECT file {place}")).hint(
                "this command works in the directory of a project and below it; `operator-rs init` starts a project, and `operator-rs adopt` writes PROJECT for an existing operator",
            );
        };
        Self::from_text(&text)
    }

    /// Returns the project of a tree, if it has a PROJECT file of this tool, and not that of another tool.
    pub fn find_in(tree: &impl Tree) -> anyhow::Result<Option<Self>> {
        let Some(text) = tree.read_text(&Self::path())? else { return Ok(None) };
        match Self::from_text(&text) {
            Err(_) if !text.contains("rust.operator-rs.io/") => Ok(None),
            project => project.map(Some),
        }
    }

    /// Returns whether this is an adopted project: `inputs` says where its parts are.
    pub fn is_adopted(&self) -> bool {
        self.layout != Layout::Own
    }

    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Returns whether a kind that the source declares is the project's. Source that declares kinds of others is common
    /// among operators in place: theirs are of groups that PROJECT does not list, unless it lists none.
    pub fn owns_kind(&self, kind: &DeclaredKind) -> bool {
        let mut own = self.resources.iter().filter(|resource| resource.api.is_some()).peekable();
        let Some(group) = &kind.group else { return true };
        !self.is_adopted()
            || own.peek().is_none()
            || own.any(|resource| *group == resource.api_group())
    }

    /// The layout of the projects that this tool creates.
    pub const LAYOUT: &str = LAYOUT;

    pub fn path() -> ProjectPath {
        ProjectPath::fixed("PROJECT")
    }

    pub fn new(name: ProjectName, domain: Domain, namespaced: bool, inputs: &Inputs) -> Self {
        let scope = if namespaced { "namespaced: true\n" } else { "" };
        let text = format!(
            "# The APIs and settings of this project, for operator-rs. Comments and other fields are kept.\n\
             cliVersion: {}\n\
             domain: {domain}\n\
             layout:\n- {LAYOUT}\n\
             {scope}\
             projectName: {name}\n\
             version: \"3\"\n",
            env!("CARGO_PKG_VERSION")
        );
        let bare = Self {
            name,
            domain,
            namespaced,
            layout: Layout::Own,
            inputs: Inputs::default(),
            resources: Vec::new(),
            text,
        };
        bare.with_inputs(inputs).expect("this text can be edited")
    }

    /// Returns the project of an operator that others have laid out.
    pub fn new_in_place(
        name: &ProjectName,
        domain: &Domain,
        inputs: &Inputs,
    ) -> anyhow::Result<Self> {
        let text = format!(
            "# What operator-rs knows of this operator. Comments and other fields are kept.\n\
             cliVersion: {}\n\
             domain: {domain}\n\
             layout:\n- {ADOPTED}\n\
             projectName: {name}\n\
             version: \"3\"\n",
            env!("CARGO_PKG_VERSION")
        );
        Self::from_text(&text)?.with_inputs(inputs)
    }

    /// Returns the project of any tool with the same format.
    pub fn parse_any_tool(text: &str) -> anyhow::Result<Self> {
        Self::parse_layout(text, true)
    }

    /// Parses PROJECT. Errors have the place of the malformed part.
    pub fn from_text(text: &str) -> anyhow::Result<Self> {
        Self::parse_layout(text, false)
    }

    fn parse_layout(text: &str, takes_others: bool) -> anyhow::Result<Self> {
        if text.trim().is_empty() {
            return Err(anyhow::format_err!("PROJECT is empty"))
                .hint("restore it from version control: it lists what the project contains");
        }
        let locate = yaml::locate_error("PROJECT", text);
        let document = yaml::parse_document(text, yaml::Dialect::Strict);
        let document = document.map_err(|fault| locate(fault.into()))?;
        if let Some(file) = &document {
            spelling::refuse_misspelt_fields(file, text)?;
        }
        let head: Head = shape::deserialize_fields(document.as_ref()).map_err(&locate)?;
        let layout = head.check_layout(text, takes_others)?;
        let File { project_name, domain, namespaced, plugins, resources } =
            shape::deserialize_fields(document.as_ref()).map_err(&locate)?;
        let mut seen = BTreeSet::new();
        for (at, resource) in resources.iter().enumerate() {
            let Resource { group, domain, kind, version, .. } = resource;
            if !seen.insert((group, domain, kind, version)) {
                let message = format!("PROJECT has {} {} twice", resource.version, resource.kind);
                return Err(project_problem(
                    text,
                    |node| Some(nth_resource(node, at)?.mark),
                    message,
                )
                .into_error());
            }
            // The path becomes Rust code, in api/src/crds.rs.
            if let (Some(_), Some(path)) = (&resource.api, &resource.path)
                && layout == Layout::Own
                && path.parse::<RustPath>().is_err()
            {
                let message = format!("`{path}` is not the path of a Rust module");
                let diagnostic = project_problem(
                    text,
                    |node| Some(nth_resource(node, at)?.get("path")?.mark),
                    message,
                );
                let hint = format!(
                    "name the module that has the type, e.g. `{}_api::cache::v1alpha1`, or remove `path`",
                    project_name.crate_name()
                );
                return Err(diagnostic.with_hint(hint).into_error());
            }
        }
        let inputs = plugins.and_then(|plugin| plugin.own).unwrap_or_default();
        let text = text.to_owned();
        Ok(Self { name: project_name, domain, namespaced, layout, inputs, resources, text })
    }

    /// Returns the kind in this file whose name is most like a misspelt one.
    pub fn similar_kind(&self, misspelt: &Kind) -> Option<String> {
        let kinds: Vec<String> =
            self.resources.iter().map(|resource| resource.kind.to_string()).collect();
        let nearest =
            diagnostics::find_nearest(&misspelt.to_string(), kinds.iter().map(String::as_str));
        nearest.map(str::to_owned)
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns a problem with a field of a resource, at the deepest part of the field's path that is there.
    pub fn resource_problem(&self, at: usize, field: &[&str], message: String) -> Diagnostic {
        let place = |file: &yaml::Node| {
            let mut node = nth_resource(file, at)?;
            for key in field {
                node = node.get(key).unwrap_or(node);
            }
            Some(node.mark)
        };
        project_problem(&self.text, place, message)
    }
}

/// The commands that work with the layout of another tool.
const IN_PLACE_COMMANDS: &str = "adopted operators can use `create api`, `manifests`, `test`, `install`, `uninstall`, `deploy`, `undeploy`, `migrate`, `image`, `bundle`, `chart check`, and `generate crds`, `docs`, `schemas` and `installer`";

/// The tool that has laid out the files of a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// `init`.
    Own,
    /// Others: PROJECT is the only file of this tool.
    InPlace,
    /// Another tool, whose PROJECT file has our settings as well.
    Other,
}

impl Head {
    fn check_layout(&self, text: &str, takes_others: bool) -> anyhow::Result<Layout> {
        let refusal = |field: &str, message: String, hint: &str| {
            let diagnostic = project_problem(text, |node| Some(node.get(field)?.mark), message);
            Err(diagnostic.with_hint(hint).into_error())
        };
        match &self.version {
            Some(yaml::Value::String(version)) if version == "3" => {}
            None => {
                let message = "PROJECT has no `version`, and only version \"3\" is supported";
                return refusal("version", message.to_owned(), "add `version: \"3\"`");
            }
            Some(yaml::Value::Number(number)) if number.as_u64() == Some(3) => {
                let message = "PROJECT has `version: 3`, a number".to_owned();
                return refusal("version", message, "write it in quotes: `version: \"3\"`");
            }
            Some(other) => {
                let message =
                    format!("PROJECT has version {other}, and only version \"3\" is supported");
                let hint = "version 2 is that of kubebuilder until 2020; `operator-rs init` creates a new project in another directory";
                return refusal("version", message, hint);
            }
        }
        let layouts: Vec<&str> = match &self.layout {
            Some(Layouts::One(one)) => one.split(',').collect(),
            Some(Layouts::Many(many)) => many.iter().map(String::as_str).collect(),
            None => Vec::new(),
        };
        // `adopt` adds our settings to the PROJECT file of another tool, and leaves its layout.
        let is_foreign = !layouts.iter().any(|layout| layout.starts_with("rust.operator-rs.io/"));
        let is_adopted = is_foreign
            && (takes_others
                || self.plugins.as_ref().is_some_and(|plugin| !plugin[LAYOUT].is_null()));
        let found = match () {
            () if layouts.contains(&LAYOUT) => Some(Layout::Own),
            () if layouts.contains(&ADOPTED) => Some(Layout::InPlace),
            () if is_adopted => Some(Layout::Other),
            () => None,
        };
        if let Some(found) = found {
            return match self.newer_version_problem()?.filter(|_| !is_foreign) {
                Some(message) => refusal("cliVersion", message, "update operator-rs"),
                None => Ok(found),
            };
        }
        if layouts.iter().any(|layout| layout.starts_with("rust.operator-rs.io/")) {
            let message = format!(
                "PROJECT has the layout `{}`, which this version of operator-rs does not support",
                layouts.join(",")
            );
            let hint = "a newer version of operator-rs created the project: update operator-rs";
            return refusal("layout", message, hint);
        }
        let language = if layouts.iter().any(|layout| layout.starts_with("go.")) {
            "a Go project"
        } else {
            "a project"
        };
        let layouts = layouts.join(",");
        let message =
            format!("PROJECT belongs to {language} of another tool: its layout is `{layouts}`");
        let hint = format!(
            "continue with operator-sdk or kubebuilder here; if the operator is written in Rust, run `operator-rs adopt`; to rewrite the operator in Rust, run `operator-rs init` in an empty directory \
             with the same `--domain` and `--project-name`, then `operator-rs create api` for each entry of its `resources` \
             (this tool's layout is `{LAYOUT}`)"
        );
        refusal("layout", message, &hint)
    }

    /// Returns why a project is refused that a newer operator-rs has updated.
    fn newer_version_problem(&self) -> anyhow::Result<Option<String>> {
        let ours: semver::Version = env!("CARGO_PKG_VERSION").parse().context("our own version")?;
        let theirs =
            self.cli_version.as_deref().and_then(|version| version.parse::<semver::Version>().ok());
        Ok(theirs.filter(|version| ours < *version).map(|theirs| {
            format!("operator-rs {theirs} has updated this project, and this is operator-rs {ours}")
        }))
    }
}
