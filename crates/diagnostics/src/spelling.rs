//! Suggestions for misspelt words.

/// The number of letters to change, add, remove or swap with the next one to turn one word into the
/// other, in upper or lower case.
pub fn edit_distance(one: &str, other: &str) -> usize {
    strsim::damerau_levenshtein(&one.to_lowercase(), &other.to_lowercase())
}

/// The maximum edit distance at which a word is still recognizable.
pub fn max_edit_distance(word: &str) -> usize {
    (word.chars().count() / 3).clamp(1, 4)
}

/// Finds the name that a word is most like, if it is like any. The first one, if several are equally near.
pub fn find_nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let distances = names.into_iter().map(|name| (edit_distance(word, name), name));
    let (distance, best) = distances.min_by_key(|(distance, _)| *distance)?;
    (distance <= max_edit_distance(word)).then_some(best)
}

/// Formats a number of things: `1 warning`, `2 warnings`.
pub fn count(many: usize, noun: &str) -> String {
    format!("{many} {noun}{}", if many == 1 { "" } else { "s" })
}

#[test]
fn a_misspelt_word_is_answered_with_the_nearest() {
    let names = ["replicas", "resources", "size", "get"];
    let check =
        |word: &str, expected: Option<&str>| assert_eq!(find_nearest(word, names), expected);
    check("replcias", Some("replicas"));
    check("Replica", Some("replicas"));
    check("gte", Some("get"));
    check("sz", None);
    check("", None);
    check("completely", None);
}
