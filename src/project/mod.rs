//! The PROJECT file, and what the source of a project declares.

mod edit;
mod hand_edit;
mod inputs;
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

use diagnostics::{Diagnostic, Hint as _, Lines};
use go_data::yaml;
use model::{Domain, Kind, ProjectName, ProjectPath, RustPath, Tree, display_path};

pub use inputs::{Certificates, Inputs, Options};
pub use kube_crd_source::{
    Crate, FieldNames, Kind as DeclaredKind, Place, Problem, RustPath as KindPath, SourcePath,
    Storage, Target, UnreadValues, Unreadable, below,
};
pub use operator::*;
#[cfg(test)]
pub use resource::COMPARED;
pub use resource::{
    Api, CrdVersion, Resource, WebhookVersion, Webhooks, kind_command, split_group,
};

/// The layout of the projects that this tool creates.
const LAYOUT: &str = "rust.operator-rs.io/v1";

/// The layout of operators that others have laid out: PROJECT is their only file of this tool.
const IN_PLACE: &str = "rust.operator-rs.io/in-place/v1";

/// The PROJECT file: the project's name, its settings and its resources.
///
/// The format is version 3 of kubebuilder's. The text is kept: comments and unknown fields survive every edit.
#[derive(Clone, Debug)]
pub struct Project {
    pub name: ProjectName,
    pub domain: Domain,
    /// Whether the operator watches its own namespace only.
    pub namespaced: bool,
    layout: Layout,
    /// What the project and its resources were created with.
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
    /// Whether PROJECT lists a webhook.
    pub fn has_webhooks(&self) -> bool {
        let has = |it: &Resource| it.webhooks.as_ref().is_some_and(|it| !it.is_empty());
        self.resources.iter().any(has)
    }

    /// The versions of each kind, by group and name, that the operator converts between.
    pub fn converted(&self) -> BTreeMap<(String, String), Converted> {
        let hubs = self.resources.iter().filter_map(|it| Some((it, it.webhooks.as_ref()?)));
        let hubs = hubs.filter(|(_, webhooks)| webhooks.conversion);
        hubs.map(|(hub, webhooks)| {
            let spokes = webhooks.spoke.iter().map(ToString::to_string).collect();
            let converted = Converted { hub: hub.version.to_string(), spokes };
            ((hub.api_group(), hub.kind.to_string()), converted)
        })
        .collect()
    }

    /// The project of a tree, whose files are laid out by this tool. Every command about these files starts from it.
    pub fn read(tree: &impl Tree) -> anyhow::Result<Self> {
        let project = Self::of_any_layout(tree)?;
        match project.in_place() {
            false => Ok(project),
            true => Err(anyhow::format_err!(
                "this operator was adopted, and this command needs the files that `operator-rs init` creates"
            ))
            .hint(IN_PLACE_COMMANDS),
        }
    }

    /// The project of a tree, in place or not.
    pub fn of_any_layout(tree: &impl Tree) -> anyhow::Result<Self> {
        let Some(text) = tree.read(&Self::path())? else {
            let place = match tree.dir() {
                Some(dir) if dir != Path::new(".") => format!("in `{}`", display_path(&dir)),
                _ => "here".to_owned(),
            };
            return Err(anyhow::format_err!("there is no PROJECT file {place}")).hint(
                "this command works in the directory of a project and below it; `operator-rs init` starts a project, and `operator-rs adopt` writes PROJECT for an existing operator",
            );
        };
        Self::from_text(&text)
    }

    /// The project of a tree, if it has a PROJECT file of this tool; that of another tool may be beside a Cargo.toml.
    pub fn find(tree: &impl Tree) -> anyhow::Result<Option<Self>> {
        let Some(text) = tree.read(&Self::path())? else { return Ok(None) };
        match Self::from_text(&text) {
            Err(_) if !text.contains("rust.operator-rs.io/") => Ok(None),
            project => project.map(Some),
        }
    }

