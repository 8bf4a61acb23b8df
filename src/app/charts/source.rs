//! The facts of the Rust source that a chart has to agree with: kinds, markers of RBAC, versions of packages.

use std::{collections::BTreeMap, path::Path};

use super::deployed;
use crate::{
    app::{
        cargo::{
            self, Workspace,
            feature_flags::{self, FeatureFlags},
            tree_sources::TreeSources,
        },
        compile::{self, Compile},
        config::roles::OwnNamespace,
        crds::declared,
        generation::unserved,
        output::refusal::{refusal, unread},
    },
    disk::{self, Root},
    manifests::{self, CrdOptions},
    project::{self, Project},
    source::{self, Options},
};
use diagnostics::{Hint as _, with_hints};
use go_data::yaml::Value;

/// The packages to read, and the options for reading them.
pub struct SourceSelection<'a> {
    pub manifest: Option<&'a Path>,
    pub packages: &'a [String],
    pub features: &'a FeatureFlags,
    pub compile: compile::CompileFlags,
}

pub struct ChartSource {
    /// The CRDs of the kinds that could be read, by name.
    pub crds: BTreeMap<String, Value>,
    /// The rules of the markers.
    pub rules: Vec<project::Rule>,
    /// The operator's own namespace, in a project whose config/ says it.
    pub own_namespace: Option<OwnNamespace>,
    /// The rules that config/ of the project adds to them.
    pub deployed: Vec<project::Rule>,
    /// Versions that the operator's controllers use and API servers do not serve.
    pub unserved: Vec<project::Problem>,
    /// The version of each package.
    pub versions: BTreeMap<String, String>,
    /// Why some kinds could not be read.
    pub unread: Option<anyhow::Error>,
}

impl ChartSource {
    pub fn read(dir: &Path, selection: &SourceSelection<'_>) -> anyhow::Result<Self> {
        let workspace = Workspace::find(dir, selection.manifest)?;
        let packages = match &workspace.member {
            Some(member) if selection.packages.is_empty() => vec![member.clone()],
            _ => selection.packages.to_vec(),
        };
        let options = Options { packages, ..selection.features.options() };
        let sources = TreeSources::new(&workspace.root);
        let mut reading = source::read_workspace_with_rules(&sources, &options);
        if let Some(it) = options.packages.iter().find(|package| !reading.members.contains(package))
        {
            return Err(anyhow::format_err!("`{it}` is not a package of this workspace"))
                .hint(format!("its packages are {}", reading.members.join(", ")));
        }
        feature_flags::require_known(&reading)?;
        if options.packages.is_empty() {
            declared::leave_out_others(&mut reading, &workspace.root)?;
        }
        let compile = Compile {
            top: workspace.root.resolved_path(),
            flags: Some(selection.compile),
            all: false,
            modules: &[],
            keeps_going: true,
            is_on_disk: true,
        };
        compile::complete(&compile, &mut reading)?;
        let operator = reading.whole_kinds();
        let generated = manifests::crds(&operator, &CrdOptions::default());
        let found = reading.quote_source(&sources, generated.problems);
        let problems = [reading.all_problems(), found].concat();
        let unread = (!problems.is_empty()).then(|| {
            let headline = format!(
                "{}, and the chart was not compared with what cannot be read",
                unread(&reading)
            );
            let error = refusal(&headline, problems);
            with_hints::<()>(error, reading.hint.iter().cloned()).expect_err("it is an error")
        });
        let project = Project::find_in(&workspace.root)?;
        let unserved = project.map(|project| unserved::warnings(&project, &operator));
        let unserved = reading.quote_source(&sources, unserved.unwrap_or_default());
        let objects = generated.manifests.into_iter().flat_map(|manifest| manifest.objects);
        let name =
            |object: &Value| object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        Ok(Self {
            crds: objects.map(|object| (name(&object), object)).collect(),
            rules: operator.rbac_rules(),
            own_namespace: own_namespace(&workspace.root)?,
            deployed: deployed::rights(&workspace.root)?,
            unserved,
            versions: package_versions(&workspace, &reading.crates, &options.packages)?,
            unread,
        })
    }
}

/// Returns an operator in place says nothing of its namespace.
fn own_namespace(root: &Root) -> anyhow::Result<Option<OwnNamespace>> {
    let project = Project::find_in(root)?.filter(|project| !project.is_adopted());
    project.map(|project| OwnNamespace::read(&project, root)).transpose()
}

/// Returns the version of each package that was chosen, or that has a program.
fn package_versions(
    workspace: &Workspace,
    crates: &[project::Crate],
    chosen: &[String],
) -> anyhow::Result<BTreeMap<String, String>> {
    let top = workspace.root.resolved_path();
    let file = top.join("Cargo.toml");
    let read = |path: &Path| {
        anyhow::Ok(
            disk::read_text_if_exists(path)?.map(|text| cargo::parse(path, &text)).transpose()?,
        )
    };
    let Some(shared) = read(&file)? else { return Ok(BTreeMap::new()) };
    let mut versions = BTreeMap::new();
    for it in crates {
        let folder = top.join(&it.folder);
        let Some(manifest) = read(&folder.join("Cargo.toml"))? else { continue };
        let package =
            cargo::UserPackage { folder: &folder, manifest: &manifest, top, workspace: &shared };
        let name = package.name()?.to_owned();
        if chosen.is_empty() || chosen.contains(&name) {
            versions.insert(name, package.version());
        }
    }
    Ok(versions)
}
