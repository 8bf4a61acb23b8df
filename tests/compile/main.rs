//! Kinds that cannot be read from the source: the compiled code is asked for them.
//!
//! What builds kube does so in one target folder, so that each version of kube is built once.

#![allow(
    clippy::disallowed_methods,
    reason = "the walls stand in src; a test looks at them from outside"
)]

#[path = "../support/mod.rs"]
mod support;

#[cfg(unix)]
mod answers;
mod macros;
mod older;
#[cfg(unix)]
mod permission;
mod project;
#[cfg(unix)]
mod runs;

use project::{FUNCTION, HEAD, OUTSIDE, PLAIN, Project, kind, size};
use serde_json::json;

#[test]
fn kinds_that_cannot_be_read_come_from_the_compiled_code() {
    let text = [HEAD, &kind("Asked", OUTSIDE), &kind("Plain", PLAIN), FUNCTION].concat();
    let project = Project::new(&[("src/lib.rs", &text)]);
    let (printed, text) = project.crds(&[]);
    assert_eq!(printed, None);
    assert!(text.contains("Asked → spec.size"), "{text}");
    assert!(text.contains("hint: pass `--compile` to use the compiled code"), "{text}");
    let (printed, text) = project.crds(&["--compile"]);
    let printed = printed.expect(&text);
    assert!(text.starts_with("compiling 1 of 2 kinds because of src/lib.rs:"), "{text}");
    assert_eq!(printed.len(), 2);
    assert_eq!(*size(&printed[0]), json!({ "type": "string", "maxLength": 7 }));
    // Both ways must agree on what both can tell.
    let (checked, text) = project.crds(&["--compile", "--check"]);
    assert_eq!(checked.expect(&text), printed);
    assert!(!project.at("target").exists(), "the target folder is where the person has it");
}

#[test]
fn a_check_says_what_it_compiles() {
    let project = Project::new(&[("src/lib.rs", &[HEAD, &kind("Plain", PLAIN)].concat())]);
    let (printed, text) = project.crds(&["--compile", "--check"]);
    assert_eq!(printed.expect(&text).len(), 1);
    assert!(text.starts_with("compiling the only kind for comparison with the source\n"), "{text}");
    let (_, text) = project.crds(&["--compile"]);
    assert_eq!(text, "", "nothing is compiled where all is read");
}

#[test]
fn programs_and_private_kinds_are_asked_too() {
    let kinds = [HEAD, &kind("Asked", OUTSIDE), FUNCTION].concat();
    let main = "//! A program.\n#![deny(warnings)]\nmod api;\nfn main() {\n    println!(\"{}\", api::text());\n}\n";
    let api = format!(
        "{kinds}pub fn text() -> String {{\n    let size = include_str!(\"../text\").to_owned();\n    \
         Asked::new(\"a\", AskedSpec {{ size }}).spec.size\n}}\n"
    );
    let asked = json!({ "type": "string", "maxLength": 7 });
    let program = Project::new(&[("src/main.rs", main), ("src/api.rs", &api), ("text", "a")]);
    let (printed, text) = program.crds(&["--compile"]);
    assert_eq!(*size(&printed.expect(&text)[0]), asked);

    let hidden = format!("pub mod api {{\n    mod inner {{ {kinds} }}\n}}\n");
    let hidden = hidden.replace("pub struct", "struct");
    let (printed, text) = Project::new(&[("src/lib.rs", &hidden)]).crds(&["--compile"]);
    assert_eq!(*size(&printed.expect(&text)[0]), asked);
}

#[test]
fn a_library_and_a_program_may_declare_one_module() {
    let kinds = [HEAD, &kind("Asked", OUTSIDE), FUNCTION].concat();
    let project = Project::new(&[
        ("src/lib.rs", "pub mod api;\n"),
        (
            "src/main.rs",
            "mod api;\nfn main() { let _ = asked::api::AskedSpec { size: String::new() }; }\n",
        ),
        ("src/api.rs", &kinds),
    ]);
    let (printed, text) = project.crds(&["--compile"]);
    assert_eq!(printed.expect(&text).len(), 1);
}

#[test]
fn code_that_does_not_compile_is_reported() {
    let text = [HEAD, &kind("Asked", OUTSIDE), FUNCTION, "fn wrong() -> u8 { \"\" }\n"].concat();
    let project = Project::new(&[("src/lib.rs", &text)]);
    let words = ["generate", "crds", "--compile", "--output-dir", "crds"];
    let output = project.tool(&words).output().unwrap();
    let text = support::said(&output);
    assert!(!output.status.success(), "{text}");
    assert!(text.contains("mismatched types"), "{text}");
    assert!(text.contains("error: `asked` does not compile"), "{text}");
    assert!(!project.at("crds").exists(), "nothing is written");
}

#[test]
fn a_kind_over_which_kube_panics_is_refused() {
    let bad = "fn outside(_: &mut SchemaGenerator) -> Schema { panic!(\"no such {}\", std::env::args().count() * 0) }\n";
    let text = [HEAD, &kind("Asked", OUTSIDE), bad].concat();
    let (printed, text) = Project::new(&[("src/lib.rs", &text)]).crds(&["--compile"]);
    assert_eq!(printed, None);
    assert!(text.contains("kube panics on this schema: no such 0"), "{text}");
}

#[test]
fn the_code_is_asked_with_the_features_that_are_on() {
    let wide = "pub size: i32,\n    #[cfg(feature = \"wide\")]\n    pub more: i32,\n    #[cfg(feature = \"usual\")]\n    pub usual: i32,";
    let text = [HEAD, &kind("Asked", OUTSIDE), &kind("Plain", wide), FUNCTION].concat();
    for (at, more) in [("src/lib.rs", ""), ("src/main.rs", "fn main() {}\n")] {
        let project = Project::new(&[(at, &(text.clone() + more))]);
        let features = "\n[features]\ndefault = [\"usual\"]\nusual = []\nwide = []\n";
        project.put("Cargo.toml", &(project.text("Cargo.toml") + features));
        for (flags, more, usual) in [
            (&[][..], false, true),
            (&["--features", "wide"], true, true),
            (&["--features", "wide,serde_json/unbounded_depth"], true, true),
            (&["--all-features"], true, true),
            (&["--no-default-features"], false, false),
        ] {
            let flags = [&["--compile", "--check"], flags].concat();
            let (printed, text) = project.crds(&flags);
            let printed = printed.expect(&text);
            let schema = &printed[1]["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
            let fields = &schema["properties"]["spec"]["properties"];
            assert_eq!(
                (&fields["more"].is_object(), &fields["usual"].is_object()),
                (&more, &usual)
            );
        }
    }
}
