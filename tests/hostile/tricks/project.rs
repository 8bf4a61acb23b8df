//! PROJECT files that say what no command has ever written: paths for names, control characters,
//! YAML that grows, resources without an end.

use super::Trick;
use crate::plant;

const VALUES: &[&str] = &[
    "../../victim",
    "/tmp/owned",
    "..",
    ".",
    "",
    "a/b",
    "a\\b",
    "\u{1b}[2J\u{7}",
    "\u{9b}2J",
    "a\nb: c",
    "a\rb",
    "a\u{0}b",
    "a\u{202e}b",
    "`id`$(id)${HOME}",
    "{{domain}}",
    "\"; include!(\"/etc/passwd\"); //",
    "éü🦀",
    "-rf",
    "con",
    "self",
    "fn",
    "r#type",
];

const FIELDS: &[(&str, &str)] = &[
    ("domain", "domain: example.com"),
    ("projectName", "projectName: memcached-operator"),
    ("version", "version: \"3\""),
    ("layout", "- rust.operator-rs.io/v1"),
    ("cliVersion", "cliVersion: 0.1.0"),
    ("group", "  group: cache"),
    ("kind", "  kind: Memcached"),
    ("plural", "  plural: memcacheds"),
    ("path", "  path: memcached_operator_api::cache::v1alpha1"),
    ("resource version", "  version: v1alpha1"),
    ("resource domain", "  domain: example.com"),
    ("crdVersion", "    crdVersion: v1"),
];

pub fn all() -> Vec<Trick> {
    let mut res = Vec::new();
    for (name, line) in FIELDS {
        for value in VALUES.iter().copied().chain(["LONG"]) {
            let title = format!("PROJECT has {value:?} as {name}");
            let value = if value == "LONG" { "x".repeat(300) } else { value.to_owned() };
            let quoted = serde_json::to_string(&value).expect("a text is JSON");
            let key = line.split_inclusive(['-', ':']).next().unwrap_or("");
            let new = format!("{key} {quoted}");
            res.push(Trick::new(title, "PROJECT", move |world| {
                plant::replace(world, "PROJECT", line, &new)
            }));
        }
        for odd in
            ["[]", "{}", "null", "1e999", "[[[[]]]]", "*a", "&a x", "!!binary aGk=", "|\n", "- - -"]
        {
            let key = line.split_inclusive(['-', ':']).next().unwrap_or("");
            let new = format!("{key} {odd}");
            res.push(Trick::new(
                format!("PROJECT has the YAML {odd} as {name}"),
                "PROJECT",
                move |world| plant::replace(world, "PROJECT", line, &new),
            ));
        }
    }
    let whole = |name: &str, text: String| {
        Trick::new(format!("PROJECT is {name}"), "PROJECT", move |world| {
            plant::file(world, "PROJECT", text.as_bytes())
        })
    };
    let head = "domain: example.com\nlayout:\n- rust.operator-rs.io/v1\nprojectName: memcached-operator\nversion: \"3\"\nresources:\n";
    let resource = |number: usize, group: &str| {
        format!(
            "- api:\n    crdVersion: v1\n    namespaced: true\n  controller: true\n  domain: example.com\n  group: {group}\n  kind: Kind{number}\n  path: memcached_operator_api::{group}::v1\n  plural: kind{number}s\n  version: v1\n"
        )
    };
    let many: String = (0..5_000).map(|it| resource(it, "cache")).collect();
    res.push(whole("of 5000 kinds", format!("{head}{many}")));
    res.push(whole("of a kind twice", format!("{head}{0}{0}", resource(1, "cache"))));
    res.push(whole(
        "of a group that is a path",
        format!("{head}{}", resource(1, "\"../../../victim\"")),
    ));
    res.push(whole("of many brackets", "[".repeat(200_000)));
    res.push(whole("of deep maps", (0..3_000).map(|it| " ".repeat(it) + "a:\n").collect()));
    let laughs: String =
        (1..30).map(|it| format!("a{it}: &a{it} [*a{0}, *a{0}, *a{0}, *a{0}]\n", it - 1)).collect();
    res.push(whole("of aliases that grow", format!("a0: &a0 [lol, lol]\n{laughs}{head}[]\n")));
    res.push(whole("an alias to itself", format!("a: &a [*a]\nb: &b\n  <<: *b\n{head}[]\n")));
    res.push(whole("of two documents", format!("{head}[]\n---\n{head}[]\n")));
    res.push(whole("a key twice", format!("{head}[]\nresources: []\n")));
    res.push(whole("one long line", format!("{head}  {}\n", "x ".repeat(500_000))));
    res.push(whole("of a byte order mark", format!("\u{feff}{head}[]\n")));
    res.push(whole("of CRLF", format!("{head}[]\n").replace('\n', "\r\n")));
    res
}
