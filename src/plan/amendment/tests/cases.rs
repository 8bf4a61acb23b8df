//! Files for random edits, and what they hold as data.

use proc_macro2::{TokenStream, TokenTree};

use super::IMAGE;
use go_data::yaml::{self, Dialect, Value, json};

/// The entries at a place, and everything else.
pub type Read = (Vec<String>, String);

pub struct Case {
    pub path: &'static str,
    pub text: &'static str,
    pub fragment: &'static str,
    /// Lines that are put somewhere; `§` is the marker.
    pub lines: &'static [&'static str],
    /// The replacement of a text.
    pub replacements: &'static [(&'static str, &'static str)],
    /// The entries at the place and everything else; none if it cannot be read.
    pub read: fn(&str) -> Option<Read>,
    /// The new entry as `read` returns it.
    pub entry: &'static str,
}

pub const LIST: Case = Case {
    path: "config/rbac/kustomization.yaml",
    text: "# Mine.\nkind: Kustomization\nmetadata:\n  name: x\nresources:\n# First.\n- a.yaml\n- c.yaml\n# §\npatches:\n- path: p.yaml\n  target:\n    kind: X\n",
    fragment: "resources:\n- b.yaml\n",
    lines: &[
        "# §",
        "  # §",
        "- b.yaml",
        "# - b.yaml",
        "  - b.yaml",
        "other:",
        "resources:",
        "---",
        "x: |",
        "  text",
        "notes: >-",
        "\t# tab",
        "- ./b.yaml",
        "'",
        "configMapGenerator:",
        "- &a a.yaml",
        "- *a",
    ],
    replacements: &[
        ("resources:\n", "resources: []\n"),
        ("- a.yaml\n- c.yaml\n", ""),
        ("\n- ", "\n  - "),
        ("\n- ", "\n    - "),
        ("resources:\n# First.\n- a.yaml\n- c.yaml\n", "resources: [a.yaml, c.yaml]\n"),
        ("a.yaml", "\"a.yaml\" # why"),
        ("resources:\n", "resources: &all\n"),
        ("patches:", "more: *all\npatches:"),
        ("# First.\n", "# First.\n\n"),
    ],
    read: |text| read_yaml(text, |it| (it.len() == 1).then(|| (0, "/resources".to_owned()))),
    entry: "\"b.yaml\"",
};

pub const ENV: Case = Case {
    path: "config/manager/manager.yaml",
    text: "kind: Namespace\n---\nkind: Deployment\nspec:\n  template:\n    spec:\n      containers:\n      - name: manager\n        env:\n        - name: A\n          value: a\n        # §\n        ports:\n        - containerPort: 1\n      volumes: []\n",
    fragment: IMAGE,
    lines: &[
        "# §",
        "        # §",
        "            # §",
        "        - name: IMAGE_B",
        "          value: \"b:1\"",
        "        - name: other",
        "      - name: side",
        "        env:",
        "---",
        "kind: Deployment",
        "        command: |",
        "# - name: IMAGE_B",
    ],
    replacements: &[
        ("        -", "          -"),
        ("        # §", "      # §"),
        ("        env:\n        - name: A\n          value: a\n", "        env: []\n"),
        ("- name: A\n          value: a\n", "- {name: A, value: a}\n"),
        ("kind: Namespace\n---\n", ""),
        ("name: manager", "name: other"),
        ("          value: a\n", "          value: |\n            a\n"),
    ],
    read: |text| {
        read_yaml(text, |documents| {
            let mut found = Vec::new();
            for (at, document) in documents.iter().enumerate() {
                let containers = document["spec"]["template"]["spec"]["containers"].as_array();
                for (index, it) in containers.into_iter().flatten().enumerate() {
                    if document["kind"] == "Deployment" && it["name"] == "manager" {
                        found.push((at, format!("/spec/template/spec/containers/{index}/env")));
                    }
                }
            }
            found.pop().filter(|_| found.is_empty())
        })
    },
    entry: "{\"name\":\"IMAGE_B\",\"value\":\"b:1\"}",
};

