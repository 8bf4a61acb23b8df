//! Code that was once evaluated to something else than rustc makes of it: each case is refused now, or right.
//!
//! The value of a case that is right is what kube printed of it.

use serde_json::{Value as Json, json};

use super::*;

/// What the schema of a field says, or why it is refused.
pub fn field(field: &str, beside: &str) -> Result<Json, String> {
    let reading = read_map(&spec(field, beside));
    match (&all_problems(&reading)[..], &crds(&reading)[..]) {
        ([], [crd]) => {
            let schema = schema_of(crd);
            let found = schema.pointer("/properties/spec/properties/a").cloned();
            Ok(found.unwrap_or_default())
        }
        ([problem, ..], _) => Err(problem.to_string()),
        _ => Err("nothing was read".to_owned()),
    }
}

fn default(ty: &str, code: &str) -> Result<Json, String> {
    let body = format!("#[serde(default = \"f\")] a: {ty},");
    field(&body, code).map(|it| it.get("default").cloned().unwrap_or_default())
}

/// The schema that a body of `json_schema` makes.
fn made(body: &str, beside: &str) -> Result<Json, String> {
    let code = format!(
        "#[derive(Serialize, Deserialize, Clone, Debug)] struct In; impl JsonSchema for In {{ fn schema_name() -> std::borrow::Cow<'static, str> {{ \"In\".into() }} fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {{ {body} }} }} {beside}"
    );
    field("a: In,", &code)
}

#[track_caller]
pub fn refused(ty: &str, code: &str) {
    let found = default(ty, code);
    assert!(found.is_err(), "{code}\n{found:?}");
}

#[track_caller]
pub fn right(ty: &str, code: &str, expected: Json) {
    assert_eq!(default(ty, code), Ok(expected), "{code}");
}

#[test]
fn a_mutable_place_is_refused() {
    let point = "$T struct P { x: i32 } ";
    refused(
        "Vec<P>",
        &format!(
            "{point} fn f() -> Vec<P> {{ let mut list = vec![P {{ x: 1 }}, P {{ x: 2 }}]; for p in &mut list {{ p.x = 7; }} list }}"
        ),
    );
    for body in [
        "let mut n = [1, 2, 3]; for i in &mut n { *i += 10; } n.iter().sum()",
        "let mut t = (1, 2); { let r = &mut t.0; *r = 5; } t.0",
        "let mut t = Some(1); if let Some(r) = &mut t { *r = 5; } t.unwrap()",
        "let mut v = [1]; let r = &mut v[0]; *r = 5; v[0]",
        "let mut v = vec![1]; Vec::push(&mut v, 2); v.len() as i32",
        "let mut v = vec![1]; v.push(2); v.len() as i32",
        "let mut x = 1; let y = &mut x; *y = 5; x",
        "let mut x = (1, 2); let (ref mut a, _) = x; *a = 5; x.0",
        "let mut x = 1; x += { x = 10; 1 }; x",
        "let mut x = 1; x = 5; x",
        "let mut p = P { x: 1 }; p.x = 5; p.x",
        "let mut a = 1; let mut b = 2; std::mem::swap(&mut a, &mut b); a",
        "let mut list = [1, 2, 3]; if let [first, ..] = &mut list { *first = 7; } list[0]",
        "let mut x = 1; while x < 5 { x += 1; } x",
        "loop { break 5; }",
        "let mut x = 1; let mut add = || x += 1; add(); x",
    ] {
        refused("i32", &format!("{point} fn f() -> i32 {{ {body} }}"));
    }
}

