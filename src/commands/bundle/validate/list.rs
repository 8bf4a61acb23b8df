//! `operator-rs bundle validate --list`

use olm::bundle::validate::rules::{Rule, Selection, Suite, Target};

/// Rules by their suite: id, severity, whose rule it is and what it requires.
pub fn format_rules(select: Option<&Selection>, target: Option<Target>) -> String {
    let mut list = String::new();
    for suite in Suite::ALL {
        let when = if suite.is_default() { "" } else { " (where it is selected)" };
        let mut lines = String::new();
        for rule in Rule::all().filter(|rule| rule.suite() == suite) {
            let info = rule.info();
            let severity = rule
                .severity_for(target)
                .filter(|_| select.is_none_or(|selection| selection.contains(rule)));
            if let Some(severity) = severity {
                let (origin, summary) = (rule.origin().name(), info.summary);
                let (id, severity) = (info.id, severity.name());
                lines += &format!("  {id:<30} {severity:<8} {origin:<23} {summary}\n");
            }
        }
        if !lines.is_empty() {
            list += &format!("{}{when}\n{lines}", suite.name());
        }
    }
    list
}
