//! Results, in the formats of operator-sdk.

use std::fmt::Write as _;

use serde::Serialize;

use super::{Item, State};
use crate::terminal::{self, Look, Text};

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// For people
    Text,
    /// A TestList of operator-sdk
    Json,
    /// XML for CI systems
    Xunit,
}

const VERSION: &str = "scorecard.operatorframework.io/v1alpha3";

pub fn print(items: &[Item], format: Format) -> anyhow::Result<()> {
    match format {
        Format::Text if items.is_empty() => terminal::print("0 tests selected\n"),
        Format::Text if terminal::is_screen() => terminal::show(&screen(items)),
        Format::Text => terminal::print(&items.iter().map(text).collect::<String>()),
        Format::Json => terminal::data(&json(items)?),
        Format::Xunit => terminal::data(&xunit(items)),
    }
    Ok(())
}

/// One line a test with its state, or its image if it was not run; below it what a person can do.
fn screen(items: &[Item]) -> Text {
    let row = |it: &Item| {
        let name = it.test.labels.get("test").cloned().unwrap_or(it.test.entrypoint.join(" "));
        let state = it.outcome.as_ref().map_or(&*it.test.image, |it| it.state.name());
        let look = match it.outcome.as_ref().map(|it| it.state) {
            Some(State::Pass) => Look::Good,
            Some(_) => Look::Bad,
            None => Look::Plain,
        };
        [name.into(), Text::new(look, state)]
    };
    let rows: Vec<[Text; 2]> = items.iter().map(row).collect();
    let mut res = Text::default();
    for (row, it) in terminal::table(&rows).into_iter().zip(items) {
        res += row;
        let Some(outcome) = &it.outcome else { continue };
        for (look, label, list) in
            [(Look::Bad, "error", &outcome.errors), (Look::Note, "hint", &outcome.suggestions)]
        {
            for text in list {
                res.add(look, format!("  {label}"));
                res.add(Look::Plain, format!(": {}\n", text.trim_end()));
            }
        }
        for line in outcome.log.lines().filter(|_| outcome.state != State::Pass) {
            res.add(Look::Aside, format!("  {line}\n"));
        }
    }
    res
}

fn text(it: &Item) -> String {
    let test = &it.test;
    let mut res = format!("{}\nImage:      {}\n", "-".repeat(80), test.image);
    if !test.entrypoint.is_empty() {
        let _ = writeln!(res, "Entrypoint: [{}]", test.entrypoint.join(" "));
    }
    if !test.labels.is_empty() {
        res += "Labels:\n";
        for (key, value) in &test.labels {
            let _ = writeln!(res, "\t{key:?}:{value:?}");
        }
    }
    if let Some(outcome) = &it.outcome {
        res += "Results:\n";
        if !outcome.name.is_empty() {
            let _ = writeln!(res, "\tName: {}", outcome.name);
        }
        let _ = writeln!(res, "\tState: {}\n", outcome.state.name());
        let log: Vec<String> = outcome.log.lines().map(str::to_owned).collect();
        for (title, list) in
            [("Suggestions", &outcome.suggestions), ("Errors", &outcome.errors), ("Log", &log)]
        {
            if !list.is_empty() {
                let _ = writeln!(res, "\t{title}:");
                list.iter().for_each(|it| res += &format!("\t\t{it}\n"));
            }
        }
        res.push('\n');
    }
    res + "\n"
}

/// Fields in Go's order.
#[derive(Serialize)]
struct List<'a> {
    kind: &'static str,
    #[serde(rename = "apiVersion")]
    api_version: &'static str,
    /// None for Go's empty list.
    items: Option<Vec<Entry<'a>>>,
}

#[derive(Serialize)]
struct Entry<'a> {
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

fn json(items: &[Item]) -> anyhow::Result<String> {
    let entries: Vec<Entry> = items.iter().map(entry).collect();
    let items = Some(entries).filter(|it| !it.is_empty());
    let list = List { kind: "TestList", api_version: VERSION, items };
    Ok(serde_json::to_string_pretty(&list)? + "\n")
}

fn entry(it: &Item) -> Entry<'_> {
    let test = &it.test;
    let mount_path = match &*test.mount_path {
        "" => serde_json::json!({}),
        path => serde_json::json!({ "path": path }),
    };
    let results = it.outcome.iter().map(|it| Result {
        name: &it.name,
        log: &it.log,
        state: it.state.name(),
        errors: &it.errors,
        suggestions: &it.suggestions,
        creation_timestamp: None,
    });
    Entry {
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
fn xunit(items: &[Item]) -> String {
    let mut res = "<testsuites name=\"scorecard\">\n".to_owned();
    for (at, it) in items.iter().enumerate() {
        let test = &it.test;
        let name =
            test.labels.get("test").cloned().unwrap_or_else(|| format!("testsuite-{:03}", at + 1));
        let outcome = it.outcome.as_ref();
        let is = |state: State| usize::from(outcome.is_some_and(|it| it.state == state));
        let _ = writeln!(
            res,
            "  <testsuite name=\"{}\" tests=\"{}\" skipped=\"0\" failures=\"{}\" errors=\"{}\">\n    <properties>",
            escaped(&name),
            usize::from(outcome.is_some()),
            is(State::Fail),
            is(State::Error)
        );
        let entrypoint = test.entrypoint.join(" ");
        let phase = test.labels.get("cluster-phase");
        let properties = [
            ("spec.image", Some(&test.image)),
            ("spec.entrypoint", Some(&entrypoint)),
            ("labels.test", Some(&name)),
            ("labels.cluster-phase", phase),
        ];
        for (key, value) in properties.iter().filter_map(|it| Some((it.0, it.1?))) {
            let _ = writeln!(
                res,
                "      <property name=\"{key}\" value=\"{}\"></property>",
                escaped(value)
            );
        }
        res += "    </properties>\n";
        if let Some(outcome) = outcome {
            let _ = writeln!(
                res,
                "    <testcase name=\"{}\" time=\"0001-01-01T00:00:00Z\">\n      <system-out>{}</system-out>",
                escaped(&outcome.name),
                escaped(&outcome.log)
            );
            let kind = match outcome.state {
                State::Pass => None,
                State::Fail => Some("failure"),
                State::Error => Some("error"),
            };
            if let Some(kind) = kind {
                let message = escaped(&outcome.errors.join("\n"));
                let _ = writeln!(res, "      <{kind} type=\"{kind}\">{message}</{kind}>");
            }
            res += "    </testcase>\n";
        }
        res += "  </testsuite>\n";
    }
    res + "</testsuites>\n"
}

fn escaped(text: &str) -> String {
    let mut res = String::new();
    for it in text.chars() {
        match it {
            '"' => res += "&#34;",
            '\'' => res += "&#39;",
            '&' => res += "&amp;",
            '<' => res += "&lt;",
            '>' => res += "&gt;",
            '\t' => res += "&#x9;",
            '\n' => res += "&#xA;",
            '\r' => res += "&#xD;",
            // XML has no way to write other control characters.
            it if it.is_control() || matches!(it, '\u{fffe}' | '\u{ffff}') => res.push('\u{fffd}'),
            it => res.push(it),
        }
    }
    res
}
