//! The tables of Go types, a line for each struct: `types.txt` has those of operator-sdk, and `newer.txt` those that
//! have more fields in the newest OLM and Kubernetes.

use std::{collections::BTreeMap, sync::LazyLock};

use super::Reader;

type Table = BTreeMap<&'static str, Vec<Field>>;

static TYPES: LazyLock<Table> = LazyLock::new(|| parse_table(include_str!("types.txt")));
static NEWER: LazyLock<Table> = LazyLock::new(|| parse_table(include_str!("newer.txt")));

fn parse_table(text: &'static str) -> Table {
    let split = |line: &'static str| {
        let (name, fields) = line.split_once(' ').unwrap_or((line, ""));
        (name, fields.split(' ').filter_map(Field::new).collect())
    };
    text.lines().map(split).collect()
}

/// A field of a Go struct.
#[derive(Debug, PartialEq)]
pub struct Field {
    pub name: &'static str,
    /// The field has `omitempty`.
    pub omit: bool,
    /// The field belongs to an embedded struct: sigs.k8s.io/yaml makes no string of a number there.
    pub embedded: bool,
    pub type_: Type,
}

/// A Go type: the name of a struct or of a scalar, below `*`, `[]` and `{}` (a map of strings to these).
pub type Type = &'static str;

/// Returns the fields of a struct, as its reader knows them; `None` if the type is not a struct.
pub fn struct_fields(type_: &str, reader: Reader) -> Option<&'static [Field]> {
    let newer = NEWER.get(type_).filter(|_| reader != Reader::Yaml);
    newer.or_else(|| TYPES.get(type_)).map(Vec::as_slice)
}

impl Field {
    /// Parses `[^]name[?]:type`.
    fn new(text: &'static str) -> Option<Self> {
        let (name, type_) = text.split_once(':')?;
        Some(Self {
            name: name.trim_matches(['^', '?']),
            omit: name.ends_with('?'),
            embedded: name.starts_with('^'),
            type_,
        })
    }
}

#[test]
fn newer_types_have_all_that_the_others_have() {
    for (name, newer) in &*NEWER {
        let old = TYPES.get(name).into_iter().flatten();
        let lost: Vec<&Field> = old.filter(|field| !newer.contains(field)).collect();
        assert!(lost.is_empty(), "{name}: {lost:?}");
    }
    assert!(!NEWER.is_empty());
}
