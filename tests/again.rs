//! `init --from` writes the files again that `init` and `create` wrote, byte for byte, whatever they were given.

#![allow(clippy::disallowed_methods, reason = "the walls stand in src; a test looks from outside")]

mod support;

use std::{collections::BTreeSet, fs, path::Path};

use support::{difference, done, fresh, operator_rs, said, tree};

/// Projects, each made by some commands.
const PROJECTS: &[(&str, &[&str])] = &[
    ("plain", &["init --domain example.com", "create api --group cache --kind Memcached"]),
    (
        "init",
        &[
            "init --domain a.example.com --project-name thing-operator --owner Example --license none --vendor --with release,agents",
            "init --with deny",
        ],
    ),
    (
        "namespaced",
        &[
            "init --namespaced --license apache2 --with all --force-nested",
            "create api --group a --version v1 --kind One --finalizer --controller",
        ],
    ),
    (
        "image",
        &[
            "init",
            "create api --group cache --version v1beta2 --kind Memcached --image memcached:1.6 --port 11211 --run-as-user 1002 \
             --container-command memcached,--max=3 --plural memcachedz --shortname mc --shortname mcd --finalizer",
            "create api --group cache --version v1 --kind Memcached --image memcached:1.6",
            "create api --group other --kind Memcached --namespaced=false",
            "create api --group other --kind Thing --controller=false",
            "create api --group other --kind Thing --resource=false --finalizer",
            "create api --group third --kind Thing",
        ],
    ),
    (
        "foreign",
        &[
            "init",
            "create api --group apps --version v1 --kind Deployment --resource=false --finalizer",
            "create api --group rbac.authorization --version v1 --kind Role --resource=false",
            "create api --group gateway --version v1 --kind Gateway --resource=false --external-api-path gateway_api::gateways \
             --external-api-domain networking.k8s.io",
            "create api --group cluster --version v1 --kind Fleet --resource=false --external-api-path fleet::Fleet2 \
             --namespaced=false --plural fleetz",
            "create webhook --group core --version v1 --kind Pod --defaulting",
            "create webhook --group gateway --version v1 --kind Grpc --validation --external-api-path gateway_api::grpc \
             --external-api-domain networking.k8s.io --plural grpcs",
            "create webhook --group apps --version v1 --kind Deployment --admission-policy",
            "create webhook --group batch --version v1 --kind Job --admission-policy",
            "create webhook --group mine --version v1 --kind Other --admission-policy --external-api-path others::Other --plural otherz",
        ],
    ),
    (
        "webhooks",
        &[
            "init",
            "create api --group cache --kind Memcached",
            "create api --group cache --version v1 --kind Memcached",
            "create api --group cache --version v1beta1 --kind Memcached",
            "create webhook --group cache --version v1 --kind Memcached --conversion --spoke v1alpha1 --spoke v1beta1",
            "create api --group cache --version v2 --kind Memcached --from v1",
            "create webhook --group cache --version v1 --kind Memcached --defaulting --defaulting-path /d --programmatic-validation \
             --validation-path /v",
            "create webhook --group cache --version v1 --kind Memcached --admission-policy",
        ],
    ),
    (
        "self",
        &[
            "init",
            "create api --group cache --kind Memcached",
            "create api --group cache --version v1 --kind Memcached",
            "create webhook --group cache --version v1 --kind Memcached --conversion --certificates self",
            "create webhook --group cache --version v1 --kind Memcached --defaulting",
        ],
    ),
    (
        "copied",
        &[
            "init",
            "create api --group cache --kind Memcached --image memcached:1.6",
            "create api --group cache --version v1 --kind Memcached --from v1alpha1",
        ],
    ),
];

fn make(name: &str, commands: &[&str]) -> std::path::PathBuf {
    let dir = fresh(&format!("{name}-project"));
    commands.iter().for_each(|it| drop(done(&dir, it)));
    dir
}

fn again(name: &str, from: &Path) -> std::path::PathBuf {
    let dir = fresh(&format!("{name}-again"));
    done(&dir, &format!("init --from {}", from.join("PROJECT").display()));
    dir
}

#[test]
fn the_files_of_a_project_are_written_again() {
    for (name, commands) in PROJECTS {
        let dir = make(name, commands);
        assert_eq!(difference(&tree(&dir), &tree(&again(name, &dir))), None, "{name}");
    }
}

/// The flags that ask how a command runs, and not what it writes; `--output-file` is for adopted operators.
const MODES: &[&str] = &[
    "--check",
    "--compile",
    "--diff",
    "--dir",
    "--dry-run",
    "--force",
    "--from",
    "--help",
    "--deny-warnings",
    "--message-format",
    "--no-compile",
    "--output-file",
    "--quiet",
    "--verbose",
];

