//! `operator-rs generate crds`: the CRDs of any cargo project, with no PROJECT file.

use std::path::{Path, PathBuf};

use anyhow::Context as _;

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
    /// Turn these features on, with commas between
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
    /// Write a file for each CRD into this folder
    #[arg(long, value_name = "DIR")]
    output_dir: Option<PathBuf>,
    /// How to print: a stream of YAML documents, or one JSON list
    #[arg(long, short, default_value = "yaml", conflicts_with = "output_dir")]
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
        let Some(folder) = &self.output_dir else {
            // With `--compile`, `--check` is about the two ways to read.
            if !(self.compile && self.mode.check) {
                self.mode.require("--output-dir")?;
            }
            let root = reading(dir)?;
            return self.outcome(dir)?.settle(&root, &self.mode);
        };
        let root = Root::output(dir, folder)?;
        begin(&root, &self.mode)?;
        reading(dir)?;
        self.outcome(dir)?.settle(&root, &self.mode)
    }

    fn outcome(&self, dir: &Path) -> anyhow::Result<Outcome> {
        if self.manifest_path.is_some() && self.output_dir.is_none() && dir != Path::new(".") {
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
            return nothing(&reading, &options);
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
            return Err(error(match self.output_dir {
                Some(_) => ", and nothing was written",
                None => ", and nothing is printed",
            }));
        }
        operator.warnings.iter().for_each(|it| terminal::warn(&it.describe("")));
        generated.warnings.iter().for_each(|it| terminal::warn(it));
        let outcome = self.put(generated.manifests)?;
        Ok(match &problems[..] {
            [] => outcome,
            _ => Outcome::Partly(Box::new(outcome), error("")),
        })
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

    fn put(&self, manifests: Vec<Manifest>) -> anyhow::Result<Outcome> {
        let Some(folder) = &self.output_dir else {
            let objects: Vec<_> = manifests.into_iter().flat_map(|it| it.objects).collect();
            return Ok(Outcome::Text(match self.output {
                Format::Yaml => {
                    objects.iter().map(|it| format!("---\n{}", yaml::to_text(it))).collect()
                }
                Format::Json => format!("{:#}\n", yaml::Value::Array(objects)),
            }));
        };
        let mut plan = Plan::default();
        for it in manifests {
            let path: ProjectPath = it.path.name().parse()?;
            plan.generate(path, it.to_text(), &it.edit, "generate crds");
        }
        plan.show_in(&folder.to_string_lossy());
        Ok(plan.into())
    }
}

/// Tells where kinds were looked for.
fn nothing(reading: &Reading, options: &Options) -> anyhow::Result<Outcome> {
    let looked = match &options.packages[..] {
        [] => reading.members.clone(),
        packages => packages.to_vec(),
    };
    let hint = match options.examples {
        true => {
            "kinds are structs with `#[derive(CustomResource)]`: point `--manifest-path` or `-p` at their package"
        }
        false => {
            "kinds are structs with `#[derive(CustomResource)]`: point `--manifest-path` or `-p` at their package; `--examples` looks at example targets too"
        }
    };
    Err(anyhow::format_err!("no kind is declared in {}", looked.join(", "))).hint(hint)
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
