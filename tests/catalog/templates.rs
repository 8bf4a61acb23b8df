//! Templates, beside operator-registry's own.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use serde_json::json;

use super::{bundles, oracle::Oracle, sorted, support, values};

/// A bundle for each version, by its image.
fn all_bundles(dir: &Path, versions: &[&str]) -> BTreeMap<String, PathBuf> {
    let mut res = BTreeMap::new();
    for version in versions {
        let folder = version.replace('+', "_");
        bundles::write(&dir.join(&folder), "memcached", &format!("memcached.v{version}"), version);
        res.insert(format!("quay.io/example/memcached-bundle:v{folder}"), dir.join(folder));
    }
    res
}

/// Ours and theirs for a template: the blobs, or what is said.
fn both(
    dir: &Path,
    template: &str,
    bundles: &BTreeMap<String, PathBuf>,
    oracle: &mut Oracle,
) -> (Result<Vec<String>, String>, Result<Vec<String>, String>) {
    let used: BTreeMap<_, _> =
        bundles.iter().filter(|it| template.contains(&format!("{}\n", it.0))).collect();
    fs::write(dir.join("template.yaml"), template).expect("it can be written");
    let flags: String =
        used.iter().map(|it| format!(" --bundle {}={}", it.0, it.1.display())).collect();
    let output =
        support::operator_rs(dir, &format!("catalog render-template template.yaml{flags}"));
    let ours = match output.status.success() {
        true => Ok(sorted(values(&String::from_utf8_lossy(&output.stdout)))),
        false => Err(support::said(&output)),
    };
    let theirs = oracle.ask(&json!({"Template": template, "Bundles": used}));
    (ours, theirs.map(|it| sorted(values(&it))))
}

const VERSIONS: &[&str] = &[
    "0.1.0",
    "0.1.1",
    "0.2.0",
    "1.0.0",
    "1.0.0-alpha.1",
    "1.0.0-alpha.2",
    "1.0.1",
    "1.0.2",
    "1.1.0",
    "1.1.1",
    "1.2.0",
    "1.10.0",
    "2.0.0",
    "2.0.1",
    "2.1.0-rc.1",
    "2.1.0",
    "2.1.0+a",
    "3.0.0",
    "3.0.0+b",
    "10.0.0",
];

#[test]
fn random_semver_templates_are_rendered_as_opm_renders_them() {
    let Some(mut oracle) = Oracle::start() else { return };
    let dir = support::fresh("catalog-semver");
    let bundles = all_bundles(&dir, VERSIONS);
    let images: Vec<&String> = bundles.keys().collect();
    let mut random = super::random::Random(7);
    let (mut made, mut refused, mut wrong) = (0, 0, Vec::new());
    for _ in 0..250 {
        let mut template = String::from("schema: olm.semver\n");
        for name in ["generateMajorChannels", "generateMinorChannels"] {
            match random.below(3) {
                0 => {}
                it => template += &format!("{name}: {}\n", it == 1),
            }
        }
        match random.below(6) {
            0 => template += "defaultChannelTypePreference: major\n",
            1 => template += "DefaultChannelTypePreference: minor\n",
            _ => {}
        }
        for archetype in ["candidate", "Fast", "stable"] {
            if random.below(4) == 0 {
                continue;
            }
            template += &format!("{archetype}:\n  bundles:\n");
            let chosen: BTreeSet<usize> =
                (0..random.below(9)).map(|_| random.below(images.len())).collect();
            if chosen.is_empty() {
                template += "  - image: quay.io/example/memcached-bundle:v1.0.0\n";
            }
            let mut chosen: Vec<usize> = chosen.into_iter().collect();
            let turn = random.below(chosen.len());
            chosen.rotate_left(turn);
            for at in chosen {
                template += &format!("  - image: {}\n", images[at]);
            }
        }
        match both(&dir, &template, &bundles, &mut oracle) {
            (Ok(ours), Ok(theirs)) if ours == theirs => made += 1,
            (Err(_), Err(_)) => refused += 1,
            (ours, theirs) => {
                wrong.push(format!("{template}\nours   {ours:#?}\ntheirs {theirs:#?}"))
            }
        }
    }
    eprintln!("{made} rendered, {refused} refused by both");
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong[0]);
    assert!(made >= 150 && refused >= 10, "{made} rendered, {refused} refused");
}

