//! Kinds that a person names, as the source says nothing of them.

use crate::model::{Crate, DeclaredKind, KindPath, Place, Reach, Storage, Target};

/// The kind at a path that begins with the name of a crate: `my_crate::v1::Memcached`. Nothing where no crate is
/// called so.
pub fn named(path: &str, crates: &[Crate]) -> Option<DeclaredKind> {
    let parts: Vec<&str> = path.split("::").collect();
    let [krate, inner @ .., name] = &parts[..] else { return None };
    if !inner.iter().chain([name]).all(|it| is_identifier(it)) {
        return None;
    }
    let crates = crates.iter().filter(|it| it.name == *krate);
    // A library and a program may have one name: what others can name is in the library.
    let krate = crates.min_by_key(|it| it.target != Target::Library)?;
    Some(DeclaredKind {
        name: (*name).to_owned(),
        group: None,
        version: None,
        kind: None,
        place: Place::start(krate.root.clone()),
        rust_path: KindPath {
            krate: krate.clone(),
            path: inner.iter().chain([name]).map(|it| (*it).to_owned()).collect(),
            reach: Reach::Unknown,
            kube_core: String::new(),
            serde_json: String::new(),
        },
        storage: Storage::Unsaid,
        crd: Err(Vec::new()),
    })
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
        root: crate::model::SourcePath::fixed("src/lib.rs"),
        target,
        features: Vec::new(),
    };
    let program = Target::Program { beside_library: true };
    let crates = [krate("operator", program), krate("operator", Target::Library)];
    let found = named("operator::api::Made", &crates).expect("a crate of that name");
    assert_eq!(found.rust_path.path, ["api", "Made"]);
    assert_eq!(found.rust_path.krate.target, Target::Library);
    for path in ["types::Other", "Made", "operator::Of<u8>", "operator::", "operator"] {
        assert!(named(path, &crates).is_none(), "{path}");
    }
}
