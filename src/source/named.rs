//! Kinds that the user gives by path.

use crate::project::{Crate, KindPath, Target};

/// Returns the kind at a path that begins with the name of a crate: `my_crate::v1::Memcached`. None if there is no such
/// crate.
pub fn parse_kind_path(path: &str, crates: &[Crate]) -> Option<KindPath> {
    let parts: Vec<&str> = path.split("::").collect();
    let [krate, inner @ .., last] = &parts[..] else { return None };
    if !inner.iter().chain([last]).all(|text| is_identifier(text)) {
        return None;
    }
    let crates = crates.iter().filter(|other| other.name == *krate);
    // A library and a program may have one name: what others can name is in the library.
    let krate = crates.min_by_key(|krate| krate.target != Target::Library)?;
    let name = |krate: &&str| krate.strip_prefix("r#").unwrap_or(krate).to_owned();
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
    let found = parse_kind_path("operator::api::Made", &crates).expect("a crate of that name");
    assert_eq!(found.path, ["api", "Made"]);
    assert_eq!(found.krate.target, Target::Library);
    for path in ["types::Other", "Made", "operator::Of<u8>", "operator::", "operator"] {
        assert!(parse_kind_path(path, &crates).is_none(), "{path}");
    }
}
