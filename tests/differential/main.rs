//! Random custom resources: what kube prints of them, and what we read in them.
//!
//! For every case: the same CRD as data and in the form of each number, or the same panic, or refused
//! by us; never different. `tests/differential/run` tells how to run it at any size.

#![allow(
    clippy::disallowed_methods,
    reason = "the walls stand in src; a test looks at them from outside"
)]
#![allow(clippy::print_stdout, reason = "the figures of a run by hand are for people")]

mod author;
mod compare;
mod oracle;
mod places;
mod random;
mod strange;
#[path = "../support/mod.rs"]
mod support;

use std::{collections::BTreeMap, env, fs};

use oracle::Version;

#[test]
fn random_resources_are_as_kube_prints_them_or_refused() {
    let seed = number("SEED", 1);
    let size = number("SIZE", 60);
    let version =
        Version::find(&env::var("DIFFERENTIAL_KUBE").unwrap_or_else(|_| "5.0.0".to_owned()));
    let numbers = 0..usize::try_from(size).unwrap();
    let cases: Vec<_> = numbers
        .filter(|it| only().is_none_or(|only| only == *it))
        .map(|it| author::case(seed, it, version.dialect))
        .collect();
    let report = compare::compare("differential", version, &cases);
    println!("{report}");
    assert!(report.different.is_empty(), "what differs is above");
    let refused: usize = report.refused.values().map(|it| it.0).sum();
    assert!(20 * refused <= cases.len(), "at most 5 % may be refused");
}

/// A handful at each, with the schemars that its lock names: what differs between them must be known.
#[test]
#[cfg_attr(not(feature = "exhaustive"), ignore = "takes minutes: `tests/all --exhaustive` runs it")]
fn resources_at_older_versions_of_kube_are_as_those_print_them() {
    let size = usize::try_from(number("OLDER", 12)).unwrap();
    let (_newest, older) = oracle::VERSIONS.split_last().expect("there are versions");
    let mut different = Vec::new();
    for version in older {
        let cases: Vec<_> = (0..size)
            .filter(|it| only().is_none_or(|only| only == *it))
            .map(|it| author::case(number("SEED", 1), it, version.dialect))
            .collect();
        let report = compare::compare(&format!("kube-{}", version.kube), version, &cases);
        println!("kube {}\n{report}", version.kube);
        different.extend(report.different);
    }
    assert!(different.is_empty(), "what differs is above");
}

#[test]
fn what_cannot_be_read_is_refused_or_read_as_kube_prints_it() {
    let size = usize::try_from(number("STRANGE", 60)).unwrap();
    assert!(strange::count() < 250, "each should come in 500 cases");
    let cases: Vec<_> = (0..size)
        .filter(|it| only().is_none_or(|only| only == *it))
        .map(|it| strange::case(number("SEED", 1), it))
        .collect();
    let report = compare::compare("strange", Version::find("5.0.0"), &cases);
    println!("{report}");
    assert!(report.different.is_empty(), "what differs is above");
}

/// A case for each construct that the evaluator of `kube-crd-source` accepts.
#[test]
fn what_the_evaluator_accepts_it_evaluates_as_rustc_does() {
    let mut paths: Vec<_> = fs::read_dir(support::home().join("tests/differential/constructs"))
        .unwrap()
        .map(|it| it.unwrap().path())
        .collect();
    paths.sort();
    let case = |(number, path): (usize, &std::path::PathBuf)| author::Case {
        number,
        path: format!("k{number}::Case"),
        more: Vec::new(),
        stored: String::new(),
        files: BTreeMap::from([(format!("k{number}.rs"), fs::read_to_string(path).unwrap())]),
    };
    let cases: Vec<_> = paths
        .iter()
        .enumerate()
        .map(case)
        .filter(|it| only().is_none_or(|only| only == it.number))
        .collect();
    let report = compare::compare("constructs", Version::find("5.0.0"), &cases);
    println!("{report}");
    assert_eq!(report.equal, cases.len(), "each must be read, and equal");
}

/// The one case that is asked for.
fn only() -> Option<usize> {
    env::var("DIFFERENTIAL_ONLY").ok().map(|it| it.parse().unwrap())
}

/// A number that the caller may set.
fn number(name: &str, default: u64) -> u64 {
    env::var(format!("DIFFERENTIAL_{name}")).map_or(default, |it| it.parse().unwrap())
}
