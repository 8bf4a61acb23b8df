//! Comments that accept a warning at its location: `// operator-rs: allow(unknown-format)`.

/// Returns the rules whose warnings about a line, counted from 1, a comment accepts. The comment is at the end of the
/// line, or among the comments and attributes directly above it, up to 100 lines. It may name several rules, separated
/// by commas; text may follow the parenthesis. Comments begin with `//` or `#`.
pub fn accepted_rules<'a>(line: usize, lines: &[&'a str]) -> Vec<&'a str> {
    let Some(above) = line.checked_sub(1).and_then(|index| lines.get(..index)) else {
        return Vec::new();
    };
    let is_leading = |text: &&&str| text.trim_start().starts_with(['#', '/']);
    // A clone may have any number of comments, and each may have a warning.
    const LONGEST: usize = 100;
    let leading = above.iter().rev().take(LONGEST).take_while(is_leading);
    leading.chain(lines.get(line - 1)).flat_map(|text| rules_in(text)).collect()
}

/// Returns the rules that the comment in a line accepts.
fn rules_in(line: &str) -> impl Iterator<Item = &str> {
    let comment = line.find("//").or_else(|| line.find('#')).map_or("", |start| &line[start..]);
    let rules =
        comment.split_once("operator-rs: allow(").and_then(|(_, rest)| rest.split_once(')'));
    rules.map_or("", |(names, _)| names).split(',').map(str::trim).filter(|name| !name.is_empty())
}

#[test]
fn a_comment_accepts_the_rules_that_it_names_at_its_line_or_below() {
    let lines = [
        "// operator-rs: allow(a, b) the other manager is ours",
        "#[serde(default)]",
        "pub x: i32, // operator-rs: allow(c)",
        "pub y: i32,",
        "# operator-rs: allow(d)",
        "key: value",
        "text: operator-rs: allow(e)",
    ];
    let check = |rule: &str, accepted: &[usize]| {
        let is_accepted = |line: &usize| accepted_rules(*line, &lines).contains(&rule);
        let found: Vec<usize> = (0..9).filter(is_accepted).collect();
        assert_eq!(found, accepted, "{rule}");
    };
    check("a", &[1, 2, 3]);
    check("b", &[1, 2, 3]);
    check("c", &[3]);
    check("d", &[5, 6]);
    check("e", &[]);
    let mut many = vec!["// operator-rs: allow(a)"; 1];
    many.extend(["// a comment"; 100]);
    assert_eq!(accepted_rules(101, &many), ["a"]);
    many.push("x");
    assert!(accepted_rules(102, &many).is_empty());
}
