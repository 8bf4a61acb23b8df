//! Finds regular expressions that Go's `regexp` refuses to compile, by the grammar of its parser (regexp/syntax of Go
//! 1.26).
//!
//! Names in `\p{…}` are not checked, and neither is the size or depth of expressions.

use std::iter::Peekable;
use std::str::Chars;

/// The maximum of Go's repetitions, all nested ones multiplied.
const MOST: u64 = 1000;

const CLASSES: [&str; 14] = [
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct",
    "space", "upper", "word", "xdigit",
];

/// Returns the reason why Go does not compile an expression.
pub fn find_regex_fault(pattern: &str) -> Option<&'static str> {
    let mut parser = Parser { rest: pattern, open: vec![Group::default()] };
    parser.parse_all().err()
}

type Checked<T = ()> = Result<T, &'static str>;

/// A group that is open, or the whole expression.
#[derive(Default)]
struct Group {
    /// The number of repetitions inside the last item; `None` if there is nothing to repeat.
    last: Option<u64>,
    most: u64,
}

struct Parser<'a> {
    rest: &'a str,
    open: Vec<Group>,
}

impl Parser<'_> {
    fn parse_all(&mut self) -> Checked {
        let mut repeated = false;
        while let Some(c) = self.rest.chars().next() {
            let was_repeated = std::mem::take(&mut repeated);
            match c {
                '(' if self.rest.starts_with("(?") => self.read_group_start()?,
                '(' => self.begin_group(1),
                '|' => {
                    self.skip_bytes(1);
                    self.end_repeatable();
                }
                ')' => {
                    self.skip_bytes(1);
                    self.end_repeatable();
                    let inner = self.open.pop().map_or(0, |group| group.most);
                    if self.open.is_empty() {
                        return Err("it has an unexpected `)`");
                    }
                    self.add_repeatable(inner.max(1));
                }
                '[' => self.read_class()?,
                '\\' => self.read_escape()?,
                '*' | '+' | '?' => {
                    self.skip_bytes(1);
                    self.repeat_last(1, was_repeated)?;
                    repeated = true;
                }
                '{' => match parse_repetition(self.rest) {
                    Some((min, max, length)) => {
                        if min > MOST || max.is_some_and(|max| max > MOST || max < min) {
                            return Err(
                                "a repetition is above 1000, or its maximum is below its minimum",
                            );
                        }
                        self.skip_bytes(length);
                        self.repeat_last(max.unwrap_or(min), was_repeated)?;
                        repeated = true;
                    }
                    None => self.read_literal(c),
                },
                c => self.read_literal(c),
            }
        }
        match self.open.len() {
            1 => Ok(()),
            _ => Err("a `)` is missing"),
        }
    }

    fn skip_bytes(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }

    fn read_literal(&mut self, c: char) {
        self.skip_bytes(c.len_utf8());
        self.add_repeatable(1);
    }

    fn begin_group(&mut self, bytes: usize) {
        self.skip_bytes(bytes);
        self.open.push(Group::default());
    }

    /// Ends the item that a repetition could follow: a repetition after this has nothing to repeat.
    fn end_repeatable(&mut self) {
        if let Some(level) = self.open.last_mut() {
            level.most = level.most.max(level.last.take().unwrap_or_default());
        }
    }

    fn add_repeatable(&mut self, times: u64) {
        self.end_repeatable();
        if let Some(level) = self.open.last_mut() {
            level.last = Some(times);
        }
    }

    fn repeat_last(&mut self, times: u64, was_repeated: bool) -> Checked {
        if self.rest.starts_with('?') {
            self.skip_bytes(1);
        }
        if was_repeated {
            return Err("a repetition is repeated, as in `a**` or `a++`");
        }
        let Some(last) = self.open.last_mut().and_then(|group| group.last.as_mut()) else {
            return Err("there is nothing to repeat");
        };
        if times >= 2 && *last * times > MOST {
            return Err("nested repetitions exceed 1000");
        }
        *last *= times.max(1);
        Ok(())
    }

    /// Reads `(?…`: flags, or a group with flags or a name.
    fn read_group_start(&mut self) -> Checked {
        let rest = &self.rest[2..];
        if let Some(named) = rest.strip_prefix("P<").or_else(|| rest.strip_prefix('<')) {
            let end = named.find('>').filter(|end| *end > 0);
            let is_name = |text: &str| text.chars().all(|c| c == '_' || c.is_ascii_alphanumeric());
            return match end {
                Some(end) if is_name(&named[..end]) => {
                    self.begin_group(self.rest.len() - named.len() + end + 1);
                    Ok(())
                }
                _ => Err("it looks behind with `(?<…`, or the name of a group is malformed"),
            };
        }
        let end = rest.find([':', ')']).unwrap_or(rest.len());
        let (on, off) = match rest[..end].split_once('-') {
            Some((_, "")) => return Err(PERL),
            Some((on, off)) => (on, off),
            None => (&rest[..end], ""),
        };
        if !on.chars().chain(off.chars()).all(|c| "imsU".contains(c)) || end == rest.len() {
            return Err(PERL);
        }
        if rest[end..].starts_with(':') {
            self.begin_group(2 + end + 1);
        } else {
            self.skip_bytes(2 + end + 1);
        }
        Ok(())
    }

    fn read_escape(&mut self) -> Checked {
        if let Some(quoted) = self.rest.strip_prefix("\\Q") {
            let (text, rest) = quoted.split_once("\\E").unwrap_or((quoted, ""));
            self.rest = rest;
            text.chars().for_each(|_| self.add_repeatable(1));
            return Ok(());
        }
        let is_special = |c: char| "ABbzdDsSwW".contains(c);
        match self.rest[1..].chars().next() {
            Some(c) if is_special(c) => self.skip_bytes(2),
            Some('p' | 'P') => self.rest = skip_property(self.rest)?,
            _ => self.rest = parse_escaped_character(self.rest)?.1,
        }
        self.add_repeatable(1);
        Ok(())
    }

    fn read_class(&mut self) -> Checked {
        let mut rest = self.rest[1..].strip_prefix('^').unwrap_or(&self.rest[1..]);
        let mut is_first = true;
        while is_first || !rest.starts_with(']') {
            is_first = false;
            if let Some((name, after)) =
                rest.strip_prefix("[:").and_then(|class| class.split_once(":]"))
            {
                if !CLASSES.contains(&name.strip_prefix('^').unwrap_or(name)) {
                    return Err("it has an unknown class `[:…:]`");
                }
                rest = after;
                continue;
            }
            if rest.starts_with("\\p") || rest.starts_with("\\P") {
                rest = skip_property(rest)?;
                continue;
            }
            if ["\\d", "\\D", "\\s", "\\S", "\\w", "\\W"]
                .iter()
                .any(|class| rest.starts_with(class))
            {
                rest = &rest[2..];
                continue;
            }
            let (low, after) = parse_class_character(rest)?;
            rest = after;
            let high =
                rest.strip_prefix('-').filter(|high| !high.is_empty() && !high.starts_with(']'));
            if let Some(high) = high {
                let (high, after) = parse_class_character(high)?;
                if high < low {
                    return Err("it has a range whose end is before its start");
                }
                rest = after;
            }
        }
        self.rest = &rest[1..];
        self.add_repeatable(1);
        Ok(())
    }
}

