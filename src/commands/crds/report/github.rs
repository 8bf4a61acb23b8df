//! Annotations: GitHub shows them in a pull request, at their lines.

use super::{Located, Report};

pub fn render(report: &Report) -> String {
    let shown = report.findings.iter().filter(|it| !it.finding.follows_removal());
    shown.map(annotation).collect()
}

fn annotation(it: &Located) -> String {
    let finding = &it.finding;
    let mut properties = Vec::new();
    if let Some(place) = it.anchor.as_ref().or(it.place.as_ref()) {
        properties.push(format!("file={}", property(&place.path)));
        properties.push(format!("line={}", place.line));
        properties.push(format!("col={}", place.column));
    }
    properties.push(format!("title={}", property(&format!("{}: {}", finding.rule, it.subject()))));
    let before = it.place.as_ref().filter(|_| finding.removed);
    let before = before.map(|it| format!("\nit was at {it}")).unwrap_or_default();
    let message = format!("{}{before}\nhint: {}", finding.what, finding.remedy);
    format!("::{} {}::{}\n", finding.severity.name(), properties.join(","), data(&message))
}

/// A message in one line, as the runner reads it back.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The same of a property, which a comma or a colon would end.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[test]
fn nothing_in_a_text_ends_an_annotation_or_begins_another() {
    assert_eq!(data("100%\r\n::error::x"), "100%25%0D%0A::error::x");
    assert_eq!(property("a,b: c\n"), "a%2Cb%3A c%0A");
}
