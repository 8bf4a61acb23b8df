//! Additions and removals, one by one.

mod cases;
mod random;

use super::*;

const IMAGE: &str = "kind: Deployment\nspec:\n  template:\n    spec:\n      containers:\n      - name: manager\n        env:\n        - name: IMAGE_B\n          value: \"b:1\"\n";
const RUN: &str = "fn all() {\n    vec![\n        controller(b::run),\n    ]\n}\n";
const MARKER: &str = "+operator-rs:scaffold:m";

/// Adds a fragment; compares the text, or the place and the message.
fn add(path: &str, before: &str, fragment: &str, expected: Result<&str, &str>) {
    let before = before.replace('§', MARKER);
    let res = add_fragment(&ProjectPath::fixed(path), &before, "m", fragment);
    let res =
        res.map(|it| it.replace(MARKER, "§")).map_err(|it| it.to_string().replace(MARKER, "§"));
    assert_eq!(res.as_deref().map_err(String::as_str), expected, "{before}");
}

/// Removes a fragment; compares the text, and the messages.
fn remove(path: &str, before: &str, fragment: &str, expected: &str, messages: &[&str]) {
    let fragments = [fragment.to_owned()];
    let res =
        remove_fragments(&ProjectPath::fixed(path), before, &fragments, &LastCommit::Text(None));
    let res = res.expect("it can be read");
    assert_eq!(res.text, expected);
    let all = [res.warnings, res.edited, res.stuck].concat();
    let found: Vec<String> = all.iter().map(ToString::to_string).collect();
    assert_eq!(found, messages, "{before}");
}

#[test]
fn an_item_is_added_with_the_indentation_of_its_list() {
    let yaml = |before: &str, after: &str| {
        add("kustomization.yaml", before, "resources:\n- b.yaml\n", Ok(after));
    };
    yaml("resources:\n# §\n", "resources:\n- b.yaml\n# §\n");
    // As Prettier and yamlfmt write it.
    yaml("resources:\n  - a.yaml\n# §\n", "resources:\n  - a.yaml\n  - b.yaml\n# §\n");
    yaml(
        "resources:\n  - a.yaml\n  # §\nx: 1\n",
        "resources:\n  - a.yaml\n  - b.yaml\n  # §\nx: 1\n",
    );
    yaml("resources:\n- a.yaml\n        # §\n", "resources:\n- a.yaml\n- b.yaml\n        # §\n");
    yaml("resources: []\n# §\n", "resources:\n- b.yaml\n# §\n");
    yaml("resources: null # none\n# §\n", "resources: # none\n- b.yaml\n# §\n");
    yaml("resources:\r\n- a.yaml\r\n# §\r\n", "resources:\r\n- a.yaml\r\n- b.yaml\r\n# §\r\n");
    // Already there, also without the marker.
    yaml("resources: [\"./b.yaml\"]\n", "resources: [\"./b.yaml\"]\n");
    // Elsewhere it does not count.
    yaml(
        "# - b.yaml\nx:\n- b.yaml\nresources:\n# - b.yaml\n# §\n",
        "# - b.yaml\nx:\n- b.yaml\nresources:\n# - b.yaml\n- b.yaml\n# §\n",
    );
    // One of the two is the text of a field.
    yaml("resources:\n# §\nx: |\n  # §\n", "resources:\n- b.yaml\n# §\nx: |\n  # §\n");
}

#[test]
fn where_lines_would_mean_something_else_nothing_is_added() {
    let list =
        "lines that are inserted above this marker would not be entries of the list `resources`";
    let refused = |before: &str, line: usize| {
        let expected = format!("kustomization.yaml:{line}:1: {list}");
        add("kustomization.yaml", before, "resources:\n- b.yaml\n", Err(&expected));
    };
    refused("resources: [a.yaml]\n# §\n", 2);
    refused("resources:\n- a.yaml\npatches:\n- a\n# §\n", 5);
    refused("resources:\n- a.yaml\nx: |\n  # §\n", 4);
    refused("# §\nresources:\n- a.yaml\n", 1);
    refused("resources: &a\n- a.yaml\n# §\nother: *a\n", 3);
    let message = "kustomization.yaml:4:1: the marker `§` is also in line 3";
    add("kustomization.yaml", "resources:\n- a\n# §\n# §\n", "resources:\n- b\n", Err(message));
    let message = "kustomization.yaml:2:1: the list `resources` was not found";
    add("kustomization.yaml", "x: 1\n# §\n", "resources:\n- b\n", Err(message));
    let message = "kustomization.yaml:2:1: there is no line `# §`";
    add("kustomization.yaml", "resources:\n# # §\n", "resources:\n- b\n", Err(message));
    let path = ProjectPath::fixed("kustomization.yaml");
    assert!(add_fragment(&path, "resources: [\n# §\n", "m", "resources:\n- b\n").is_err());
}

