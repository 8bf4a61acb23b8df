//! Writes random YAML: structures, styles, scalars, comments and anchors as people write them, and worse.

use crate::random::Random;

/// Scalars without quotes that somebody takes for something else.
pub const PLAIN: &[&str] = &[
    "a",
    "b c",
    "web",
    "1",
    "0",
    "-1",
    "012",
    "08",
    "0o14",
    "0x1F",
    "0b11",
    "1_000",
    "1.0",
    "1e3",
    "1.50",
    "+1",
    ".5",
    "5.",
    "1e400",
    "1e20",
    "1e21",
    "1.5e-9",
    "12345678901234567890",
    "123456789012345678901",
    "9007199254740993",
    "-0",
    "-0.0",
    "yes",
    "No",
    "ON",
    "off",
    "y",
    "N",
    "true",
    "False",
    "TRUE",
    "~",
    "null",
    "Null",
    "",
    ".inf",
    "-.INF",
    ".nan",
    "2026-01-31",
    "2026-1-1",
    "2026-02-30",
    "2001-12-14t21:59:43.10-05:00",
    "2001-12-15 2:59:43.10",
    "2001-12-15T02:59:43.1Z",
    "2001-12-15T02:59:43,1Z",
    "1:30",
    "190:20:30",
    "=",
    "<<",
    "a:b",
    "a#b",
    "http://x.y/z?a=b",
    "a@b",
    "16Mi",
    "500m",
    "0.1.2",
    "1.6.39-alpine",
    "--a=b",
    "-",
    "- a",
    "a!b",
    "!",
    "a, b",
    "a: b",
    "a?",
    "?a",
    ":a",
    "*",
    "&",
    "@a",
    "%a",
    "a\\",
    "\"a",
    "{{ a }}",
    "$(A)",
    "é",
    "😀",
    "0b-1",
    "0o-7",
    "+0x8",
    "1__0",
    "0x",
    "1e",
    "._1",
    "a\tb",
    "\u{a0}a",
    "a\u{2028}b",
    "a\u{85}b",
    "\u{feff}a",
];

pub const TAGS: &[&str] =
    &["!!str", "!!int", "!!float", "!!bool", "!!null", "!!timestamp", "!", "!local", "!!x"];

const KEYS: &[&str] = &[
    "a",
    "b",
    "c",
    "d",
    "name",
    "data",
    "x-y",
    "app.kubernetes.io/name",
    "config.yaml",
    "'q'",
    "\"q r\"",
    "'1'",
];

const ODD_KEYS: &[&str] = &[
    "1",
    "true",
    "yes",
    "null",
    "1.5",
    "2026-01-01",
    "<<",
    "? a\n",
    "",
    "1e9",
    "~",
    "\"<<\"",
    "!!str 1",
    "0x10",
];

const LINES: &[&str] = &[
    "a",
    "b c",
    "",
    "  more",
    "# no comment",
    "- x",
    "k: v",
    "\tt",
    "x  ",
    "",
    " one",
    "{{ y }}",
    "---x",
    "\\",
    "'",
    "é",
];

const ESCAPES: &[&str] = &[
    "a",
    " ",
    "\\n",
    "\\t",
    "\\\"",
    "\\\\",
    "\\x41",
    "\\u00e9",
    "\\U0001F600",
    "\\0",
    "\\N",
    "\\L",
    "\\e",
    "\\/",
    "b",
    "\\x7f",
    "\\r",
    "\\_",
    "#",
    ": ",
];

pub struct Author<'a> {
    random: &'a mut Random,
    text: String,
    anchors: usize,
}

/// A stream of one document or a few.
pub fn text(random: &mut Random) -> String {
    let mut author = Author { random, text: String::new(), anchors: 0 };
    author.stream();
    let text = author.text;
    mangle_some(random, text)
}

