//! Results, in the formats of operator-sdk.

use std::fmt::Write as _;

use serde::Serialize;

use super::{Item, TestState};
use crate::terminal::{self, Look, Text};

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ScorecardFormat {
    /// For people
    Text,
    /// A TestList of operator-sdk
    Json,
    /// XML for CI systems
    Xunit,
}

const VERSION: &str = "scorecard.operatorframework.io/v1alpha3";

pub fn print(items: &[Item], format: ScorecardFormat) -> anyhow::Result<()> {
    match format {
        ScorecardFormat::Text if items.is_empty() => terminal::print("0 tests selected\n"),
        ScorecardFormat::Text if terminal::stdout_is_terminal() => {
            terminal::print_styled(&render_screen(items))
        }
        ScorecardFormat::Text => {
            terminal::print(&items.iter().map(format_item).collect::<String>())
        }
        ScorecardFormat::Json => terminal::write_data(&render_json(items)?),
        ScorecardFormat::Xunit => terminal::write_data(&render_xunit(items)),
    }
    Ok(())
}

/// One line a test with its state, or its image if it was not run; below it what a person can do.
fn render_screen(items: &[Item]) -> Text {
    let row = |item: &Item| {
        let name = item.test.labels.get("test").cloned().unwrap_or(item.test.entrypoint.join(" "));
        let state = item.outcome.as_ref().map_or(&*item.test.image, |outcome| outcome.state.name());
        let look = match item.outcome.as_ref().map(|outcome| outcome.state) {
            Some(TestState::Pass) => Look::Good,
            Some(_) => Look::Bad,
            None => Look::Plain,
        };
        [name.into(), Text::new(look, state)]
    };
    let rows: Vec<[Text; 2]> = items.iter().map(row).collect();
    let mut screen = Text::default();
    for (row, item) in terminal::format_table(&rows).into_iter().zip(items) {
        screen += row;
        let Some(outcome) = &item.outcome else { continue };
        for (look, label, list) in
            [(Look::Bad, "error", &outcome.errors), (Look::Note, "hint", &outcome.suggestions)]
        {
            for text in list {
                screen.add_part(look, format!("  {label}"));
                screen.add_part(Look::Plain, format!(": {}\n", text.trim_end()));
            }
        }
        for line in outcome.log.lines().filter(|_| outcome.state != TestState::Pass) {
            screen.add_part(Look::Aside, format!("  {line}\n"));
        }
    }
    screen
}

fn format_item(item: &Item) -> String {
    let test = &item.test;
    let mut text = format!("{}\nImage:      {}\n", "-".repeat(80), test.image);
    if !test.entrypoint.is_empty() {
        let _ = writeln!(text, "Entrypoint: [{}]", test.entrypoint.join(" "));
    }
    if !test.labels.is_empty() {
        text += "Labels:\n";
        for (key, value) in &test.labels {
            let _ = writeln!(text, "\t{key:?}:{value:?}");
        }
    }
    if let Some(outcome) = &item.outcome {
        text += "Results:\n";
        if !outcome.name.is_empty() {
            let _ = writeln!(text, "\tName: {}", outcome.name);
        }
        let _ = writeln!(text, "\tState: {}\n", outcome.state.name());
        let log: Vec<String> = outcome.log.lines().map(str::to_owned).collect();
        for (title, list) in
            [("Suggestions", &outcome.suggestions), ("Errors", &outcome.errors), ("Log", &log)]
        {
            if !list.is_empty() {
                let _ = writeln!(text, "\t{title}:");
                list.iter().for_each(|line| text += &format!("\t\t{line}\n"));
            }
        }
        text.push('\n');
    }
    text + "\n"
}

/// Fields in Go's order.
#[derive(Serialize)]
struct TestList<'a> {
    kind: &'static str,
    #[serde(rename = "apiVersion")]
    api_version: &'static str,
    /// None for Go's empty list.
    items: Option<Vec<TestEntry<'a>>>,
}

#[derive(Serialize)]
struct TestEntry<'a> {
    kind: &'static str,
    #[serde(rename = "apiVersion")]
    api_version: &'static str,
    spec: Spec<'a>,
    status: Status<'a>,
}

#[derive(Serialize)]
struct Spec<'a> {
    image: &'a str,
    #[serde(rename = "uniqueID", skip_serializing_if = "str::is_empty")]
    unique_id: &'a str,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    entrypoint: &'a [String],
    #[serde(skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    labels: &'a std::collections::BTreeMap<String, String>,
    storage: serde_json::Value,
}