const PERL: &str =
    "`(?` begins something that Go does not support, such as looking ahead with `(?=` or `(?!`";
const ESCAPE: &str =
    "it has an escape that Go does not support, such as the back reference `\\1`, or `\\Z`";

/// Returns the minimum, the maximum and the length of `{n}`, `{n,}` and `{n,m}`; anything else is literal.
fn parse_repetition(rest: &str) -> Option<(u64, Option<u64>, usize)> {
    let (inner, _) = rest.strip_prefix('{')?.split_once('}')?;
    let number = |text: &str| {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let is_plain = text == "0" || !text.starts_with('0');
        // A number of many digits is too large as well.
        (is_number && is_plain).then(|| text.parse().unwrap_or(u64::MAX))
    };
    let (min, max) = match inner.split_once(',') {
        None => (number(inner)?, Some(number(inner)?)),
        Some((min, "")) => (number(min)?, None),
        Some((min, max)) => (number(min)?, Some(number(max)?)),
    };
    Some((min, max, inner.len() + 2))
}

/// Returns the text after `\pL` or `\p{Greek}`.
fn skip_property(rest: &str) -> Checked<&str> {
    const UNKNOWN: &str = "it has an unknown property `\\p`";
    let is_word = |c: char| c.is_alphabetic() || "^_- ".contains(c);
    let mut chars = rest[2..].chars();
    match chars.next() {
        Some('{') => match rest.split_once('}') {
            Some((name, after)) if name.len() > 3 && name[3..].chars().all(is_word) => Ok(after),
            _ => Err(UNKNOWN),
        },
        Some(c) if "CLMNPSZ".contains(c.to_ascii_uppercase()) => Ok(chars.as_str()),
        _ => Err(UNKNOWN),
    }
}