#[test]
fn templates_that_opm_refuses_are_refused() {
    let Some(mut oracle) = Oracle::start() else { return };
    let dir = support::fresh("catalog-templates-refused");
    let mut bundles = all_bundles(&dir, &["1.0.0", "1.0.0+a", "1.1.0"]);
    bundles::write(&dir.join("other"), "other", "other.v1.0.0", "1.0.0");
    bundles.insert("quay.io/example/other:v1".to_owned(), dir.join("other"));
    let (one, built, other) = (
        "quay.io/example/memcached-bundle:v1.0.0",
        "quay.io/example/memcached-bundle:v1.0.0_a",
        "quay.io/example/other:v1",
    );
    for (template, expected) in [
        ("", "decoding template input: EOF".to_owned()),
        ("- a\n", "unmarshalling template: this is a list, not an object".to_owned()),
        ("a: 1\n", "template input missing required 'schema' field".to_owned()),
        ("schema: 5\n", "`schema` is a number, not a string".to_owned()),
        ("schema: olm.x\n", "unknown template schema: olm.x".to_owned()),
        ("schema: olm.semver\n", "no bundles specified or no bundles could be rendered".to_owned()),
        ("schema: olm.semver\nstable: 5\n", "`stable` is a number, not an object".to_owned()),
        ("schema: olm.semver\nstable: {bundle: []}\n", "unknown field \"bundle\"".to_owned()),
        ("schema: olm.semver\nstable: {bundles: {}}\n", "`bundles` is an object, not a list".to_owned()),
        ("schema: olm.semver\nstable: {bundles: [{image: 5}]}\n", "`image` is a number, not a string".to_owned()),
        ("schema: olm.semver\nstable: {bundles: [x]}\n", "`bundles` is a string, not an object with `image`".to_owned()),
        ("schema: olm.semver\ngenerateMajorChannels: 'yes'\n", "`generateMajorChannels` is a string, not a boolean".to_owned()),
        (
            &format!("schema: olm.semver\ngenerateMajorChannels: true\ndefaultChannelTypePreference: minor\nstable:\n  bundles:\n  - image: {one}\n"),
            "DefaultChannelTypePreference set to 'minor' doesn't make sense if not generating minor-version channels".to_owned(),
        ),
        (
            &format!("schema: olm.semver\ndefaultChannelTypePreference: major\nstable:\n  bundles:\n  - image: {one}\n"),
            "DefaultChannelTypePreference set to 'major' doesn't make sense if not generating major-version channels".to_owned(),
        ),
        (
            &format!("schema: olm.semver\ndefaultChannelTypePreference: x\nstable:\n  bundles:\n  - image: {one}\n"),
            "unknown DefaultChannelTypePreference: \"x\"".to_owned(),
        ),
        (&format!("schema: olm.semver\nstable:\n  bundles:\n  - image: {one}\n  - image: {one}\n"), format!("duplicate bundle name \"memcached.v1.0.0\": the image `{one}` is listed twice")),
        (
            &format!("schema: olm.semver\nstable:\n  bundles:\n  - image: {one}\n  - image: {other}\n"),
            "bundle \"other\" does not belong to this package: \"memcached\"".to_owned(),
        ),
        (
            &format!("schema: olm.semver\nstable:\n  bundles:\n  - image: {one}\n  - image: {built}\n"),
            "encountered bundle versions which differ only by build metadata, which cannot be ordered".to_owned(),
        ),
    ] {
        let (ours, theirs) = both(&dir, template, &bundles, &mut oracle);
        assert!(theirs.is_err(), "{template}: opm takes it");
        let ours = ours.expect_err(template);
        assert!(ours.contains(&expected), "{template}: {ours}");
    }
}

#[test]
fn what_is_not_supported_has_a_way_out() {
    let dir = support::fresh("catalog-templates");
    let check = |template: &str, words: &str, expected: &str| {
        fs::write(dir.join("template.yaml"), template).expect("it can be written");
        let output =
            support::operator_rs(&dir, &format!("catalog render-template template.yaml {words}"));
        let said = support::said(&output);
        assert!(!output.status.success() && said.contains(expected), "{template}: {said}");
    };
    let semver = "schema: olm.semver\nstable: {bundles: [{image: 'quay.io/a:v1'}]}\n";
    for schema in ["olm.template.basic", "olm.template.substitutes"] {
        let expected = "render it with `opm alpha render-template`";
        check(&format!("schema: {schema}\n"), "", expected);
    }
    check(
        &format!("{semver}---\n{semver}"),
        "",
        "a template is one document: this one would be ignored",
    );
    check(
        semver,
        "--bundle quay.io/b:v1=x",
        "the template has no bundle with the image `quay.io/b:v1`",
    );
    check(semver, "--bundle quay.io/a:v1=x", "there is no directory `x`");
    let bundle = support::home().join("examples/memcached-operator/bundle");
    let bundle = bundle.display();
    check(
        "schema: olm.semver\nstable: {bundles: [{image: 'quay.io/a:v1'}, {image: 'quay.io/b:v1'}]}\n",
        &format!("--bundle quay.io/a:v1={bundle} --bundle quay.io/b:v1={bundle}"),
        "the images `quay.io/a:v1` and `quay.io/b:v1` both have it\nhint: leave all but one of them out of the template",
    );
    check(
        "schema: olm.semver\nstable: {bundles: [{}]}\n",
        "",
        "a bundle of `stable` has no `image`",
    );
}

#[test]
fn a_key_that_is_twice_is_refused() {
    let dir = support::fresh("catalog-template-twice");
    let text = "schema: olm.semver\nstable:\n  bundles:\n  - image: a\nstable:\n  bundles:\n  - image: b\n";
    fs::write(dir.join("template.yaml"), text).expect("it can be written");
    let output =
        support::operator_rs(&dir, "--message-format short catalog render-template template.yaml");
    let said = support::said(&output);
    assert!(said.contains("template.yaml:5:1: error: duplicate key `stable`"), "{said}");
}
