//! `operator-rs bundle validate`

mod list;
mod report;

use std::path::Path;

use crate::{
    app::images::{
        RegistryAccess,
        bundles::{
            OlmVersion,
            optional::{self, OptionalValidators},
            source,
        },
    },
    terminal,
};
use diagnostics::Hint as _;
use olm::bundle::validate::{
    Request,
    rules::{Selection, Target},
    validate,
};
use report::{ValidationFormat, ValidationReport};

/// Validate a bundle: the checks of `operator-sdk bundle validate`, and what OLM v0 and v1 refuse
///
/// What OLM v0 and OLM v1 both refuse is an error. What one of them refuses is a warning, unless `--target` names it.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  operator-rs bundle validate
  operator-rs bundle validate ../other/bundle --target olmv1
  operator-rs bundle validate quay.io/example/memcached-operator-bundle:v0.0.1
  operator-rs bundle validate --select operatorhub,good-practices --output sarif")]
pub struct Args {
    /// Directory of the bundle, or its image: in a registry, in an archive or in an OCI layout [default: bundle]
    #[arg(value_name = "BUNDLE")]
    folder: Option<String>,
    /// Check only these rules and suites, separated by commas; `default` and `all` select several suites
    #[arg(
        long,
        value_name = "RULE",
        value_delimiter = ',',
        group = "selection",
        conflicts_with = "select_optional"
    )]
    select: Vec<Selection>,
    /// Version of OLM that the bundle is for [default: both]
    #[arg(long, value_enum, value_name = "OLM")]
    target: Option<OlmVersion>,
    /// Also report APIs that this version of Kubernetes does not serve, as errors
    #[arg(long, value_name = "VERSION", value_parser = kube_version)]
    kube_version: Option<String>,
    #[command(flatten)]
    optional: OptionalValidators,
    /// List the rules and exit
    #[arg(long, conflicts_with_all = ["folder", "select_optional", "optional_values", "output", "kube_version"])]
    list: bool,
    /// List the optional validators and exit; `--list` has their rules
    #[arg(long, help_heading = "As in operator-sdk", conflicts_with_all = ["folder", "select_optional", "optional_values", "output", "select", "target", "kube_version", "list"])]
    list_optional: bool,
    /// Contact no registry: `multiarch` then reports that the platforms of the images are unknown
    #[arg(long)]
    offline: bool,
    /// Output format
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "text")]
    output: ValidationFormat,
    #[command(flatten)]
    access: RegistryAccess,
}

fn kube_version(text: &str) -> Result<String, String> {
    let is_number = |part: &str| part.parse::<u32>().is_ok();
    let parts: Vec<&str> = text.strip_prefix('v').unwrap_or(text).split('.').collect();
    if matches!(parts.len(), 2 | 3) && parts.iter().all(|part| is_number(part)) {
        Ok(text.to_owned())
    } else {
        Err("write a version such as `1.33`".to_owned())
    }
}

impl Args {
    /// Returns whether the bundle can be found without a project.
    pub fn names_a_folder(&self) -> bool {
        self.list || self.list_optional || self.folder.is_some()
    }

    pub fn run(self, dir: &Path) -> anyhow::Result<()> {
        let target = self.target.map(Target::from);
        let select =
            self.select.iter().cloned().reduce(|all, selection| all.extended_with(&selection));
        if self.list {
            terminal::print(&list::format_rules(select.as_ref(), target));
            return Ok(());
        }
        if self.list_optional {
            terminal::print(&optional::format_validators());
            return Ok(());
        }
        let folder = self.folder.as_deref().unwrap_or("bundle");
        if self.offline && source::is_remote(dir, folder) {
            return Err(anyhow::format_err!(
                "`{folder}` is an image in a registry, and `--offline` contacts none"
            ))
            .hint("name a directory or an archive, or leave out `--offline`");
        }
        let source::BundleContents { files, folders, label: folder, labels } =
            source::contents(dir, folder, &self.access)?;
        let folders = &folders;
        let images = (!self.offline).then_some(&self.access);
        let version = self.kube_version.as_deref();
        let found = self.optional.with(version, images, |validators, context| {
            let (select, labels) = (select.as_ref(), labels.as_ref());
            let has_later_apis = version.is_some();
            let request = Request { select, validators, has_later_apis, target, labels, folders };
            validate(&files, &request, context)
        })?;
        self.access.require_use()?;
        ValidationReport { folder: &folder, files: &files, findings: &found, target }
            .print(self.output)
    }
}
