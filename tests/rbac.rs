//! Roles against controller-gen itself: the same markers in a Go file and in a Rust file, the roles as data.

#![allow(
    clippy::disallowed_methods,
    reason = "the walls stand in src; a test looks at them from outside"
)]

mod support;

use std::{fs, path::Path, process::Command};

use serde::Deserialize as _;
use serde_json::Value;

/// Sets of markers that both take.
const SETS: &[&[&str]] = &[
    &["groups=apps,resources=deployments,verbs=get;list;watch"],
    &["groups=\"\",resources=pods,verbs=get", "groups=core,resources=pods,verbs=list"],
    &["groups=apps,resources=deployments;statefulsets,verbs=get;get;list"],
    &[
        "groups=apps,resources=deployments,verbs=get",
        "groups=apps,resources=statefulsets,verbs=get",
        "groups=apps,resources=daemonsets,verbs=list",
    ],
    &[
        "groups=apps,resources=deployments,verbs=get",
        "groups=extensions,resources=deployments,verbs=get",
        "groups=apps;extensions,resources=replicasets,verbs=get",
    ],
    &["urls=/metrics;/healthz,verbs=get", "urls=/readyz,verbs=get", "urls=/x,verbs=post"],
    &[
        "groups=\"\",resources=configmaps,resourceNames=b;a,verbs=update",
        "groups=\"\",resources=configmaps,verbs=get",
        "groups=\"\",resources=configmaps,resourceNames=a;b,verbs=get",
    ],
    &["groups=batch,resources=jobs,verbs=*", "groups=batch,resources=jobs,verbs=get"],
    &[
        "groups=batch,resources=jobs;cronjobs,verbs=get;*",
        "groups=batch,resources=jobs/status,verbs=get",
    ],
    &[
        "groups=apps,namespace=infra,resources=deployments,verbs=get",
        "groups=apps,namespace=users,resources=deployments,verbs=get",
        "groups=apps,resources=deployments,verbs=list",
    ],
    &[
        "groups=apps,namespace=infra,roleName=other,resources=deployments,verbs=get",
        "groups=apps,namespace=infra,resources=deployments,verbs=get",
        "groups=apps,roleName=all,resources=deployments,verbs=get",
    ],
    &["groups={apps, \"batch\"},resources={\"jobs\"},verbs={get, list}"],
    &["groups=`apps`;\"cert-manager.io\",resources=certificates,verbs=get"],
    &["groups= apps; batch, resources=\"jobs\" , verbs=get; list"],
    &["verbs=get;list,resources=nodes,groups="],
    &["groups=cache.example.com,resources=memcacheds/finalizers,verbs=update"],
    &["groups=a,verbs=get"],
    &["groups=\"*\",resources=\"*\",verbs=\"*\"", "groups=*,resources=*,verbs=*"],
    &["groups=\"a\\\"b\",resources=x,verbs=get"],
    &["groups=apps,resources=deployments,verbs=get,verbs=list"],
    &[
        "groups=z,resources=a;b;c,verbs=get;list",
        "groups=y,resources=a;b,verbs=list;get",
        "groups=z,resources=d,verbs=get",
        "groups=y;z,resources=e,verbs=watch",
        "groups=y,resources=f;e,verbs=watch",
    ],
    &["groups=apps,resources=deployments,resourceNames=a,verbs=get,namespace=\"\""],
    &["groups=1a,resources=2b-c.d_e,verbs=get"],
];

/// Markers that both refuse.
const REFUSED: &[&str] = &[
    "groups=apps,resources=deployments",
    "groups=apps,resource=deployments,verbs=get",
    "groups=\"apps,resources=deployments,verbs=get",
    "groups=apps resources=deployments,verbs=get,",
    "groups=apps:extensions,verbs=get",
    "groups={apps,verbs=get",
    "groups=apps,,verbs=get",
    "groups,verbs=get",
    "groups=apps,verbs=get}",
];

#[test]
fn roles_are_as_controller_gen_makes_them() {
    let Some(controller_gen) = support::tool("controller-gen") else { return };
    for markers in SETS {
        let theirs = theirs(&controller_gen, markers);
        let ours = ours(markers);
        assert_eq!(ours, theirs, "{markers:#?}");
        assert!(ours.is_ok(), "{ours:?}\n{markers:#?}");
    }
}

#[test]
fn what_controller_gen_refuses_is_refused() {
    // There, a value loses its last word before a space.
    assert!(ours(&["groups=apps ;batch,resources=jobs,verbs=get"]).is_err());
    let Some(controller_gen) = support::tool("controller-gen") else { return };
    for marker in REFUSED {
        let theirs = theirs(&controller_gen, &[marker]);
        let ours = ours(&[marker]);
        assert!(theirs.is_err(), "{marker}: {theirs:?}");
        assert!(ours.is_err(), "{marker}: {ours:?}");
    }
}

type Roles = Result<Vec<Value>, ()>;

fn theirs(controller_gen: &Path, markers: &[&str]) -> Roles {
    let folder = tempfile::tempdir().unwrap();
    let lines: String = markers.iter().map(|it| format!("// +kubebuilder:rbac:{it}\n")).collect();
    fs::write(folder.path().join("go.mod"), "module example.com/x\n\ngo 1.21\n").unwrap();
    fs::write(folder.path().join("x.go"), format!("package x\n\n{lines}\nfunc F() {{}}\n"))
        .unwrap();
    let output = Command::new(controller_gen)
        .args(["rbac:roleName=manager-role", "paths=.", "output:rbac:dir=out"])
        .current_dir(folder.path())
        .env("GOFLAGS", "-mod=mod")
        .output()
        .unwrap();
    if !output.status.success() {
        return Err(());
    }
    Ok(documents(&folder.path().join("out/role.yaml")))
}

fn ours(markers: &[&str]) -> Roles {
    let folder = tempfile::tempdir().unwrap();
    let lines: String = markers.iter().map(|it| format!("// +kubebuilder:rbac:{it}\n")).collect();
    let project =
        "domain: example.com\nlayout:\n- rust.operator-rs.io/v1\nprojectName: x\nversion: \"3\"\n";
    fs::write(folder.path().join("PROJECT"), project).unwrap();
    fs::create_dir(folder.path().join("src")).unwrap();
    fs::write(folder.path().join("src/main.rs"), format!("{lines}\nfn main() {{}}\n")).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_operator-rs"))
        .arg("manifests")
        .current_dir(folder.path())
        .output()
        .unwrap();
    if !output.status.success() {
        return Err(());
    }
    Ok(documents(&folder.path().join("config/rbac/role.yaml")))
}

fn documents(path: &Path) -> Vec<Value> {
    let Ok(text) = fs::read_to_string(path) else { return Vec::new() };
    serde_yaml::Deserializer::from_str(&text)
        .map(|it| Value::deserialize(it).unwrap())
        .filter(|it| !it.is_null())
        .collect()
}