#[derive(Serialize)]
struct Status<'a> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    results: Vec<Result<'a>>,
}

#[derive(Serialize)]
struct Result<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    log: &'a str,
    state: &'static str,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    errors: &'a [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    suggestions: &'a [String],
    #[serde(rename = "creationTimestamp")]
    creation_timestamp: Option<()>,
}

fn render_json(items: &[Item]) -> anyhow::Result<String> {
    let entries: Vec<TestEntry> = items.iter().map(test_entry).collect();
    let items = Some(entries).filter(|entries| !entries.is_empty());
    let list = TestList { kind: "TestList", api_version: VERSION, items };
    Ok(serde_json::to_string_pretty(&list)? + "\n")
}

fn test_entry(item: &Item) -> TestEntry<'_> {
    let test = &item.test;
    let mount_path = match &*test.mount_path {
        "" => serde_json::json!({}),
        path => serde_json::json!({ "path": path }),
    };
    let results = item.outcome.iter().map(|outcome| Result {
        name: &outcome.name,
        log: &outcome.log,
        state: outcome.state.name(),
        errors: &outcome.errors,
        suggestions: &outcome.suggestions,
        creation_timestamp: None,
    });
    TestEntry {
        kind: "Test",
        api_version: VERSION,
        spec: Spec {
            image: &test.image,
            unique_id: &test.unique_id,
            entrypoint: &test.entrypoint,
            labels: &test.labels,
            storage: serde_json::json!({ "spec": { "mountPath": mount_path } }),
        },
        status: Status { results: results.collect() },
    }
}

/// One suite a test, as operator-sdk writes it, but for messages: here they are escaped.
fn render_xunit(items: &[Item]) -> String {
    let mut xml = "<testsuites name=\"scorecard\">\n".to_owned();
    for (at, item) in items.iter().enumerate() {
        let test = &item.test;
        let name =
            test.labels.get("test").cloned().unwrap_or_else(|| format!("testsuite-{:03}", at + 1));
        let outcome = item.outcome.as_ref();
        let is =
            |state: TestState| usize::from(outcome.is_some_and(|outcome| outcome.state == state));
        let _ = writeln!(
            xml,
            "  <testsuite name=\"{}\" tests=\"{}\" skipped=\"0\" failures=\"{}\" errors=\"{}\">\n    <properties>",
            escape_xml(&name),
            usize::from(outcome.is_some()),
            is(TestState::Fail),
            is(TestState::Error)
        );
        let entrypoint = test.entrypoint.join(" ");
        let phase = test.labels.get("cluster-phase");
        let properties = [
            ("spec.image", Some(&test.image)),
            ("spec.entrypoint", Some(&entrypoint)),
            ("labels.test", Some(&name)),
            ("labels.cluster-phase", phase),
        ];
        for (key, value) in properties.iter().filter_map(|entry| Some((entry.0, entry.1?))) {
            let _ = writeln!(
                xml,
                "      <property name=\"{key}\" value=\"{}\"></property>",
                escape_xml(value)
            );
        }
        xml += "    </properties>\n";
        if let Some(outcome) = outcome {
            let _ = writeln!(
                xml,
                "    <testcase name=\"{}\" time=\"0001-01-01T00:00:00Z\">\n      <system-out>{}</system-out>",
                escape_xml(&outcome.name),
                escape_xml(&outcome.log)
            );
            let kind = match outcome.state {
                TestState::Pass => None,
                TestState::Fail => Some("failure"),
                TestState::Error => Some("error"),
            };
            if let Some(kind) = kind {
                let message = escape_xml(&outcome.errors.join("\n"));
                let _ = writeln!(xml, "      <{kind} type=\"{kind}\">{message}</{kind}>");
            }
            xml += "    </testcase>\n";
        }
        xml += "  </testsuite>\n";
    }
    xml + "</testsuites>\n"
}

fn escape_xml(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        match character {
            '"' => escaped += "&#34;",
            '\'' => escaped += "&#39;",
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '\t' => escaped += "&#x9;",
            '\n' => escaped += "&#xA;",
            '\r' => escaped += "&#xD;",
            // XML has no way to write other control characters.
            character if character.is_control() || matches!(character, '\u{fffe}' | '\u{ffff}') => {
                escaped.push('\u{fffd}')
            }
            character => escaped.push(character),
        }
    }
    escaped
}
