use std::cell::Cell;

use super::super::cfg::Cfg;
use super::super::types::text;
use super::{Rules, plain::plain};

/// What a definition (its arms) makes of a call (what is in its parentheses), or why not.
fn made(arms: &str, call: &str) -> String {
    let definition: syn::ItemMacro =
        syn::parse_str(&format!("macro_rules! m {{ {arms} }}")).unwrap();
    let call: syn::Macro = syn::parse_str(&format!("m! {{ {call} }}")).unwrap();
    let rules = Rules::new(&definition, 0, Cfg::Yes).unwrap();
    match rules.expand(&call, 0, &Cell::new(0)) {
        Ok(tokens) => text(&plain(tokens)),
        Err(error) => format!("error: {error}"),
    }
}

#[track_caller]
fn check(arms: &str, call: &str, expected: &str) {
    assert_eq!(made(arms, call), expected, "{arms}\n{call}");
}

#[test]
fn each_fragment_takes_what_it_names() {
    check("($a:ident) => { $a }", "r#type", "r#type");
    check("($a:ident) => { $a }", "struct", "struct");
    check("($a:ident) => { 1 }; (_) => { 2 }", "_", "2");
    check("($a:lifetime) => { & $a str }", "'a", "&'a str");
    check("($a:literal) => { $a }", "-1.5", "-1.5");
    check("($a:literal) => { $a }", "true", "true");
    check("($a:ty) => { Vec<$a> }", "Option<Vec<u8>>", "Vec<Option<Vec<u8>>>");
    check("($a:path) => { $a }", "a::b::<C>", "a::b::<C>");
    check(
        "($v:vis struct $a:ident) => { $v enum $a {} }",
        "pub(crate) struct A",
        "pub(crate)enum A{}",
    );
    check("($v:vis struct $a:ident) => { $v enum $a {} }", "struct A", "enum A{}");
    check(
        "($(#[$a:meta])*) => { $(#[$a])* struct A; }",
        "#[a] #[b = 1] #[c(d)]",
        "#[a]#[b=1]#[c(d)]struct A;",
    );
    check("($(#[$a:meta])*) => { $(#[$a])* struct A; }", "/// Text\n", "#[doc=\"Text\"]struct A;");
    check(
        "($($a:item)*) => { mod m { $($a)* } }",
        "struct A; #[b] enum B {}",
        "mod m{struct A;#[b]enum B{}}",
    );
    check("($a:block) => { fn f() $a }", "{ 1 }", "fn f(){1}");
    check("($($a:tt)*) => { $($a)* }", "a => [b] 'c 1", "a=>[b]'c 1");
    check("($a:expr, $b:expr) => { $b; $a }", "1 + 2, f(3)", "f(3);1+2");
}

#[test]
fn repetitions_nest_and_are_separated() {
    check("($($a:ident),*) => { $($a;)* }", "a, b, c", "a;b;c;");
    check("($($a:ident),* $(,)?) => { $($a)|* }", "a, b,", "a|b");
    check(
        "($($a:ident: [$($b:ty),*];)*) => { $( $( $a: $b, )* )* }",
        "a: [u8, u16]; b: []; c: [i8];",
        "a:u8, a:u16, c:i8,",
    );
    check("($x:ident $($a:ident)*) => { $( $x $a )* }", "x a b", "x a x b");
    check("($($a:ident)+) => { $($a)* }", "", "error: no arm of it matches");
    check("($($a:ident)? ;) => { [$($a)?] }", "; ", "[]");
    check("($($a:ident => $b:expr),+) => { $(($b, $a)),+ }", "a => 1, b => 2", "(1, a),(2, b)");
    check("($($a:ident)*) => { $x }", "a", "$x");
    check(
        "($($a:ident),*; $($b:ident),*) => { $($a $b)* }",
        "a, b; c",
        "error: repeats variables that repeat at different lengths",
    );
    check("($($a:ident),*) => { $a }", "a, b", "error: `$a` repeats, and is no repetition here");
    check("($a:ident) => { $( $a )* }", "a", "error: repeats without a variable that repeats");
}

