use super::{
    Dialect, Value, find_added_key_error, from_text, json, parse_documents, to_text, tricky::TRICKY,
};

#[test]
fn every_string_reads_back_as_itself() {
    let long = "x".repeat(5000) + " y: z";
    for text in TRICKY.iter().copied().chain([long.as_str()]) {
        let key = if text == "<<" { "<" } else { text };
        for value in [
            json!(text),
            json!([text, [text, [text]], { "a": text, "b": [text] }]),
            json!({ "a": text, "z": { "y": text, "x": [text, { "k": text, "l": {} }, []] } }),
            json!({ key: { key: text }, "zz": [[], {}, null, true, 1.5, -3, u64::MAX] }),
        ] {
            let text = to_text(&value);
            let read = from_text(&text, Dialect::Kubernetes)
                .unwrap_or_else(|error| panic!("{error}\n{text}"));
            assert_eq!(read, value, "{text}");
        }
    }
}

/// The second parser is a port of libyaml, as Go's are.
#[test]
fn every_string_reads_back_in_another_reader() {
    for text in TRICKY {
        let value = json!({ text.to_owned(): text, "z": [text, { "a": text }] });
        let text = to_text(&value);
        let read: Value =
            serde_yaml::from_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(read, value, "{text}");
    }
}

#[test]
fn numbers_stay_numbers() {
    for value in [json!(1), json!(-1), json!(u64::MAX), json!(1.0), json!(1e20), json!(-2.5e-9)] {
        assert_eq!(from_text(&to_text(&value), Dialect::Kubernetes).expect("our own text"), value);
    }
    assert_eq!(to_text(&json!([1.0, 1e20, 1.5e-9])), "- 1.0\n- 1.0e+20\n- 1.5e-9\n");
}

#[test]
fn objects_are_written_as_go_writes_them() {
    let object = json!({
        "kind": "ConfigMap",
        "data": { "a": "one\ntwo\n", "b": "on", "c": "*", "d": "" },
        "list": [{ "name": "x", "args": ["--a=b", "-c"] }, [1, [2]]],
        "empty": { "map": {}, "list": [] },
    });
    assert_eq!(
        to_text(&object),
        "data:\n  a: |\n    one\n    two\n  b: \"on\"\n  c: '*'\n  d: \"\"\nempty:\n  list: []\n  map: {}\n\
         kind: ConfigMap\nlist:\n- args:\n  - --a=b\n  - -c\n  name: x\n- - 1\n  - - 2\n"
    );
}

#[test]
fn what_readers_see_differently_is_refused_with_its_place() {
    let check = |text: &str, expected: &str| {
        let error = parse_documents(text, Dialect::Kubernetes)
            .map(|values| format!("{values:?}"))
            .unwrap_err()
            .to_string();
        assert_eq!(error, expected, "{text}");
    };
    check(
        "1: a\n'1': b\n",
        "the key `1` occurs as an integer and as a string at line 2 column 1 (keep one of them)",
    );
    check(
        "a: .inf\n",
        "JSON has no number `.inf` at line 1 column 4 (write it in quotes, if it is a string)",
    );
    check(
        "a: 1\n---\nb: {c: *x}\n",
        "there is no anchor `&x` before this alias at line 3 column 8",
    );
    check(
        "a: \"\\/\"\n",
        "Go's YAML parsers do not support the escape `\\/` at line 1 column 4 (write `/`)",
    );
    check(
        "a: 1\n...\nb: 2\n",
        "a second document begins, which Kubernetes programs ignore at line 3 column 1 (separate them with a line `---`, or keep only one)",
    );
    let two = super::parse_document("a: 1\n---\nb: 2\n", Dialect::Strict)
        .map(drop)
        .unwrap_err()
        .to_string();
    assert!(two.ends_with("at line 3 column 1 (keep only one document in this file)"), "{two}");
    check(
        "a: 1\n--- {b: 2}\n",
        "`{b: 2}` follows the separator `---`, which Kubernetes programs refuse at line 2 column 4 (write it on a line of its own)",
    );
}

#[test]
fn each_program_reads_in_its_own_way() {
    let check = |text: &str, kubernetes: Value, kustomize: Option<Value>| {
        let read = |dialect| parse_documents(text, dialect).ok().map(Value::from);
        assert_eq!(read(Dialect::Kubernetes), Some(kubernetes), "{text}");
        assert_eq!(read(Dialect::Kustomize), kustomize, "{text}");
    };
    check("a: yes\n", json!([{ "a": true }]), Some(json!([{ "a": "yes" }])));
    let (date, time) = (json!([{ "a": "2026-01-31" }]), json!([{ "a": "2026-01-31T00:00:00Z" }]));
    check("a: 2026-01-31\n", date, Some(time));
    check("a: 1.0\n", json!([{ "a": 1.0 }]), Some(json!([{ "a": 1 }])));
    check("a: {b: }\n", json!([{ "a": { "b": null } }]), None);
    check("a: 1\na: 2\n", json!([{ "a": 2 }]), None);
    check("a: {1: b, true: c}\n", json!([{ "a": { "1": "b", "true": "c" } }]), None);
    let merge = "a: &x {b: 1, c: 1}\nd:\n  b: 2\n  <<: *x\n";
    let [first, last] =
        [2, 1].map(|b| json!([{ "a": { "b": 1, "c": 1 }, "d": { "b": b, "c": 1 } }]));
    check(merge, last, Some(first));
    let folded = "a: >-\n  a\n    b\n  c\n";
    check(folded, json!([{ "a": "a\n  b\nc" }]), Some(json!([{ "a": "a\n\n  b\nc" }])));
    assert!(parse_documents("a: 1\na: 2\n", Dialect::Strict).is_err());
}

#[test]
fn streams_hold_documents_comments_and_nothing() {
    let text = "\u{feff}# a\n---\n# only a comment\n---\na: 1\r\nb: |\r\n  x\r\n  y\r\n--- # c\n- 2\n...\n---\n";
    assert_eq!(
        parse_documents(text, Dialect::Kubernetes).expect("a stream"),
        [json!({"a": 1, "b": "x\ny\n"}), json!([2])]
    );
}

#[test]
fn malformed_text_is_refused() {
    for text in [
        "a: [",
        "a: b: c",
        "\ta: 1",
        "a:\n\t- b",
        "{a: 1}}",
        "a: 'x",
        "a: b\n c: d",
        "- a\nb: c",
        "*x",
    ] {
        assert!(parse_documents(text, Dialect::Kubernetes).is_err(), "{text:?}");
    }
    assert!(parse_documents(&"[".repeat(10_000), Dialect::Kubernetes).is_err());
}

#[test]
fn kustomize_adds_keys_that_are_strings_without_quotes() {
    for key in ["a", "a b", "1:20", "=", "on", "y", "- a", "#a", "1.2.3"] {
        assert_eq!(find_added_key_error(key), None, "{key}");
    }
    for key in
        ["1", "0x1F", "1_000", "1e3", ".inf", "0o7", "true", "null", "~", "", "<<", "2024-01-01"]
    {
        assert!(find_added_key_error(key).is_some(), "{key}");
    }
}