#[test]
fn a_variable_is_added_to_the_container_whatever_the_markers_depth() {
    let head = "kind: Namespace\n---\nkind: Deployment\nspec:\n  template:\n    spec:\n      containers:\n";
    let file = |item: &str, marker: &str| {
        format!(
            "{head}        - name: manager\n          env:\n            - name: A\n              value: a\n{item}{marker}          ports: []\n        - name: other\n          env: []\n"
        )
    };
    let item = "            - name: IMAGE_B\n              value: \"b:1\"\n";
    for marker in ["            # §\n", "          # §\n", "# §\n", "                # §\n"] {
        add("manager.yaml", &file("", marker), IMAGE, Ok(&file(item, marker)));
    }
    let other = item.replace("b:1", "mine");
    let message = "manager.yaml:12:1: `IMAGE_B` is already there, in another form";
    add("manager.yaml", &file(&other, "            # §\n"), IMAGE, Err(message));
    let list = "the list `spec.template.spec.containers[name=manager].env`";
    let message = format!("manager.yaml:12:1: {list} was not found");
    let two = file("", "# §\n");
    add("manager.yaml", &format!("{two}---\n{two}"), IMAGE, Err(&message));
}

#[test]
fn modules_and_starts_are_added_as_code() {
    let rust = |before: &str, fragment: &str, after: Result<&str, &str>| {
        add("a.rs", before, fragment, after)
    };
    let module = "pub mod b;\n";
    rust("pub mod a;\n// §\n", module, Ok("pub mod a;\npub mod b;\n// §\n"));
    rust("// pub mod b;\n// §\n", module, Ok("// pub mod b;\npub mod b;\n// §\n"));
    rust("mod x { pub mod b; }\n//§\n", module, Ok("mod x { pub mod b; }\npub mod b;\n//§\n"));
    rust(
        "const X: &str = \"\npub mod b;\n// §\n\";\n// §\n",
        module,
        Ok("const X: &str = \"\npub mod b;\n// §\n\";\npub mod b;\n// §\n"),
    );
    rust("pub  mod b ;\n", module, Ok("pub  mod b ;\n"));
    let message = "lines that are inserted above this marker would not be entries of the module";
    for (before, line) in [
        ("/*\n// §\n*/\n", 2),
        ("mod x {\n    // §\n}\n", 2),
        ("#[cfg(test)]\n// §\nfn f() {}\n", 2),
        ("/// Documentation.\n// §\nfn f() {}\n", 2),
        ("const X: &str = \"\n// §\n\";\n", 2),
    ] {
        rust(before, module, Err(&format!("a.rs:{line}:1: {message}")));
    }
    let message = "a.rs:1:1: `b` is already there, in another form";
    rust("mod b { fn f() {} }\n// §\n", module, Err(message));
    let message = "a.rs:1:1: `b` is already the name of something else here";
    for other in ["use x::b;", "use x::{y as b};", "use b::{self};", "trait b {}", "type b = u8;"] {
        rust(&format!("{other}\n// §\n"), module, Err(message));
    }
    let others = "fn b() {}\nuse x::b as _;\nuse b::c;\nuse x::b::*;\n";
    rust(&format!("{others}// §\n"), module, Ok(&format!("{others}{module}// §\n")));
    let file = |list: &str| {
        format!(
            "fn all(x: X) -> Y {{\n    let x = vec![1];\n    vec![\n{list}    ]\n}}\nfn other() {{ vec![controller(b::run)]; }}\n"
        )
    };
    let new = "        controller(b::run),\n";
    rust(&file("        // §\n"), RUN, Ok(&file(&format!("{new}        // §\n"))));
    // As `trailing_comma = "Never"` leaves it.
    rust(
        &file("        a(b, c) // x\n        // §\n"),
        RUN,
        Ok(&file(&format!("        a(b, c), // x\n{new}        // §\n"))),
    );
    rust(&file(new), RUN, Ok(&file(new)));
    let message = "a.rs:4:1: `b` is already there, in another form";
    rust(&file("        controller(|it| b::run_with(it)),\n// §\n"), RUN, Err(message));
    rust("// §\n", RUN, Err("a.rs:1:1: a list `vec![…]` in the function `all` was not found"));
}