#[test]
fn arms_are_tried_in_order_and_a_fragment_that_began_must_end() {
    check("(a) => { 1 }; ($a:ident) => { 2 }", "a", "1");
    check("(a) => { 1 }; ($a:ident) => { 2 }", "b", "2");
    check("[a $b:tt] => { 1 }; {$a:ident = $b:expr} => ( 2 );", "c = 1", "2");
    check("($a:expr) => { 1 }; (a = > b) => { 2 }", "a = > b", "error: expected an expression");
    check("($a:ty) => { 1 }; ($($a:tt)*) => { 2 }", "+ b", "2");
    check("(=>) => { 1 }; (= >) => { 2 }", "=>", "1");
    check("(=>) => { 1 }; (= >) => { 2 }", "= >", "2");
    check("($($a:ident)* b) => { 1 }", "a b", "error: can be matched in more than one way");
    check(
        "($a:expr) => { 1 }; (_) => { 2 }",
        "_",
        "error: cannot be told to begin this fragment or not",
    );
}

#[test]
fn what_was_matched_is_one_token_for_other_macros() {
    // As rustc has it: what was an expression is no literal token any more, and no type.
    let inner = |call: &str, arms: &str| {
        let outer = "($a:expr, $t:ty, $i:ident) => { n! { A } }".replace('A', call);
        let outer: syn::ItemMacro =
            syn::parse_str(&format!("macro_rules! m {{ {outer} }}")).unwrap();
        let call: syn::Macro = syn::parse_str("m!(1 + 2, u8, name)").unwrap();
        let outer = Rules::new(&outer, 0, Cfg::Yes).unwrap();
        let made = plain(outer.expand(&call, 0, &Cell::new(0)).unwrap());
        let call: syn::Macro = syn::parse2(made).unwrap();
        let definition: syn::ItemMacro =
            syn::parse_str(&format!("macro_rules! n {{ {arms} }}")).unwrap();
        let rules = Rules::new(&definition, 0, Cfg::Yes).unwrap();
        rules
            .expand(&call, 0, &Cell::new(0))
            .map_or_else(|it| it.to_string(), |it| text(&plain(it)))
    };
    assert_eq!(inner("$a", "(1 + 2) => { tokens }; ($a:expr) => { [$a * 2] }"), "[1+2*2]");
    assert_eq!(inner("$t", "($a:expr) => { value }; ($a:ty) => { Vec<$a> }"), "Vec<u8>");
    assert_eq!(inner("$t", "(u8) => { token }; ($a:tt) => { [$a] }"), "[u8]");
    assert_eq!(inner("$i", "(name) => { token }; ($a:ident) => { ident }"), "token");
    assert_eq!(inner("$a", "($a:literal) => { literal }; ($a:expr) => { other }"), "other");
}

#[test]
fn a_crate_of_its_own_is_named_where_it_is_called() {
    let definition: syn::ItemMacro =
        syn::parse_str("macro_rules! m { () => { $crate::A } }").unwrap();
    let call: syn::Macro = syn::parse_str("m!()").unwrap();
    let rules = Rules::new(&definition, 3, Cfg::Yes).unwrap();
    let from = |krate| text(&rules.expand(&call, krate, &Cell::new(0)).unwrap());
    assert_eq!(from(3), "crate::A");
    assert_eq!(from(1), "crateǃ3::A");
}

#[test]
fn a_local_of_the_definition_and_one_of_the_call_are_not_taken_for_one() {
    let value = |arms: &str, call: &str| {
        let definition: syn::ItemMacro =
            syn::parse_str(&format!("macro_rules! m {{ {arms} }}")).unwrap();
        let call: syn::Macro = syn::parse_str(&format!("m!({call})")).unwrap();
        let rules = Rules::new(&definition, 0, Cfg::Yes).unwrap();
        rules.expand_value(&call, 0, &Cell::new(0)).map_or_else(|it| it.to_string(), |it| text(&it))
    };
    let map = "($($k:expr => $v:expr),*) => {{ let mut m = Map::new(); $(m.insert($k, $v);)* m }}";
    assert_eq!(value(map, "1 => f(x.m)"), "{let mut m=Map::new();m.insert(1, f(x.m));m}");
    assert_eq!(value(map, "1 => f(m)"), "`m` is a name of the macro's own and one of its call's");
    assert_eq!(value("($a:expr) => { m($a) }", "m"), "m(m)");
}