pub const TABLE: Case = Case {
    path: ".cargo/config.toml",
    text: "[build]\njobs = 1\n[env]\n# Mine.\nA = \"1\"\n# §\n[term]\nquiet = true\n",
    fragment: "[env]\nB = \"1\"\n",
    lines: &[
        "# §",
        "  # §",
        "B = \"1\"",
        "# B = \"1\"",
        "[x]",
        "T = \"\"\"",
        "\"\"\"",
        "T = [",
        "]",
        "C.D = 1",
    ],
    replacements: &[
        ("[env]", "[ env ]"),
        ("A = \"1\"", "  A = \"1\""),
        ("A = \"1\"", "A = \"1\" # why"),
        ("[env]", "[env.x]"),
        ("[build]\n", ""),
    ],
    read: |text| {
        let mut table: toml::Table = text.parse().ok()?;
        let env = table.remove("env")?;
        let entries = env.as_table()?.iter().map(|it| format!("{} {}", it.0, it.1)).collect();
        Some((entries, format!("{table:?}")))
    },
    entry: "B \"1\"",
};

pub const MODULES: Case = Case {
    path: "src/controller/mod.rs",
    text: "//! Controllers.\n\npub mod a;\n// §\n\n/// Every controller.\npub fn all() -> Vec<Start> {\n    vec![\n        controller(a::run),\n    ]\n}\n",
    fragment: "pub mod b;\n",
    lines: &[
        "// §",
        "    // §",
        "/// §",
        "pub mod b;",
        "// pub mod b;",
        "mod fixtures {",
        "}",
        "/*",
        "*/",
        "const T: &str = r\"",
        "\";",
        "#[cfg(test)]",
        "/// Text.",
        "//! Text.",
        "fn f() {",
        "macro_rules! m { () => {",
        "}; }",
    ],
    replacements: &[
        ("pub mod a;\n", ""),
        ("pub mod a;\n", "#[cfg(x)] pub mod a;\n"),
        ("\n\n", "\n"),
        ("pub mod a;", "pub mod a { }"),
        ("pub mod a;\n", "pub mod a; "),
    ],
    read: |text| {
        let file = syn::parse_file(text).ok()?;
        let entries = file.items.iter().map(|it| quote::quote!(#it).to_string()).collect();
        let attributes = file.attrs.iter().map(|it| quote::quote!(#it).to_string()).collect();
        Some((entries, attributes))
    },
    entry: "pub mod b ;",
};

pub const STARTS: Case = Case {
    path: "src/controller/mod.rs",
    text: "pub mod a;\n\n/// Every controller.\npub fn all() -> Vec<Start> {\n    let x = 1;\n    vec![\n        controller(a::run),\n        // §\n    ]\n}\n",
    fragment: "fn all() {\n    vec![\n        controller(b::run),\n    ]\n}\n",
    lines: &[
        "// §",
        "    // §",
        "        controller(b::run),",
        "// controller(b::run),",
        "x(),",
        "/*",
        "*/",
        "const T: &str = r\"",
        "\";",
        "mod legacy {",
        "fn all() {",
        "vec![",
        "];",
        "]",
        "}",
        "#[cfg(test)]",
        "let y = vec![1];",
    ],
    replacements: &[
        ("run),", "run)"),
        ("run),\n        // §", "run) // §"),
        ("        controller(a::run),\n", ""),
        ("    vec![", "    let res = vec!["),
        ("    ]\n", "    ].into()\n"),
        ("(a::run)", "(|it| a::run_with(it, vec![1]))"),
        ("all()", "all(settings: &Settings)"),
        ("all()", "others()"),
        ("// §\n    ]", "// §\n        z()\n    ]"),
    ],
    read: |text| {
        syn::parse_file(text).ok()?;
        let tokens: Vec<String> = flat(text.parse().ok()?);
        Some((tokens, String::new()))
    },
    entry: "controller ( b : : run ) ,",
};

fn read_yaml(text: &str, place: impl Fn(&[Value]) -> Option<(usize, String)>) -> Option<Read> {
    let mut documents = yaml::parse_documents(text, Dialect::Kubernetes).ok()?;
    let (at, pointer) = place(&documents)?;
    let list = documents.get_mut(at)?.pointer_mut(&pointer)?;
    let entries = match std::mem::take(list) {
        Value::Array(items) => items.iter().map(ToString::to_string).collect(),
        Value::Null => Vec::new(),
        _ => return None,
    };
    Some((entries, json!(documents).to_string()))
}

pub fn flat(tokens: TokenStream) -> Vec<String> {
    let mut res = Vec::new();
    for token in tokens {
        match token {
            TokenTree::Group(it) => {
                let text = it.to_string();
                let (open, close) = (&text[..1], &text[text.len() - 1..]);
                res.push(open.to_owned());
                res.extend(flat(it.stream()));
                res.push(close.to_owned());
            }
            other => res.push(other.to_string()),
        }
    }
    res
}