#[test]
fn a_key_is_added_to_its_table() {
    let toml = |before: &str, after: Result<&str, &str>| {
        add("a.toml", before, "[env]\nB = \"1\"\n", after)
    };
    toml("[env]\nA = 1\n# §\n", Ok("[env]\nA = 1\nB = \"1\"\n# §\n"));
    toml(
        "[env]\n# B = \"1\"\n  # §\n[x]\nB = \"1\"\n",
        Ok("[env]\n# B = \"1\"\n  B = \"1\"\n  # §\n[x]\nB = \"1\"\n"),
    );
    let message =
        "lines that are inserted above this marker would not be entries of the table `[env]`";
    toml("[env]\n[x]\n# §\n", Err(&format!("a.toml:3:1: {message}")));
    toml("[env]\nA = \"\"\"\n# §\n\"\"\"\n", Err(&format!("a.toml:3:1: {message}")));
    toml("[env]\nB = \"2\"\n# §\n", Err("a.toml:2:1: `B` is already there, in another form"));
}

#[test]
fn what_is_to_be_added_by_hand_is_shown() {
    let path = ProjectPath::fixed("manager.yaml");
    let before = IMAGE.split_once("        - name: IMAGE_B").map(|it| it.0).unwrap_or_default();
    let error = add_fragment(&path, before, "m", IMAGE).expect_err("there is no marker");
    assert_eq!(
        error.hints,
        [
            "restore that line in manager.yaml where new lines should be inserted; or add `- name: IMAGE_B`, `  value: \"b:1\"` to the list `spec.template.spec.containers[name=manager].env` by hand, and run the command again"
        ]
    );
}

#[test]
fn only_the_scaffolded_entry_is_removed() {
    let module = "pub mod b;\n";
    let elsewhere = "mod fixtures { pub mod b; }\nconst X: &str = r\"\npub mod b;\n\";\n// pub mod b;\n/*\npub mod b;\n*/\n";
    remove(
        "a.rs",
        &format!("{elsewhere}pub mod b;\n// x\n"),
        module,
        &format!("{elsewhere}// x\n"),
        &[],
    );
    remove("a.rs", elsewhere, module, elsewhere, &[]);
    for text in [
        "pub mod b; // mine\n",
        "#[cfg(x)]\npub mod b;\n",
        "/// Mine.\npub mod b;\n",
        "pub(crate) mod b;\n",
        "pub mod b { fn f() {} }\n",
    ] {
        remove("a.rs", text, module, "", &[&format!("a.rs:1:1: {NOT_COMMITTED}")]);
    }
    let stuck = "cannot be removed without removing other code";
    remove(
        "a.rs",
        "mod a; pub mod b;\n",
        module,
        "mod a; pub mod b;\n",
        &[&format!("a.rs:1:8: `b` {stuck}")],
    );
    let legacy = "mod legacy {\n    fn all() { vec![\n        controller(b::run),\n    ] }\n}\n";
    let all =
        |it: &str| format!("{legacy}fn all() -> X {{\n    vec![\n{it}        // x\n    ]\n}}\n");
    remove("a.rs", &all("        controller(b::run),\n"), RUN, &all(""), &[]);
    remove("a.rs", &all(""), RUN, &all(""), &[]);

    let yaml = |before: &str, after: &str, messages: &[&str]| {
        remove("kustomization.yaml", before, "resources:\n- b.yaml\n", after, messages);
    };
    yaml(
        "other:\n- b.yaml\nresources:\n# mine\n- b.yaml\n",
        "other:\n- b.yaml\nresources:\n# mine\n",
        &[],
    );
    yaml("resources:\r\n  - \"b.yaml\"\r\n", "resources:\r\n", &[]);
    yaml("resources:\n- ./b.yaml\n- b.yaml\n", "resources:\n", &[]);
    let message = format!("kustomization.yaml:2:3: {NOT_COMMITTED}");
    yaml("resources: # x\n- b.yaml # mine\n", "resources: # x\n", &[&message]);
    for (text, place) in
        [("resources: [b.yaml]\n", "1:13"), ("resources:\n- a\n- &x b.yaml\nx: *x\n", "3:3")]
    {
        yaml(text, text, &[&format!("kustomization.yaml:{place}: `b.yaml` {stuck}")]);
    }

    let kinds = "mod b;\npub use self::b::*;\n";
    let import =
        |text: &str, after: &str, messages: &[&str]| remove("a.rs", text, kinds, after, messages);
    import(
        "use other::b;\nuse crate::b::X;\nmod b;\npub use self::b::*;\n",
        "use other::b;\nuse crate::b::X;\n",
        &[],
    );
    let message = format!("a.rs:2:1: {NOT_COMMITTED}");
    import("mod b;\nuse self::b::{B, BSpec};\n", "", &[&message]);
    let both = "use self::{a::*, b::*};\n";
    import(&format!("mod b;\n{both}"), both, &[&format!("a.rs:2:1: `b` {stuck}")]);
}

