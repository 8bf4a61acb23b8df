use super::{Sample, SampleReport, check};
use diagnostics::Diagnostic;
use go_data::yaml::{self, Dialect, Value, json};

/// The faults of a sample with this `spec` for a CRD with this schema of `spec`, and what was not checked.
#[track_caller]
fn judge(schema: &Value, spec: &str) -> (Vec<String>, Vec<String>) {
    let crd = json!({
        "kind": "CustomResourceDefinition",
        "spec": {
            "group": "a.org",
            "names": { "kind": "Cache" },
            "versions": [{ "name": "v1", "served": true, "schema": { "openAPIV3Schema": {
                "type": "object", "properties": { "spec": schema },
            } } }],
        },
    });
    let text = format!("apiVersion: a.org/v1\nkind: Cache\nmetadata:\n  name: a\nspec:\n{spec}\n");
    let document = yaml::parse_nodes(&text, Dialect::Kustomize).expect("it is YAML").remove(0);
    let value = document.clone().into_value();
    let path = "a.yaml";
    let sample = Sample { value: &value, path, text: &text, document: Some(&document) };
    let SampleReport { faults, unchecked } = check(&[&crd], &[sample]);
    let line = |it: &Diagnostic| {
        let fields = it.format_fields().map(|it| format!("\n  {it}"));
        let hints = it.hints.iter().map(|it| format!("\n  hint: {it}"));
        let message = Diagnostic { field_paths: Vec::new(), ..it.clone() };
        format!("{message}{}", fields.chain(hints).collect::<String>())
    };
    let lines = |all: Vec<Diagnostic>| all.iter().map(line).collect();
    (lines(faults), lines(unchecked))
}

#[test]
fn faults_have_the_place_of_their_field() {
    let schema = json!({
        "type": "object",
        "required": ["name"],
        "properties": {
            "name": { "type": "string" },
            "replicas": { "type": "integer", "maximum": 9 },
            "list": { "type": "array", "items": { "type": "string" } },
        },
    });
    let (faults, unchecked) = judge(&schema, "  replica: 1\n  replicas: 10\n  list: [a,\n    1]");
    assert_eq!(
        faults,
        [
            "a.yaml:5:1: `spec.name` is required, but missing\n  Cache v1 → spec.name",
            "a.yaml:6:3: unknown field `spec.replica`\n  Cache v1 → spec.replica\n  hint: did you mean `replicas`?",
            "a.yaml:7:3: `spec.replicas` must be at most 9\n  Cache v1 → spec.replicas",
            "a.yaml:9:5: `spec.list[1]` must be of type string, and is of type integer\n  Cache v1 → spec.list[1]",
        ]
    );
    assert_eq!(unchecked, [""; 0]);
    assert_eq!(judge(&schema, "  name: a").0, [""; 0]);
}

#[test]
fn fields_inside_of_a_value_of_the_wrong_type_are_not_called_unknown() {
    let target = json!({ "type": "object", "properties": { "path": { "type": "string" } } });
    let schema = json!({
        "type": "object",
        "properties": {
            "map": { "type": "object", "additionalProperties": target },
            "list": { "type": "array", "items": target },
            "text": { "type": "string" },
        },
    });
    let sample = "  map: [{path: a}]\n  list: {a: {path: b}}\n  text: {a: {b: c}}\n  other: {a: 1}";
    assert_eq!(
        judge(&schema, sample).0,
        [
            "a.yaml:6:3: `spec.map` must be of type object, and is of type array\n  Cache v1 → spec.map",
            "a.yaml:7:3: `spec.list` must be of type array, and is of type object\n  Cache v1 → spec.list",
            "a.yaml:8:3: `spec.text` must be of type string, and is of type object\n  Cache v1 → spec.text",
            "a.yaml:9:3: unknown field `spec.other`\n  Cache v1 → spec.other",
        ]
    );
}

#[test]
fn rules_are_evaluated_or_named() {
    let schema = |rule: &str| {
        json!({
            "type": "object",
            "x-kubernetes-validations": [{ "rule": rule, "message": "no" }],
            "properties": {
                "size": { "type": "integer", "default": 3 },
                "url": { "type": "string" },
                "set": { "type": "array", "x-kubernetes-list-type": "set", "items": { "type": "string" } },
                "day": { "type": "string", "format": "date" },
            },
        })
    };
    let verdict = |rule: &str| {
        let (faults, unchecked) = judge(&schema(rule), "  url: a\n  set: [a]\n  day: '2020-02-02'");
        match (&faults[..], &unchecked[..]) {
            ([], []) => "valid".to_owned(),
            ([one], []) | ([], [one]) => one.clone(),
            _ => panic!("{faults:?} {unchecked:?}"),
        }
    };
    let (at, field) = ("a.yaml:5:1: `spec`", "\n  Cache v1 → spec");
    assert_eq!(verdict("self.size == 3"), "valid");
    assert_eq!(verdict("self.size < oldSelf.size"), "valid");
    assert_eq!(
        verdict("self.size > 3"),
        format!("{at} breaks a rule: no (`self.size > 3`){field}")
    );
    assert!(verdict("1 / (self.size - 3) == 1").contains("cannot be evaluated"));
    let unknown = |rule: &str, why: &str| {
        assert_eq!(
            verdict(rule),
            format!("{at} is not checked by the rule `{rule}`: {why}{field}")
        );
    };
    unknown("isURL(self.url)", "`isURL` is not evaluated by operator-rs");
    unknown("self.set == ['a']", "it compares or adds lists of the type `set` or `map`");
    unknown("self.day < timestamp('2020-01-01T00:00:00Z')", "it reads a date, a duration or bytes");
    unknown("self.sice == 3", "there is no field `sice`");
}

#[test]
fn what_no_crd_defines_is_not_judged() {
    let value = json!({ "apiVersion": "b.org/v1", "kind": "Cache", "spec": 1 });
    let path = "a.yaml";
    let report = check(&[], &[Sample { value: &value, path, text: "", document: None }]);
    assert!(report.faults.is_empty() && report.unchecked.is_empty());
}

#[test]
fn checks_of_large_samples_end() {
    let schema = json!({
        "type": "object",
        "x-kubernetes-validations": [
            { "rule": "self.all(a, self.all(b, self.all(c, self.all(d, self.all(e, a != 'x')))))" },
            { "rule": "self.all(a, a != 'x')" },
        ],
        "additionalProperties": { "type": "integer" },
    });
    let map: String = (0..40).map(|it| format!("  a{it}: 1\n")).collect();
    let (faults, unchecked) = judge(&schema, &map);
    assert_eq!((faults.len(), unchecked.len()), (0, 1), "{unchecked:?}");
    assert!(unchecked[0].contains("need more steps than"), "{unchecked:?}");
    let (faults, _) = judge(&schema, "  a: 1");
    assert_eq!(faults, [""; 0]);

    let schema = json!({ "type": "object", "properties": {
        "set": { "type": "array", "x-kubernetes-list-type": "set", "items": { "type": "integer" } },
    } });
    let items: Vec<String> = (0..40_000).chain([7]).map(|it| it.to_string()).collect();
    let (faults, _) = judge(&schema, &format!("  set: [{}]", items.join(",")));
    assert_eq!(faults.len(), 1, "{faults:?}");
}
