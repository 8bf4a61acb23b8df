//! Limits of what is read, each with what is said beyond it.

use super::*;

#[test]
fn a_type_with_more_fields_than_the_limit_is_refused() {
    let fields: String = (0..65_537).map(|number| format!("a{number}: i32,")).collect();
    let project = spec("a: In,", &format!("$T struct In {{ {fields} }}"));
    let hint = all_problems(&read_map(&project))[0].hint.clone();
    assert_eq!(hint.as_deref(), Some("use a map or a list of values"));
    let found = problems(&project);
    let refusal = "src/main.rs:7:68: has 65537 fields or variants, and the limit is 65536 (`Kind` → `spec.a`)";
    assert_eq!(found, [refusal]);
}

#[test]
fn more_rules_at_one_place_than_the_limit_are_refused() {
    let rules = |count| vec!["validation = \"true\""; count].join(", ");
    let hint = "more than 1000 rules are not read: join conditions with `&&`";
    let derives = "CustomResource, KubeSchema, Serialize, Deserialize, Clone, Debug";
    let at_kind = |count| {
        let rules = rules(count);
        format!(
            "#[derive({derives})] #[kube(group = \"a.b\", version = \"v1\", kind = \"Rules\", {rules})] pub struct RulesSpec {{ a: i32 }}"
        )
    };
    let at_field = |count| {
        let rules = rules(count);
        format!(
            "#[derive({derives})] #[kube(group = \"a.b\", version = \"v1\", kind = \"Rules\")] pub struct RulesSpec {{ #[x_kube({rules})] a: i32 }}"
        )
    };
    for (few, many) in [(at_kind(1_000), at_kind(1_001)), (at_field(1_000), at_field(1_001))] {
        assert_eq!(all_problems(&read_map(&spec("a: i32,", &few))), []);
        let found = problems(&spec("a: i32,", &many));
        assert!(found.iter().any(|it| it.contains(hint)), "{found:?}");
    }
}

#[test]
fn a_number_with_more_digits_than_the_limit_is_refused() {
    let beside = |digits| format!("const LONG: f64 = {};", "1".repeat(digits));
    assert_eq!(problems(&spec("a: i32,", &beside(1_000))), [""; 0]);
    let found = problems(&spec("a: i32,", &beside(1_001)));
    let refusal = "src/main.rs:7:19: cannot be parsed: a number has more than 1000 digits";
    assert_eq!(found, [refusal]);
}

/// Each file declares the next one twice, so that their number doubles with each.
#[test]
fn files_that_multiply_are_refused() {
    let mut all = spec("a: i32,", "#[path = \"a0.rs\"] mod a;");
    for number in 0..40 {
        let next = number + 1;
        let text = format!("#[path = \"a{next}.rs\"] mod a; #[path = \"a{next}.rs\"] mod b;");
        all.extend([(format!("src/a{number}.rs").parse().unwrap(), text)]);
    }
    let found = problems(&all);
    let refusal = "exceeds the limit on code, together with the files before it";
    assert!(found.iter().any(|it| it.ends_with(refusal)), "{found:?}");
}

/// Each line becomes an attribute, which takes far more than its text.
#[test]
fn documented_lines_count_by_what_they_take() {
    let documented = |lines| format!("{} pub a: i32,", "/// A line.\n".repeat(lines));
    assert_eq!(problems(&spec(&documented(1_000), "")), [""; 0]);
    let found = problems(&spec(&documented(180_000), ""));
    let refusal = "exceeds the limit on code, together with the files before it";
    assert!(found.iter().any(|it| it.ends_with(refusal)), "{found:?}");
}