fn parse_class_character(rest: &str) -> Checked<(u32, &str)> {
    match rest.chars().next() {
        None => Err("a `]` is missing"),
        Some('\\') => parse_escaped_character(rest),
        Some(c) => Ok((c.into(), &rest[c.len_utf8()..])),
    }
}

/// Returns the character of an escape, and the text after it.
fn parse_escaped_character(rest: &str) -> Checked<(u32, &str)> {
    let mut chars = rest[1..].chars().peekable();
    let c = chars.next().ok_or("it ends with `\\`")?;
    let value = match c {
        '0'..='7' => {
            let digits = take_while(&mut chars, 2, |c| ('0'..='7').contains(&c));
            if c != '0' && digits.is_empty() {
                return Err(ESCAPE);
            }
            u32::from_str_radix(&format!("{c}{digits}"), 8).map_err(|_| ESCAPE)?
        }
        'x' if chars.peek() == Some(&'{') => {
            chars.next();
            let digits = take_while(&mut chars, usize::MAX, |c| c.is_ascii_hexdigit());
            let value = u32::from_str_radix(&digits, 16).map_err(|_| ESCAPE)?;
            if chars.next() != Some('}') || value > u32::from(char::MAX) {
                return Err(ESCAPE);
            }
            value
        }
        'x' => {
            let digits = take_while(&mut chars, 2, |c| c.is_ascii_hexdigit());
            if digits.len() < 2 {
                return Err(ESCAPE);
            }
            u32::from_str_radix(&digits, 16).map_err(|_| ESCAPE)?
        }
        'a' => 7,
        'f' => 12,
        'n' => 10,
        'r' => 13,
        't' => 9,
        'v' => 11,
        c if c.is_ascii() && !c.is_ascii_alphanumeric() => c.into(),
        _ => return Err(ESCAPE),
    };
    let rest_of = chars.map(char::len_utf8).sum::<usize>();
    Ok((value, &rest[rest.len() - rest_of..]))
}

fn take_while(
    chars: &mut Peekable<Chars<'_>>,
    most: usize,
    accepts: impl Fn(char) -> bool,
) -> String {
    let mut taken = String::new();
    while taken.len() < most
        && let Some(c) = chars.next_if(|c| accepts(*c))
    {
        taken.push(c);
    }
    taken
}

/// `patterns.json` has what `regexp.Compile` of Go 1.26 says.
#[test]
fn what_go_does_not_compile_is_refused() {
    let table: serde_json::Value =
        serde_json::from_str(include_str!("patterns.json")).expect("it is JSON");
    for (of, is_refused) in [("refused", true), ("accepted", false)] {
        for pattern in table[of].as_array().expect("a list") {
            let pattern = pattern.as_str().expect("a text");
            assert_eq!(find_regex_fault(pattern).is_some(), is_refused, "{pattern}");
        }
    }
}

#[test]
fn the_first_fault_is_reported() {
    for (pattern, reason) in [
        ("a)", "it has an unexpected `)`"),
        ("(a", "a `)` is missing"),
        ("*a", "there is nothing to repeat"),
        ("a++", "a repetition is repeated, as in `a**` or `a++`"),
        ("a{2,1}", "a repetition is above 1000, or its maximum is below its minimum"),
        ("(a{100}){100}", "nested repetitions exceed 1000"),
        ("(?<=a)b", "it looks behind with `(?<…`, or the name of a group is malformed"),
        ("[a", "a `]` is missing"),
        ("[[:any:]]", "it has an unknown class `[:…:]`"),
        ("[b-a]", "it has a range whose end is before its start"),
        (
            r"(a)\1",
            r"it has an escape that Go does not support, such as the back reference `\1`, or `\Z`",
        ),
        (r"\p{Nope", r"it has an unknown property `\p`"),
        (r"a\", r"it ends with `\`"),
    ] {
        assert_eq!(find_regex_fault(pattern), Some(reason), "{pattern}");
    }
}
