//! Kinds that the user gives by path.

use crate::project::{Crate, KindPath, Target};

/// The kind at a path that begins with the name of a crate: `my_crate::v1::Memcached`. None if there is no such crate.
pub fn named(path: &str, crates: &[Crate]) -> Option<KindPath> {
    let parts: Vec<&str> = path.split("::").collect();
    let [krate, inner @ .., last] = &parts[..] else { return None };
    if !inner.iter().chain([last]).all(|it| is_identifier(it)) {
        return None;
    }
    let crates = crates.iter().filter(|it| it.name == *krate);
    // A library and a program may have one name: what others can name is in the library.
    let krate = crates.min_by_key(|it| it.target != Target::Library)?;
    let name = |it: &&str| it.strip_prefix("r#").unwrap_or(it).to_owned();
    Some(KindPath { krate: krate.clone(), path: inner.iter().chain([last]).map(name).collect() })
}

fn is_identifier(text: &str) -> bool {
    let text = text.strip_prefix("r#").unwrap_or(text);
    let starts = text.starts_with(|c: char| c.is_alphabetic() || c == '_');
    starts && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

#[test]
fn a_kind_is_named_by_a_path_from_a_crate_on() {
    let krate = |name: &str, target: Target| Crate {
        name: name.to_owned(),
        folder: String::new(),
        root: crate::project::SourcePath::fixed("src/lib.rs"),
        target,
        features: Vec::new(),
    };
    let program = Target::Program { beside_library: true };
    let crates = [krate("operator", program), krate("operator", Target::Library)];
    let found = named("operator::api::Made", &crates).expect("a crate of that name");
    assert_eq!(found.path, ["api", "Made"]);
    assert_eq!(found.krate.target, Target::Library);
    for path in ["types::Other", "Made", "operator::Of<u8>", "operator::", "operator"] {
        assert!(named(path, &crates).is_none(), "{path}");
    }
}
