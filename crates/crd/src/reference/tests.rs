//! The pages as a Markdown library reads them, and each demand in words.

use std::collections::BTreeSet;

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use serde_json::json;

use diagnostics::Diagnostic;

use super::{Kinds, facts, markdown, render_pages};
use go_data::yaml::Value;

/// A CRD with one version and this schema of `spec`.
fn crd(spec: &Value) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": "things.example.com" },
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": { "kind": "Thing", "plural": "things" },
            "versions": [{ "name": "v1", "served": true, "storage": true, "schema": { "openAPIV3Schema": {
                "type": "object", "properties": { "spec": spec } } } }],
        },
    })
}

fn page(crd: Value) -> String {
    let kinds = Kinds { crds: vec![crd], ..Kinds::default() };
    let pages = render_pages(&kinds).expect("it is a CRD");
    pages.into_iter().next().expect("there is a page").text
}

/// Every link inside of the page has its anchor, headings nest, there is no HTML but anchors, and the page ends outside of
/// everything.
fn require_whole(page: &str, headings: usize) {
    for options in [Options::empty(), Options::ENABLE_TABLES] {
        let (mut anchors, mut links) = (BTreeSet::new(), BTreeSet::new());
        let (mut level, mut count, mut in_heading) = (0, 0, false);
        for event in Parser::new_ext(page, options) {
            match event {
                Event::Start(Tag::Heading { level: it, .. }) => {
                    assert!(it as usize <= level + 1, "{it} after {level} in {page}");
                    (level, count, in_heading) = (it as usize, count + 1, true);
                }
                Event::End(TagEnd::Heading(_)) => in_heading = false,
                Event::InlineHtml(it) => {
                    assert!(in_heading, "`{it}` in {page}");
                    let name = it.strip_prefix("<a id=\"").and_then(|it| it.strip_suffix("\">"));
                    let is_new = name.is_none_or(|it| anchors.insert(it.to_owned()));
                    assert!(is_new && (name.is_some() || &*it == "</a>"), "`{it}` in {page}");
                }
                Event::Html(it) => panic!("`{it}` in {page}"),
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    match dest_url.strip_prefix('#') {
                        Some(anchor) => drop(links.insert(anchor.to_owned())),
                        None => assert!(dest_url.starts_with("http"), "{dest_url} in {page}"),
                    }
                }
                _ => {}
            }
        }
        assert_eq!(links.difference(&anchors).next(), None, "{page}");
        assert_eq!(count, headings, "{page}");
    }
}

#[test]
fn each_demand_of_a_schema_has_its_words() {
    let check = |schema: Value, expected: &str| {
        let (facts, rest) = facts::describe_facts(&schema);
        let words = [vec![facts::describe_type(&schema, None)], facts].concat();
        assert_eq!(words.join(" · "), expected);
        assert!(rest.is_empty(), "{rest:?}");
    };
    check(
        json!({ "type": "integer", "format": "int32", "minimum": 1.0, "maximum": 5.5 }),
        "integer, int32 · minimum `1` · maximum `5.5`",
    );
    check(
        json!({ "type": "number", "minimum": 0, "exclusiveMinimum": true, "multipleOf": 0.5 }),
        "number · exclusive minimum `0` · multiple of `0.5`",
    );
    check(
        json!({ "type": "number", "maximum": 1, "exclusiveMaximum": false }),
        "number · maximum `1`",
    );
    check(
        json!({ "type": "string", "minLength": 1, "maxLength": 63, "pattern": "^a|`b`$" }),
        "string · minimum length `1` · maximum length `63` · pattern ``^a|`b`$``",
    );
    check(
        json!({ "type": "string", "default": "", "enum": ["", "a"] }),
        "string · default `\"\"` · one of `\"\"`, `\"a\"`",
    );
    check(
        json!({ "type": "object", "default": {}, "nullable": true }),
        "object · nullable · default `{}`",
    );
    check(
        json!({ "type": "array", "items": {}, "minItems": 1, "maxItems": 2, "uniqueItems": true }),
        "list · minimum items `1` · maximum items `2` · unique items",
    );
    check(
        json!({ "type": "array", "items": {}, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a", "b"] }),
        "list · list type `map` · list map keys `a`, `b`",
    );
    check(
        json!({ "type": "object", "additionalProperties": {}, "minProperties": 1, "maxProperties": 2 }),
        "map · minimum properties `1` · maximum properties `2`",
    );
    check(
        json!({ "type": "object", "x-kubernetes-map-type": "atomic", "required": ["a", "b"], "properties": { "a": {} } }),
        "object · map type `atomic` · required fields `b`",
    );
    check(
        json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true }),
        "object · unknown fields are kept",
    );
    check(json!({ "x-kubernetes-preserve-unknown-fields": true }), "any value");
    check(json!({ "type": "object", "x-kubernetes-embedded-resource": true }), "Kubernetes object");
    check(
        json!({ "x-kubernetes-int-or-string": true, "anyOf": [{ "type": "integer" }, { "type": "string" }] }),
        "integer or string",
    );
    assert_eq!(facts::describe_type(&json!({ "type": "string" }), Some("Mode")), "`Mode` (string)");
}

