//! Ten thousand random edits of scaffolded files: whatever a person or a formatter has done, an addition is refused or
//! adds exactly its entry at its place, and a removal takes exactly that away.

use proc_macro2::{TokenStream, TokenTree};

use super::{tests::IMAGE, *};
use crate::yaml::{self, Dialect, Value, json};

/// Numbers that are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % end.max(1)
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }
}

struct Case {
    path: &'static str,
    text: &'static str,
    fragment: &'static str,
    /// Lines that are put somewhere; `§` is the marker.
    lines: &'static [&'static str],
    /// What replaces a text.
    replacements: &'static [(&'static str, &'static str)],
    /// The entries at the place and everything else; none if it cannot be read.
    read: fn(&str) -> Option<(Vec<String>, String)>,
    /// The new entry as `read` returns it.
    entry: &'static str,
}

const MARKER: &str = "+operator-rs:scaffold:m";

const LIST: Case = Case {
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

const ENV: Case = Case {
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

const TABLE: Case = Case {
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

const MODULES: Case = Case {
    path: "src/controller/mod.rs",
    text: "//! Controllers.\n\npub mod a;\n// §\n\n/// Every controller.\npub fn all() -> Vec<Start> {\n    vec![\n        runtime::per_namespace(a::run),\n    ]\n}\n",
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

const STARTS: Case = Case {
    path: "src/controller/mod.rs",
    text: "pub mod a;\n\n/// Every controller.\npub fn all() -> Vec<Start> {\n    let x = 1;\n    vec![\n        runtime::per_namespace(a::run),\n        // §\n    ]\n}\n",
    fragment: "fn all() {\n    vec![\n        runtime::per_namespace(b::run),\n    ]\n}\n",
    lines: &[
        "// §",
        "    // §",
        "        runtime::per_namespace(b::run),",
        "// runtime::per_namespace(b::run),",
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
        ("        runtime::per_namespace(a::run),\n", ""),
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
    entry: "runtime : : per_namespace ( b : : run ) ,",
};

fn read_yaml(
    text: &str,
    place: impl Fn(&[Value]) -> Option<(usize, String)>,
) -> Option<(Vec<String>, String)> {
    let mut documents = yaml::documents(text, Dialect::Kubernetes).ok()?;
    let (at, pointer) = place(&documents)?;
    let list = documents.get_mut(at)?.pointer_mut(&pointer)?;
    let entries = match std::mem::take(list) {
        Value::Array(items) => items.iter().map(ToString::to_string).collect(),
        Value::Null => Vec::new(),
        _ => return None,
    };
    Some((entries, json!(documents).to_string()))
}

fn flat(tokens: TokenStream) -> Vec<String> {
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

/// How often the functions `all` at the top of a file start the controller.
fn starts(text: &str) -> usize {
    let file = syn::parse_file(text).expect("it is Rust");
    let functions = file.items.iter().filter_map(|it| match it {
        syn::Item::Fn(it) if it.sig.ident == "all" => Some(quote::quote!(#it)),
        _ => None,
    });
    functions.map(|it| flat(it).concat().matches("per_namespace(b::run)").count()).sum()
}

/// One to four edits.
fn edited(case: &Case, random: &mut Random) -> String {
    let mut text = case.text.to_owned();
    for _ in 0..=random.below(4) {
        if random.below(3) == 0 {
            let (from, to) = case.replacements[random.below(case.replacements.len())];
            text = text.replace(from, to);
            continue;
        }
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let at = random.below(lines.len());
        let marker = lines.iter().position(|it| it.contains('§')).unwrap_or(at);
        match random.below(8) {
            0 => {
                lines[marker] = format!(
                    "{}{}",
                    random.of(&["", "  ", "    ", "          "]),
                    lines[marker].trim_start()
                )
            }
            1 => {
                let line = lines.remove(marker);
                lines.insert(at.min(lines.len()), line);
            }
            2 => drop(lines.remove(at)),
            3 => lines[at] = format!("{}{}", random.of(&["# ", "// ", "  ", "    "]), lines[at]),
            4 => lines[at] = lines[at].trim_start_matches("  ").to_owned(),
            5 => lines[at] += random.of(&["  ", " # mine", " // mine"]),
            _ => lines.insert(at, random.of(case.lines).to_owned()),
        }
        text = lines.iter().map(|it| format!("{it}\n")).collect();
    }
    if random.below(8) == 0 {
        text = text.replace('\n', "\r\n");
    }
    text.replace('§', MARKER)
}

/// Whether these are the same, apart from these neighbours in the first.
fn is_with(after: &[String], before: &[String], new: &[&str]) -> bool {
    let fits = |at: usize| {
        after[at..at + new.len()] == *new
            && after[..at] == before[..at]
            && after[at + new.len()..] == before[at..]
    };
    after.len() == before.len() + new.len() && (0..=before.len()).any(fits)
}

/// Returns whether an entry was added.
fn check(case: &Case, before: &str) -> bool {
    let path = ProjectPath::fixed(case.path);
    let fragments = [case.fragment.to_owned()];
    let is_list = case.entry == STARTS.entry;
    let new: Vec<&str> = if is_list { case.entry.split(' ').collect() } else { vec![case.entry] };
    let after = added(&path, before, "m", case.fragment);
    let old = (case.read)(before);
    let Ok(after) = after else { return false };
    let (old, rest) =
        old.unwrap_or_else(|| panic!("it cannot be read, and is not refused:\n{before}"));
    let is_changed = after != before;
    if is_changed {
        let (entries, others) = (case.read)(&after).expect("it can be read afterwards");
        // A comma behind the last entry may be new, too.
        let comma = is_list && entries.len() == old.len() + new.len() + 1;
        let fits = match comma {
            true => (0..entries.len()).any(|at| {
                let mut rest = entries.clone();
                rest.remove(at) == "," && is_with(&rest, &old, &new)
            }),
            false => is_with(&entries, &old, &new),
        };
        assert!(fits && others == rest, "before:\n{before}\nafter:\n{after}");
        let comments = before.lines().filter(|it| it.trim_start().starts_with(['#', '/']));
        let starts = |text: &str| if is_list { starts(text) } else { 0 };
        assert_eq!(starts(&after), starts(before) + usize::from(is_list), "{after}");
        let kept = |text: &str| comments.clone().all(|it| text.contains(it));
        assert!(kept(&after), "before:\n{before}\nafter:\n{after}");
        let res = removed(&path, &after, &fragments, &Edited::Stays).expect("it can be read");
        let (entries, others) = (case.read)(&res.text).expect("it can be read afterwards");
        let is_back = entries == old || comma && entries.len() == old.len() + 1;
        let stays = !res.warnings.is_empty() && res.text == after;
        assert!(
            stays || is_back && others == rest && kept(&res.text),
            "before:\n{before}\nafter:\n{after}\nremoved:\n{}",
            res.text
        );
    }
    let res = removed(&path, before, &fragments, &Edited::Stays).expect("it can be read");
    if res.text != before {
        let (entries, others) = (case.read)(&res.text).expect("it can be read afterwards");
        assert!(
            is_with(&old, &entries, &new) && others == rest,
            "before:\n{before}\nremoved:\n{}",
            res.text
        );
    }
    is_changed
}

#[test]
fn ten_thousand_edits_change_nothing_but_the_entry() {
    let mut random = Random(23);
    for case in [LIST, ENV, TABLE, MODULES, STARTS] {
        let added = (0..2000).filter(|_| check(&case, &edited(&case, &mut random))).count();
        // Neither everything nor nothing is refused.
        assert!((400..1900).contains(&added), "{}: {added}", case.path);
    }
}