#[test]
fn order_and_laziness_are_refused() {
    for body in [
        "[1, 2].iter().map(|x| x * 2).sum()",
        "let mut it = [1, 2, 3].into_iter(); it.next(); it.next().unwrap()",
        "let x = 1; let g = move || x + 1; g()",
        "(0..3).take_while(|x| *x < 2).count() as i32",
        "match (1, 2) { (x, _) | (_, x) if x == 2 => x, _ => 0 }",
        "match 1 { x if x > 5 => x, _ => 0 }",
        "macro_rules! two { () => { 2 } } two!()",
        "const LIMIT: i32 = 3; match 3 { LIMIT => 1, _ => 2 }",
        "const LIMIT: i32 = 5; LIMIT",
        "fn inner() -> i32 { 5 } inner()",
        "use self::deep::LIMIT; LIMIT",
    ] {
        refused(
            "i32",
            &format!(
                "const LIMIT: i32 = 9; mod deep {{ pub const LIMIT: i32 = 1; }} fn f() -> i32 {{ {body} }}"
            ),
        );
    }
    let drop = "struct Bomb; impl Drop for Bomb { fn drop(&mut self) { panic!() } } ";
    refused("i32", &format!("{drop} fn f() -> i32 {{ let _bomb = Bomb; 1 }}"));
    refused("i32", &format!("{drop} fn g(_: Bomb) -> i32 {{ 1 }} fn f() -> i32 {{ g(Bomb) }}"));
    let fixed = "struct W<const N: u8>; impl<const N: u8> W<N> { fn n() -> u8 { N } fn m(&self) -> u8 { N } } impl<const N: u8> Default for W<N> { fn default() -> Self { W } }";
    for body in
        ["W::<3>::n()", "<W<3>>::n()", "W::<3>::m(&W)", "W::m(&W::<3>)", "W::<3>.m()", "n::<3>()"]
    {
        refused(
            "u8",
            &format!(
                "const N: u8 = 1; {fixed} fn n<const N: u8>() -> u8 {{ W::<N>::n() }} fn f() -> u8 {{ {body} }}"
            ),
        );
    }
    refused("u8", "const N: u8 = 1; fn g<const N: u8>() -> u8 { N } fn f() -> u8 { g::<3>() }");
    refused("i32", "fn boom() -> i32 { panic!() } fn f() -> i32 { let _x = (5, boom()); 1 }");
}

#[test]
fn what_a_trait_gives_is_refused() {
    refused(
        "u8",
        "trait Bound { const MAX: u8; } impl Bound for u8 { const MAX: u8 = 3; } fn g<T: Bound>() -> u8 { T::MAX } fn f() -> u8 { g::<u8>() }",
    );
    let cloned = "#[derive(JsonSchema, Serialize, Deserialize, Debug)] struct P { x: u8 } impl Clone for P { fn clone(&self) -> P { P { x: 7 } } } ";
    refused("P", &format!("{cloned} fn f() -> P {{ P {{ x: 1 }}.clone() }}"));
    refused("Vec<P>", &format!("{cloned} fn f() -> Vec<P> {{ vec![P {{ x: 1 }}].clone() }}"));
    refused("Vec<P>", &format!("{cloned} fn f() -> Vec<P> {{ vec![P {{ x: 1 }}; 2] }}"));
    refused(
        "Option<P>",
        &format!("{cloned} fn f() -> Option<P> {{ let p = Some(P {{ x: 1 }}); p.clone() }}"),
    );
    let inherent = "$T struct P { x: u8 } impl P { fn clone(&self) -> P { P { x: 7 } } fn into(self) -> P { P { x: 8 } } } ";
    refused("P", &format!("{inherent} fn f() -> P {{ P {{ x: 1 }}.clone() }}"));
    refused("P", &format!("{inherent} fn f() -> P {{ P {{ x: 1 }}.into() }}"));
    let equal = "struct P { x: u8 } impl PartialEq for P { fn eq(&self, _: &P) -> bool { true } fn ne(&self, _: &P) -> bool { true } } #[derive(PartialEq)] struct Q(Vec<P>); ";
    refused("bool", &format!("{equal} fn f() -> bool {{ P {{ x: 1 }} != P {{ x: 1 }} }}"));
    refused(
        "bool",
        &format!("{equal} fn f() -> bool {{ Q(vec![P {{ x: 1 }}]) == Q(vec![P {{ x: 2 }}]) }}"),
    );
    let deref = "struct P(u8); impl std::ops::Deref for P { type Target = u8; fn deref(&self) -> &u8 { &7 } } ";
    refused("u8", &format!("{deref} fn f() -> u8 {{ *P(1) }}"));
    refused("u8", &format!("{deref} fn f() -> u8 {{ let p = Box::new(P(1)); **p }}"));
    let preset = "trait Preset { fn default() -> Self; } impl Preset for P { fn default() -> P { P { x: 7 } } } $T #[derive(Default)] struct P { x: u8 } ";
    refused(
        "P",
        &format!("{preset} fn g<T: Preset>() -> T {{ T::default() }} fn f() -> P {{ g::<P>() }}"),
    );
    refused(
        "P",
        "#[derive(Default)] $T struct P { x: u8 } type Other = P; impl Other { fn default() -> P { P { x: 7 } } } fn f() -> P { panic!() }",
    );
    refused(
        "String",
        "trait Shout { fn to_string(&self) -> String; } impl<T> Shout for T { fn to_string(&self) -> String { String::new() } } fn f() -> String { \"a\".to_string() }",
    );
    refused(
        "String",
        "struct P; impl std::fmt::Display for P { fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result { f.write_str(\"p\") } } fn f() -> String { P.to_string() }",
    );
    refused(
        "String",
        "struct P; impl From<P> for String { fn from(_: P) -> String { \"p\".into() } } fn f() -> String { P.into() }",
    );
    refused(
        "P",
        "$T struct P(u8); impl From<u8> for P { fn from(x: u8) -> P { P(x + 1) } } fn f() -> P { 1_u8.into() }",
    );
    refused(
        "P",
        "$T struct P(u8); impl std::str::FromStr for P { type Err = (); fn from_str(_: &str) -> Result<P, ()> { Ok(P(7)) } } fn f() -> P { \"1\".parse().unwrap() }",
    );
    refused(
        "P",
        "#[derive(JsonSchema, Deserialize, Clone, Debug)] struct P(u8); impl Serialize for P { fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> { s.serialize_u8(7) } } fn f() -> P { P(1) }",
    );
}