#[test]
fn what_has_no_words_is_shown_as_yaml() {
    let text = page(crd(&json!({ "type": "object", "properties": { "a": {
        "type": "string", "not": { "enum": ["b"] }, "$ref": "#/definitions/A", "example": "c" } } })));
    assert!(
        text.contains(
            "Further conditions:\n\n```yaml\n$ref: '#/definitions/A'\nexample: c\nnot:\n"
        ),
        "{text}"
    );
    require_whole(&text, 4);
}

#[test]
fn fields_are_listed_with_lists_maps_and_rules() {
    let text = page(crd(
        &json!({ "type": "object", "description": "Desired.", "required": ["ports"], "properties": {
        "ports": { "type": "array", "items": { "type": "object", "description": "One port.", "properties": {
            "name": { "type": "string" } } } },
        "labels": { "type": "object", "additionalProperties": { "type": "string", "maxLength": 9 } },
        "a.b": { "type": "string" }, "a-b": { "type": "string" },
    }, "x-kubernetes-validations": [
        { "rule": "self.a == 1", "message": "a | must `be` 1", "reason": "FieldValueInvalid", "fieldPath": ".a" },
        { "rule": "self.a\n  == 1", "optionalOldSelf": true },
    ] }),
    ));
    let expected = [
        "### <a id=\"spec\"></a>`spec`\n\nobject\n\nDesired.\n\nRules:\n\n- `self.a == 1`: a \\| must \\`be\\` 1 · reason `FieldValueInvalid` · field `.a`\n- also when the object is created\n\n  ```text\n  self.a\n    == 1\n  ```\n\nFields:\n\n",
        "- [`ports`](#spec-ports): list of object, required\n",
        "- [`labels`](#spec-labels): map of string\n",
        "#### <a id=\"spec-labels\"></a>`spec.labels.*`\n\nmap\n\nEach value: string · maximum length `9`\n",
        "### <a id=\"spec-ports\"></a>`spec.ports[]`\n\nlist · required\n\nEach item: object\n\nOne port.\n\nFields:\n\n- [`name`](#spec-ports-name): string\n\n#### <a id=\"spec-ports-name\"></a>`spec.ports[].name`\n",
        "<a id=\"spec-a-b\"></a>",
        "<a id=\"spec-a-b-2\"></a>",
    ];
    expected.iter().for_each(|it| assert!(text.contains(it), "{it}\nin\n{text}"));
    require_whole(&text, 8);
}

