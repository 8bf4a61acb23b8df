//! The versions of a kind: which of them is stored, and what they must have in common.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, CustomResourceDefinitionVersion,
};
use kube_core::Version as Priority;

use crate::project::{DeclaredKind, Operator, Place, Problem, Storage};
use go_data::yaml::{self, Value};

/// One version of a kind: its CRD, and the kind as the source declares it.
#[derive(Clone, Copy)]
pub struct Version<'a> {
    pub declared: &'a DeclaredKind,
    pub crd: &'a CustomResourceDefinition,
    pub own: &'a CustomResourceDefinitionVersion,
}

impl<'a> Version<'a> {
    pub fn name(&self) -> &'a str {
        &self.own.name
    }

    pub fn kind(&self) -> &'a str {
        &self.crd.spec.names.kind
    }

    pub fn plural(&self) -> &'a str {
        &self.crd.spec.names.plural
    }

    pub fn group(&self) -> &'a str {
        &self.crd.spec.group
    }

    pub fn place(&self) -> &'a Place {
        &self.declared.place
    }

    /// Returns the path of its struct, with the name of the crate.
    pub fn path(&self) -> String {
        let of = &self.declared.rust_path;
        format!("{}::{}", of.krate.name, of.path.join("::"))
    }

    /// Returns its `openAPIV3Schema`; none if the source has `schema = "disabled"`.
    pub fn schema(&self) -> Option<Value> {
        let schema = self.own.schema.as_ref()?.open_api_v3_schema.as_ref()?;
        Some(yaml::to_value(schema))
    }
}

/// Returns every version of every kind whose CRD is known, by place.
pub fn versions(operator: &Operator) -> impl Iterator<Item = Version<'_>> {
    operator.kinds.iter().filter_map(|declared| {
        #[cfg(test)]
        crate::project::COMPARED.set(crate::project::COMPARED.get() + 1);
        let crd = declared.crd.as_ref().ok()?;
        let own = crd.spec.versions.first()?;
        Some(Version { declared, crd, own })
    })
}

/// Returns every kind, by group and name, with its versions from the lowest to the highest priority.
pub fn kinds(operator: &Operator) -> BTreeMap<(&str, &str), Vec<Version<'_>>> {
    let mut res: BTreeMap<_, Vec<Version<'_>>> = BTreeMap::new();
    for it in versions(operator) {
        res.entry((it.group(), it.kind())).or_default().push(it);
    }
    for versions in res.values_mut() {
        versions.sort_by(|one, other| {
            let priority = |version: &Version<'_>| Priority::parse(version.name()).priority();
            priority(one).cmp(&priority(other)).then_with(|| one.place().cmp(other.place()))
        });
    }
    res
}

/// Returns the stored version: the only one with `storage = true`, or else the only one that does not say.
pub fn stored<'a>(versions: &[Version<'a>]) -> Result<Version<'a>, Problem> {
    let with = |storage: Storage| -> Vec<Version<'a>> {
        versions.iter().copied().filter(|version| version.declared.storage == storage).collect()
    };
    let (yes, generated) = (with(Storage::Yes), with(Storage::Generated));
    let unsaid = [with(Storage::Unsaid), generated.clone()].concat();
    let refuse = |at: &Version<'_>, message: String, hint: &str| {
        Err(Problem::new(at.place().clone(), message).with_hint(hint))
    };
    let list = |all: &[Version<'_>]| {
        let each = all.iter().map(|version| format!("{} ({})", version.name(), version.place()));
        each.collect::<Vec<_>>().join(", ")
    };
    match (&yes[..], &unsaid[..]) {
        ([one], _) | ([], [one]) => Ok(*one),
        ([first, ..], _) => refuse(
            first,
            format!("`{}` has more than one storage version: {}", first.kind(), list(&yes)),
            "leave `storage = true` on one, and write `storage = false` on the others",
        ),
        ([], [first, ..]) => {
            let hint = match generated.last() {
                None => "write `storage = true` in `#[kube(…)]` of one, and `storage = false` in the others".to_owned(),
                Some(it) => format!("name the stored version, e.g. with `--type {}`", it.path()),
            };
            let kind = first.kind();
            refuse(
                first,
                format!("`{kind}` does not say which version is stored: {}", list(&unsaid)),
                &hint,
            )
        }
        ([], []) => refuse(
            &versions[0],
            format!("`{}` has no storage version: {}", versions[0].kind(), list(versions)),
            "write `storage = true` in `#[kube(…)]` of one",
        ),
    }
}

