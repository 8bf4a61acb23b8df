//! `operator-rs bundle validate`

mod optional;

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

/// Check a bundle as `operator-sdk bundle validate` does
#[derive(clap::Args)]
pub struct Args {
    /// The bundle's folder [default: bundle]
    #[arg(value_name = "FOLDER")]
    folder: Option<ProjectPath>,
    #[command(flatten)]
    optional: Optional,
    /// List the optional validators; run none
    #[arg(long, conflicts_with_all = ["folder", "select_optional", "optional_values", "output"])]
    list_optional: bool,
    /// How to print the findings
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
    pub fn run(self, root: &Root) -> anyhow::Result<()> {
        if self.list_optional {
            terminal::print(&optional::list());
            return Ok(());
        }
        let folder = self.folder.unwrap_or_else(|| ProjectPath::fixed("bundle"));
        let files = files(root, &folder)?;
        if files.is_empty() {
            return Err(anyhow::format_err!("there is no bundle in `{folder}`"))
                .hint("make one first: `operator-rs bundle`");
        }
        let found = self.optional.with(|selected, context| validate(&files, selected, context))?;
        let (errors, warnings) = split(&folder, &found);
        let invalid = format!("{folder} is not valid");
        if self.output == Output::JsonAlpha1 {
            terminal::data(&report(&folder, &found)?);
            anyhow::ensure!(errors.is_empty(), invalid);
            return Ok(());
        }
        warnings.iter().for_each(|it| terminal::warn(it));
        if errors.is_empty() {
            terminal::print(&format!("{folder} is valid\n"));
            return Ok(());
        }
        let list: String = errors.iter().map(|it| format!("\n  {it}")).collect();
        anyhow::bail!("{invalid}:{list}")
    }
}

/// Errors and warnings that are always looked for, of all that is in the bundle's folder.
pub fn findings(
    tree: &impl Tree,
    folder: &ProjectPath,
) -> anyhow::Result<(Vec<String>, Vec<String>)> {
    let files = files(tree, folder)?;
    let found =
        Optional::default().with(|selected, context| validate(&files, selected, context))?;
    Ok(split(folder, &found))
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

fn split(folder: &ProjectPath, found: &[Finding]) -> (Vec<String>, Vec<String>) {
    let of = |severity| {
        let some = found.iter().filter(move |it| it.severity == severity);
        some.map(|it| format!("{folder}/{it}")).collect()
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

fn report(folder: &ProjectPath, found: &[Finding]) -> anyhow::Result<String> {
    let line = |it: &Finding| Line {
        r#type: if it.severity == Severity::Error { "error" } else { "warning" },
        message: format!("{folder}/{it}"),
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
