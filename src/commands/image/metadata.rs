//! The output of `cargo metadata`, as far as it is needed.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use anyhow::Context as _;
use serde::Deserialize;

use diagnostics::Hint as _;
use model::without_user;

#[derive(Deserialize)]
pub struct CargoMetadata {
    pub packages: Vec<CargoPackage>,
    resolve: Resolve,
    /// The ids of the packages in the workspace.
    workspace_members: Vec<String>,
    pub workspace_root: PathBuf,
    pub target_directory: PathBuf,
}

#[derive(Deserialize)]
pub struct CargoPackage {
    pub id: String,
    pub name: String,
    pub version: String,
    pub description: Option<String>,
    pub license: Option<String>,
    pub license_file: Option<String>,
    /// Without a name and a password.
    pub repository: Option<String>,
    /// Its registry or repository; none for packages in folders.
    pub source: Option<String>,
    default_run: Option<String>,
    targets: Vec<CargoTarget>,
}

#[derive(Deserialize)]
struct CargoTarget {
    name: String,
    kind: Vec<String>,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<ResolveNode>,
    root: Option<String>,
}

#[derive(Deserialize)]
struct ResolveNode {
    id: String,
    deps: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    pkg: String,
    dep_kinds: Vec<DependencyKind>,
}

#[derive(Deserialize)]
struct DependencyKind {
    kind: Option<String>,
}

impl CargoMetadata {
    pub fn parse(text: &str) -> anyhow::Result<Self> {
        let mut metadata: Self =
            serde_json::from_str(text).context("cannot parse the output of `cargo metadata`")?;
        for package in &mut metadata.packages {
            package.repository = package.repository.as_deref().map(without_user);
        }
        Ok(metadata)
    }

    /// The package of this name in the workspace, or else the one in the project's folder.
    pub fn root_package(&self, wanted: Option<&str>) -> anyhow::Result<&CargoPackage> {
        let members =
            self.packages.iter().filter(|package| self.workspace_members.contains(&package.id));
        let with_programs = members.clone().filter(|package| package.has_programs());
        let with_programs: Vec<&str> = with_programs.map(|package| package.name.as_str()).collect();
        if let Some(wanted) = wanted {
            let found = { members }.find(|package| package.name == wanted);
            return found
                .with_context(|| format!("`{wanted}` is not a package of this workspace"))
                .hint(format!("these have programs: {}", with_programs.join(", ")));
        }
        let id = self.resolve.root.as_ref();
        let found = id.and_then(|id| self.packages.iter().find(|package| package.id == *id));
        let flags = with_programs.iter().map(|name| format!("`--package {name}`"));
        found.context("Cargo.toml has no `[package]`").hint(format!(
            "choose the operator's package: {}",
            flags.collect::<Vec<_>>().join(" or ")
        ))
    }

    /// The ids of what a package depends on, by kind: `None` for what is linked, `Some("build")` for build scripts.
    pub fn dependencies_by_kind<'a>(
        &'a self,
        kinds: &[Option<&str>],
    ) -> BTreeMap<&'a str, BTreeSet<&'a str>> {
        let is_wanted = |dependency: &&Dependency| {
            dependency
                .dep_kinds
                .iter()
                .any(|dependency_kind| kinds.contains(&dependency_kind.kind.as_deref()))
        };
        let of = |node: &'a ResolveNode| {
            let wanted =
                node.deps.iter().filter(is_wanted).map(|dependency| dependency.pkg.as_str());
            (node.id.as_str(), wanted.collect())
        };
        self.resolve.nodes.iter().map(of).collect()
    }

    /// The packages below a package whose build scripts compile C, as `name version`.
    pub fn with_c(&self, root: &CargoPackage) -> Vec<String> {
        let by_id: BTreeMap<&str, &CargoPackage> =
            self.packages.iter().map(|package| (package.id.as_str(), package)).collect();
        let builds = self.dependencies_by_kind(&[Some("build")]);
        let links = self.dependencies_by_kind(&[None]);
        let mut queue = vec![root.id.as_str()];
        let mut seen: BTreeSet<&str> = queue.iter().copied().collect();
        let mut names = Vec::new();
        while let Some(id) = queue.pop() {
            let is_cc = |id: &&str| by_id.get(id).is_some_and(|package| package.name == "cc");
            if builds.get(id).is_some_and(|ids| ids.iter().any(is_cc))
                && let Some(package) = by_id.get(id)
            {
                names.push(format!("{} {}", package.name, package.version));
            }
            let is_linked = |id: &&&str| by_id.get(**id).is_some_and(|package| !package.is_macro());
            let below = links.get(id).into_iter().flatten().filter(is_linked);
            queue.extend(below.filter(|id| seen.insert(id)));
        }
        names.sort();
        names
    }
}

impl CargoPackage {
    /// Returns whether the package has a procedural macro.
    fn is_macro(&self) -> bool {
        self.targets.iter().any(|target| target.kind.iter().any(|kind| kind == "proc-macro"))
    }

    fn has_programs(&self) -> bool {
        self.targets.iter().any(|target| target.kind.iter().any(|kind| kind == "bin"))
    }

    /// The program of the image.
    pub fn program_name(&self, wanted: Option<&str>) -> anyhow::Result<&str> {
        let programs =
            self.targets.iter().filter(|target| target.kind.iter().any(|kind| kind == "bin"));
        let programs: Vec<&str> = programs.map(|target| target.name.as_str()).collect();
        let wanted = wanted.or(self.default_run.as_deref());
        match (wanted, &programs[..]) {
            (Some(name), _) => programs
                .iter()
                .find(|program| **program == name)
                .copied()
                .with_context(|| format!("the package `{}` has no program `{name}`", self.name)),
            (None, [one]) => Ok(one),
            (None, []) => anyhow::bail!("the package `{}` has no program", self.name),
            (None, many) => Err(anyhow::format_err!(
                "the package `{}` has several programs: {}",
                self.name,
                many.join(", ")
            ))
            .hint("choose one with `--bin NAME`"),
        }
    }
}
