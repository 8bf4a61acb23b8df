//! Doc comments of every odd shape.

use super::Author;

const DOCS: &[&str] = &[
    "/// A sentence.\n",
    "/// A sentence.\n",
    "/// Two lines\n/// of one sentence.\n",
    "/// A paragraph.\n///\n/// Another.\n",
    "///No space.\n",
    "///   Three spaces.\n///     And five.\n",
    "/// # Heading\n/// Below it.\n",
    "/// # Heading alone\n",
    "/// ## Deeper ##\n///\n/// Text.\n",
    "/// Not a # heading\n/// # but this line neither\n",
    "/// ```\n/// let x = 1;\n///     indented();\n/// ```\n",
    "/// - one\n/// - two\n///   - three\n",
    "///\n",
    "///\n/// An empty line first.\n///\n",
    "/** A block. */\n",
    "/** A block\n * of lines\n */\n",
    "/**\n  Indented\n\n    by more\n*/\n",
    "#[doc = \" An attribute.\"]\n",
    "#[doc = \"\"]\n",
    "#[doc = concat!(\" Put \", \"together\", 1)]\n",
    "/// Above\n#[doc = \"between\"]\n/// below\n",
    "/// \"Quotes\", `code`, <tags>, \\ and \\n\n",
    "/// Unicode: é, ẞ, \u{1F600}\u{00a0}\n",
    "#[doc(hidden)]\n",
    "#[doc(alias = \"other\")]\n/// With an alias.\n",
    "/// trailing spaces   \n///\t a tab\n",
    "#[doc = \"  # spaces before\"]\n",
    "#[doc = r#\"raw \"text\"\"#]\n",
];

impl Author {
    /// A doc comment, so often in a hundred.
    pub fn docs(&mut self, share: usize) -> String {
        if self.random.percent(share) {
            (*self.random.pick(DOCS)).to_owned()
        } else {
            String::new()
        }
    }
}
