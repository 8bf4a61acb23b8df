//! Findings about two versions of one CRD, for people: one line for each pair of versions.

use std::collections::BTreeSet;

use crate::{app::findings, terminal};
use crd::compatibility::{Finding, Rule};
use diagnostics::count;

/// A finding, or one that stands for several.
pub enum ReportLine<'a> {
    One(&'a findings::Finding),
    Pair(Box<findings::Finding>),
}

impl ReportLine<'_> {
    pub fn finding(&self) -> &findings::Finding {
        match self {
            Self::One(finding) => finding,
            Self::Pair(finding) => finding,
        }
    }
}

type Located = (Finding, findings::Finding);

/// The findings in their order; those about one pair of versions are one, unless `--verbose` is given. `converted` are
/// the CRDs that a webhook converts.
pub fn combine_pairs<'a>(all: &[&'a Located], converted: &BTreeSet<String>) -> Vec<ReportLine<'a>> {
    let mut lines = Vec::new();
    for (at, pair) in all.iter().enumerate() {
        let is_alike = |other: &&&Located| is_of_same_pair(&pair.0, &other.0);
        let alike: Vec<&Located> = all.iter().filter(is_alike).copied().collect();
        if alike.len() < 2 || terminal::is_verbose() {
            lines.push(ReportLine::One(&pair.1));
        } else if !all[..at].iter().any(|other| is_of_same_pair(&pair.0, &other.0)) {
            let is_converted = converted.contains(&pair.0.subject.crd);
            lines.push(ReportLine::Pair(Box::new(combine_findings(pair, &alike, is_converted))));
        }
    }
    lines
}

fn is_of_same_pair(one: &Finding, other: &Finding) -> bool {
    let is_pruned = |finding: &Finding| finding.rule == Rule::StorageVersionFields;
    one.subject.versions.len() == 2
        && (&one.subject.crd, &one.subject.versions, one.severity, is_pruned(one))
            == (&other.subject.crd, &other.subject.versions, other.severity, is_pruned(other))
}

fn combine_findings(
    (first, located): &Located,
    alike: &[&Located],
    is_converted: bool,
) -> findings::Finding {
    let fields: BTreeSet<&str> =
        alike.iter().filter_map(|pair| pair.0.subject.field.as_deref()).collect();
    let rules: BTreeSet<String> = alike.iter().map(|pair| format!("`{}`", pair.0.rule)).collect();
    let rules = rules.into_iter().collect::<Vec<_>>().join(", ");
    let list = format_fields(&fields);
    let [one, other] = [0, 1].map(|at| &first.subject.versions[at]);
    let (what, remedy) = match first.rule {
        Rule::StorageVersionFields => (
            format!("the stored version `{other}` does not have {list} of `{one}`"),
            "add the fields, or convert with a webhook: the API server drops them when an object is next written",
        ),
        _ if is_converted => (
            format!("`{one}` and `{other}` differ in {list}, by {rules}"),
            "crdify compares versions that a webhook converts, too; `--policy olmv1` does not",
        ),
        _ => (
            format!(
                "`{one}` and `{other}` differ in {list}, by {rules}; no conversion is declared"
            ),
            "convert with a webhook (`operator-rs create webhook --conversion`), make the versions agree, or serve only one of them",
        ),
    };
    findings::Finding {
        rule: located.rule,
        severity: located.severity,
        subject: format!("{} {}", first.subject.crd, first.subject.version()),
        object: located.object.clone(),
        what,
        values: None,
        remedy: format!("{remedy}; `--verbose` lists each finding"),
        place: located.place.clone(),
        before: located.before.clone(),
        fingerprint: located.fingerprint.clone(),
    }
}

/// The number of fields, and the first of them.
fn format_fields(fields: &BTreeSet<&str>) -> String {
    const SHOWN: usize = 3;
    let first: Vec<String> = fields.iter().take(SHOWN).map(|field| format!("`{field}`")).collect();
    let more = if fields.len() > SHOWN { ", …" } else { "" };
    format!("{} ({}{more})", count(fields.len(), "field"), first.join(", "))
}
