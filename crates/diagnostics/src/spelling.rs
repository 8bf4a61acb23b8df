//! Suggestions for misspelt words.

/// The number of letters to change, add, remove or swap with their neighbour to turn one word into
/// the other, in upper or lower case.
pub fn edit_distance(one: &str, other: &str) -> usize {
    strsim::damerau_levenshtein(&one.to_lowercase(), &other.to_lowercase())
}

/// The maximum edit distance at which a word is still recognizable.
pub fn tolerance(word: &str) -> usize {
    (word.chars().count() / 3).clamp(1, 4)
}

/// The name that a word is most like, if it is like any. The first one, if several are equally near.
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let distances = names.into_iter().map(|it| (edit_distance(word, it), it));
    let (distance, best) = distances.min_by_key(|it| it.0)?;
    (distance <= tolerance(word)).then_some(best)
}

/// `1 warning`, `2 warnings`.
pub fn count(many: usize, what: &str) -> String {
    format!("{many} {what}{}", if many == 1 { "" } else { "s" })
}

#[test]
fn a_misspelt_word_is_answered_with_the_nearest() {
    let names = ["replicas", "resources", "size", "get"];
    let check = |word: &str, expected: Option<&str>| assert_eq!(nearest(word, names), expected);
    check("replcias", Some("replicas"));
    check("Replica", Some("replicas"));
    check("gte", Some("get"));
    check("sz", None);
    check("", None);
    check("completely", None);
}
