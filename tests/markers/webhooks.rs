//! Webhook configurations: the same markers in a Go file and in a Rust file, the objects as data.

use std::path::Path;

use serde_json::Value;

use crate::{Objects, controller_gen_on, manifests_of, random, refused, support};

/// A marker with a name, and further arguments.
pub fn marker(name: &str, more: &str) -> String {
    format!(
        "webhook:path=/a,mutating=true,failurePolicy=fail,sideEffects=None,groups=cache.example.com,resources=memcacheds,\
         verbs=create;update,versions=v1,name={name}.kb.io,admissionReviewVersions=v1{more}"
    )
}

/// Arguments that replace or complete those of [`marker`], which both take.
pub const TAKEN: &[&str] = &[
    "",
    ",mutating=false",
    ",failurePolicy=Ignore",
    ",failurePolicy=IGNORE",
    ",matchPolicy=exact",
    ",matchPolicy=EQUIVALENT",
    ",matchPolicy=",
    ",sideEffects=noneondryrun",
    ",timeoutSeconds=30",
    ",timeoutSeconds=0",
    ",timeoutSeconds=010",
    ",groups=core",
    ",groups=\"\"",
    ",groups=apps;core;\"\"",
    ",groups=*",
    ",groups=apps;apps",
    ",resources=pods/*;deployments",
    ",resources=*/*",
    ",resources=*/scale;pods/log",
    ",verbs=*",
    ",verbs=CREATE;Delete;connect",
    ",verbs={create, update}",
    ",versions=*",
    ",versions=v1;v1beta1",
    ",serviceName=other",
    ",serviceNamespace=elsewhere,serviceName=\"\"",
    ",servicePort=8443",
    ",path=/",
    ",path=/a/b-c.d/",
    ",path=\"\",url=\"https://example.com:8443/x\"",
    ",webhookVersions=v1",
    ",webhookVersions={}",
    ",admissionReviewVersions=v1;v1beta1",
    ",admissionReviewVersions=v2;v1",
    ",reinvocationPolicy=ifneeded",
    ",reinvocationPolicy=Never",
    ",reinvocationPolicy=",
    ",mutating=false,reinvocationPolicy=Never",
    ",verbs=create,verbs=delete",
    ",patch=`{\"timeoutSeconds\":25}`",
    ",timeoutSeconds=5,patch=`{\"timeoutSeconds\":null}`",
    ",patch=`{\"namespaceSelector\":{\"matchLabels\":{\"a\":\"b\"}},\"objectSelector\":{\"matchExpressions\":[{\"key\":\"tier\",\"operator\":\"In\",\"values\":[\"x\",\"y\"]}]}}`",
    ",patch=`{\"matchConditions\":[{\"name\":\"a\",\"expression\":\"true\"}]}`",
    ",patch=`{\"rules\":[{\"apiGroups\":[\"apps\"],\"apiVersions\":[\"v1\"],\"operations\":[\"CREATE\"],\"resources\":[\"deployments\"],\"scope\":\"Namespaced\"}]}`",
    ",patch=`{\"clientConfig\":{\"service\":{\"port\":9443,\"path\":null}}}`",
    ",patch=`{\"clientConfig\":{\"service\":null,\"url\":\"https://example.com\"}}`",
    ",patch=\"{\\\"sideEffects\\\":\\\"NoneOnDryRun\\\"}\"",
    ",sideEffects=Some,patch=`{\"sideEffects\":\"None\"}`",
    ",patch=`{\"name\":\"other.kb.io\"}`",
    ",patch=`{}`",
    ",patch=",
];

/// Arguments that both refuse.
const REFUSED: &[&str] = &[
    ",mutating=yes",
    ",mutating=\"true\"",
    ",matchPolicy=some",
    ",sideEffects=Some",
    ",sideEffects=unknown",
    ",sideEffects=\"\"",
    ",timeoutSeconds=31",
    ",timeoutSeconds=-1",
    ",timeoutSeconds=1.5",
    ",timeoutSeconds=08",
    ",timeoutSeconds=0x10",
    ",timeoutSeconds=",
    ",timeoutSeconds=\"5\"",
    ",servicePort=https",
    ",url=\"https://example.com\"",
    ",path=\"\"",
    ",webhookVersions=v1beta1",
    ",admissionReviewVersions={}",
    ",admissionReviewVersions=",
    ",scope=Namespaced",
    ",namespaceSelector=`{}`",
    ",verbs=create,",
    ",patch=`{`",
    ",patch=`[]`",
    ",patch=`{\"timeoutSeconds\":\"5\"}`",
    ",patch=`{\"timeoutseconds\":5}`",
    ",patch=`{\"timeoutSeconds\":5,\"timeoutSeconds\":6}`",
    ",patch=`{\"unknown\":null}`",
    ",patch=`{\"timeoutSeconds\":31}`",
    ",patch=`{\"sideEffects\":null}`",
    ",mutating=false,patch=`{\"reinvocationPolicy\":\"Never\"}`",
    ",patch=`{\"rules\":[{\"operation\":[\"CREATE\"]}]}`",
];

