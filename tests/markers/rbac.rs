//! Roles: the same markers in a Go file and in a Rust file, the roles as data.

use std::path::Path;

use crate::{Objects, controller_gen_on, manifests_of, random, refused, support};

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
    &["verbs=get;list,resources=nodes,groups=core"],
    &["groups=\"\\x61\\u0070\\160\\U00000073\",resources=a,verbs=get list"],
    &["groups={},resources={},urls=/a,verbs=get"],
    &["groups=cache.example.com,resources=memcacheds/finalizers,verbs=update"],
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
    &["groups=apps:extensions,resources=a:b,verbs=get"],
];

/// Markers that both refuse.
const REFUSED: &[&str] = &[
    "groups=apps,resources=deployments",
    "groups=apps,resource=deployments,verbs=get",
    "groups=\"apps,resources=deployments,verbs=get",
    "groups=apps resources=deployments,verbs=get,",
    "groups={apps,verbs=get",
    "groups=apps,,verbs=get",
    "groups,verbs=get",
    "groups=apps,verbs=get}",
];

/// Markers that controller-gen takes, and API servers refuse the role.
const REFUSED_BY_SERVERS: &[&str] = &[
    "groups=a,verbs=get",
    "resources=pods,verbs=get",
    "groups=,resources=pods,verbs=get",
    "verbs=get",
    "groups=apps,urls=/a,verbs=get",
    "resources=pods,groups=core,urls=/a,verbs=get",
    "resourceNames=a,urls=/a,verbs=get",
    "namespace=a,urls=/a,verbs=get",
];

#[test]
fn roles_equal_those_of_controller_gen() {
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

#[test]
fn what_api_servers_refuse_is_refused() {
    let Some(controller_gen) = support::tool("controller-gen") else { return };
    for marker in REFUSED_BY_SERVERS {
        let theirs = theirs(&controller_gen, &[marker]);
        assert!(theirs.is_ok(), "{marker}");
        assert!(ours(&[marker]).is_err(), "{marker}");
    }
}

/// What markers are put together from. Most of the markers are nearly right.
const PIECES: &[&str] = &[
    ",",
    ",",
    ",",
    ";",
    ";",
    "=",
    "{",
    "}",
    "\"",
    "`",
    "'",
    "\\",
    " ",
    "\t",
    ":",
    "/",
    "//",
    "*",
    "+",
    "é",
    "\u{a0}",
    "²",
    "1",
    "-",
    ".",
    "_",
    "a",
    "core",
    "\"\"",
    "\"a\\\"b\"",
    "\"\\x41\"",
    "\"\\q\"",
    "`a,b`",
    "{a, b}",
    "{\"a\",b}",
    "{}",
    "{a,}",
    "groups=",
    "groups=apps",
    "groups=apps;core",
    "groups=\"\"",
    "resources=pods",
    "resources=pods/log;*",
    "resourceNames=b;a",
    "urls=/a;/b",
    "verbs=get",
    "verbs=list;get",
    "verbs=*",
    "verbs",
    "namespace=",
    "roleName=b",
    "roleName=\"\"",
    "verb=get",
    "Verbs=get",
];

/// Why a marker that controller-gen takes is refused: there, it has not the effect that it seems to have, or API servers
/// refuse the role.
const STRICTER: &[&str] = &["a value without quotes is followed by a space", "API servers refuse"];

#[test]
fn random_markers_are_read_as_controller_gen_reads_them() {
    let Some(controller_gen) = support::tool("controller-gen") else { return };
    let mut random = random(7);
    // Each marker has a role of its own, which its first argument names.
    let markers: Vec<String> = (0..1200)
        .map(|i| {
            let mut pieces = vec!["groups=apps", ",", "resources=pods", ",", "verbs=get"];
            for _ in 0..=random(3) {
                let (at, piece) = (random(pieces.len()), PIECES[random(PIECES.len())]);
                match random(3) {
                    0 => pieces[at] = piece,
                    1 => pieces.insert(at, piece),
                    _ => pieces.extend([",", piece]),
                }
            }
            format!("namespace=n{i},{}", pieces.concat())
        })
        .collect();
    let markers: Vec<&str> = markers.iter().map(String::as_str).collect();
    let theirs_refused = refused(&run_theirs(&controller_gen, &markers).1, "x.go:");
    let ours_refused = refused(&run_ours(&markers).1, "src/main.rs:");
    let mut differences = Vec::new();
    for (line, marker) in (1..).zip(&markers) {
        match (theirs_refused.get(&(line + 2)), ours_refused.get(&line)) {
            (Some(theirs), None) => differences.push(format!("{marker}: accepted, not {theirs}")),
            (None, Some(ours)) if !STRICTER.iter().any(|it| ours.contains(it)) => {
                differences.push(format!("{marker}: {ours}"));
            }
            _ => {}
        }
    }
    assert!(differences.is_empty(), "{differences:#?}");
    let both: Vec<&str> = (1..)
        .zip(&markers)
        .filter(|(line, _)| {
            !theirs_refused.contains_key(&(line + 2)) && !ours_refused.contains_key(line)
        })
        .map(|it| *it.1)
        .collect();
    assert!(both.len() > 100, "{} of {}", both.len(), markers.len());
    let (theirs, ours) = (theirs(&controller_gen, &both).unwrap(), ours(&both).unwrap());
    for (ours, theirs) in ours.iter().zip(&theirs) {
        let namespace = ours.pointer("/metadata/namespace").map(ToString::to_string);
        let number = namespace.unwrap_or_default().trim_matches('"').to_owned() + ",";
        let marker = markers.iter().find(|it| it.contains(&number));
        assert_eq!(ours, theirs, "{marker:?}");
    }
    assert_eq!(ours.len(), theirs.len());
}

fn theirs(controller_gen: &Path, markers: &[&str]) -> Objects {
    run_theirs(controller_gen, markers).0
}

fn ours(markers: &[&str]) -> Objects {
    run_ours(markers).0
}

/// The roles, and what the command prints.
fn run_theirs(controller_gen: &Path, markers: &[&str]) -> (Objects, String) {
    let generator = ["rbac:roleName=manager-role", "output:rbac:dir=out"];
    controller_gen_on(controller_gen, &generator, &lines(markers), "role.yaml")
}

fn run_ours(markers: &[&str]) -> (Objects, String) {
    manifests_of(&lines(markers), "config/rbac/role.yaml")
}

fn lines(markers: &[&str]) -> String {
    markers.iter().map(|it| format!("// +kubebuilder:rbac:{it}\n")).collect()
}
