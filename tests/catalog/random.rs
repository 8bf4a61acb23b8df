//! Catalogs with random edits: the verdicts are those of operator-registry.

use std::env;

use serde_json::{Value, json};

use super::{blobs, oracle::Oracle, put, stream, verdict};

/// Random numbers that are the same in every run.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % end.max(1)
    }

    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }
}

const NAMES: &[&str] = &[
    "memcached.v1.0.0",
    "memcached.v1.1.0",
    "memcached.v1.2.0",
    "memcached.v0.9.0",
    "",
    "memcached",
    "stable",
    "candidate",
    "other",
    "memcached-v1.0.0-1",
];
const TEXTS: &[&str] = &[
    "",
    "1.0.0",
    "1.1.0",
    "1.1.0+a",
    "1.x",
    ">=1.0.0 <1.2.0",
    "<1.0.0 || >2.0.0",
    "> 1.0.x",
    "!=1.1.0",
    "x",
    "~1.x",
    "1.0.0 || || 2.0.0",
    "quay.io/a/b:v1",
    "quay.io/A",
    "localhost/a",
    "a@sha256:00",
    "[::1]:5/a",
    "a.b",
    "A/b:c",
    "olm.bundle",
    "olm.package",
    "olm.channel",
    "olm.gvk",
    "olm.package.required",
    "olm.csv.metadata",
    "olm.bundle.object",
    "olm.constraint",
    "e30=",
    "\u{1b}[0m\n\"",
];

/// Changes one value somewhere in a blob, or removes or doubles it.
fn edit(value: &mut Value, random: &mut Random) {
    match value {
        Value::Object(map) if !map.is_empty() && random.below(8) != 0 => {
            let key = map.keys().nth(random.below(map.len())).expect("it has one").clone();
            match random.below(12) {
                0 => drop(map.remove(&key)),
                1 => {
                    let value = map[&key].clone();
                    map.insert(key.to_uppercase(), value);
                }
                2 => drop(
                    map.insert(
                        random
                            .pick(&[
                                "replaces",
                                "skips",
                                "skipRange",
                                "release",
                                "data",
                                "icon",
                                "x",
                            ])
                            .to_owned(),
                        random_value(random),
                    ),
                ),
                _ => edit(&mut map[&key], random),
            }
        }
        Value::Array(list) if !list.is_empty() && random.below(8) != 0 => {
            let at = random.below(list.len());
            match random.below(6) {
                0 => drop(list.remove(at)),
                1 => list.push(list[at].clone()),
                _ => edit(&mut list[at], random),
            }
        }
        value => *value = random_value(random),
    }
}

fn random_value(random: &mut Random) -> Value {
    match random.below(14) {
        0 => json!(null),
        1 => json!(5),
        2 => json!([]),
        3 => json!({}),
        4 => json!([random.pick(NAMES), random.pick(NAMES)]),
        5 => json!(true),
        6 => json!({"data": random.pick(TEXTS)}),
        7..11 => json!(random.pick(NAMES)),
        _ => json!(random.pick(TEXTS)),
    }
}

/// `CATALOGS=5000 CATALOGS_SEED=1 cargo test --test catalog random -- --nocapture` runs more of them.
#[test]
fn random_catalogs_have_the_verdict_of_opm() {
    let Some(mut oracle) = Oracle::start() else { return };
    let number = |name: &str, default: u64| {
        env::var(name).ok().and_then(|it| it.parse().ok()).unwrap_or(default)
    };
    let (count, first) = (number("CATALOGS", 300), number("CATALOGS_SEED", 1));
    let (mut valid, mut invalid, mut wrong) = (0, 0, Vec::new());
    for seed in first..first + count {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut blobs = blobs();
        for _ in 0..=random.below(3) {
            let at = random.below(blobs.len());
            edit(&mut blobs[at], &mut random);
        }
        let dir = put("catalog-random", stream(&blobs).as_bytes());
        let ours = verdict(&dir);
        let theirs = oracle.ask(&json!({"Validate": dir.join("catalog")})).err();
        match (&ours, &theirs) {
            (None, None) => valid += 1,
            (Some(_), Some(_)) => invalid += 1,
            _ => wrong.push(format!("seed {seed}: ours {ours:?}, theirs {theirs:?}")),
        }
    }
    eprintln!("{valid} valid, {invalid} invalid");
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(valid > 0 && invalid > 0);
}