#[test]
fn no_description_reaches_beyond_its_place() {
    let hostile = [
        "<script>alert(1)</script>",
        "<div>\n# a\n\n<!-- never closed",
        "```\nnever closed <b>",
        "~~~~ x\n    ~~~~",
        "- a\n- b\n  ```\n  c",
        "> ```\n> c",
        "# Heading <i>\n\nText\n===\n\nMore\n---\n\n#",
        "a | b\n--|--\n`c | <img src=x onerror=alert(1)> d`",
        "<a title=\"`\">  `<script>alert(1)</script>`",
        "[a](javascript:alert(1)) ![b](data:text/html,x) [c] <javascript:alert(1)>\n\n[c]: javascript:alert(1)",
        "[a](#nowhere) [b](crate::B) [`C`]\n\n[`C`]: crate::C",
        "{{#include /etc/passwd}} {{ .Values.a }} {% include x %} `{{#include /etc/passwd}}`",
        "\\<script> \\\\<script>alert(1)</script>",
        "    indented <b>",
        "<?php\n\n<![CDATA[\n\n</p>\n<pre>\n\n```",
        "`a\r\rb <b>` \r\n<b>",
        "1. a\n   <details>\n2. b\n\n***\n\n---",
        "&lt;script&gt; &#60;script>",
    ];
    for about in hostile {
        let text = page(crd(&json!({ "type": "object", "description": about, "properties": {
            "a": { "type": "string", "description": about, "default": about, "pattern": about } },
            "x-kubernetes-validations": [{ "rule": about, "message": about }] })));
        require_whole(&text, 4);
        let mut kind = crd(&json!({}));
        kind["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["description"] = json!(about);
        let index =
            render_pages(&Kinds { crds: vec![kind], ..Kinds::default() }).expect("it is a CRD");
        require_whole(&index[1].text.replace("](example.com/", "](https://example.com/"), 2);
        assert!(!text.replace("\\{{#", "").contains("{{#"), "{text}");
    }
}

#[test]
fn markdown_in_a_description_still_works() {
    let check =
        |text: &str, expected: &str| assert_eq!(markdown::sanitize_description(text), expected);
    check("A `Vec<T>` of *all*.\n\n- a\n- b | c", "A `Vec<T>` of *all*.\n\n- a\n- b | c");
    check("```rust\nlet a: Vec<u8>;\n```", "```rust\nlet a: Vec<u8>;\n```");
    check("Is a < b and <name>", "Is a \\< b and \\<name>");
    check("See <https://a.b> or [c](https://c.d)", "See <https://a.b> or [c](https://c.d)");
    check("# Examples\ntext", "**Examples**\n\ntext");
    check("More\n---\nless", "More\n\n---\nless");
    check("```\nopen", "```\nopen\n```");
    check("| a | b |\n|---|---|\n| 1 | 2 |", "| a | b |\n|---|---|\n| 1 | 2 |");
    check("{{ a }}", "\\{\\{ a }}");
}

#[test]
fn a_summary_is_the_first_sentence_with_its_markdown() {
    let check = |text: &str, expected: &str| assert_eq!(markdown::first_sentence(text), expected);
    check("A backup of\na volume. It is kept.", "A backup of a volume.");
    check("A backup.\n\nMore.", "A backup.");
    check("Runs e.g. Redis 7.2 or memcached. And more", "Runs e.g. Redis 7.2 or memcached.");
    check("A `Vec<T>. Or` of *all*! No", "A `Vec<T>. Or` of *all*!");
    check("# Title\ntext", "Title text");
    check("> ``` <script>a</script>", "> ``` \\<script>a\\</script>");
    check("[a](crate::B) {{ b }}", "\\[a](crate::B) \\{\\{ b }}");
    check(" \n", "");
}

#[test]
fn plain_text_is_escaped_where_it_would_be_markup() {
    let check = |text: &str, expected: &str| assert_eq!(markdown::escape_text(text), expected);
    check("max_size > 3 & #4 }", "max_size > 3 & #4 }");
    check("_a_ #&lt; &#60;", "\\_a\\_ #\\&lt; \\&#60;");
    check("# a", "\\# a");
    check("> a", "\\> a");
}

#[test]
fn code_is_shown_exactly() {
    for text in ["a", "`", "``a`", " a ", "a|b", "<b>", "\\", "*", "&lt;"] {
        let source = markdown::code_span(text);
        let events: Vec<Event<'_>> = Parser::new(&source).collect();
        assert!(matches!(&events[1], Event::Code(it) if &**it == text), "{text}: {events:?}");
        let block = markdown::code_block(&format!("{text}\n```\n~~~"), "yaml");
        let events: Vec<Event<'_>> = Parser::new(&block).collect();
        let content: String = events
            .iter()
            .filter_map(|it| if let Event::Text(it) = it { Some(&**it) } else { None })
            .collect();
        assert_eq!(content, format!("{text}\n```\n~~~\n"));
    }
    let source = markdown::escape_text("1. *a* <b> [c](d) `e` {{f}} &lt; | \n# g");
    let text: String = Parser::new(&format!("x {source}"))
        .filter_map(|it| if let Event::Text(it) = it { Some(it.to_string()) } else { None })
        .collect();
    assert_eq!(text, "x 1. *a* <b> [c](d) `e` {{f}} &lt; | # g");
}

#[test]
fn a_page_has_all_versions_the_stored_one_first() {
    let mut crd =
        crd(&json!({ "type": "object", "properties": { "size": { "type": "integer" } } }));
    let stored = crd["spec"]["versions"][0].clone();
    let mut old = stored.clone();
    old["name"] = json!("v1alpha1");
    old["storage"] = json!(false);
    old["deprecated"] = json!(true);
    old["deprecationWarning"] = json!("use v1");
    let mut gone = old.clone();
    gone["name"] = json!("v2");
    gone["served"] = json!(false);
    gone["deprecated"] = json!(false);
    gone["subresources"] = json!({ "status": {}, "scale": { "specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size" } });
    gone["additionalPrinterColumns"] = json!([{ "name": "Size", "type": "integer", "jsonPath": ".spec.size", "priority": 1, "description": "a" }]);
    crd["spec"]["versions"] = json!([gone, old, stored]);
    crd["spec"]["names"]["shortNames"] = json!(["th"]);
    crd["spec"]["names"]["categories"] = json!(["all"]);
    let sample =
        json!({ "apiVersion": "example.com/v1", "kind": "Thing", "metadata": { "name": "a" } });
    let other = json!({ "apiVersion": "other.com/v1", "kind": "Thing" });
    let kinds = Kinds { crds: vec![crd.clone()], samples: vec![sample, other], ..Kinds::default() };
    let pages = render_pages(&kinds).expect("it is a CRD");
    let text = &pages[0].text;
    let expected = [
        "\n# Thing\n\n- Group: `example.com`\n- Scope: Namespaced\n- Plural: `things`\n- Short names: `th`\n- Categories: `all`\n- Version [`v1`](#v1): stored\n- Version [`v1alpha1`](#v1alpha1): deprecated (use v1)\n- Version [`v2`](#v2): not served\n\n## <a id=\"v1\"></a>v1\n",
        "\nExample `a`:\n\n```yaml\napiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: a\n```\n",
        "<a id=\"spec-size\"></a>",
        "<a id=\"v1alpha1-spec-size\"></a>",
        "\nSubresources:\n\n- `status`\n- `scale`: replicas `.spec.size`, status `.status.size`\n\nPrinter columns:\n\n- Size (integer, with `-o wide`), `.spec.size`: a\n",
    ];
    expected.iter().for_each(|it| assert!(text.contains(it), "{it}\nin\n{text}"));
    assert_eq!(text.matches("Example").count(), 1);
    require_whole(text, 10);
    assert_eq!(pages[0].path, "example.com/thing.md");
    assert_eq!(
        pages[1].text,
        "\n# API reference\n\n## example.com\n\n- [Thing](example.com/thing.md)\n"
    );

    let twice = Kinds { crds: vec![crd.clone(), crd], ..Kinds::default() };
    let error = super::render_pages(&twice).err().expect("a page has one source");
    assert_eq!(
        error.to_string(),
        "`things.example.com` and `things.example.com` would both be `example.com/thing.md`"
    );
    let older = json!({ "metadata": { "name": "a" }, "spec": { "group": "b", "names": { "kind": "C" }, "version": "v1" } });
    let error = super::render_pages(&Kinds { crds: vec![older], ..Kinds::default() }).err();
    let hint = "only CRDs of `apiextensions.k8s.io/v1` are read";
    assert_eq!(Diagnostic::from(error.as_ref().expect("it is of v1beta1")).hints, [hint]);
    assert_eq!(
        error.expect("it is of v1beta1").to_string(),
        "the CRD `a` has no group, no kind or no versions"
    );
}

#[test]
fn deep_schemas_have_flat_headings() {
    let mut schema = json!({ "type": "string" });
    for _ in 0..60 {
        schema = json!({ "type": "object", "properties": { "a": schema } });
    }
    let text = page(crd(&schema));
    require_whole(&text, 63);
    assert!(Parser::new(&text).all(|it| !matches!(
        it,
        Event::Start(Tag::Heading { level: HeadingLevel::H5 | HeadingLevel::H6, .. })
    )));
}

#[test]
fn a_version_without_a_schema_says_so() {
    let mut crd = crd(&json!({}));
    crd["spec"]["versions"][0]["schema"] = json!({});
    let text = page(crd);
    assert!(text.ends_with("\nThis version has no schema.\n"), "{text}");
    require_whole(&text, 2);
}

#[test]
fn what_the_top_demands_is_shown() {
    let mut crd = crd(&json!({ "type": "object" }));
    assert!(!page(crd.clone()).contains("unknown fields are kept"));
    let schema = &mut crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    schema["x-kubernetes-preserve-unknown-fields"] = true.into();
    schema["maxProperties"] = 9.into();
    let page = page(crd);
    assert!(page.contains("\nmaximum properties `9` · unknown fields are kept\n"), "{page}");
}
