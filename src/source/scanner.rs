//! The words of a marker's arguments, as Go's text scanner and `strconv.Unquote` see them.

use crate::project::ReadValue;

/// An offset and what is wrong there.
pub type Fault = (usize, String);

pub enum Token {
    Word,
    /// The text between its quotes.
    Quoted(String),
    Raw,
    Other(char),
}

/// Go's text scanner, as far as these arguments need it.
pub struct Scanner<'a> {
    pub text: &'a str,
    pub at: usize,
    /// The offset at which the last token starts.
    pub start: usize,
}

impl Scanner<'_> {
    pub fn peek_char(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    /// Skips spaces, and returns the next character.
    pub fn peek_word(&mut self) -> Option<char> {
        while let Some(c @ (' ' | '\t' | '\n' | '\r')) = self.peek_char() {
            self.at += c.len_utf8();
        }
        self.peek_char()
    }

    pub fn token_text(&self) -> &str {
        &self.text[self.start..self.at]
    }

    pub fn fault_at(&self, expected: &str) -> Fault {
        (self.start, format!("{expected} is expected, not `{}`", self.token_text()))
    }

    pub fn expect_char(&mut self, c: char, what: &str) -> Result<(), Fault> {
        match self.scan_token()? {
            Some(Token::Other(found)) if found == c => Ok(()),
            _ => Err(self.fault_at(what)),
        }
    }

    /// Returns the next token. Numbers matter only because they are not words.
    pub fn scan_token(&mut self) -> Result<Option<Token>, Fault> {
        let first = self.peek_word();
        self.start = self.at;
        let Some(first) = first else { return Ok(None) };
        self.at += first.len_utf8();
        let word = |c: char| c.is_alphanumeric() || c == '_';
        match first {
            '"' => {
                loop {
                    match self.peek_char() {
                        None | Some('\n') => {
                            return Err((self.start, "a quote is not closed".to_owned()));
                        }
                        Some('\\') => {
                            self.at += 1;
                            self.at += self.peek_char().map_or(0, char::len_utf8);
                        }
                        Some('"') => break,
                        Some(c) => self.at += c.len_utf8(),
                    }
                }
                self.at += 1;
                let (start, quoted) = (self.start, self.token_text());
                match unquote_go(&quoted[1..quoted.len() - 1]) {
                    Some(text) => Ok(Some(Token::Quoted(text))),
                    None => Err((start, format!("{quoted} has an unknown escape"))),
                }
            }
            '`' => match self.text[self.at..].find('`') {
                Some(end) => {
                    self.at += end + 1;
                    Ok(Some(Token::Raw))
                }
                None => Err((self.start, "a quote is not closed".to_owned())),
            },
            c if c.is_alphabetic() || c == '_' => {
                while let Some(c) = self.peek_char().filter(|c| word(*c)) {
                    self.at += c.len_utf8();
                }
                Ok(Some(Token::Word))
            }
            c => Ok(Some(Token::Other(c))),
        }
    }
}

impl ReadValue for Scanner<'_> {
    type Error = Fault;

    fn read_text(&mut self) -> Result<String, Fault> {
        match self.scan_token()? {
            Some(Token::Quoted(text)) => Ok(text),
            Some(Token::Raw) => {
                let quoted = self.token_text();
                Ok(quoted[1..quoted.len() - 1].replace('\r', ""))
            }
            _ => {
                let (start, mut end) = (self.start, self.at);
                while !matches!(self.peek_word(), None | Some(',' | ';' | '}')) {
                    self.scan_token()?;
                    end = self.at;
                }
                // controller-gen loses the last word before a space.
                if end < self.at {
                    let message = "a value without quotes is followed by a space".to_owned();
                    return Err((end, message));
                }
                Ok(self.text[start..end].to_owned())
            }
        }
    }

    /// `true` or `false`.
    fn read_boolean(&mut self) -> Result<bool, Fault> {
        match self.scan_token()? {
            Some(Token::Word) if self.token_text() == "true" => Ok(true),
            Some(Token::Word) if self.token_text() == "false" => Ok(false),
            _ => Err(self.fault_at("`true` or `false`")),
        }
    }

    /// Returns a whole number of 32 bits. What follows the digits is read as the next token, which must be a comma
    /// then.
    fn read_integer(&mut self) -> Result<i32, Fault> {
        let from = self.at;
        let sign = if self.peek_char() == Some('-') { "-" } else { "" };
        self.at += sign.len();
        self.peek_word();
        let digits = self.at;
        while self.peek_char().is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
        }
        self.start = from;
        let text = &self.text[digits..self.at];
        // Go reads a number with a zero at its start as an octal one, and then as a decimal one.
        let is_octal = text.len() < 2 || !text.starts_with('0') || !text.contains(['8', '9']);
        match format!("{sign}{text}").parse() {
            Ok(number) if is_octal => Ok(number),
            _ => {
                if self.at == digits {
                    self.at += self.peek_char().map_or(0, char::len_utf8);
                }
                Err(self.fault_at("a whole number"))
            }
        }
    }

    /// `a;b;c` or `{a, b, c}`.
    fn read_list(&mut self) -> Result<Vec<String>, Fault> {
        let mut res = Vec::new();
        if self.peek_word() == Some('{') {
            self.expect_char('{', "`{`")?;
            while !matches!(self.peek_word(), None | Some('}')) {
                res.push(self.read_text()?);
                if self.peek_word() == Some('}') {
                    break;
                }
                self.expect_char(',', "a comma")?;
            }
            self.expect_char('}', "`}`")?;
            return Ok(res);
        }
        while !matches!(self.peek_word(), None | Some(',' | '}')) {
            res.push(self.read_text()?);
            if matches!(self.peek_word(), None | Some(',' | '}')) {
                break;
            }
            self.expect_char(';', "`;`")?;
        }
        Ok(res)
    }
}

/// Returns the text between quotes, with Go's escapes.
fn unquote_go(text: &str) -> Option<String> {
    let mut output = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            output.push(c);
            continue;
        }
        output.push(match chars.next()? {
            'a' => '\u{7}',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\u{b}',
            '\\' => '\\',
            '"' => '"',
            // These are bytes, of which only those of ASCII are characters.
            'x' => parse_escape(&mut chars, 2, 16).filter(char::is_ascii)?,
            first @ '0'..='7' => {
                let octal = &mut std::iter::once(first).chain(chars.by_ref());
                parse_escape(octal, 3, 8).filter(char::is_ascii)?
            }
            'u' => parse_escape(&mut chars, 4, 16)?,
            'U' => parse_escape(&mut chars, 8, 16)?,
            _ => return None,
        });
    }
    Some(output)
}

/// Returns the character whose number these digits are.
fn parse_escape(chars: &mut impl Iterator<Item = char>, digits: usize, radix: u32) -> Option<char> {
    let mut number = 0_u32;
    for _ in 0..digits {
        number = number.checked_mul(radix)?.checked_add(chars.next()?.to_digit(radix)?)?;
    }
    char::from_u32(number)
}
