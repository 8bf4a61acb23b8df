//! `operator-rs edit`
//!
//! ```text
//! source ─ `storage` of each version ─ the source again: the same kinds, stored in another version?
//!     └ CRDs before and after ─ nothing is lost, in a conversion neither, and the last release can read what is stored?
//! ```

mod checks;
mod conversion;

use std::path::Path;

use std::collections::BTreeMap;

use super::{RunCommand, writing};
use crate::{
    app::{
        compile,
        generation::derive::{self, GenerateOptions},
    },
    commands::OutputMode,
    disk::Root,
    manifests,
    plan::{Plan, WorkTree, with_storage},
    project::{CRD_CONFIG, Operator, Project, Storage},
    terminal,
};
use anyhow::Context as _;
use cluster::Id;
use conversion::StoredConversions;
use crd::compatibility::Crd;
use diagnostics::{Diagnostic, Hint as _, Lines};
use model::{FileContent, GroupPrefix, Kind, ProjectPath, Tree};

/// Change a setting of a project
///
/// `--storage-version` stores the objects of a kind in another version: it changes `storage` in `#[kube(…)]` of its
/// versions, and generates the manifests. It refuses a version in which objects would lose fields or be invalid, unless a
/// webhook converts, and fields that only the conversion's code can keep, unless `--renamed` names them. Without `--force`, it
/// also refuses a version that the last release does not serve: a cluster that goes back to that release could not read its
/// objects.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  operator-rs edit --group cache --kind Memcached --storage-version v1
  operator-rs edit --group cache --kind Memcached --storage-version v1 --release bundle/manifests")]
pub struct Args {
    /// API group without the project's domain, e.g. `cache`
    #[arg(long, allow_hyphen_values = true)]
    group: Option<GroupPrefix>,
    /// Kind, e.g. `Memcached`
    #[arg(long, allow_hyphen_values = true)]
    kind: Option<Kind>,
    /// Version to store the objects of the kind in, e.g. `v1`
    #[arg(long, value_name = "VERSION", required = true)]
    storage_version: String,
    /// The last release: a git revision, `REV:PATH`, a file or a directory of CRDs [default: the last tag]
    #[arg(long, value_name = "REV")]
    release: Option<String>,
    /// Field that the new version does not have, and whose value the code of the conversion keeps in another field, e.g.
    /// `spec.size` (can be repeated)
    #[arg(long, value_name = "FIELD")]
    renamed: Vec<String>,
    #[command(flatten)]
    compile: compile::CompileFlags,
    #[command(flatten)]
    mode: OutputMode,
}

/// A kind of the source, by its API group and its name, and its stored version.
struct Stored {
    group: String,
    kind: String,
    version: String,
}

impl RunCommand for Args {
    fn run(self, dir: &Path) -> anyhow::Result<()> {
        writing(dir, &self.mode.clone(), |tree, root| self.write_files(tree, root))
    }
}

impl Args {
    fn write_files(mut self, tree: &mut WorkTree<'_>, root: &Root) -> anyhow::Result<()> {
        let project = Project::read(root)?;
        let group = terminal::ask_for_value(self.group.take(), "group", "cache")?;
        let kind = terminal::ask_for_value(self.kind.take(), "kind", "Memcached")?;
        let options =
            || GenerateOptions { flags: Some(self.compile), ..GenerateOptions::default() };
        // The CRDs before the edit, even if they have not been generated yet.
        let mut before = tree.clone();
        derive::source(&mut before, &project, &options())?;
        let source = derive::operator(tree);
        let is_group =
            |name: &str| name == group.to_string() || name == format!("{group}.{}", project.domain);
        let stored = self.find_stored(&source, is_group, &kind.to_string())?;
        if stored.version == self.storage_version {
            terminal::print_advice(&format!("{kind} is stored in {} already\n", stored.version));
            return Ok(());
        }
        let mut plan = self.plan_storage_edits(tree, &source, &stored)?;
        tree.apply(plan)?;
        derive::source(tree, &project, &options())?;
        self.require_only_storage_changed(&source, &derive::operator(tree), &stored)?;
        let (old, new) = (find_crd(&before, &stored)?, find_crd(tree, &stored)?);
        let is_stored =
            |crd: &Crd| crd.version(&self.storage_version).is_some_and(|version| version.storage);
        if !is_stored(&new) {
            return Err(anyhow::format_err!("the CRD in config/crd still has the former storage version"))
                .hint("remove the patch in config/crd that sets `storage`; if kinds have to be compiled, write `storage = …` by hand, then run `operator-rs manifests`");
        }
        checks::require_no_loss(&old, &new, &stored.version, &self.storage_version)?;
        let converted = project.converted_versions();
        let converted = converted.get(&(stored.group.clone(), stored.kind.clone()));
        let conversions = StoredConversions { source: &source, of: &stored, converted };
        conversions.require_kept(tree, &new, &self.storage_version, &self.renamed)?;
        plan = Plan::default();
        self.check_release(&mut plan, root, &new.name, &stored)?;
        let Stored { kind, version: old, .. } = &stored;
        let new = &self.storage_version;
        plan.set_next_steps(format!(
            "Next: every release must serve what the one before it has stored, so that clusters can go back:\n  \
             release N      serves {old} and {new} of {kind}, and stores {old}\n  \
             release N + 1  stores {new}; then run `operator-rs migrate` on every cluster\n  \
             release N + 2  may drop {old}{}",
            match tree.read_content(&ProjectPath::fixed("bundle"))? {
                FileContent::Nothing => "",
                _ => "\n\nThe bundle still has the former CRD: `operator-rs bundle` generates it again.",
            }
        ));
        tree.apply(plan)
    }

