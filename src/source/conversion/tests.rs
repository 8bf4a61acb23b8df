use super::*;

const HEAD: &str =
    "#[kube(group = \"a.io\", version = \"v1\", kind = \"Shop\", status = \"ShopStatus\")]\n";

fn of(one: &str, other: &str) -> Generated {
    let text = |it: &str| format!("{HEAD}{it}");
    let (one, other) = (text(one), text(other));
    let side = |module, text| Side { module, text };
    conversion("Shop", "a", &side("v1", &one), &side("v2", &other)).expect("both declare it")
}

fn body<'a>(text: &'a str, head: &str) -> Vec<&'a str> {
    let (_, rest) = text
        .split_once(&format!("impl From<{head} {{\n"))
        .unwrap_or_else(|| panic!("{head}: {text}"));
    let body = rest.split("\n}\n").next().unwrap_or_default();
    body.lines().skip(1).map(str::trim).take_while(|it| *it != "}").collect()
}

const STATUS: &str = "pub struct ShopStatus { pub ready: bool }";

#[test]
fn equal_types_are_converted_field_by_field() {
    let spec = "pub struct ShopSpec { pub size: i32, pub doors: Vec<Door>, pub main: Option<Door>, pub by: BTreeMap<String, Option<Door>>, pub next: Box<Door>, pub mode: Mode, pub name: metav1::Time }
        pub struct Door { pub wide: bool }
        pub enum Mode { Fast, Slow(i32, Door), Fixed { at: Door, to: u8 } }
        pub struct ShopStatus { pub ready: bool }";
    let res = of(spec, spec);
    assert!(res.open.is_empty(), "{:?}", res.open);
    assert_eq!(
        body(&res.text, "v2::Shop> for v1::Shop"),
        [
            "let v2::Shop { metadata, spec, status } = it;",
            "Self { metadata, spec: spec.into(), status: status.map(Into::into) }",
        ]
    );
    let lines = body(&res.text, "v1::ShopSpec> for v2::ShopSpec").join(" ");
    assert_eq!(
        lines,
        "let v1::ShopSpec { size, doors, main, by, next, mode, name } = it; Self { size, \
         doors: doors.into_iter().map(Into::into).collect(), main: main.map(Into::into), \
         by: by.into_iter().map(|(key, it)| (key, it.map(Into::into))).collect(), next: Box::new((*next).into()), \
         mode: mode.into(), name,"
    );
    assert_eq!(
        body(&res.text, "v2::Mode> for v1::Mode"),
        [
            "match it {",
            "v2::Mode::Fast => Self::Fast,",
            "v2::Mode::Slow(field0, field1) => Self::Slow(field0, field1.into()),",
            "v2::Mode::Fixed { at, to } => Self::Fixed { at: at.into(), to },",
        ]
    );
    assert_eq!(res.text.matches("impl From<").count(), 10);
}

#[test]
fn what_differs_is_left_open_and_named() {
    let one = format!(
        "pub struct ShopSpec {{ pub size: i32, pub mode: Mode, pub port: u16 }} pub enum Mode {{ Fast, Gone }} {STATUS}"
    );
    let other = format!(
        "pub struct ShopSpec {{ pub replicas: Option<i32>, pub mode: Mode, pub port: String, pub to: Other }} pub enum Mode {{ Fast }} pub struct Other {{ pub a: u8 }} {STATUS}"
    );
    let res = of(&one, &other);
    assert_eq!(
        body(&res.text, "v1::ShopSpec> for v2::ShopSpec"),
        [
            "let v1::ShopSpec {",
            "size: _, // v2 has no such field",
            "mode,",
            "port: _, // v2 has another type",
            "} = it;",
            "Self {",
            "mode: mode.into(),",
            "replicas: Default::default(), // v1 has no such field",
            "port: Default::default(), // v1 has another type",
            "to: todo!(\"choose a value\"), // v1 has no such field",
        ]
    );
    let mode = body(&res.text, "v1::Mode> for v2::Mode");
    assert_eq!(mode[2], "v1::Mode::Gone => todo!(\"v2 has no such variant\"),");
    assert_eq!(
        res.open,
        [
            "v2 `ShopSpec.replicas`: v1 has no such field",
            "v2 `ShopSpec.to`: v1 has no such field",
            "v1 `ShopSpec.port`: v2 has another type",
            "v1 `ShopSpec.size`: v2 has no such field",
            "v2 `ShopSpec.port`: v1 has another type",
            "v1 `Mode::Gone`: v2 has no such variant",
        ]
    );
}

#[test]
fn a_status_that_only_one_version_has_is_named() {
    let without = HEAD.replace(", status = \"ShopStatus\"", "") + "pub struct ShopSpec {}";
    let with = format!("{HEAD}pub struct ShopSpec {{}} {STATUS}");
    let side = |module, text| Side { module, text };
    let res = conversion("Shop", "a", &side("v1", &without), &side("v2", &with))
        .expect("both declare it");
    assert!(res.text.contains("status: _, // v1 has none"), "{}", res.text);
    assert!(res.text.contains("status: None, // v1 has none"), "{}", res.text);
}

#[test]
fn a_file_without_the_kind_is_refused() {
    let side = |text| Side { module: "v1", text };
    let refused =
        |text| conversion("Shop", "a", &side(text), &side(text)).expect_err("it is refused");
    assert_eq!(refused("struct A;"), "v1: no struct has `#[kube(…, kind = \"Shop\", …)]`");
    assert_eq!(refused("struct"), "v1: unexpected end of input, expected identifier");
}

#[test]
fn types_of_different_forms_are_left_to_the_user() {
    let one = format!("pub struct ShopSpec {{ pub mode: Mode }} pub enum Mode {{ Fast }} {STATUS}");
    let other = format!(
        "pub struct ShopSpec {{ pub mode: Mode }} pub struct Mode {{ pub a: u8 }} {STATUS}"
    );
    let res = of(&one, &other);
    assert_eq!(
        res.open,
        ["v2 `Mode`: its form differs in v1", "v1 `Mode`: its form differs in v2"]
    );
    assert!(!res.text.contains("> for v1::Mode "), "{}", res.text);
}
