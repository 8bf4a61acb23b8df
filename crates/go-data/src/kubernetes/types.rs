//! The table of Go types: `types.txt`, a line for each struct.

use std::{collections::BTreeMap, sync::LazyLock};

static TYPES: LazyLock<BTreeMap<&str, Vec<Field>>> = LazyLock::new(|| {
    let split = |line: &'static str| {
        let (name, fields) = line.split_once(' ').unwrap_or((line, ""));
        (name, fields.split(' ').filter_map(Field::new).collect())
    };
    include_str!("types.txt").lines().map(split).collect()
});

/// A field of a Go struct.
#[derive(Debug, PartialEq)]
pub struct Field {
    pub name: &'static str,
    /// `omitempty`
    pub omit: bool,
    /// Whether it belongs to an embedded struct: sigs.k8s.io/yaml makes no text of a number there.
    pub embedded: bool,
    pub type_: Type,
}

/// A Go type: the name of a struct or of a scalar, below `*`, `[]` and `{}` (a map of texts to these).
pub type Type = &'static str;

/// The fields of a struct; `None` for what is not a struct.
pub fn fields(type_: &str) -> Option<&'static [Field]> {
    TYPES.get(type_).map(Vec::as_slice)
}

impl Field {
    /// `[^]name[?]:type`
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