/// Arguments that controller-gen takes, though no API server takes the webhook, or they are without effect.
const STRICTER: &[&str] = &[
    ",failurePolicy=maybe",
    ",failurePolicy=",
    ",verbs=get",
    ",verbs=",
    ",verbs=create;*",
    ",groups=",
    ",groups=*;apps",
    ",versions=",
    ",resources=",
    ",resources=*/*;pods",
    ",resources=pods/*;pods/log",
    ",path=a",
    ",path=/A",
    ",path=/a_b",
    ",path=/a//b",
    ",servicePort=0",
    ",servicePort=65536",
    ",admissionReviewVersions=v2",
    ",admissionReviewVersions=v1;v1",
    ",path=,url=\"http://example.com\"",
    ",path=,url=\"https://example.com/?a=b\"",
    ",name=short.io",
    ",name=Upper.kb.io",
    ",reinvocationPolicy=sometimes",
    ",patch=`{\"$patch\":\"replace\"}`",
    ",patch=`{\"objectSelector\":{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\"}]}}`",
];

#[test]
fn configurations_equal_those_of_controller_gen() {
    let Some(controller_gen) = support::tool("controller-gen") else { return };
    // Each in a marker of its own, in an order that is not that of the names.
    let all: Vec<String> = TAKEN
        .iter()
        .enumerate()
        .map(|(at, more)| marker(&format!("w{}.a", (at * 7) % TAKEN.len()), more))
        .collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let (theirs, ours) = (theirs(&controller_gen, &all), ours(&all));
    assert!(theirs.0.is_ok(), "{}", theirs.1);
    assert!(ours.0.is_ok(), "{}", ours.1);
    let count = |it: &Value| it["webhooks"].as_array().map_or(0, Vec::len);
    assert_eq!(theirs.0.iter().flatten().map(count).sum::<usize>(), TAKEN.len());
    assert_eq!(ours.0, theirs.0);
}

#[test]
fn configurations_have_the_names_of_their_markers() {
    let Some(controller_gen) = support::tool("controller-gen") else { return };
    let (one, two) = (marker("a.b", ""), marker("c.d", ",mutating=false"));
    for more in [
        &["webhookconfiguration:mutating=true,name=mine"][..],
        &["webhookconfiguration:mutating=false,name=mine", "webhookconfiguration:mutating=true"],
        &[
            "webhookconfiguration:name=both,mutating=true",
            "webhookconfiguration:mutating=false,name=both",
        ],
    ] {
        let markers = [&[&*one, &*two], more].concat();
        let (theirs, ours) = (theirs(&controller_gen, &markers), ours(&markers));
        assert!(ours.0.is_ok(), "{}", ours.1);
        assert_eq!(ours.0, theirs.0, "{more:?}");
    }
    let name = "webhookconfiguration:mutating=true,name=mine";
    for more in [
        &[name, name][..],
        &["webhookconfiguration:name=a"],
        &["webhookconfiguration:mutating=true,kind=a"],
    ] {
        let markers = [&[&*one], more].concat();
        assert!(theirs(&controller_gen, &markers).0.is_err(), "{more:?}");
        assert!(ours(&markers).0.is_err(), "{more:?}");
    }
    // Without webhooks, there is no file.
    assert_eq!(ours(&[name]).0, Ok(Vec::new()));
    assert_eq!(theirs(&controller_gen, &[name]).0, Ok(Vec::new()));
}

