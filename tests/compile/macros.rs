//! Kinds that only macros know: they are found in the compiled crate.

use crate::project::{FUNCTION, HEAD, OUTSIDE, PLAIN, Project, kind, versions};

/// An attribute macro that turns a text into code: nobody who reads the source can tell what it makes.
const MAKES: &str = "use proc_macro::{TokenStream, TokenTree};
#[proc_macro_attribute]
pub fn kinds(args: TokenStream, _: TokenStream) -> TokenStream {
    let Some(TokenTree::Literal(it)) = args.into_iter().last() else { return TokenStream::new() };
    it.to_string().trim_matches('\"').replace(\"\\\\\\\"\", \"\\\"\").replace(\"\\\\n\", \"\\n\").parse().unwrap()
}
";

fn with_attribute_macro(root: &str, text: &str) -> Project {
    let manifest = "[package]\nname = \"makes\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[lib]\nproc-macro = true\n";
    let project =
        Project::new(&[(root, text), ("makes/src/lib.rs", MAKES), ("makes/Cargo.toml", manifest)]);
    project.edit(
        "Cargo.toml",
        "[dependencies]\n",
        "[dependencies]\nmakes = { path = \"makes\" }\n",
    );
    project.edit(
        "Cargo.lock",
        "[[package]]\nname = \"asked\"\nversion = \"0.1.0\"\ndependencies = [\n",
        "[[package]]\nname = \"makes\"\nversion = \"0.1.0\"\n\n[[package]]\nname = \"asked\"\nversion = \"0.1.0\"\n\
         dependencies = [\n \"makes\",\n",
    );
    project
}

#[test]
fn versions_that_an_attribute_macro_makes_are_found() {
    let kinds = [
        kind("Made", PLAIN).replace("kind = ", "storage = false, kind = "),
        kind("Made", OUTSIDE).replace("\"v1\"", "\"v2\""),
    ];
    let [one, two] = kinds.map(|it| format!("{HEAD}{FUNCTION}{it}").replace('"', "\\\""));
    let main = format!(
        "mod hidden {{\n    #[makes::kinds(crd, \"pub mod v1 {{ {one} }} pub mod v2 {{ {two} }}\")]\n    \
         pub mod made {{}}\n}}\nfn main() {{}}\n"
    );
    let project = with_attribute_macro("src/main.rs", &main);
    let (printed, text) = project.crds(&[]);
    assert_eq!(printed, None);
    assert!(text.contains("src/main.rs:2:"), "{text}");
    assert!(text.contains("--compile"), "{text}");
    let (printed, text) = project.crds(&["--compile"]);
    assert_eq!(versions(&printed.expect(&text)), ["Made v2* v1"]);
    assert!(text.starts_with("compiling `asked` because of src/main.rs:2:"), "{text}");
    // Only the kinds of a module.
    let (printed, text) = project.crds(&["--compile", "--module", "hidden::v2"]);
    assert_eq!(versions(&printed.expect(&text)), ["Made v2*"]);
}

#[test]
fn the_stored_version_is_named_where_a_macro_says_nothing_of_it() {
    let code = format!(
        "macro_rules! version {{\n    ($name:ident $text:literal) => {{\n        pub mod $name {{\n            {HEAD}\
         #[derive(CustomResource, Serialize, Deserialize, Clone, Debug, JsonSchema)]\n\
         #[kube(group = \"example.com\", version = $text, kind = \"Made\")]\npub struct MadeSpec {{ {PLAIN} }}\n        \
         }}\n    }};\n}}\n"
    );
    let kinds = "#[makes::kinds(crd, \"crate::version!(v1 \\\"v1\\\"); crate::version!(v2 \\\"v2\\\");\")]\nmod made {}\n";
    let text = code.replace("macro_rules!", "#[macro_export]\nmacro_rules!").replace(
        "use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};",
        "use schemars::JsonSchema;",
    ) + kinds;
    let project = with_attribute_macro("src/lib.rs", &text);
    let (printed, text) = project.crds(&["--compile"]);
    assert_eq!(printed, None);
    assert!(text.contains("`Made` does not say which version is stored"), "{text}");
    let flags = ["--compile", "--type", "asked::v2::Made"];
    let (printed, text) = project.crds(&flags);
    assert_eq!(versions(&printed.expect(&text)), ["Made v2* v1"]);
    let (printed, text) = project.crds(&["--compile", "--type", "asked::v3::Other"]);
    assert_eq!(printed, None);
    assert!(text.contains("its kinds are: `asked::v1::Made`, `asked::v2::Made`"), "{text}");
    let (printed, text) = project.crds(&["--compile", "--type", "other::Made"]);
    assert_eq!(printed, None);
    assert!(text.contains("`other::Made` does not begin with a crate of this workspace"), "{text}");
}

#[test]
fn a_kind_that_only_a_build_writes_is_found() {
    let library = "include!(concat!(env!(\"OUT_DIR\"), \"/made.rs\"));";
    let made = [HEAD, &kind("Made", PLAIN)].concat();
    let build = "fn main() {\n    std::fs::copy(\"made.txt\", std::path::Path::new(&std::env::var(\"OUT_DIR\").unwrap()).join(\"made.rs\")).unwrap();\n}\n";
    let project =
        Project::new(&[("src/lib.rs", library), ("made.txt", &made), ("build.rs", build)]);
    let (printed, text) = project.crds(&[]);
    assert_eq!(printed, None);
    assert!(text.contains("note[unread-source]"), "{text}");
    assert!(text.contains("error: no kind is declared in asked"), "{text}");
    let (printed, text) = project.crds(&["--compile"]);
    assert_eq!(versions(&printed.expect(&text)), ["Made v1*"]);
}
