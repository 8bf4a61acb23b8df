//! The anchors of a page, which links from elsewhere rely on: `#spec-size` is the field `spec.size` of the first version, and
//! `#v1alpha1-spec-size` that of another.

use std::collections::BTreeSet;

#[derive(Default)]
pub struct Anchors {
    used: BTreeSet<String>,
}

impl Anchors {
    /// A new anchor for names. The second of two that would have the same gets a number.
    pub fn of<'a>(&mut self, names: impl IntoIterator<Item = &'a str>) -> String {
        let names: Vec<String> = names.into_iter().map(word).collect();
        let name = names.join("-");
        let numbered = (2..).map(|it| format!("{name}-{it}"));
        let free = [name.clone()].into_iter().chain(numbered).find(|it| !self.used.contains(it));
        let res = free.unwrap_or(name);
        self.used.insert(res.clone());
        res
    }
}

/// A name with nothing but letters, digits, `_` and `-`.
fn word(name: &str) -> String {
    let kept = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let res: String = name.chars().map(|it| if kept(it) { it } else { '-' }).collect();
    res.trim_matches('-').to_owned()
}
