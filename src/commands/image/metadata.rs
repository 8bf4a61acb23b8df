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
pub struct Metadata {
    pub packages: Vec<Package>,
    resolve: Resolve,
    /// The ids of the packages in the workspace.
    workspace_members: Vec<String>,
    pub workspace_root: PathBuf,
    pub target_directory: PathBuf,
}

#[derive(Deserialize)]
pub struct Package {
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
    targets: Vec<Built>,
}

#[derive(Deserialize)]
struct Built {
    name: String,
    kind: Vec<String>,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
    root: Option<String>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    pkg: String,
    dep_kinds: Vec<Kind>,
}

#[derive(Deserialize)]
struct Kind {
    kind: Option<String>,
}

impl Metadata {
    pub fn read(text: &str) -> anyhow::Result<Self> {
        let mut res: Self =
            serde_json::from_str(text).context("cannot parse the output of `cargo metadata`")?;
        for package in &mut res.packages {
            package.repository = package.repository.as_deref().map(without_user);
        }
        Ok(res)
    }

    /// The package of this name in the workspace, or else the one in the project's folder.
    pub fn root(&self, wanted: Option<&str>) -> anyhow::Result<&Package> {
        let members = self.packages.iter().filter(|it| self.workspace_members.contains(&it.id));
        let with_programs = members.clone().filter(|it| it.has_programs());
        let with_programs: Vec<&str> = with_programs.map(|it| it.name.as_str()).collect();
        if let Some(wanted) = wanted {
            let found = { members }.find(|it| it.name == wanted);
            return found
                .with_context(|| format!("`{wanted}` is not a package of this workspace"))
                .hint(format!("these have programs: {}", with_programs.join(", ")));
        }
        let id = self.resolve.root.as_ref();
        let found = id.and_then(|id| self.packages.iter().find(|it| it.id == *id));
        let flags = with_programs.iter().map(|it| format!("`--package {it}`"));
        found.context("Cargo.toml has no `[package]`").hint(format!(
            "choose the operator's package: {}",
            flags.collect::<Vec<_>>().join(" or ")
        ))
    }

    /// The ids of what a package depends on, by kind: `None` for what is linked, `Some("build")` for build scripts.
    pub fn dependencies<'a>(
        &'a self,
        kinds: &[Option<&str>],
    ) -> BTreeMap<&'a str, BTreeSet<&'a str>> {
        let is_wanted =
            |it: &&Dependency| it.dep_kinds.iter().any(|it| kinds.contains(&it.kind.as_deref()));
        let of = |node: &'a Node| {
            let wanted = node.deps.iter().filter(is_wanted).map(|it| it.pkg.as_str());
            (node.id.as_str(), wanted.collect())
        };
        self.resolve.nodes.iter().map(of).collect()
    }

    /// The packages below a package whose build scripts compile C, as `name version`.
    pub fn with_c(&self, root: &Package) -> Vec<String> {
        let by_id: BTreeMap<&str, &Package> =
            self.packages.iter().map(|it| (it.id.as_str(), it)).collect();
        let builds = self.dependencies(&[Some("build")]);
        let links = self.dependencies(&[None]);
        let mut queue = vec![root.id.as_str()];
        let mut seen: BTreeSet<&str> = queue.iter().copied().collect();
        let mut res = Vec::new();
        while let Some(id) = queue.pop() {
            let is_cc = |it: &&str| by_id.get(it).is_some_and(|it| it.name == "cc");
            if builds.get(id).is_some_and(|it| it.iter().any(is_cc))
                && let Some(package) = by_id.get(id)
            {
                res.push(format!("{} {}", package.name, package.version));
            }
            let is_linked = |it: &&&str| by_id.get(**it).is_some_and(|it| !it.is_macro());
            let below = links.get(id).into_iter().flatten().filter(is_linked);
            queue.extend(below.filter(|it| seen.insert(it)));
        }
        res.sort();
        res
    }
}

impl Package {
    /// Whether it is code for the compiler.
    fn is_macro(&self) -> bool {
        self.targets.iter().any(|it| it.kind.iter().any(|it| it == "proc-macro"))
    }

    fn has_programs(&self) -> bool {
        self.targets.iter().any(|it| it.kind.iter().any(|it| it == "bin"))
    }

    /// The program of the image.
    pub fn program(&self, wanted: Option<&str>) -> anyhow::Result<&str> {
        let programs = self.targets.iter().filter(|it| it.kind.iter().any(|it| it == "bin"));
        let programs: Vec<&str> = programs.map(|it| it.name.as_str()).collect();
        let wanted = wanted.or(self.default_run.as_deref());
        match (wanted, &programs[..]) {
            (Some(name), _) => programs
                .iter()
                .find(|it| **it == name)
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
