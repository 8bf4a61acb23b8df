//! `operator-rs generate crds`: the CRDs of any cargo project, with no PROJECT file.

mod committed;
mod nothing;

use std::path::{Path, PathBuf};

use anyhow::Context as _;

use self::committed::Committed;
use crate::{
    commands::{
        Mode, Outcome, begin,
        compile::complete,
        reading,
        refusal::{refusal, unread},
        workspace::{TreeSources, Workspace},
    },
    disk::Root,
    hint::Hint as _,
    manifests::{self, Manifest, Wishes},
    model::ProjectPath,
    plan::Plan,
    source::{self, Options, Reading},
    terminal, yaml,
};

/// The words that files of ours are signed with: a file a CRD, and one file with all.
const FOLDER: &str = "generate crds";
const FILE: &str = "generate crds --output-file";

/// Print the CRDs of any cargo package or workspace, as kube's `crd()` would give them
#[derive(clap::Args)]
pub struct Args {
    /// Its Cargo.toml [default: the next one from here upwards]
    #[arg(long, value_name = "PATH")]
    manifest_path: Option<PathBuf>,
    /// Only the kinds of this package (can be repeated) [default: every member of the workspace]
    #[arg(long, short, value_name = "PACKAGE")]
    package: Vec<String>,
    /// Only the kinds of this module and those below it, e.g. `api::v1` (can be repeated)
    #[arg(long, value_name = "MODULE")]
    module: Vec<String>,
    /// Turn these features on, with commas between. Features of dependencies are unified over the selected packages,
    /// as `cargo build --workspace` does
    #[arg(long, value_name = "FEATURES", value_delimiter = ',')]
    features: Vec<String>,
    /// Turn every feature on
    #[arg(long)]
    all_features: bool,
    /// Leave the default features off
    #[arg(long)]
    no_default_features: bool,
    /// Kinds of example targets too
    #[arg(long)]
    examples: bool,
    /// Write a file for each CRD into this folder, and remove those of kinds that are gone. With `--check`, compare
    /// with the CRDs in its files, whatever they are called and whoever wrote them
    #[arg(long, value_name = "DIR")]
    output_dir: Option<PathBuf>,
    /// Write all CRDs into this file, as YAML documents. With `--check`, compare with the CRDs in it
    #[arg(long, value_name = "FILE", conflicts_with = "output_dir")]
    output_file: Option<PathBuf>,
    /// How to print: a stream of YAML documents, or one JSON list
    #[arg(long, short, default_value = "yaml", conflicts_with_all = ["output_dir", "output_file"])]
    output: Format,
    /// Print or write the CRDs that can be read where others cannot, and fail all the same
    #[arg(long)]
    keep_going: bool,
    /// Do it again whenever a file that was read changes, until Ctrl-C
    #[arg(long)]
    pub watch: bool,
    /// Where the source cannot be read, ask the code itself: cargo builds a throwaway crate under target/. With
    /// `--check`, ask it for every kind: both must agree
    #[arg(long)]
    compile: bool,
    /// A kind that the source does not tell of, as a macro makes one: its path as other code names it, e.g.
    /// `my_crate::v1::Memcached` (can be repeated; of several versions of a kind, the first one is stored)
    #[arg(long, value_name = "PATH", requires = "compile")]
    r#type: Vec<String>,
    /// Shorten descriptions to this many bytes, behind a sentence where one ends; 0 leaves them out
    #[arg(long, value_name = "N")]
    max_description_length: Option<usize>,
    #[command(flatten)]
    mode: Mode,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Format {
    Yaml,
    Json,
}

impl Args {
    pub fn run(&self, dir: &Path) -> anyhow::Result<()> {
        let folder = match (&self.output_dir, &self.output_file) {
            (Some(folder), _) => folder.as_path(),
            (None, Some(file)) => split(file)?.0,
            (None, None) => {
                // With `--compile`, `--check` is about the two ways to read.
                if !(self.compile && self.mode.check) {
                    self.mode.require("--output-dir")?;
                }
                let root = reading(dir)?;
                return self.outcome(dir, &root)?.settle(&root, &self.mode);
            }
        };
        let root = Root::output(dir, folder)?;
        begin(&root, &self.mode)?;
        reading(dir)?;
        self.outcome(dir, &root)?.settle(&root, &self.mode)
    }

