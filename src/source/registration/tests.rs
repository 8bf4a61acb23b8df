use super::*;

#[test]
fn what_the_list_has_is_served_and_no_other_call_is_allowed() {
    let check = |file: &str, text: &str, expected: &[(&str, bool)], problems: &[(usize, usize)]| {
        let found = read_registrations(&SourcePath::fixed(file), text);
        let paths: Vec<(&str, bool)> =
            found.admission.iter().map(|it| (&*it.path, it.mutating)).collect();
        let places: Vec<(usize, usize)> =
            found.problems.iter().map(|it| (it.place.line, it.place.column)).collect();
        assert_eq!((&paths[..], &places[..]), (expected, problems), "{text}");
    };
    let both = [("/a", true), ("/b", false)];
    for text in [
        "fn all() { vec![operator_rs_runtime::mutating_webhook(\"/a\", A), operator_rs_runtime::validating_webhook::<B>(\"/b\", B)] }",
        "use operator_rs_runtime::{mutating_webhook, validating_webhook as b}; fn all() { vec![mutating_webhook(r\"/a\", A), b(\"/b\", B),] }",
        "use operator_rs_runtime::*; fn all() { let a = A; vec![c(), mutating_webhook(\"/a\", a), ::operator_rs_runtime::validating_webhook(\"/b\", B)] }",
        "use operator_rs_runtime as r; pub fn all() { vec![r::mutating_webhook(\"/a\", A), r::validating_webhook(\"/b\", B)] }",
        "#[cfg(test)] mod t { fn a() { operator_rs_runtime::mutating_webhook(\"/t\", A) } } fn all() { vec![operator_rs_runtime::mutating_webhook(\"/a\", A), operator_rs_runtime::validating_webhook(\"/b\", B)] }",
    ] {
        check(FILE, text, &both, &[]);
    }
    for (text, problem) in [
        (
            "fn a() { vec![operator_rs_runtime::mutating_webhook(\"/a\", A)] } fn all() { vec![] }",
            36,
        ),
        ("fn all() { let b = vec![operator_rs_runtime::mutating_webhook(\"/a\", A)]; vec![] }", 46),
        ("fn all() { vec![Some(operator_rs_runtime::mutating_webhook(\"/a\", A))] }", 43),
        (
            "fn all() { if b { return vec![]; } vec![operator_rs_runtime::mutating_webhook(\"/a\", A)] }",
            62,
        ),
        ("#[cfg(b)] fn all() { vec![operator_rs_runtime::mutating_webhook(\"/a\", A)] }", 48),
        ("fn all() { vec![operator_rs_runtime::mutating_webhook(\"/a\", A)] } fn all() {}", 38),
        ("fn all() { vec![operator_rs_runtime::mutating_webhook(\"/a\", A)]; }", 38),
        ("use operator_rs_runtime::mutating_webhook as d; fn a() { it.map(|it| d(it, A)) }", 70),
        ("fn a() { it.map(operator_rs_runtime::mutating_webhook) }", 38),
    ] {
        check(FILE, text, &[], &[(1, problem)]);
    }
    let list = "fn all() { vec![operator_rs_runtime::mutating_webhook(\"/a\", A)] }";
    check("src/lib.rs", list, &[], &[(1, 38)]);
    let other = "use operator_rs_runtime::Error; fn a(mutating_webhook: u8) { it.mutating_webhook(\"a\"); other::mutating_webhook(\"/a\") } fn mutating_webhook(a: u8) {}";
    check(FILE, other, &[], &[]);
    check(
        FILE,
        "// operator_rs_runtime::mutating_webhook(\"/a\", A)\nfn all() { \"operator_rs_runtime::mutating_webhook(\"; vec![] }",
        &[],
        &[],
    );
    check(
        FILE,
        "fn all() { vec![operator_rs_runtime::mutating_webhook(PATH, A)] }",
        &[],
        &[(1, 55)],
    );
    let conditional = "fn all() { vec![#[cfg(x)] operator_rs_runtime::mutating_webhook(\"/a\", A), operator_rs_runtime::validating_webhook(\"/b\", B)] }";
    check(FILE, conditional, &both, &[(1, 48)]);
}

#[test]
fn conversions_are_found_with_the_paths_of_their_types() {
    let check = |text: &str, expected: &[(&str, &str, bool)], problems: usize| {
        let found = read_registrations(&SourcePath::fixed(FILE), text);
        let conversions: Vec<(String, String, bool)> = { found.conversions.iter() }
            .map(|it| (it.hub.join("::"), it.spoke.join("::"), it.lossless))
            .collect();
        let conversions: Vec<_> = conversions.iter().map(|it| (&*it.0, &*it.1, it.2)).collect();
        assert_eq!((&conversions[..], found.problems.len()), (expected, problems), "{text}");
    };
    check(
        "fn all() { vec![operator_rs_runtime::conversion_webhook::<a::v1::A, v2::A>()] }",
        &[("a::v1::A", "v2::A", false)],
        0,
    );
    check(
        "use operator_rs_runtime::*; use a::{v1, v2::A as Old}; fn all() { vec![b, lossless_conversion_webhook::<v1::A, Old,>(\"data\")] }",
        &[("a::v1::A", "a::v2::A", true)],
        0,
    );
    check("fn all() { vec![operator_rs_runtime::conversion_webhook::<v1::A, _>()] }", &[], 1);
    check("fn all() -> Vec<S<A, B>> { vec![operator_rs_runtime::conversion_webhook()] }", &[], 1);
    check(
        "// operator_rs_runtime::conversion_webhook::<A, B>()\nfn all() { vec![other::conversion_webhook::<A, B>()] }",
        &[],
        0,
    );
}
