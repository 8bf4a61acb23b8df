//! Regular expressions of kustomizations.

use regex_lite::{Error, Regex, RegexBuilder};

/// Limit of a compiled pattern in bytes: far above that of names, and thousands of patterns fit into memory.
const MOST_BYTES: usize = 1 << 20;

/// Compiles a pattern; one that is too large is an error.
pub fn compile(pattern: &str) -> Result<Regex, Error> {
    RegexBuilder::new(pattern).size_limit(MOST_BYTES).build()
}

#[test]
fn a_pattern_that_grows_when_it_is_compiled_is_refused() {
    assert!(compile("^(?:a|b)[a-z0-9.-]{1,253}$").is_ok());
    assert!(compile("(x{1,500}){1,50}").is_err());
}