#[test]
fn an_impl_by_another_name_counts() {
    let whole = "#[serde(default)] a: P,";
    for beside in [
        "type Other = P; impl Other { fn default() -> P { P { x: 7 } } }",
        "use P as Other; impl Other { fn default() -> P { P { x: 7 } } }",
        "impl P { fn default() -> P { P { x: 7 } } }",
        "mod m { use super::*; impl P { pub fn default() -> P { P { x: 7 } } } }",
    ] {
        let code = format!("#[derive(Default)] $T struct P {{ x: u8 }} {beside}");
        let found = field(whole, &code).map(|it| it["default"].clone());
        assert_eq!(found, Ok(json!({ "x": 7 })), "{beside}");
    }
    let code = "#[derive(Default)] $T struct P { x: u8 } mod m { use other::*; use super::*; impl P { fn default() -> P { P { x: 7 } } } }";
    let found = field(whole, code);
    assert!(
        found.is_err() || found == field(whole, &code.replace("use other::*; ", "")),
        "{found:?}"
    );
}

#[test]
fn numbers_are_of_one_type() {
    refused("f64", "fn f() -> f64 { let x = 0.1; let _y: f32 = x; f64::from(x) }");
    refused("i64", "fn f() -> i64 { let x = 3_000_000_000; x as i64 }");
    refused("i64", "fn f() -> i64 { let x = 2_000_000_000 + 2_000_000_000; x as i64 }");
    refused(
        "serde_json::Value",
        "fn f() -> serde_json::Value { serde_json::json!(2_000_000_000 + 2_000_000_000) }",
    );
    refused(
        "serde_json::Value",
        "fn f() -> serde_json::Value { let x = 0.1; g(x); serde_json::json!(x) } fn g(_: f32) {}",
    );
    refused("i128", "fn f() -> i128 { -1i32 as u128 as i128 }");
    refused("i32", "fn f() -> i32 { i32::MIN % -1 }");
    refused("i32", "fn f() -> i32 { -LOW } const LOW: i32 = i32::MIN;");
    refused("u8", "fn f() -> u8 { 255 + 1 }");
    refused("u8", "fn f() -> u8 { 1 << 8 }");
    refused("u32", "fn f() -> u32 { \"-0\".parse().unwrap() }");
    refused("String", "fn f() -> String { concat!(\"v\", 1.50).to_owned() }");
    refused("String", "fn f() -> String { format!(\"{:.2}\", true) }");
    refused("String", "fn f() -> String { format!(\"{}\", 0.1) }");
    refused("String", "fn f() -> String { format!(\"{0}-{0}\", 1) }");
    right(
        "f32",
        "fn f() -> f32 { 1.000_000_178_813_934_326_171_874_99 }",
        json!(1.000_000_119_209_289_6),
    );
    right(
        "f32",
        "const RATIO: f32 = 0.1; fn f() -> f32 { RATIO }",
        json!(0.100_000_001_490_116_12),
    );
}