#[test]
fn a_variable_is_removed_with_any_value() {
    let (head, item) = IMAGE.split_once("        - name: IMAGE_B").unwrap_or_default();
    let item = format!("        - name: IMAGE_B{item}");
    let messages = [&*format!("manager.yaml:8:11: {NOT_COMMITTED}")];
    let check = |item: &str, rest: &str, messages: &[&str]| {
        remove(
            "manager.yaml",
            &format!("{head}{item}# end\n"),
            IMAGE,
            &format!("{head}{rest}# end\n"),
            messages,
        );
    };
    check(&item, "", &[]);
    let changed = "this is removed, and the last commit does not have its value";
    check(&item.replace("b:1", "b:2"), "", &[&format!("manager.yaml:8:11: {changed}")]);
    for edited in [
        item.replace("          value", "          # why\n          value"),
        item.replace("IMAGE_B", "IMAGE_B # mine"),
        item.replace("value: \"b:1\"", "valueFrom: {}"),
    ] {
        check(&edited, "", &messages);
    }
    check(&format!("{item}{item}"), "", &[]);

    let fragment = "[env]\nA = \"1\"\n";
    let toml = |before: &str, after: &str, messages: &[&str]| {
        remove("a.toml", before, fragment, after, messages)
    };
    let changed = format!("a.toml:2:1: {changed}");
    toml("[env]\nA = \"2\"\nAB = \"2\"\n", "[env]\nAB = \"2\"\n", &[&changed]);
    toml("[other]\nA = \"1\"\n", "[other]\nA = \"1\"\n", &[]);
    toml("[env]\nA = \"1\"\n[other]\nA = \"1\"\n", "[env]\n[other]\nA = \"1\"\n", &[]);
    toml("[env]\nB = \"\"\"\nA = \"1\"\n\"\"\"\n", "[env]\nB = \"\"\"\nA = \"1\"\n\"\"\"\n", &[]);
    for text in [
        "[env]\nA = \"\"\"\n1\"\"\"\n",
        "[env]\nA = \"1\" # mine\n",
        "[env]\nA = { value = \"1\" }\n",
    ] {
        toml(text, "[env]\n", &[&format!("a.toml:2:1: {NOT_COMMITTED}")]);
    }
    let inline = "env = { A = \"1\" }\n";
    toml(inline, inline, &["a.toml:1:9: `A` cannot be removed without removing other code"]);
}

#[test]
fn an_edited_start_is_removed_if_it_is_committed() {
    let text = "fn all() {\n    vec![\n        a(),\n        controller(move |it| b::run_with(\n            it,\n            settings.clone(),\n        )),\n    ]\n}\n";
    let check = |committed: Option<&str>, refused: &[&str]| {
        let commit = LastCommit::Text(committed.map(str::to_owned));
        let res = remove_fragments(&ProjectPath::fixed("a.rs"), text, &[RUN.to_owned()], &commit);
        let res = res.expect("it is Rust");
        assert_eq!(res.text, "fn all() {\n    vec![\n        a(),\n    ]\n}\n");
        let found: Vec<String> = res.edited.iter().map(ToString::to_string).collect();
        assert_eq!(found, refused);
    };
    let message = "a.rs:4:9: this was edited by hand, and the last commit does not have this text";
    check(None, &[message]);
    check(Some("fn all() { vec![a()] }"), &[message]);
    check(Some(text), &[]);
}

#[test]
fn a_conversion_is_known_by_its_versions() {
    let all = |it: &str| format!("fn all() {{\n    vec![\n{it}        // x\n    ]\n}}\n");
    let fragment = all("        operator_rs_runtime::conversion_webhook::<v1::A, v2::A>(),\n");
    let other = "        operator_rs_runtime::conversion_webhook::<v1::A, v3::A>(),\n";
    let check = |mine: &str, messages: &[&str]| {
        remove("a.rs", &all(&format!("{other}{mine}")), &fragment, &all(other), messages);
    };
    check("        operator_rs_runtime::conversion_webhook::<v1::A, v2::A>(),\n", &[]);
    let message = format!("a.rs:4:9: {NOT_COMMITTED}");
    check(
        "        operator_rs_runtime::lossless_conversion_webhook::<v1::A, v2::A>(\"data\"),\n",
        &[&message],
    );
    check(
        "        operator_rs_runtime::conversion_webhook::<\n            v1::A,\n            v2::A,\n        >(),\n",
        &[&message],
    );
}

