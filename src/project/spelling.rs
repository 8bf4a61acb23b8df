//! Misspelt fields of PROJECT. Fields that we do not know are kept, as they may be another tool's: so one that is
//! meant to be a field of ours would be read as if it were not there.

use std::collections::BTreeSet;

use diagnostics::{Diagnostic, Lines};
use go_data::yaml::{Data, Node};

/// Fields of kubebuilder's version 3, and ours.
const PROJECT: &[&str] = &[
    "cliVersion",
    "domain",
    "layout",
    "multigroup",
    "namespaced",
    "plugins",
    "projectName",
    "repo",
    "resources",
    "version",
];
const RESOURCE: &[&str] = &[
    "api",
    "controller",
    "core",
    "domain",
    "external",
    "group",
    "kind",
    "module",
    "path",
    "plural",
    "version",
    "webhooks",
];
const API: &[&str] = &["crdVersion", "namespaced"];
const SETTINGS: &[&str] = &[
    "certificates",
    "chart",
    "crds",
    "kept",
    "license",
    "licenseFile",
    "manifests",
    "owner",
    "package",
    "resources",
    "vendor",
    "with",
];
const CREATED: &[&str] = &["domain", "group", "kind", "options", "version"];
const OPTIONS: &[&str] = &[
    "admissionPolicy",
    "containerCommand",
    "containerPort",
    "finalizer",
    "from",
    "groupInNames",
    "handWritten",
    "image",
    "namespaced",
    "path",
    "plural",
    "runAsUser",
    "shortNames",
];

/// Refuses a field whose name is nearly that of a known one, unless that one is there, too.
pub fn refuse_misspelt_fields(file: &Node, text: &str) -> anyhow::Result<()> {
    check_fields(file, PROJECT, text)?;
    if let Some(own) = file.get("plugins").and_then(|value| value.get(super::LAYOUT)) {
        check_fields(own, SETTINGS, text)?;
        for created in resource_items(own) {
            check_fields(created, CREATED, text)?;
            created.get("options").map_or(Ok(()), |node| check_fields(node, OPTIONS, text))?;
        }
    }
    for resource in resource_items(file) {
        check_fields(resource, RESOURCE, text)?;
        resource.get("api").map_or(Ok(()), |node| check_fields(node, API, text))?;
    }
    Ok(())
}

/// Returns the items of `resources`.
fn resource_items(map: &Node) -> &[Node] {
    match map.get("resources").map(|value| &value.data) {
        Some(Data::List(list)) => list,
        _ => &[],
    }
}

fn check_fields(map: &Node, known: &[&str], text: &str) -> anyhow::Result<()> {
    let Data::Map(entries) = &map.data else { return Ok(()) };
    let present: BTreeSet<&str> = entries.iter().map(|entry| entry.key.as_str()).collect();
    let missing: Vec<&str> = known.iter().copied().filter(|name| !present.contains(name)).collect();
    for entry in entries.iter().filter(|entry| !known.contains(&entry.key.as_str())) {
        if let Some(meant) = diagnostics::find_nearest(&entry.key, missing.iter().copied()) {
            let diagnostic =
                Diagnostic::in_file("PROJECT", format!("unknown field `{}`", entry.key))
                    .at_position(entry.mark.line, entry.mark.column)
                    .quote(&mut Lines::new(text));
            return Err(diagnostic.with_hint(format!("write `{meant}`")).into_error());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use go_data::yaml;

    const TEXT: &str = "cliVersion: 0.1.0\ndomain: example.com\nlayout:\n- rust.operator-rs.io/v1\nnamespaced: true\n\
        plugins:\n  rust.operator-rs.io/v1:\n    certificates: self\n    chart: a\n    crds: [a]\n    manifests: a\n    owner: me\n    package: a\n    resources:\n    - kind: Memcached\n      options:\n        \
        admissionPolicy: true\n        containerCommand: [a]\n        containerPort: 1\n        finalizer: true\n        \
        from: v1\n        groupInNames: true\n        handWritten: true\n        image: a\n        namespaced: true\n        \
        path: a\n        plural: a\n        runAsUser: 1\n        shortNames: [a]\n      version: v1\n    vendor: true\nprojectName: it\nresources:\n- api:\n    crdVersion: v1\n    \
        namespaced: true\n  controller: true\n  domain: example.com\n  group: cache\n  kind: Memcached\n  path: a::b\n  \
        version: v1\nversion: \"3\"\n";

    fn check(text: &str) -> anyhow::Result<()> {
        let document = yaml::parse_document(text, yaml::Dialect::Strict)?;
        super::refuse_misspelt_fields(&document.expect("a document"), text)
    }

    /// Every field, with a letter less.
    #[test]
    fn no_misspelt_field_is_passed_over() {
        check(TEXT).unwrap();
        let mut count = 0;
        for line in TEXT.lines() {
            let name = line.trim_start_matches([' ', '-']).split(':').next().unwrap();
            if name.contains('/') {
                continue;
            }
            let at = line.find(name).unwrap();
            let misspelt =
                format!("{}{}{}", &line[..at], &name[..name.len() - 1], &line[at + name.len()..]);
            let error = check(&TEXT.replacen(line, &misspelt, 1)).unwrap_err();
            let text = format!("{error:?}");
            assert!(
                text.contains(&format!("unknown field `{}`", &name[..name.len() - 1])),
                "{misspelt}: {text}"
            );
            count += 1;
        }
        assert_eq!(count, 41);
    }

    #[test]
    fn fields_of_other_tools_are_kept() {
        let others =
            "repo: example.com/it\nmultigroup: true\nowner: me\nplugin: there is `plugins`, too\n";
        check(&format!("{TEXT}{others}")).unwrap();
    }
}
