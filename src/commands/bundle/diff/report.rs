//! What is shown of the changes: one function a format.

use std::fmt::Write as _;

use crate::{
    app::findings::{self, count, shortened},
    commands::crds::{Format, Place, Side},
    terminal,
};
use crd::compatibility::Finding;
use diagnostics::{Diagnostic, Severity};
use go_data::yaml::{Value, json};
use olm::bundle::difference::{self, Change};

/// What was compared, and what came out, the worst first.
pub struct Report {
    old: String,
    new: String,
    entries: Vec<Entry>,
}

/// A change of any kind.
struct Entry {
    rule: &'static str,
    severity: Severity,
    subject: String,
    what: String,
    remedy: String,
    place: Option<Place>,
}

impl Report {
    pub fn new(old: &Side, new: &Side, changes: Vec<Change>, findings: Vec<Finding>) -> Self {
        let mut entries: Vec<Entry> = Vec::new();
        entries.extend(changes.into_iter().map(|it| Entry::of_change(it, old, new)));
        // What only follows from a removed field is not told again.
        let findings = findings.into_iter().filter(|it| !it.follows_removal());
        entries.extend(findings.map(|it| Entry::of_finding(it, old, new)));
        entries.sort_by_key(|it| it.severity);
        Self { old: old.label.clone(), new: new.label.clone(), entries }
    }

    /// How many changes are of this severity.
    pub fn count(&self, severity: Severity) -> usize {
        self.entries.iter().filter(|it| it.severity == severity).count()
    }

    pub fn print(&self, format: Format) {
        match format {
            Format::Text => {
                self.entries.iter().for_each(|it| terminal::finding(it.severity, &it.diagnostic()));
                terminal::print(&self.text());
            }
            Format::Json => terminal::data(&format!("{:#}\n", self.json())),
            Format::Sarif => terminal::data(&format!("{:#}\n", self.sarif())),
            Format::Github => {
                terminal::data(&self.entries.iter().map(annotation).collect::<String>());
            }
        }
    }

    fn text(&self) -> String {
        let mut res: String = self.entries.iter().map(block).collect();
        let (old, new) = (&self.old, &self.new);
        let counts = [
            count(self.count(Severity::Error), "breaking change"),
            count(self.count(Severity::Warning), "warning"),
            count(self.count(Severity::Note), "note"),
        ];
        let _ = match self.entries.is_empty() {
            true => writeln!(res, "no breaking change from {old} to {new}"),
            false => writeln!(res, "from {old} to {new}: {}", counts.join(", ")),
        };
        res
    }

    fn json(&self) -> Value {
        let entry = |it: &Entry| {
            let place =
                |it: &Place| json!({ "path": it.path, "line": it.line, "column": it.column });
            json!({
                "rule": it.rule,
                "severity": it.severity.name(),
                "subject": it.subject,
                "what": it.what,
                "remedy": it.remedy,
                "place": it.place.as_ref().map(place),
            })
        };
        json!({
            "old": self.old,
            "new": self.new,
            "upgradable": self.count(Severity::Error) == 0,
            "changes": self.entries.iter().map(entry).collect::<Vec<_>>(),
        })
    }

    fn sarif(&self) -> Value {
        let ours = difference::Rule::all()
            .map(|it| findings::rule(it.name(), it.summary(), it.severity()));
        let of_crds =
            super::of_crds().map(|it| findings::rule(it.name(), it.summary(), it.severity()));
        let result = |it: &Entry| {
            let remedy = match it.remedy.as_str() {
                "" => String::new(),
                remedy => format!(" Hint: {remedy}."),
            };
            let place =
                it.place.as_ref().map(|it| findings::physical(&it.path, it.line, it.column));
            let mut location = json!({ "logicalLocations": [{"fullyQualifiedName": it.subject}] });
            if let Some(place) = place {
                location["physicalLocation"] = place;
            }
            json!({
                "ruleId": it.rule,
                "level": it.severity.name(),
                "message": {"text": format!("{}: {}.{remedy}", it.subject, it.what)},
                "locations": [location],
            })
        };
        findings::sarif(ours.chain(of_crds).collect(), self.entries.iter().map(result).collect())
    }
}

impl Entry {
    fn diagnostic(&self) -> Diagnostic {
        findings::diagnostic(
            self.rule,
            &format!("{}: {}", self.subject, self.what),
            &self.remedy,
            self.place.as_ref().map(|it| (it.path.as_str(), it.line, it.column)),
        )
    }

    fn of_change(change: Change, old: &Side, new: &Side) -> Self {
        let place = |it: difference::Place| {
            let label = if it.is_old { &old.label } else { &new.label };
            Place::new(&format!("{label}/{}", it.file), it.mark.line, it.mark.column)
        };
        Self {
            rule: change.rule.name(),
            severity: change.rule.severity(),
            place: change.place.map(place),
            subject: change.subject,
            what: change.what,
            remedy: change.remedy,
        }
    }

    fn of_finding(finding: Finding, old: &Side, new: &Side) -> Self {
        let is_in_old = finding.removed || !new.crds.contains_key(&finding.subject.crd);
        let side = if is_in_old { old } else { new };
        Self {
            rule: finding.rule.name(),
            severity: finding.severity,
            place: side.locate(&finding.subject),
            subject: finding.subject.to_string(),
            what: finding.what,
            remedy: finding.remedy,
        }
    }
}

fn block(it: &Entry) -> String {
    let place = it.place.as_ref().map(|it| format!("{it}: ")).unwrap_or_default();
    let remedy = match it.remedy.as_str() {
        "" => String::new(),
        remedy => format!("  hint: {}\n", shortened(remedy)),
    };
    format!(
        "{place}{}[{}]: {}\n  {}\n{remedy}\n",
        it.severity.name(),
        it.rule,
        shortened(&it.what),
        it.subject
    )
}

fn annotation(it: &Entry) -> String {
    let mut properties = Vec::new();
    if let Some(place) = &it.place {
        properties.push(("file", place.path.clone()));
        properties.push(("line", place.line.to_string()));
        properties.push(("col", place.column.to_string()));
    }
    properties.push(("title", format!("{}: {}", it.rule, it.subject)));
    let hint = if it.remedy.is_empty() { String::new() } else { format!("\nhint: {}", it.remedy) };
    let level = match it.severity {
        Severity::Note => "notice",
        other => other.name(),
    };
    terminal::github(level, &properties, &format!("{}{hint}", it.what))
}
