//! Parts of texts between delimiters, which replacements read and write. A text is never split into a list, because it
//! may have as many parts as bytes.

use std::{iter, ops::Range};

use super::budget::Budget;

/// The part of a string that is replaced.
#[derive(Debug, Default)]
pub struct Part {
    pub delimiter: String,
    pub index: i64,
    /// True if missing parts of a target are created.
    pub create: bool,
}

impl Part {
    /// Returns the range of the part in a text, if it has so many.
    pub fn find_range(&self, text: &str) -> Option<Range<usize>> {
        let index = usize::try_from(self.index).ok()?;
        let ends = text.match_indices(&self.delimiter).map(|(at, delimiter)| at + delimiter.len());
        let start = iter::once(0).chain(ends).nth(index)?;
        let length = text[start..].find(&self.delimiter).unwrap_or(text.len() - start);
        Some(start..start + length)
    }

    /// Returns the old text with this part replaced, or with a part added before or after it.
    pub fn replace_in(&self, old: &str, new: &str, budget: &Budget) -> anyhow::Result<String> {
        let pieces = match self.find_range(old) {
            Some(range) => [&old[..range.start], new, &old[range.end..]],
            None if self.index < 0 => [new, &self.delimiter, old],
            None => [old, &self.delimiter, new],
        };
        budget.take_bytes(pieces.iter().map(|piece| piece.len()).sum())?;
        Ok(pieces.concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(index: i64) -> Part {
        Part { delimiter: "/".to_owned(), index, create: false }
    }

    #[test]
    fn one_part_of_a_text_is_replaced_or_added() {
        let table = [
            ("a/b/c", [(-1, "x/a/b/c"), (0, "x/b/c"), (1, "a/x/c"), (2, "a/b/x"), (3, "a/b/c/x")]),
            ("/", [(-1, "x//"), (0, "x/"), (1, "/x"), (2, "//x"), (9, "//x")]),
            ("", [(-1, "x/"), (0, "x"), (1, "/x"), (2, "/x"), (9, "/x")]),
        ];
        for (old, cases) in table {
            for (index, expected) in cases {
                let new = part(index).replace_in(old, "x", &Budget::default()).unwrap();
                assert_eq!(new, expected, "{index} of `{old}`");
            }
        }
    }

    #[test]
    fn a_text_is_counted_whole_before_it_is_made() {
        let replace = |length: usize| {
            part(0).replace_in(&format!("/{}", "a".repeat(length)), "x", &Budget::new(1000, 0))
        };
        assert!(replace(500).is_ok());
        assert!(replace(2000).is_err());
    }
}
