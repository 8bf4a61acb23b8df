//! Types with parameters, and types that contain themselves.

use super::*;

/// The warnings of a spec that is read.
fn warnings(body: &str, beside: &str) -> Vec<String> {
    let reading = read_map(&spec(body, beside));
    assert_eq!(all_problems(&reading), []);
    reading.warnings.iter().map(ToString::to_string).collect()
}

#[test]
fn what_a_generic_type_is_given_must_fit() {
    let one = "$T struct In<T> { x: T }";
    check("a: In,", one, "src/main.rs:5:4: `In` lacks an argument for `T` (`Kind` → `spec.a`)");
    check(
        "a: In<i32, i32>,",
        one,
        "src/main.rs:5:4: `In<i32, i32>` has too many generic arguments (`Kind` → `spec.a`)",
    );
    check("a: In<Gone>,", one, "src/main.rs:5:7: `Gone` is not found (`Kind` → `spec.a`)");
    check(
        "a: Plain<i32>,",
        "$T struct Plain { x: i32 }",
        "src/main.rs:5:4: `Plain<i32>` has too many generic arguments (`Kind` → `spec.a`)",
    );
    check(
        "a: In<3>,",
        "$T struct In<const N: usize> { x: i32 }",
        "src/main.rs:5:4: `In<3>` has a `const` parameter, which is not supported (`Kind` → `spec.a`)",
    );
    check(
        "a: [u8; COUNT],",
        "const COUNT: usize = 3 + 1;",
        "src/main.rs:5:4: `[u8;COUNT]` has a length that is not a number or a constant (`Kind` → `spec.a`)",
    );
    check(
        "a: Kind2,",
        "type Kind2 = Other<i32>; $T struct Other<T: Has> { x: T::It }",
        "src/main.rs:7:112: `T::It` is an associated type, which is not supported (`Kind` → `spec.a.x`)",
    );
    check(
        "a: In<i32>,",
        "#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug)] struct In<T> { x: T }",
        "src/main.rs:7:71: `KubeSchema` does not compile on a type with parameters (`Kind` → `spec.a`)",
    );
}

#[test]
fn an_enum_that_derives_kube_schema_is_refused() {
    check(
        "a: Mode,",
        "#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug)] enum Mode { Full }",
        "src/main.rs:7:66: `KubeSchema` is for structs with named fields (`Kind` → `spec.a`)",
    );
}

#[test]
fn names_with_parameters_in_them_are_refused() {
    check(
        "a: In<i32>,",
        "$T #[schemars(rename = \"X{T}\")] struct In<T> { x: T }",
        "src/main.rs:7:81: parameters in a name are not supported (`Kind` → `spec.a`)",
    );
}

#[test]
fn a_default_that_may_not_be_written_is_refused() {
    check(
        "a: In<i32>,",
        "trait Has {} $T struct In<T: Has + Default> { #[serde(default)] x: T }",
        "src/main.rs:7:122: the default of `x` is in the schema only if a type parameter implements `Serialize`, which operator-rs cannot tell (`Kind` → `spec.a.x`)",
    );
    check(
        "a: In<i32>,",
        "$T struct In<T: Default> { #[serde(default)] x: Other<T> } $T struct Other<T> { x: T }",
        "src/main.rs:7:103: the default of `x` is in the schema only if a type parameter implements `Serialize`, which operator-rs cannot tell (`Kind` → `spec.a.x`)",
    );
}

#[test]
fn a_type_that_contains_itself_is_read_with_a_warning() {
    assert_eq!(
        warnings("a: In,", "$T struct In { x: Option<Box<In>>, y: Vec<Self> }"),
        [
            "src/main.rs:7:73: a type contains itself here: the CRD has `\"$ref\": \"#/components/schemas/In\"`, which no API server accepts (`Kind` → `spec.a.x.x`)"
        ]
    );
    assert_eq!(
        warnings("a: Option<Box<Kind>>,", ""),
        [
            "src/main.rs:5:1: a type contains itself here: the CRD has `\"$ref\": \"#\"`, which no API server accepts (`Kind` → `spec.a`)"
        ]
    );
}

#[test]
fn a_type_without_end_is_refused() {
    for beside in [
        "$T struct In<T> { x: Option<Box<In<Vec<T>>>> }",
        "$T #[schemars(inline)] struct In<T> { x: Vec<In<T>>, y: Vec<In<T>> }",
        "$T #[serde(transparent)] struct In<T>(Box<In<T>>);",
        "$T struct In<T> { #[serde(flatten)] x: Box<In<T>> }",
    ] {
        let problems = problems(&spec("a: In<i32>,", beside));
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].contains("is recursive"), "{problems:?}");
    }
}

#[test]
fn types_that_double_at_every_step_are_refused() {
    let mut beside = "type A0 = (i32, i32);".to_owned();
    let mut types = "$T struct B0 { x: i32 }".to_owned();
    for it in 1..40 {
        beside += &format!("type A{it} = (A{0}, A{0});", it - 1);
        types += &format!("$T struct B{it} {{ x: B{0}, y: B{0} }}", it - 1);
    }
    let picks = "type A0<T> = Option<T>; type Pick<A, B> = A;".to_owned();
    let picks = (1..40)
        .fold(picks, |res, it| res + &format!("type A{it}<T> = Pick<A{0}<T>, A{0}<T>>;", it - 1));
    let problems = super::problems(&spec("a: A39<i32>,", &picks));
    assert!(problems[0].contains("nests too many types"), "{problems:?}");
    let problems = super::problems(&spec("a: A39,", &beside));
    assert!(problems[0].contains("nests too many types"), "{problems:?}");
    let problems = super::problems(&spec("a: B39,", &types));
    assert!(problems[0].contains("makes the schema larger than a CRD may be"), "{problems:?}");
}