#[test]
fn markers_that_controller_gen_refuses_are_refused() {
    let Some(controller_gen) = support::tool("controller-gen") else { return };
    for more in REFUSED {
        let marker = marker("a.b", more);
        assert!(theirs(&controller_gen, &[&marker]).0.is_err(), "{marker}");
        let (objects, said) = ours(&[&marker]);
        assert!(objects.is_err(), "{marker}");
        assert!(said.contains("src/main.rs:1:"), "{said}");
    }
    let arguments = marker("a.b", "");
    for name in [
        "mutating",
        "failurePolicy",
        "groups",
        "resources",
        "verbs",
        "versions",
        "admissionReviewVersions",
    ] {
        let (before, after) = arguments.split_once(&format!("{name}=")).unwrap();
        let without = before.to_owned() + after.split_once(',').map_or("", |it| it.1);
        let without = without.trim_end_matches(',');
        assert!(theirs(&controller_gen, &[without]).0.is_err(), "{without}");
        assert!(ours(&[without]).1.contains(&format!("argument `{name}` is missing")), "{without}");
    }
}

#[test]
fn webhooks_that_no_api_server_takes_are_refused() {
    for more in STRICTER {
        let marker = marker("a.b", more);
        let (objects, said) = ours(&[&marker]);
        assert!(objects.is_err(), "{marker}");
        assert!(said.contains("src/main.rs:1:"), "{said}");
    }
    let (one, two) = (marker("a.b", ""), marker("a.b", ",path=/b"));
    let said = ours(&[&one, &two]).1;
    let same = "`a.b.kb.io` is also the name of the webhook at src/main.rs:1:";
    let end = ", and API servers refuse two of one name; hint: give each webhook its own name";
    assert!(said.contains(same) && said.contains(end), "{said}");
}

#[test]
fn a_fault_is_told_at_its_argument() {
    let check = |more: &str, argument: &str, expected: &str| {
        let marker = format!("// +kubebuilder:{}", marker("a.b", more));
        let said = manifests_of(&format!("{marker}\n"), "x").1;
        let column = marker.rfind(argument).unwrap() + 1;
        assert!(said.contains(&format!("src/main.rs:1:{column}: error: {expected}")), "{said}");
    };
    check(
        ",webhookVersions=v1beta1",
        "webhookVersions=",
        "there is no version `v1beta1` of webhook configurations; hint: leave out `webhookVersions`",
    );
    check(
        ",reinvocationPolicy=sometimes",
        "reinvocationPolicy=",
        "`sometimes` is not a reinvocation policy; hint: write `Never` or `IfNeeded`",
    );
    check(
        ",path=\"\"",
        "path=",
        "neither `path` nor `url` is given; hint: give `path` for a webhook that the manager serves, or `url` for another one",
    );
    check(",url=\"https://a\"", "url=", "both `path` and `url` are given");
    check(
        ",patch=`{`",
        "patch=",
        "the patch is not valid JSON: EOF while parsing an object at line 1 column 1; hint: write one JSON object between backticks: `patch=`{\"timeoutSeconds\": 5}``",
    );
    check(
        ",patch=`{\"zzzzzz\":1}`",
        "patch=",
        "a webhook has no field `zzzzzz`; hint: delete the field from the patch",
    );
    check(",patch=`[]`", "patch=", "the patch is not a JSON object");
    check(
        ",patch=`{\"rules\":[{\"$patch\":\"delete\"}]}`",
        "patch=",
        "`$patch` is not supported in a patch; hint: write the fields as they should be; null removes one",
    );
    check(",patch=`{\"timeoutSeconds\":\"5\"}`", "patch=", "the patch: ");
    let wrong = marker("a.b", ",patch=`{\"timeoutSeconds\":\"5\"}`");
    assert!(ours(&[&wrong]).1.contains("; hint: correct the value"));
    assert!(
        ours(&[&marker("a.b", ",patch=`{\"timeoutSeconds\":\"5\"}`")])
            .1
            .contains("; hint: correct the value")
    );
    check(
        ",patch=`{\"timeoutSeconds\":31}`",
        "patch=",
        "API servers refuse the webhook: timeoutSeconds: ",
    );
    check(",timeoutSeconds=many", "many", "a whole number is expected, not `m`");
    check(",mutating=yes", "yes", "`true` or `false` is expected, not `yes`");
    let named = "// +kubebuilder:webhookconfiguration:mutating=true,name=a\n";
    let said = manifests_of(&format!("{named}{named}"), "x").1;
    assert!(
        said.contains(
            "src/main.rs:2:38: error: another comment at src/main.rs:1:38 names the same configuration; hint: delete one of the two comments"
        ),
        "{said}"
    );
    let said = manifests_of(
        &format!("// +kubebuilder:{}\n", marker("a.b", ",mutating=false,reinvocationPolicy=Never")),
        "x",
    )
    .1;
    assert!(
        said.contains(
            "warning[marker]: a validating webhook has no `reinvocationPolicy`, and this is left out; hint: delete the argument"
        ),
        "{said}"
    );
}

