//! Display names for the console.

/// `memcached-operator`, `MemcachedOperator` and `memcachedOperator` are all "Memcached Operator".
///
/// Words end at `.`, `-`, `_` and spaces, and before a capital letter that follows a lower-case one.
pub fn display_name(name: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut last = None;
    for letter in name.chars() {
        let between = matches!(letter, '.' | '-' | '_' | ' ');
        let begins = match last {
            None => true,
            Some(last) => letter.is_uppercase() && !char::is_uppercase(last),
        };
        if !between {
            match words.last_mut() {
                Some(word) if !begins => word.push(letter),
                _ => words.push(letter.to_uppercase().collect()),
            }
        }
        last = (!between).then_some(letter);
    }
    words.join(" ")
}

#[test]
fn names_are_split_into_title_case_words() {
    for (name, expected) in [
        ("memcached-operator", "Memcached Operator"),
        ("MemcachedOperator", "Memcached Operator"),
        ("containerPort", "Container Port"),
        ("podIPs", "Pod IPs"),
        ("size", "Size"),
        ("my_app.v2", "My App V2"),
        ("", ""),
    ] {
        assert_eq!(display_name(name), expected);
    }
}
