//! What the Rust source says that a chart has to agree with: kinds, markers of RBAC, versions of packages.

use std::{collections::BTreeMap, path::Path};

use super::deployed;
use crate::{
    app::{
        cargo::{self, Workspace},
        compile::{self, Compile},
        declared,
        feature_flags::{self, FeatureFlags},
        refusal::{refusal, unread},
        roles::OwnNamespace,
        tree_sources::TreeSources,
        unserved,
    },
    disk::{self, Root},
    manifests::{self, CrdOptions},
    project::{self, Project},
    source::{self, Options},
};
use diagnostics::{Hint as _, hinted};
use go_data::yaml::Value;

/// Which packages are read, and how.
pub struct Selection<'a> {
    pub manifest: Option<&'a Path>,
    pub packages: &'a [String],
    pub features: &'a FeatureFlags,
    pub compile: compile::Flags,
}

pub struct Source {
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

impl Source {
    pub fn read(dir: &Path, selection: &Selection<'_>) -> anyhow::Result<Self> {
        let workspace = Workspace::find(dir, selection.manifest)?;
        let packages = match &workspace.member {
            Some(member) if selection.packages.is_empty() => vec![member.clone()],
            _ => selection.packages.to_vec(),
        };
        let options = Options { packages, ..selection.features.options() };
        let sources = TreeSources::new(&workspace.root);
        let mut reading = source::read_with_rules(&sources, &options);
        if let Some(it) = options.packages.iter().find(|it| !reading.members.contains(it)) {
            return Err(anyhow::format_err!("`{it}` is not a package of this workspace"))
                .hint(format!("its packages are {}", reading.members.join(", ")));
        }
        feature_flags::require_known(&reading)?;
        if options.packages.is_empty() {
            declared::leave_out_others(&mut reading, &workspace.root)?;
        }
        let compile = Compile {
            top: workspace.root.real(),
            flags: Some(selection.compile),
            all: false,
            modules: &[],
            keeps_going: true,
            is_on_disk: true,
        };
        compile::complete(&compile, &mut reading)?;
        let operator = reading.whole();
        let generated = manifests::crds(&operator, &CrdOptions::default());
        let found = reading.quote(&sources, generated.problems);
        let problems = [reading.all_problems(), found].concat();
        let unread = (!problems.is_empty()).then(|| {
            let headline = format!(
                "{}, and the chart was not compared with what cannot be read",
                unread(&reading)
            );
            let error = refusal(&headline, problems);
            hinted::<()>(error, reading.hint.iter().cloned()).expect_err("it is an error")
        });
        let project = Project::find(&workspace.root)?;
        let unserved = project.map(|project| unserved::warnings(&project, &operator));
        let unserved = reading.quote(&sources, unserved.unwrap_or_default());
        let objects = generated.manifests.into_iter().flat_map(|it| it.objects);
        let name = |it: &Value| it["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        Ok(Self {
            crds: objects.map(|it| (name(&it), it)).collect(),
            rules: operator.rbac_rules(),
            own_namespace: own_namespace(&workspace.root)?,
            deployed: deployed::rights(&workspace.root)?,
            unserved,
            versions: versions(&workspace, &reading.crates, &options.packages)?,
            unread,
        })
    }
}

/// An operator in place says nothing of its namespace.
fn own_namespace(root: &Root) -> anyhow::Result<Option<OwnNamespace>> {
    let project = Project::find(root)?.filter(|project| !project.in_place());
    project.map(|project| OwnNamespace::read(&project, root)).transpose()
}

/// The version of each package that was chosen, or that has a program.
fn versions(
    workspace: &Workspace,
    crates: &[project::Crate],
    chosen: &[String],
) -> anyhow::Result<BTreeMap<String, String>> {
    let top = workspace.root.real();
    let file = top.join("Cargo.toml");
    let read = |path: &Path| {
        anyhow::Ok(disk::text_if_any(path)?.map(|it| cargo::parse(path, &it)).transpose()?)
    };
    let Some(shared) = read(&file)? else { return Ok(BTreeMap::new()) };
    let mut res = BTreeMap::new();
    for it in crates {
        let folder = top.join(&it.folder);
        let Some(manifest) = read(&folder.join("Cargo.toml"))? else { continue };
        let package =
            cargo::Package { folder: &folder, manifest: &manifest, top, workspace: &shared };
        let name = package.name()?.to_owned();
        if chosen.is_empty() || chosen.contains(&name) {
            res.insert(name, package.version());
        }
    }
    Ok(res)
}