/// Values and separators that random markers are put together from.
const PIECES: &[&str] = &[
    ",",
    ",",
    ";",
    "=",
    "{",
    "}",
    "\"",
    "`",
    " ",
    "-",
    ".",
    "1",
    "010",
    "true",
    "false",
    "*",
    "core",
    "fail",
    "None",
    "/b",
    "\"x\"",
    "{a, b}",
    "{}",
    "mutating=false",
    "timeoutSeconds=7",
    "timeoutSeconds= 7",
    "timeoutSeconds=- 7",
    "timeoutSeconds=7 ",
    "servicePort=1",
    "verbs=delete",
    "verbs",
    "matchPolicy=Exact",
    "name=z.y.x",
    "groups={a,\"b\"}",
    "patch=`{\"timeoutSeconds\":3}`",
    "patch=\"{}\"",
    "reinvocationPolicy=Never",
    "unknown=1",
];

/// Why a marker that controller-gen takes is refused.
const REASONS: &[&str] = &[
    "a value without quotes is followed by a space",
    "API servers refuse",
    "is not a reinvocation policy",
];

#[test]
fn random_markers_are_read_as_controller_gen_reads_them() {
    let Some(controller_gen) = support::tool("controller-gen") else { return };
    let mut random = random(11);
    let markers: Vec<String> = (0..2000)
        .map(|at| {
            let whole = marker(&format!("w{at}.a"), "");
            let mut pieces: Vec<&str> = whole.split_inclusive(',').collect();
            for _ in 0..=random(2) {
                // The name stays, so that each marker can be told from the others.
                let (at, piece) = (1 + random(pieces.len() - 1), PIECES[random(PIECES.len())]);
                match random(4) {
                    0 if !pieces[at].starts_with("name=") => pieces[at] = piece,
                    0 | 1 => pieces.insert(at, piece),
                    2 => pieces.extend([",", piece]),
                    _ => pieces.splice(at..at, [piece, ","]).for_each(drop),
                }
            }
            pieces.concat()
        })
        .collect();
    let markers: Vec<&str> = markers.iter().map(String::as_str).collect();
    // Both read all markers before they make webhooks of them.
    let theirs_refused = refused(&theirs(&controller_gen, &markers).1, "x.go:");
    let ours_refused = refused(&ours(&markers).1, "src/main.rs:");
    let (mut read, mut differences) = (Vec::new(), Vec::new());
    for (line, marker) in (1..).zip(&markers) {
        match (theirs_refused.contains_key(&(line + 2)), ours_refused.get(&line)) {
            (false, None) => read.push(*marker),
            (true, None) => differences.push(format!("{marker}: accepted")),
            (false, Some(ours)) if !is_stricter(ours) => {
                differences.push(format!("{marker}: {ours}"))
            }
            _ => {}
        }
    }
    let ours_refused = refused(&ours(&read).1, "src/main.rs:");
    let mut taken = Vec::new();
    for (line, marker) in (1..).zip(&read) {
        match ours_refused.get(&line) {
            None => taken.push(*marker),
            Some(ours) if is_stricter(ours) => {}
            Some(ours) if theirs(&controller_gen, &[marker]).0.is_ok() => {
                differences.push(format!("{marker}: {ours}"));
            }
            Some(_) => {}
        }
    }
    assert!(differences.is_empty(), "{differences:#?}");
    assert!(150 < taken.len(), "{} of {}", taken.len(), markers.len());
    let (all, ours) = (theirs(&controller_gen, &taken), ours(&taken));
    if all.0.is_err() {
        let refused = taken.iter().filter(|it| theirs(&controller_gen, &[it]).0.is_err());
        panic!("{}accepted: {:#?}", all.1, refused.collect::<Vec<_>>());
    }
    assert_eq!(ours.0, all.0);
}

fn is_stricter(message: &str) -> bool {
    REASONS.iter().any(|it| message.contains(it))
}

/// The configurations, and what the command prints.
fn theirs(controller_gen: &Path, markers: &[&str]) -> (Objects, String) {
    let generators = ["webhook", "output:webhook:dir=out"];
    controller_gen_on(controller_gen, &generators, &lines(markers), "manifests.yaml")
}

fn ours(markers: &[&str]) -> (Objects, String) {
    manifests_of(&lines(markers), "config/webhook/manifests.yaml")
}

pub fn lines(markers: &[&str]) -> String {
    markers.iter().map(|it| format!("// +kubebuilder:{it}\n")).collect()
}
