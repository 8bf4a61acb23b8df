//! `operator-rs scorecard`

mod report;

use std::path::{Path, PathBuf};

use super::{RunCommand, WorkingDirectory};
use crate::app::images::{RegistryAccess, bundles::source};
use crate::disk::Bounds;
use crate::{disk, terminal};
use diagnostics::Hint as _;
use model::{ProjectPath, display_path};
use olm::bundle::{
    scorecard::{Configuration, Outcome, Test, TestState, config_path, run_test},
    validate::{Files, optional::Selector},
};
use report::ScorecardFormat;

/// Run operator-sdk's scorecard tests on a bundle, with no cluster
///
/// The tests are those of the bundle's tests/scorecard/config.yaml, and the six built-in ones if it has none. Tests in
/// images of their own are not run; they are reported as errors.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  operator-rs scorecard bundle
  operator-rs scorecard bundle --selector suite=olm --output xunit
  operator-rs scorecard bundle --list")]
pub struct Args {
    /// Directory of the bundle, or its image: in a registry, in an archive or in an OCI layout [default: bundle]
    #[arg(value_name = "BUNDLE")]
    folder: Option<String>,
    /// Run only the tests with these labels, e.g. `suite=olm` or `test=basic-check-spec-test`
    #[arg(short = 'l', long, value_name = "SELECTOR")]
    selector: Option<Selector>,
    /// Configuration of the tests [default: the one in the bundle]
    #[arg(short, long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// List the selected tests and exit
    #[arg(short = 'L', long)]
    list: bool,
    /// Output format
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "text")]
    output: ScorecardFormat,
    #[command(flatten)]
    access: RegistryAccess,
}

/// A test, and its outcome where it was run.
pub struct Item {
    test: Test,
    outcome: Option<Outcome>,
}

impl RunCommand for Args {
    fn working_directory(&self) -> WorkingDirectory {
        if self.folder.is_some() { WorkingDirectory::Exact } else { WorkingDirectory::OfProject }
    }

    fn run(self, dir: &Path) -> anyhow::Result<()> {
        let folder = self.folder.as_deref().unwrap_or("bundle");
        let (files, name) = source::read(dir, folder, &self.access)?;
        self.access.require_use()?;
        let configuration = read_configuration(&files, &name, self.named_configuration()?)?;
        let selected = |test: &Test| {
            self.selector.as_ref().is_none_or(|selector| {
                selector.matches(|key| test.labels.get(key).map(String::as_str))
            })
        };
        let tests = configuration.tests.into_iter().filter(selected);
        let items: Vec<Item> = tests
            .map(|test| Item { outcome: (!self.list).then(|| outcome_of(&test, &files)), test })
            .collect();
        report::print(&items, self.output)?;
        let failed = items.iter().filter_map(|item| item.outcome.as_ref());
        let failed = failed.filter(|outcome| outcome.state != TestState::Pass).count();
        let all = items.len();
        anyhow::ensure!(failed == 0, "{failed} of {all} tests did not pass");
        Ok(())
    }
}

impl Args {
    /// The text of `--config`, and the name of its file.
    fn named_configuration(&self) -> anyhow::Result<Option<(String, String)>> {
        let bounds = Bounds::of_manifests(Some(self.access.deadline()));
        let read =
            |path: &PathBuf| anyhow::Ok((disk::read_named_text(path, bounds)?, display_path(path)));
        self.config.as_ref().map(read).transpose()
    }
}

fn outcome_of(test: &Test, files: &Files) -> Outcome {
    match test.built_in() {
        Some(built_in) => run_test(built_in, files),
        None => Outcome {
            state: TestState::Error,
            errors: vec![format!(
                "not run: `{}` of the image {} is not a built-in test; `operator-sdk scorecard` runs it on a cluster",
                test.entrypoint.join(" "),
                test.image
            )],
            ..Outcome::default()
        },
    }
}

fn read_configuration(
    files: &Files,
    name: &str,
    named: Option<(String, String)>,
) -> anyhow::Result<Configuration> {
    let (text, name) = match named {
        Some(named) => named,
        None => {
            let path = config_path(files);
            let Some(bytes) = path.parse::<ProjectPath>().ok().and_then(|path| files.get(&path))
            else {
                terminal::print_advice(&format!(
                    "note: {name} has no {path}: these are operator-sdk's built-in tests\n"
                ));
                return Ok(Configuration::scaffolded());
            };
            (String::from_utf8_lossy(bytes).into_owned(), format!("{name}/{path}"))
        }
    };
    Configuration::parse(&text)
        .map_err(|error| error.context(format!("cannot read {name}")))
        .hint("`config/scorecard` of a project of operator-sdk shows the format")
}