#[test]
fn a_value_that_was_committed_otherwise_was_edited() {
    let text = "[env]\nA = \"2\"\n";
    let check = |committed: Option<&str>, warned: usize, refused: usize| {
        let commit = LastCommit::Text(committed.map(str::to_owned));
        let fragments = ["[env]\nA = \"1\"\n".to_owned()];
        let res = remove_fragments(&ProjectPath::fixed("a.toml"), text, &fragments, &commit);
        let res = res.expect("it is TOML");
        assert_eq!((res.warnings.len(), res.edited.len()), (warned, refused), "{committed:?}");
    };
    check(None, 1, 0);
    check(Some("[env]\nB = \"1\"\n"), 1, 0);
    check(Some("[env]\nA = \"3\"\n"), 0, 1);
    check(Some(text), 0, 0);
}

/// Adds fragments together and one by one. Returns the text if both give the same, and None if they are refused together.
fn add_together(path: &str, before: &str, fragments: &[&str]) -> Option<String> {
    let path = ProjectPath::fixed(path);
    let before = before.replace('§', MARKER);
    let together = add_fragments(&path, &before, "m", fragments)?;
    let add_next = |text: String, fragment: &&str| {
        add_fragment(&path, &text, "m", fragment)
            .expect("fragments that are added together can be added alone")
    };
    assert_eq!(together, fragments.iter().fold(before, add_next));
    Some(together.replace(MARKER, "§"))
}

#[test]
fn fragments_are_added_together_as_one_by_one() {
    let list = ["resources:\n- b.yaml\n", "resources:\n- c.yaml\n"];
    let both = add_together("kustomization.yaml", "resources:\n  - a.yaml\n# §\n", &list);
    assert_eq!(both.as_deref(), Some("resources:\n  - a.yaml\n  - b.yaml\n  - c.yaml\n# §\n"));
    let both = add_together("kustomization.yaml", "resources: []\n# §\n", &list);
    assert_eq!(both.as_deref(), Some("resources:\n- b.yaml\n- c.yaml\n# §\n"));
    let modules = ["pub mod b;\n", "pub mod c;\n"];
    let both = add_together("mod.rs", "pub mod a;\n// §\n", &modules);
    assert_eq!(both.as_deref(), Some("pub mod a;\npub mod b;\npub mod c;\n// §\n"));
    let runs = [RUN, &RUN.replace("b::", "c::")];
    let both = add_together(
        "mod.rs",
        "fn all() {\n    vec![\n        a()\n        // §\n    ]\n}\n",
        &runs,
    );
    let calls = "controller(b::run),\n        controller(c::run),";
    let expected =
        format!("fn all() {{\n    vec![\n        a(),\n        {calls}\n        // §\n    ]\n}}\n");
    assert_eq!(both, Some(expected));
    let fields = ["[dependencies]\nb = \"1\"\n", "[dependencies]\nc = \"1\"\n"];
    let both = add_together("Cargo.toml", "[dependencies]\na = \"1\"\n# §\n", &fields);
    assert_eq!(both.as_deref(), Some("[dependencies]\na = \"1\"\nb = \"1\"\nc = \"1\"\n# §\n"));
}

#[test]
fn fragments_that_meet_each_other_or_the_file_are_added_one_by_one() {
    let refused = |path: &str, before: &str, fragments: &[&str]| {
        assert_eq!(add_together(path, before, fragments), None, "{fragments:?}");
    };
    let (b, c) = ("resources:\n- b.yaml\n", "resources:\n- c.yaml\n");
    refused("kustomization.yaml", "resources:\n# §\n", &[b, b]);
    refused("kustomization.yaml", "resources:\n- ./c.yaml\n# §\n", &[b, c]);
    refused("kustomization.yaml", "resources:\n# §\ncrds:\n# §\n", &[b, "crds:\n- c.yaml\n"]);
    refused("kustomization.yaml", "resources:\n", &[b, c]);
    refused("kustomization.yaml", "resources: [", &[b, c]);
    refused("mod.rs", "// §\n", &["pub mod b;\n", "pub mod b {}\n"]);
}