    /// Whether others have laid the operator out: `inputs` says where its parts are.
    pub fn in_place(&self) -> bool {
        self.layout != Layout::Own
    }

    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Whether a kind that the source declares is the project's. Source that declares kinds of others is common among
    /// operators in place: theirs are of groups that PROJECT does not list, unless it lists none.
    pub fn owns(&self, kind: &DeclaredKind) -> bool {
        let mut own = self.resources.iter().filter(|it| it.api.is_some()).peekable();
        let Some(group) = &kind.group else { return true };
        !self.in_place() || own.peek().is_none() || own.any(|it| *group == it.api_group())
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

    /// The project of an operator that others have laid out.
    pub fn new_in_place(
        name: &ProjectName,
        domain: &Domain,
        inputs: &Inputs,
    ) -> anyhow::Result<Self> {
        let text = format!(
            "# What operator-rs knows of this operator. Comments and other fields are kept.\n\
             cliVersion: {}\n\
             domain: {domain}\n\
             layout:\n- {IN_PLACE}\n\
             projectName: {name}\n\
             version: \"3\"\n",
            env!("CARGO_PKG_VERSION")
        );
        Self::from_text(&text)?.with_inputs(inputs)
    }

    /// The project of any tool with the same format.
    pub fn of_any_tool(text: &str) -> anyhow::Result<Self> {
        Self::parsed(text, true)
    }

    /// Parses PROJECT. Errors have the place of the malformed part.
    pub fn from_text(text: &str) -> anyhow::Result<Self> {
        Self::parsed(text, false)
    }

    fn parsed(text: &str, takes_others: bool) -> anyhow::Result<Self> {
        if text.trim().is_empty() {
            return Err(anyhow::format_err!("PROJECT is empty"))
                .hint("restore it from version control: it lists what the project contains");
        }
        let locate = yaml::locate("PROJECT", text);
        let document = yaml::whole(text, yaml::Dialect::Strict);
        let document = document.map_err(|fault| locate(fault.into()))?;
        if let Some(file) = &document {
            spelling::check(file, text)?;
        }
        let head: Head = shape::typed(document.as_ref()).map_err(&locate)?;
        let layout = head.check(text, takes_others)?;
        let File { project_name, domain, namespaced, plugins, resources } =
            shape::typed(document.as_ref()).map_err(&locate)?;
        let mut seen = BTreeSet::new();
        for (at, resource) in resources.iter().enumerate() {
            let Resource { group, domain, kind, version, .. } = resource;
            if !seen.insert((group, domain, kind, version)) {
                let message = format!("PROJECT has {} {} twice", resource.version, resource.kind);
                return Err(refusal(text, |it| Some(nth(it, at)?.mark), message).into_error());
            }
            // The path becomes Rust code, in api/src/crds.rs.
            if let (Some(_), Some(path)) = (&resource.api, &resource.path)
                && layout == Layout::Own
                && path.parse::<RustPath>().is_err()
            {
                let message = format!("`{path}` is not the path of a Rust module");
                let diagnostic = refusal(text, |it| Some(nth(it, at)?.get("path")?.mark), message);
                let hint = format!(
                    "name the module that has the type, e.g. `{}_api::cache::v1alpha1`, or remove `path`",
                    project_name.crate_name()
                );
                return Err(diagnostic.with_hint(hint).into_error());
            }
        }
        let inputs = plugins.and_then(|it| it.own).unwrap_or_default();
        let text = text.to_owned();
        Ok(Self { name: project_name, domain, namespaced, layout, inputs, resources, text })
    }

    /// The kind in this file whose name is most like a misspelt one.
    pub fn similar_kind(&self, misspelt: &Kind) -> Option<String> {
        let kinds: Vec<String> = self.resources.iter().map(|it| it.kind.to_string()).collect();
        let nearest = diagnostics::nearest(&misspelt.to_string(), kinds.iter().map(String::as_str));
        nearest.map(str::to_owned)
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// A problem with a field of a resource, at the deepest part of the field's path that is there.
    pub fn problem(&self, at: usize, field: &[&str], message: String) -> Diagnostic {
        let place = |file: &yaml::Node| {
            let mut node = nth(file, at)?;
            for key in field {
                node = node.get(key).unwrap_or(node);
            }
            Some(node.mark)
        };
        refusal(&self.text, place, message)
    }
}

/// What works without our layout.
const IN_PLACE_COMMANDS: &str = "adopted operators can use `create api`, `manifests`, `test`, `install`, `uninstall`, `deploy`, `undeploy`, `migrate`, `image`, `bundle`, `chart check`, and `generate crds`, `docs`, `schemas` and `installer`";

/// Why PROJECT is refused, at a place in it; at its first field, if what the place is about is missing.
fn refusal(
    text: &str,
    place: impl Fn(&yaml::Node) -> Option<yaml::Mark>,
    message: impl Into<String>,
) -> Diagnostic {
    let nodes = yaml::nodes(text, yaml::Dialect::Strict).unwrap_or_default();
    let mark = nodes.first().map(|it| place(it).unwrap_or(it.mark));
    let (line, column) = mark.map_or((1, 1), |it| (it.line, it.column));
    Diagnostic::in_file("PROJECT", message).at(line, column).quote(&mut Lines::of(text))
}

/// A resource.
fn nth(file: &yaml::Node, at: usize) -> Option<&yaml::Node> {
    match &file.get("resources")?.data {
        yaml::Data::List(list) => list.get(at),
        _ => None,
    }
}

/// Who has laid out the files of a project.
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
    fn check(&self, text: &str, takes_others: bool) -> anyhow::Result<Layout> {
        let refusal = |field: &str, message: String, hint: &str| {
            let diagnostic = refusal(text, |it| Some(it.get(field)?.mark), message);
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
        let is_foreign = !layouts.iter().any(|it| it.starts_with("rust.operator-rs.io/"));
        let is_adopted = is_foreign
            && (takes_others || self.plugins.as_ref().is_some_and(|it| !it[LAYOUT].is_null()));
        let found = match () {
            () if layouts.contains(&LAYOUT) => Some(Layout::Own),
            () if layouts.contains(&IN_PLACE) => Some(Layout::InPlace),
            () if is_adopted => Some(Layout::Other),
            () => None,
        };
        if let Some(found) = found {
            return match self.newer()?.filter(|_| !is_foreign) {
                Some(message) => refusal("cliVersion", message, "update operator-rs"),
                None => Ok(found),
            };
        }
        if layouts.iter().any(|it| it.starts_with("rust.operator-rs.io/")) {
            let message = format!(
                "PROJECT has the layout `{}`, which this version of operator-rs does not support",
                layouts.join(",")
            );
            let hint = "a newer version of operator-rs created the project: update operator-rs";
            return refusal("layout", message, hint);
        }
        let language = if layouts.iter().any(|it| it.starts_with("go.")) {
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

    /// Why a project is refused that a newer operator-rs has updated.
    fn newer(&self) -> anyhow::Result<Option<String>> {
        let ours: semver::Version = env!("CARGO_PKG_VERSION").parse().context("our own version")?;
        let theirs = self.cli_version.as_deref().and_then(|it| it.parse::<semver::Version>().ok());
        Ok(theirs.filter(|it| ours < *it).map(|theirs| {
            format!("operator-rs {theirs} has updated this project, and this is operator-rs {ours}")
        }))
    }
}