    fn outcome(&self, dir: &Path, output: &Root) -> anyhow::Result<Outcome> {
        let prints = self.output_dir.is_none() && self.output_file.is_none();
        if self.manifest_path.is_some() && prints && dir != Path::new(".") {
            return Err(terminal::usage(
                clap::error::ErrorKind::ArgumentConflict,
                "`--dir` and `--manifest-path` both say where the project is: give one of them",
            ));
        }
        let workspace = Workspace::find(dir, self.manifest_path.as_deref())?;
        let packages = match &workspace.member {
            Some(member) if self.package.is_empty() => vec![member.clone()],
            _ => self.package.clone(),
        };
        let options = Options {
            packages,
            modules: self.module.clone(),
            examples: self.examples,
            features: self.features.clone(),
            all_features: self.all_features,
            no_default_features: self.no_default_features,
        };
        let mut reading = source::read(&TreeSources::new(&workspace.root), &options);
        self.known(&reading)?;
        for it in &self.r#type {
            let kind = source::named(it, &reading.crates);
            let kind =
                kind.with_context(|| format!("`{it}` begins with no crate of this workspace"));
            reading.named.push(kind.hint(
                "name a type as other code would, from its crate on: `my_crate::v1::Memcached`",
            )?);
        }
        if !reading.unknown_features.is_empty() {
            let list = reading.unknown_features.join("`, `");
            return Err(anyhow::format_err!("no package here has the feature `{list}`"))
                .hint("name a feature of a package as `package/feature`, or choose it with `-p`");
        }
        if let Some(module) = reading.unknown_modules.first() {
            return Err(anyhow::format_err!("no package here has the module `{module}`"))
                .hint("name it as Rust does from the root of its crate, e.g. `api::v1`");
        }
        let is_incomplete = !reading.all_problems().is_empty();
        if reading.operator.kinds.is_empty() && reading.named.is_empty() && !is_incomplete {
            return nothing::refuse(&workspace.root, &reading, &options);
        }
        if self.compile && (self.mode.check || is_incomplete || !reading.named.is_empty()) {
            complete(workspace.root.real(), &mut reading, self.mode.check)?;
        }
        // A kind that is refused in one version has nothing to say of its others.
        let operator = reading.whole();
        let wishes = Wishes { longest_description: self.max_description_length };
        let generated = manifests::crds(&operator, &wishes);
        let problems = [reading.all_problems(), generated.problems].concat();
        let error = |what: &str| refusal(&format!("{}{what}", unread(&reading)), &problems);
        if !problems.is_empty() && !self.keep_going {
            return Err(error(match prints {
                false => ", and nothing was written",
                true => ", and nothing is printed",
            }));
        }
        operator.warnings.iter().for_each(|it| terminal::warn(&it.describe("")));
        generated.warnings.iter().for_each(|it| terminal::warn(it));
        // Of some kinds only, it is not known which files are left over.
        let whole =
            problems.is_empty() && options.packages.is_empty() && options.modules.is_empty();
        let outcome = match self.mode.check && !prints {
            true => self.check(output, &generated.manifests, whole)?,
            false => self.put(generated.manifests, whole)?,
        };
        Ok(match &problems[..] {
            [] => outcome,
            _ => Outcome::Partly(Box::new(outcome), error("")),
        })
    }

    /// Holds committed files against the manifests.
    fn check(&self, root: &Root, crds: &[Manifest], whole: bool) -> anyhow::Result<Outcome> {
        let (folder, file) = match (&self.output_dir, &self.output_file) {
            (None, Some(file)) => split(file).map(|(folder, name)| (folder, Some(name)))?,
            (folder, _) => (folder.as_deref().unwrap_or(Path::new("")), None),
        };
        let shown_in = match folder.to_string_lossy().trim_end_matches('/') {
            "" => String::new(),
            folder => format!("{folder}/"),
        };
        Committed { root, file, shown_in, crds, whole }.require_current()?;
        Ok(Outcome::Text(String::new()))
    }

    /// Refuses packages that are no members.
    fn known(&self, reading: &Reading) -> anyhow::Result<()> {
        let members = &reading.members;
        if let Some(package) = self.package.iter().find(|it| !members.contains(*it)) {
            let error = anyhow::format_err!("`{package}` is no package of this workspace");
            let near = members.iter().find(|it| near(it, package));
            let list: Vec<&str> = members.iter().map(String::as_str).collect();
            return Err(error).hint(match near {
                Some(it) => format!("did you mean `-p {it}`?"),
                None => format!("its packages are {}", list.join(", ")),
            });
        }
        Ok(())
    }

    /// What the manifests come to: a text, or files.
    fn put(&self, manifests: Vec<Manifest>, whole: bool) -> anyhow::Result<Outcome> {
        let mut plan = Plan::default();
        if let Some(folder) = &self.output_dir {
            for it in manifests {
                let path: ProjectPath = it.path.name().parse()?;
                plan.generate(path, it.to_text(), &it.edit, FOLDER);
            }
            if whole {
                plan.sweep(FOLDER);
            }
            plan.show_in(&folder.to_string_lossy());
            return Ok(plan.into());
        }
        if let Some(file) = &self.output_file {
            let (folder, path) = split(file)?;
            let text: String = manifests.iter().map(Manifest::to_text).collect();
            plan.generate(path, text, "the Rust source", FILE);
            if folder != Path::new("") {
                plan.show_in(&folder.to_string_lossy());
            }
            return Ok(plan.into());
        }
        let objects: Vec<_> = manifests.into_iter().flat_map(|it| it.objects).collect();
        Ok(Outcome::Text(match self.output {
            Format::Yaml => {
                objects.iter().map(|it| format!("---\n{}", yaml::to_text(it))).collect()
            }
            Format::Json => format!("{:#}\n", yaml::Value::Array(objects)),
        }))
    }
}

/// A file's folder, and its name there.
fn split(file: &Path) -> anyhow::Result<(&Path, ProjectPath)> {
    let name = file.file_name().and_then(|it| it.to_str()).and_then(|it| it.parse().ok());
    let name = name.with_context(|| format!("`{}` names no file", file.display()))?;
    Ok((file.parent().unwrap_or(Path::new("")), name))
}

/// Whether two names differ by a slip of the hand.
fn near(one: &str, other: &str) -> bool {
    let folded = |it: &str| it.to_lowercase().replace('_', "-");
    let (one, other) = (folded(one), folded(other));
    let same = one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    let end = one[..].chars().rev().zip(other.chars().rev()).take_while(|(a, b)| a == b).count();
    let longest = one.chars().count().max(other.chars().count());
    longest <= same + end + 2 || other.len() > 2 && one.contains(&other)
}