/// Versions that several structs declare.
pub fn duplicates(versions: &[Version<'_>]) -> Vec<Problem> {
    let pairs = versions.iter().zip(versions.iter().skip(1));
    let same = pairs.filter(|(one, other)| one.name() == other.name());
    let refuse = |(first, other): (&Version<'_>, &Version<'_>)| {
        let (kind, name) = (other.kind(), other.name());
        let message = format!("`{kind}` {name} is defined twice: also at {}", first.place());
        Problem::new(other.place().clone(), message).with_hint(
            "rename one or give it another version; to generate the CRDs of one package or module only, pass `-p` or `--module`",
        )
    };
    same.map(refuse).collect()
}

/// Returns the forbidden differences between the versions of a kind, for example in their scope.
pub fn disagreements(versions: &[Version<'_>]) -> Vec<Problem> {
    let Some((first, others)) = versions.split_first() else { return Vec::new() };
    let mut problems = Vec::new();
    for other in others {
        let (one, two) = (&first.crd.spec, &other.crd.spec);
        let (mine, theirs) = (&first.crd.metadata, &other.crd.metadata);
        let differences = [
            ("scopes", one.scope != two.scope),
            ("plurals", one.names.plural != two.names.plural),
            ("singulars", one.names.singular != two.names.singular),
            ("short names", one.names.short_names != two.names.short_names),
            ("categories", one.names.categories != two.names.categories),
            ("labels", mine.labels != theirs.labels),
            ("annotations", mine.annotations != theirs.annotations),
        ];
        for (what, _) in differences.into_iter().filter(|pair| pair.1) {
            let message = format!(
                "{what} of `{}` differ between {} and {} ({})",
                first.kind(),
                other.name(),
                first.name(),
                first.place()
            );
            let problem = Problem::new(other.place().clone(), message);
            problems.push(
                problem.with_hint("all versions of a kind share them: write the same in each"),
            );
        }
    }
    problems
}

/// Fields that an object loses when it is read in another version and written back, if nothing converts it.
pub fn losses(versions: &[Version<'_>]) -> Vec<Problem> {
    // With only one version, nothing is lost.
    let [first, _, ..] = versions else { return Vec::new() };
    let kind = first.kind();
    let fields = |version: &Version<'_>| {
        let mut res = BTreeSet::new();
        if let Some(schema) = version.schema() {
            collect_paths(&schema, "", &mut res);
        }
        res
    };
    let served: Vec<_> =
        versions.iter().map(|version| (version, version.name(), fields(version))).collect();
    let mut res = Vec::new();
    for (version, from, has) in &served {
        for (_, to, knows) in &served {
            // The fields inside a lost field need not be named.
            let lost = |text: &&String| {
                let outer = text.rsplit_once('.').map(|(outer, _)| outer);
                !knows.contains(*text) && outer.is_none_or(|outer| knows.contains(outer))
            };
            let lost: Vec<String> =
                has.iter().filter(lost).map(|path| format!("`{path}`")).collect();
            if from != to && !lost.is_empty() {
                let message = format!(
                    "`{kind}`: {} written as {from} and read as {to} is lost: the versions have no conversion",
                    lost.join(", ")
                );
                let problem = Problem::new(version.place().clone(), message);
                res.push(problem.with_rule("lost-fields"));
            }
        }
    }
    res
}

/// The paths of all fields of a schema.
fn collect_paths(schema: &Value, at: &str, into: &mut BTreeSet<String>) {
    let Some(schema) = schema.as_object() else { return };
    for (name, inner) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let path = if at.is_empty() { name.clone() } else { format!("{at}.{name}") };
        collect_paths(inner, &path, into);
        into.insert(path);
    }
    for key in ["items", "additionalProperties"] {
        if let Some(inner) = schema.get(key) {
            collect_paths(inner, at, into);
        }
    }
}

#[cfg(test)]
mod tests;