#[test]
fn hand_written_schemas_are_evaluated_as_all_else() {
    let limit = "const LIMIT: i32 = 5; const KEY: &str = \"key\"; const RATIO: f32 = 0.1;";
    let found = made("schemars::json_schema!({ \"type\": \"number\", \"maximum\": RATIO })", limit);
    assert_eq!(found.map(|it| it["maximum"].clone()), Ok(json!(0.100_000_001_490_116_12)));
    for body in [
        "const LIMIT: i32 = 7; schemars::json_schema!({ \"maximum\": LIMIT })",
        "let pick = |x: i32| { if x > 1 { return \"a\"; } \"b\" }; schemars::json_schema!({ \"description\": pick(2) })",
        "let mut all = vec![schemars::json_schema!({})]; for s in &mut all { s.insert(\"type\".into(), \"string\".into()); } all.remove(0)",
        "let mut it = Some(schemars::json_schema!({})); it.as_mut().unwrap().insert(\"type\".into(), \"string\".into()); it.unwrap()",
        "let mut it = schemars::json_schema!({}); let other = &mut it; other.insert(\"type\".into(), \"string\".into()); it",
        "let mut it = schemars::json_schema!({}); it.ensure_object().insert(\"type\".into(), \"string\".into()); it",
        "let mut it = schemars::json_schema!({}); change(&mut it); it",
        "let mut it = schemars::json_schema!({}); let size = it.len() + 1; it.insert(\"a\".into(), 1.into()); it.insert(\"maximum\".into(), size.into()); it",
        "struct Proxy; schemars::json_schema!({})",
        "#[derive(JsonSchema)] struct Proxy { x: u8 } Proxy::json_schema(generator)",
        "generator.into_root_schema_for::<String>()",
        "named::<Other>()",
        "schemars::json_schema!(3)",
        "serde_json::from_value(serde_json::json!([])).unwrap()",
    ] {
        let beside = format!(
            "{limit} fn change(it: &mut schemars::Schema) {{ it.insert(\"type\".into(), \"string\".into()); }} trait Named {{ fn schema_name() -> String; }} struct Other; fn named<T: Named>() -> schemars::Schema {{ schemars::json_schema!({{ \"description\": T::schema_name() }}) }}"
        );
        let found = made(body, &beside);
        assert!(found.is_err(), "{body}\n{found:?}");
    }
}

#[test]
fn what_grows_without_end_is_refused() {
    let doubled = |first: &str, next: &str| {
        format!("let j = {first}; {} j", format!("let j = {next}; ").repeat(40))
    };
    for body in [
        doubled("serde_json::json!(1)", "serde_json::json!([j.clone(), j])"),
        doubled("serde_json::json!(1)", "serde_json::json!({ \"a\": j, \"b\": j })"),
        doubled(
            "vec![serde_json::Value::Null]",
            "vec![serde_json::json!(j), serde_json::json!(j)]",
        )
        .replace("; j", "; serde_json::json!(j)"),
    ] {
        refused("serde_json::Value", &format!("fn f() -> serde_json::Value {{ {body} }}"));
    }
    let text = doubled("\"aaaaaaaaaaaaaaaa\".to_owned()", "format!(\"{j}{j}\")");
    refused("String", &format!("fn f() -> String {{ {text} }}"));
    let point = "#[derive(Clone, Serialize)] struct P(Option<Box<P>>, Option<Box<P>>); ";
    let body = doubled("P(None, None)", "P(Some(Box::new(j.clone())), Some(Box::new(j)))");
    refused(
        "serde_json::Value",
        &format!("{point} fn f() -> serde_json::Value {{ {body}; serde_json::json!(j) }}"),
    );
    refused("u8", "fn f() -> u8 { g() } fn g() -> u8 { f() }");
    refused("u8", "const A: u8 = B; const B: u8 = A; fn f() -> u8 { A }");
    let calls: String =
        (0..60).map(|it| format!("fn g{it}() -> u64 {{ g{0}() + g{0}() }} ", it + 1)).collect();
    refused("u64", &format!("{calls} fn g60() -> u64 {{ 1 }} fn f() -> u64 {{ g0() }}"));
    let list = format!("const LIST: &[u8] = &[{}];", "1,".repeat(90_000));
    refused("u8", &format!("{list} fn f() -> u8 {{ LIST[0] + LIST[1] }}"));
}