    /// The kind and its stored version.
    fn find_stored(
        &self,
        source: &Operator,
        is_group: impl Fn(&str) -> bool,
        kind: &str,
    ) -> anyhow::Result<Stored> {
        let all = manifests::versions(source);
        let versions: Vec<_> =
            all.filter(|version| is_group(version.group()) && version.kind() == kind).collect();
        let is_unread = source.kinds.iter().any(|declared| {
            declared.crd.is_err()
                && declared.kind.as_deref().is_none_or(|declared_kind| declared_kind == kind)
        });
        if is_unread {
            return Err(by_hand(&format!("a version of {kind} cannot be read from the source")));
        }
        let Some(first) = versions.first() else {
            return Err(anyhow::format_err!("the source has no kind `{kind}` of this group"))
                .hint("`operator-rs generate crds` prints the CRDs of all kinds");
        };
        let names: Vec<String> =
            versions.iter().map(|version| format!("`{}`", version.name())).collect();
        let new = &self.storage_version;
        let Some(version) = versions.iter().find(|version| version.name() == *new) else {
            return Err(anyhow::format_err!("{kind} has no version `{new}`"))
                .hint(format!("its versions are: {}", names.join(", ")));
        };
        if !version.own.served {
            return Err(anyhow::format_err!("`{new}` of {kind} is not served")).hint(
                "remove `served = false` from its `#[kube(…)]`: otherwise no served version could read the objects",
            );
        }
        let stored = manifests::storage(source).get(&(first.group(), first.kind())).copied();
        Ok(Stored {
            group: first.group().to_owned(),
            kind: kind.to_owned(),
            // Otherwise the CRDs would have been refused.
            version: stored.with_context(|| format!("{kind} has no stored version"))?.to_owned(),
        })
    }

    /// The edits of the source.
    fn plan_storage_edits(
        &self,
        tree: &WorkTree<'_>,
        source: &Operator,
        stored: &Stored,
    ) -> anyhow::Result<Plan> {
        let mut texts = BTreeMap::<ProjectPath, (String, String)>::new();
        let versions: Vec<_> =
            manifests::versions(source).filter(|version| stored.matches_version(version)).collect();
        // From the end, so that the places of those that are left in a file stay as they are.
        for version in versions.into_iter().rev() {
            let is_new = version.name() == self.storage_version;
            let wanted = match (is_new, version.declared.storage) {
                (true, Storage::Yes) | (false, Storage::No | Storage::Unsaid) => continue,
                (is_new, _) => is_new,
            };
            let place = version.place();
            let file = place.path.as_str();
            let refuse = |text: &str| {
                let message = "`storage` cannot be changed here: the attribute is conditional, or a macro writes it";
                let hint =
                    format!("write `storage = {wanted}` by hand, then run `operator-rs manifests`");
                let stored =
                    Diagnostic::in_file(file, message).at_position(place.line, place.column);
                stored.quote(&mut Lines::new(text)).with_hint(hint).into_error()
            };
            let path: ProjectPath = file.parse().map_err(|_| refuse(""))?;
            let text = match texts.get(&path) {
                Some((_, text)) => text.clone(),
                None => tree.read_text(&path)?.ok_or_else(|| refuse(""))?,
            };
            let after = with_storage(&text, (place.line, place.column), wanted);
            let after = after.ok_or_else(|| refuse(&text))?;
            texts.entry(path).or_insert((text, String::new())).1 = after;
        }
        let mut plan = Plan::default();
        texts.into_iter().for_each(|(path, (before, after))| plan.edit_file(path, before, after));
        Ok(plan)
    }

    /// The kinds are what they were before, but for the version in which this kind is stored.
    fn require_only_storage_changed(
        &self,
        before: &Operator,
        after: &Operator,
        of: &Stored,
    ) -> anyhow::Result<()> {
        let kinds = |operator: &Operator| {
            let each = manifests::versions(operator).map(|version| {
                let mut crd = version.crd.clone();
                if of.matches_version(&version) {
                    crd.spec.versions.iter_mut().for_each(|crd_version| crd_version.storage = true);
                }
                (version.path(), version.group().to_owned(), crd)
            });
            each.collect::<Vec<_>>()
        };
        let stored = manifests::storage(after).get(&(&*of.group, &*of.kind)).copied();
        if stored == Some(&self.storage_version) && kinds(before) == kinds(after) {
            Ok(())
        } else {
            Err(by_hand("the edited source would mean something else"))
        }
    }
}

impl Stored {
    fn matches_version(&self, version: &manifests::Version<'_>) -> bool {
        version.group() == self.group && version.kind() == self.kind
    }
}

/// The CRD that config/crd has of the kind: patches may add a conversion to what the source says.
fn find_crd(tree: &WorkTree<'_>, of: &Stored) -> anyhow::Result<Crd> {
    let objects = kustomize::build_in(tree, &ProjectPath::fixed(CRD_CONFIG), &[], None)?;
    let is = |object: &&go_data::yaml::Value| {
        let spec = &object["spec"];
        Id::of(object).is_crd() && spec["group"] == *of.group && spec["names"]["kind"] == *of.kind
    };
    let found = objects.iter().find(is);
    let found = found.with_context(|| format!("{} has no CRD of {}", CRD_CONFIG, of.kind));
    Crd::from_object(found.hint("add it to config/crd/kustomization.yaml")?)
}

fn by_hand(what: &str) -> anyhow::Error {
    let hint = "write `storage = …` in `#[kube(…)]` of each version by hand, then run `operator-rs manifests`";
    Diagnostic::from(what.to_owned()).with_hint(hint).into_error()
}
