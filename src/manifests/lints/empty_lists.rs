//! Empty lists: kube before 4.2 prints them, and API servers drop them, so tools that compare a CRD with the server's
//! copy always see a difference.

use std::collections::BTreeSet;

use crate::manifests::{Version, versions};
use crate::project::{Operator, Problem};

/// One warning for all kinds, at the place of the first.
pub fn lints(operator: &Operator) -> Option<Problem> {
    let found: Vec<_> = versions(operator)
        .map(|version| (version, empty_lists(&version)))
        .filter(|pair| !pair.1.is_empty())
        .collect();
    let (first, _) = found.first()?;
    let kinds: BTreeSet<&str> = found.iter().map(|(pair, _)| pair.kind()).collect();
    let of = match kinds.len() {
        1 => first.kind().to_owned(),
        more => format!("{} and {} more", first.kind(), more - 1),
    };
    let lists: BTreeSet<&str> = found.iter().flat_map(|pair| pair.1.iter().copied()).collect();
    let lists: Vec<String> = lists.into_iter().map(|list| format!("`{list}: []`")).collect();
    let message = format!(
        "{of}: kube before 4.2 prints {}, which API servers drop: Argo CD shows the CRD as permanently out of sync",
        lists.join(", ")
    );
    let hint = "depend on kube 4.2 or newer, or list these fields in `ignoreDifferences` of the Argo CD Application";
    Some(Problem::new(first.place().clone(), message).with_hint(hint).with_rule("empty-lists"))
}

/// Returns the lists of a version that are empty.
fn empty_lists(version: &Version<'_>) -> Vec<&'static str> {
    let names = &version.crd.spec.names;
    let columns = &version.own.additional_printer_columns;
    let all = [
        ("additionalPrinterColumns", columns.as_ref().is_some_and(Vec::is_empty)),
        ("categories", names.categories.as_ref().is_some_and(Vec::is_empty)),
        ("shortNames", names.short_names.as_ref().is_some_and(Vec::is_empty)),
    ];
    all.into_iter().filter(|pair| pair.1).map(|pair| pair.0).collect()
}
