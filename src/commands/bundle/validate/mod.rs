//! `operator-rs bundle validate`

mod optional;

use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::reading;
use crate::{
    bundle::validate::{Files, Finding, Severity, validate},
    disk::Root,
    hint::Hint as _,
    model::ProjectPath,
    plan::Tree,
    terminal,
};
use optional::Optional;
use serde::Serialize as _;

/// Validate a bundle with the checks of `operator-sdk bundle validate`
#[derive(clap::Args)]
pub struct Args {
    /// Directory of the bundle, inside or outside the project [default: bundle]
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
    #[command(flatten)]
    optional: Optional,
    /// List the optional validators and exit
    #[arg(long, conflicts_with_all = ["folder", "select_optional", "optional_values", "output"])]
    list_optional: bool,
    /// Output format
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "text")]
    output: Output,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Output {
    /// Warnings and errors on stderr
    Text,
    /// An object on stdout, as operator-sdk prints it
    JsonAlpha1,
}

impl Args {
    /// Whether no project is needed to find the bundle.
    pub fn names_a_folder(&self) -> bool {
        self.list_optional || self.folder.is_some()
    }

    pub fn run(self, dir: &Path) -> anyhow::Result<()> {
        if self.list_optional {
            terminal::print(&optional::list());
            return Ok(());
        }
        let folder = self.folder.unwrap_or_else(|| PathBuf::from("bundle"));
        let (root, name) = locate(dir, &folder)?;
        let files = files(&root, &name)?;
        // `./bundle/` is `bundle`.
        let inside = folder.to_str().and_then(|it| it.parse::<ProjectPath>().ok());
        let folder = inside.map_or_else(|| folder.display().to_string(), |it| it.to_string());
        if files.is_empty() {
            // As in `quay.io/example/memcached-operator-bundle:v0.0.1`, which operator-sdk pulls.
            let is_image = folder.contains([':', '@']);
            return Err(anyhow::format_err!("found no bundle in `{folder}`")).hint(match is_image {
                true => "images are not pulled: unpack the image, and name its directory",
                false => "name the bundle's directory, or generate a bundle with `operator-rs bundle`",
            });
        }
        let found = self.optional.with(|selected, context| validate(&files, selected, context))?;
        let (errors, warnings) = split(&folder, &found);
        let invalid = format!("{folder} is not valid");
        if self.output == Output::JsonAlpha1 {
            terminal::data(&report(&folder, &found)?);
            anyhow::ensure!(errors.is_empty(), invalid);
            return Ok(());
        }
        warnings.iter().for_each(terminal::warn);
        if errors.is_empty() {
            terminal::print(&format!("{folder} is valid\n"));
            return Ok(());
        }
        let list: String = errors.iter().map(|it| format!("\n  {it}")).collect();
        anyhow::bail!("{invalid}:{list}")
    }
}

/// The folder that a bundle is in, and the bundle's name there.
fn locate(dir: &Path, folder: &Path) -> anyhow::Result<(Root, ProjectPath)> {
    reading(dir)?;
    let whole = std::path::absolute(dir.join(folder)).context("resolving the directory")?;
    let name = whole.file_name().and_then(|it| it.to_str());
    let (Some(parent), Some(name)) = (whole.parent(), name) else {
        return Err(anyhow::format_err!("`{}` has no name of its own", folder.display()))
            .hint("name the directory of a bundle, e.g. `../other/bundle`");
    };
    Ok((Root::output(dir, parent)?, name.parse()?))
}

/// Errors and warnings that are always looked for, of all that is in the bundle's folder.
pub fn findings(
    tree: &impl Tree,
    folder: &ProjectPath,
) -> anyhow::Result<(Vec<String>, Vec<String>)> {
    let files = files(tree, folder)?;
    let found =
        Optional::default().with(|selected, context| validate(&files, selected, context))?;
    Ok(split(folder.as_str(), &found))
}

fn files(tree: &impl Tree, folder: &ProjectPath) -> anyhow::Result<Files> {
    let mut res = Files::new();
    for path in tree.list(folder)? {
        if let Some(bytes) = tree.bytes(&path)? {
            res.insert(path.as_str()[folder.as_str().len() + 1..].parse()?, bytes);
        }
    }
    Ok(res)
}

fn split(folder: &str, found: &[Finding]) -> (Vec<String>, Vec<String>) {
    let of = |severity| {
        let some = found.iter().filter(move |it| it.severity == severity);
        some.map(|it| it.within(folder)).collect()
    };
    (of(Severity::Error), of(Severity::Warning))
}

/// What operator-sdk prints, in its order.
#[derive(serde::Serialize)]
struct Report {
    passed: bool,
    outputs: Option<Vec<Line>>,
}

#[derive(serde::Serialize)]
struct Line {
    r#type: &'static str,
    message: String,
}

fn report(folder: &str, found: &[Finding]) -> anyhow::Result<String> {
    let line = |it: &Finding| Line {
        r#type: if it.severity == Severity::Error { "error" } else { "warning" },
        message: it.within(folder),
    };
    let report = Report {
        passed: found.iter().all(|it| it.severity != Severity::Error),
        outputs: Some(found.iter().map(line).collect()).filter(|it: &Vec<_>| !it.is_empty()),
    };
    let mut bytes = Vec::new();
    let format = serde_json::ser::PrettyFormatter::with_indent(b"    ");
    report.serialize(&mut serde_json::Serializer::with_formatter(&mut bytes, format))?;
    bytes.push(b'\n');
    Ok(String::from_utf8(bytes)?)
}