#[test]
fn every_flag_is_tried() {
    for command in ["init", "create api", "create webhook"] {
        let help = done(Path::new("."), &format!("{command} --help"));
        let flag = |line: &str| {
            let name = line.split([' ', ',']).find(|it| it.starts_with("--"))?;
            let name = name.split(['[', '=', '.']).next()?;
            line.trim_start().starts_with('-').then(|| name.to_owned())
        };
        let flags: BTreeSet<String> = help.lines().filter_map(flag).collect();
        assert!(5 < flags.len(), "{help}");
        let commands = || PROJECTS.iter().flat_map(|it| it.1).filter(|it| it.starts_with(command));
        let is_tried =
            |flag: &str| commands().any(|it| it.split([' ', '=']).any(|word| word == flag));
        let forgotten: Vec<_> =
            flags.iter().filter(|it| !MODES.contains(&it.as_str()) && !is_tried(it)).collect();
        assert!(forgotten.is_empty(), "{command}: {forgotten:?}");
    }
}

#[test]
fn what_was_there_before_stays_there() {
    let dir = fresh("theirs-project");
    fs::write(dir.join("README.md"), "# Mine\n").unwrap();
    let license = "Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated \
                   documentation files. The above copyright notice and this permission notice shall be included\n";
    fs::write(dir.join("LICENSE"), license).unwrap();
    done(&dir, "init --owner Me");
    let (mut before, after) = (tree(&dir), tree(&again("theirs", &dir)));
    for theirs in ["README.md", "LICENSE"] {
        before.remove(theirs).unwrap();
    }
    assert_eq!(difference(&before, &after), None);
    assert!(String::from_utf8_lossy(&after["Cargo.toml"]).contains("license = \"MIT\""));
}

/// A type that was written by hand is in no template.
#[test]
fn what_was_written_by_hand_is_left_out() {
    let dir = make("by-hand", &["init", "create api --group a --kind One"]);
    let before = tree(&dir);
    let file = dir.join("api/src/lib.rs");
    let text = fs::read_to_string(&file).unwrap();
    let line = "pub mod a;\n";
    let module = "pub mod b {\n    use kube::CustomResource;\n    use schemars::JsonSchema;\n    use serde::{Deserialize, Serialize};\n\n    \
        #[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]\n    \
        #[kube(group = \"b.my.domain\", version = \"v1\", kind = \"Two\", namespaced)]\n    pub struct TwoSpec {}\n}\n";
    fs::write(&file, text.replace(line, &format!("{line}{module}"))).unwrap();
    done(&dir, "create api --group b --version v1 --kind Two");
    let to = fresh("by-hand-again");
    let output = operator_rs(&to, &format!("init --from {}", dir.join("PROJECT").display()));
    let said = said(&output);
    assert!(said.contains("warning: v1 Two is skipped: its type is hand-written"), "{said}");
    let mut after = tree(&to);
    after.insert("PROJECT".to_owned(), before["PROJECT"].clone());
    assert_eq!(difference(&before, &after), None);
}

#[test]
fn undone_is_as_before() {
    let dir = make("undone", &["init", "create api --group a --kind One --image a:1 --finalizer"]);
    let before = tree(&dir);
    done(
        &dir,
        "create api --group b --kind One --image b:1 --port 1 --run-as-user 7 --container-command b --shortname bb --finalizer",
    );
    done(&dir, "create webhook --group b --kind One --admission-policy");
    done(&dir, "delete webhook --group b --kind One --admission-policy");
    done(&dir, "delete api --group b --kind One");
    let mut after = tree(&dir);
    after.retain(|path, _| before.contains_key(path) || !path.ends_with('/')); // empty folders stay
    assert_eq!(difference(&before, &after), None);
}

#[test]
fn a_project_that_cannot_be_written_again_is_refused_whole() {
    let dir =
        make("refused", &["init --owner Example", "create api --group a --kind One --image a:1"]);
    let project = fs::read_to_string(dir.join("PROJECT")).unwrap();
    let refused = fresh("refused-again");
    for (old, new, why) in [
        (
            "owner: Example",
            "owner: \"a\\\"b\"",
            "`--owner` must be one line without quotes, backslashes and control characters",
        ),
        (
            "owner: Example",
            "license: mine",
            "unknown license `mine` in PROJECT\nhint: write its SPDX identifier, or `none`",
        ),
        (
            "owner: Example",
            "licenseFile: 'a\" [x]'",
            "unknown license file `a\" [x]` in PROJECT\nhint: write a name that `init` recognizes, such as `LICENSE`",
        ),
        ("owner: Example", "with: [mine]", "unknown value `mine` of `with` in PROJECT"),
        ("image: a:1", "image: 'a:1\"; evil'", "image"),
        (
            "image: a:1",
            "containerCommand: ['a\"#b']\n        image: a:1",
            "must not contain control characters",
        ),
    ] {
        let text = project.replace(old, new);
        assert!(text != project, "{project}");
        fs::write(dir.join("PROJECT"), text).unwrap();
        let output =
            operator_rs(&refused, &format!("init --from {}", dir.join("PROJECT").display()));
        assert!(
            !output.status.success() && said(&output).contains(why),
            "{new}: {}",
            said(&output)
        );
        assert!(tree(&refused).is_empty(), "{new}");
    }
}
