//! Regenerates the existing bundle.

use super::{Args, BY, DOCKERFILE, recorded_flags};
use crate::app::generation::derive::RbacMarkers;
use crate::plan::{self, WorkTree};
use crate::project::Project;
use diagnostics::{Diagnostic, Hint as _};
use model::{ProjectPath, Tree as _};
use olm::bundle;

/// The outcome of regenerating an existing bundle.
pub enum Renewed {
    Whole,
    NotThere,
    /// Only the manifests that it was generated from could renew it.
    OfInput,
}

/// Regenerates the existing bundle from the tree, with the flags that it was generated with. No registry
/// is asked.
pub fn renew(
    tree: &mut WorkTree<'_>,
    project: &Project,
    markers: &RbacMarkers,
) -> anyhow::Result<Renewed> {
    let dockerfile = ProjectPath::fixed(DOCKERFILE);
    let text = tree.read_text(&dockerfile)?;
    let Some(text) = text.filter(|text| plan::is_generated_by(&dockerfile, text, BY)) else {
        return Ok(Renewed::NotThere);
    };
    let mut flags = bundle::recorded_flags(&text);
    if flags.iter().any(|flag| flag == "--use-image-digests") {
        flags.push("--offline".to_owned());
    }
    let parser = <Args as clap::Args>::augment_args(clap::Command::new(BY).no_binary_name(true));
    let parsed = parser.try_get_matches_from(flags);
    let parsed =
        parsed.and_then(|matches| <Args as clap::FromArgMatches>::from_arg_matches(&matches));
    let args = parsed
        .map_err(|_| anyhow::format_err!("{DOCKERFILE} records flags that are not accepted"))
        .hint("generate the bundle again with `operator-rs bundle`")?;
    if args.input.is_some() {
        tree.warn(
            Diagnostic::in_file(
                DOCKERFILE,
                "the bundle was generated with `--input`, and stays as it is",
            )
            .with_hint("pipe the manifests to `operator-rs bundle --input -`"),
        );
        return Ok(Renewed::OfInput);
    }
    if tree.list_files(&args.output_dir.join("manifests")?)?.is_empty() {
        return Ok(Renewed::NotThere);
    }
    let former = recorded_flags::bundle_version(tree, &args.output_dir)?;
    args.write_bundle(tree, project, markers)?;
    let outdated = recorded_flags::outdated_flags(tree, &args, &text, former.as_deref())?;
    outdated.into_iter().for_each(|warning| tree.warn(warning));
    Ok(Renewed::Whole)
}