impl Author<'_> {
    fn stream(&mut self) {
        if self.random.percent(1) {
            self.flow(0);
            self.add(&[" behind\n", "\n}\n", "{}\n", "\nbehind: a\n", " [\n", " # c\n"]);
            return;
        }
        if self.random.percent(2) {
            self.text.push('\u{feff}');
        }
        let count = self.random.weighted(&[(8, 1), (2, 2), (1, 3)]);
        for at in 0..count {
            if self.random.percent(1) {
                self.add(&["%YAML 1.1\n", "%TAG !e! tag:e.org,2026:\n", "%FOO x\n"]);
                self.text.push_str("---\n");
            } else if at > 0 || self.random.percent(20) {
                let line = self.random.weighted(&[
                    (20, "---\n"),
                    (2, "--- # c\n"),
                    (1, "---  \n"),
                    (1, "...\n---\n"),
                    (1, "--- \n# c\n"),
                    (1, "...\n"),
                ]);
                self.text.push_str(line);
            }
            self.comments(0);
            self.anchors = 0;
            match self.random.below(40) {
                0 => self.list(0, 0),
                1 => {
                    self.scalar(0);
                    self.end();
                }
                2 => {}
                _ => self.map(0, 0),
            }
        }
        if self.random.percent(5) {
            self.add(&["---\n", "---", "...\n", "# end", "\n\n", "--- # c\n", "...\n# c\n"]);
        } else if self.random.percent(5) {
            self.text.pop();
        }
    }

    /// One of these.
    fn add(&mut self, texts: &[&str]) {
        let text = *self.random.pick(texts);
        self.text.push_str(text);
    }

    fn pad(&mut self, indent: usize) {
        self.text.extend(std::iter::repeat_n(' ', indent));
    }

    fn comments(&mut self, indent: usize) {
        if self.random.percent(8) {
            for _ in 0..=self.random.below(2) {
                let shift = if self.random.percent(20) { self.random.below(6) } else { indent };
                self.pad(shift);
                self.add(&["# c\n", "#c: d\n", "\n", "  \n", "# é 'x\n", "#\n"]);
            }
        }
    }

    /// What may follow a value on its line.
    fn end(&mut self) {
        if self.random.percent(6) {
            self.add(&[" # c", " #c", "  ", " # 'x: y"]);
        }
        self.text.push('\n');
    }

    fn map(&mut self, indent: usize, depth: usize) {
        let count = 1 + self.random.below(4);
        for at in 0..count {
            if at > 0 {
                self.comments(indent);
                self.pad(indent);
            }
            if self.random.percent(2) && self.anchors > 0 {
                let anchor = self.random.below(self.anchors);
                self.text.push_str("<<: ");
                match self.random.percent(80) {
                    true => self.text.push_str(&format!("*x{anchor}\n")),
                    false => self.text.push_str(&format!("[{{m: 1, a: 2}}, *x{anchor}]\n")),
                }
                continue;
            }
            let key = if self.random.percent(3) {
                self.random.pick(ODD_KEYS)
            } else {
                self.random.pick(KEYS)
            };
            // Keys that are there twice are seldom meant.
            let key = if self.random.percent(95) && !key.contains(['\'', '"', '?', '<', '~', '!']) {
                format!("{key}{at}")
            } else {
                (*key).to_owned()
            };
            self.text.push_str(&key);
            self.text.push(':');
            self.value(indent, depth, true);
        }
    }

    fn list(&mut self, indent: usize, depth: usize) {
        let count = 1 + self.random.below(3);
        for at in 0..count {
            if at > 0 {
                self.comments(indent);
                self.pad(indent);
            }
            self.text.push('-');
            self.value(indent, depth, false);
        }
    }

    /// What follows a colon or a dash.
    fn value(&mut self, indent: usize, depth: usize, in_map: bool) {
        self.properties();
        let kind = if depth > 4 { 0 } else { self.random.below(20) };
        match kind {
            14 | 15 if in_map => {
                self.end();
                self.comments(indent + 2);
                self.pad(indent + 2);
                self.map(indent + 2, depth + 1);
            }
            14 | 15 if !self.text.ends_with('-') => {
                self.end();
                self.pad(indent + 2);
                self.map(indent + 2, depth + 1);
            }
            14 | 15 => {
                self.text.push(' ');
                self.map(indent + 2, depth + 1);
            }
            16 | 17 if in_map => {
                let shift = if self.random.percent(60) { 0 } else { 2 };
                self.end();
                self.comments(indent + shift);
                self.pad(indent + shift);
                self.list(indent + shift, depth + 1);
            }
            16 if self.text.ends_with('-') => {
                self.text.push(' ');
                self.list(indent + 2, depth + 1);
            }
            18 | 19 => {
                self.text.push(' ');
                self.flow(depth);
                self.end();
            }
            13 if self.anchors > 0 && !self.text.ends_with(|c: char| c.is_alphanumeric()) => {
                let anchor = self.random.below(self.anchors);
                self.text.push_str(&format!(" *x{anchor}"));
                self.end();
            }
            11 | 12 => self.block(indent),
            _ => {
                self.text.push(' ');
                self.scalar(indent + 2);
                self.end();
            }
        }
    }

    fn properties(&mut self) {
        if self.random.percent(4) {
            self.text.push_str(&format!(" &x{}", self.anchors));
            self.anchors += 1;
        }
        if self.random.percent(2) {
            self.text.push(' ');
            self.add(TAGS);
        }
    }

    fn scalar(&mut self, indent: usize) {
        match self.random.below(10) {
            0..=5 => self.add(PLAIN),
            6 => {
                let text = self.random.pick(PLAIN).replace('\'', "''");
                self.text.push_str(&format!("'{text}'"));
            }
            7 => {
                let text: String =
                    (0..self.random.below(6)).map(|_| *self.random.pick(ESCAPES)).collect();
                self.text.push_str(&format!("\"{text}\""));
            }
            _ => {
                // Several lines.
                let quote = *self.random.pick(&["", "'", "\""]);
                self.text.push_str(quote);
                self.text.push('a');
                for _ in 0..=self.random.below(3) {
                    self.text.push('\n');
                    if self.random.percent(80) {
                        self.pad(indent);
                        self.add(&["b", "c d", "1", "e  ", "\tf"]);
                    }
                }
                self.text.push_str(quote);
            }
        }
    }

    fn block(&mut self, indent: usize) {
        let head = self.random.pick(&["|", "|-", "|+", ">", ">-", ">+", "|2", ">2", "|2-", ">-2"]);
        self.text.push(' ');
        self.text.push_str(head);
        self.end();
        for _ in 0..=self.random.below(4) {
            let line = self.random.pick(LINES);
            if !line.is_empty() {
                self.pad(indent + 2);
            }
            self.text.push_str(line);
            self.text.push('\n');
        }
    }

    fn flow(&mut self, depth: usize) {
        let is_map = self.random.percent(50);
        self.text.push(if is_map { '{' } else { '[' });
        for at in 0..self.random.below(4) {
            if at > 0 {
                self.add(&[", ", ",", " , ", ",\n      ", ", # c\n      "]);
            }
            if is_map {
                self.text.push_str(&format!("{}{at}", self.random.pick(&["a", "b", "c"])));
                self.add(&[": ", ": ", ": ", ":", " : ", ""]);
            }
            self.properties();
            if self.text.ends_with(|c: char| c.is_alphanumeric() || c == '!' || c == '>') {
                self.text.push(' ');
            }
            match self.random.below(8) {
                0 if depth < 4 => self.flow(depth + 1),
                1 => {
                    let text = self.random.pick(PLAIN).replace('\'', "''");
                    self.text.push_str(&format!("'{text}'"));
                }
                2 if self.anchors > 0 && !self.text.ends_with(|c: char| c.is_alphanumeric()) => {
                    let anchor = self.random.below(self.anchors);
                    self.text.push_str(&format!("*x{anchor} "));
                }
                _ => self.add(PLAIN),
            }
        }
        if self.random.percent(5) {
            self.text.push(',');
        }
        self.text.push(if is_map { '}' } else { ']' });
    }
}

/// One time in five, a few signs are changed.
fn mangle_some(random: &mut Random, text: String) -> String {
    if random.percent(4) {
        let line_break = if random.percent(60) { "\r\n" } else { "\r" };
        return text.replace('\n', line_break);
    }
    if !random.percent(20) {
        return text;
    }
    mangle(random, &text)
}

/// The text with a few signs changed.
pub fn mangle(random: &mut Random, text: &str) -> String {
    let signs = [
        ' ', ' ', '\n', '\t', ':', '-', '#', '\'', '"', '[', ']', '{', '}', ',', '&', '*', '!',
        '|', '>', '%', '?', 'a', '1', '\r', '\\', '.', '~', '<', '@', '`', '\u{feff}', '\u{85}',
        '\u{0}', '\u{7f}', '\u{2028}',
    ];
    let mut text: Vec<char> = text.chars().collect();
    for _ in 0..=random.below(3) {
        let at = random.below(text.len() + 1);
        match random.below(3) {
            0 => text.insert(at, *random.pick(&signs)),
            1 if at < text.len() => {
                text.remove(at);
            }
            _ if at < text.len() => text[at] = *random.pick(&signs),
            _ => {}
        }
    }
    text.into_iter().collect()
}