#[test]
fn refusals_name_what_is_met() {
    let message = |ty: &str, code: &str| default(ty, code).unwrap_err();
    let check = |ty: &str, code: &str, expected: &str| {
        let found = message(ty, code);
        assert!(found.contains(expected), "{found}");
    };
    assert!(field("a: i128,", "").is_ok());
    check("f64", "fn f() -> f64 { f64::NAN }", "unsupported expression `f64::NAN` in a default");
    right("u64", "const BIG: u64 = 5_000_000_000; fn f() -> u64 { BIG }", json!(5_000_000_000_u64));
    let range = field("#[schemars(range(max = BIG))] a: u64,", "const BIG: u64 = 5_000_000_000;");
    assert_eq!(range.map(|it| it["maximum"].clone()), Ok(json!(5e9)));
    check("u8", "fn f() -> u8 { let v = 1_u8; drop(v); 2 }", "unsupported expression `drop(v)`");
    check("u8", "fn f() -> u8 { let x = 5_u8; g(&x) }", "`g` is not found");
    check(
        "u8",
        "fn f() -> u8 { const LIMIT: u8 = 3; LIMIT }",
        "an item inside a function is not evaluated; move it to the module",
    );
    right(
        "usize",
        "trait Big { fn len(&self) -> u8; } struct P; impl Big for P { fn len(&self) -> u8 { 1 } } fn f() -> usize { \"ab\".len() }",
        json!(2),
    );
}

#[test]
fn a_variable_that_is_the_value_of_its_block_has_its_type() {
    right("i32", "fn f() -> i32 { let a = 3; a }", json!(3));
    right("u8", "fn f() -> u8 { let a = 3; let b = 4_u8; a }", json!(3));
    right("f32", "fn f() -> f32 { let a = -1.5; a }", json!(-1.5));
    right("Option<u8>", "fn f() -> Option<u8> { let a = None; a }", json!(null));
    right("Vec<u8>", "fn f() -> Vec<u8> { let list = vec![1, 2]; list }", json!([1, 2]));
    refused("u8", "fn f() -> u8 { let a = 300; let a = 3; a }");
    refused("u8", "fn f() -> u8 { let a = 300; a }");
    refused("u8", "fn f() -> u8 { let a = 3; { a } }");
}

/// What public repositories were found to have.
#[test]
fn faults_of_public_repositories_stay_mended() {
    let none = Ok(Json::Null);
    let skip = |code: &str| {
        let body = "#[serde(default, skip_serializing_if = \"is_default\")] a: bool,";
        field(body, code).map(|it| it.get("default").cloned().unwrap_or_default())
    };
    assert_eq!(
        skip(
            "fn is_default(value: &bool) -> bool { #[cfg(feature = \"gen\")] { let _ = value; false } #[cfg(not(feature = \"gen\"))] { value == &bool::default() } }"
        ),
        none
    );
    assert_eq!(
        skip(
            "fn is_default<T: Default + PartialEq>(value: &T) -> bool { #[cfg(not(feature = \"gen\"))] { let _ = value; false } #[cfg(feature = \"gen\")] { value == &T::default() } }"
        ),
        Ok(json!(false))
    );
    let unsettled = skip(
        "fn is_default(_: &bool) -> bool { #[cfg(unix)] { false } #[cfg(not(unix))] { true } }",
    );
    assert!(unsettled.is_err(), "{unsettled:?}");
    // The function of a type goes before that of any trait.
    let empty = "trait Empty { fn is_empty(&self) -> bool; } impl<T> Empty for Vec<T> { fn is_empty(&self) -> bool { false } }";
    let body = "#[serde(default, skip_serializing_if = \"Vec::is_empty\")] a: Vec<u8>,";
    assert_eq!(field(body, empty).map(|it| it["default"].clone()), none);
}

#[test]
fn the_length_of_an_array_may_be_a_constant() {
    let beside = "mod limits { pub const COUNT: usize = super::SIZE; } const SIZE: usize = 3;";
    let schema = field("a: [u8; limits::COUNT],", beside).expect("it can be read");
    assert_eq!((&schema["minItems"], &schema["maxItems"]), (&Json::from(3), &Json::from(3)));
}
