//! The anchors of a page, which links from elsewhere rely on: `#spec-size` is the field `spec.size` of the first
//! version, and
//! `#v1alpha1-spec-size` that of another.

use std::collections::BTreeSet;

#[derive(Default)]
pub struct Anchors {
    used: BTreeSet<String>,
}

impl Anchors {
    /// Adds an anchor for names, and returns it. If the anchor exists already, it gets a number.
    pub fn add_anchor<'a>(&mut self, names: impl IntoIterator<Item = &'a str>) -> String {
        let names: Vec<String> = names.into_iter().map(anchor_word).collect();
        let name = names.join("-");
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        let free =
            [name.clone()].into_iter().chain(numbered).find(|anchor| !self.used.contains(anchor));
        let anchor = free.unwrap_or(name);
        self.used.insert(anchor.clone());
        anchor
    }
}

/// Returns a name with nothing but letters, digits, `_` and `-`.
fn anchor_word(name: &str) -> String {
    let kept = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let word: String = name.chars().map(|c| if kept(c) { c } else { '-' }).collect();
    word.trim_matches('-').to_owned()
}
