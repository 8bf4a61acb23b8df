//! The words of a marker's arguments, as Go's text scanner and `strconv.Unquote` see them.

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
    /// Where the last token starts.
    pub start: usize,
}

impl Scanner<'_> {
    pub fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    /// Skips spaces, and returns the next character.
    pub fn peek_word(&mut self) -> Option<char> {
        while let Some(c @ (' ' | '\t' | '\n' | '\r')) = self.peek() {
            self.at += c.len_utf8();
        }
        self.peek()
    }

    pub fn token(&self) -> &str {
        &self.text[self.start..self.at]
    }

    pub fn fault(&self, expected: &str) -> Fault {
        (self.start, format!("{expected} is expected, not `{}`", self.token()))
    }

    pub fn expect(&mut self, c: char, what: &str) -> Result<(), Fault> {
        match self.scan()? {
            Some(Token::Other(found)) if found == c => Ok(()),
            _ => Err(self.fault(what)),
        }
    }

    /// The next token. Numbers matter only because they are not words.
    pub fn scan(&mut self) -> Result<Option<Token>, Fault> {
        let first = self.peek_word();
        self.start = self.at;
        let Some(first) = first else { return Ok(None) };
        self.at += first.len_utf8();
        let word = |c: char| c.is_alphanumeric() || c == '_';
        match first {
            '"' => {
                loop {
                    match self.peek() {
                        None | Some('\n') => {
                            return Err((self.start, "a quote is not closed".to_owned()));
                        }
                        Some('\\') => {
                            self.at += 1;
                            self.at += self.peek().map_or(0, char::len_utf8);
                        }
                        Some('"') => break,
                        Some(c) => self.at += c.len_utf8(),
                    }
                }
                self.at += 1;
                let (start, quoted) = (self.start, self.token());
                match unquote(&quoted[1..quoted.len() - 1]) {
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
                while let Some(c) = self.peek().filter(|c| word(*c)) {
                    self.at += c.len_utf8();
                }
                Ok(Some(Token::Word))
            }
            c => Ok(Some(Token::Other(c))),
        }
    }

    pub fn string(&mut self) -> Result<String, Fault> {
        match self.scan()? {
            Some(Token::Quoted(text)) => Ok(text),
            Some(Token::Raw) => {
                let quoted = self.token();
                Ok(quoted[1..quoted.len() - 1].replace('\r', ""))
            }
            _ => {
                let (start, mut end) = (self.start, self.at);
                while !matches!(self.peek_word(), None | Some(',' | ';' | '}')) {
                    self.scan()?;
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
    pub fn boolean(&mut self) -> Result<bool, Fault> {
        match self.scan()? {
            Some(Token::Word) if self.token() == "true" => Ok(true),
            Some(Token::Word) if self.token() == "false" => Ok(false),
            _ => Err(self.fault("`true` or `false`")),
        }
    }

    /// A whole number of 32 bits. What follows the digits is read as the next token, which must be a comma then.
    pub fn integer(&mut self) -> Result<i32, Fault> {
        let from = self.at;
        let sign = if self.peek() == Some('-') { "-" } else { "" };
        self.at += sign.len();
        self.peek_word();
        let digits = self.at;
        while self.peek().is_some_and(|it| it.is_ascii_digit()) {
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
                    self.at += self.peek().map_or(0, char::len_utf8);
                }
                Err(self.fault("a whole number"))
            }
        }
    }

    /// `a;b;c` or `{a, b, c}`.
    pub fn list(&mut self) -> Result<Vec<String>, Fault> {
        let mut res = Vec::new();
        if self.peek_word() == Some('{') {
            self.expect('{', "`{`")?;
            while !matches!(self.peek_word(), None | Some('}')) {
                res.push(self.string()?);
                if self.peek_word() == Some('}') {
                    break;
                }
                self.expect(',', "a comma")?;
            }
            self.expect('}', "`}`")?;
            return Ok(res);
        }
        while !matches!(self.peek_word(), None | Some(',' | '}')) {
            res.push(self.string()?);
            if matches!(self.peek_word(), None | Some(',' | '}')) {
                break;
            }
            self.expect(';', "`;`")?;
        }
        Ok(res)
    }
}

/// The text between quotes, with Go's escapes.
fn unquote(text: &str) -> Option<String> {
    let mut res = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            res.push(c);
            continue;
        }
        res.push(match chars.next()? {
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
            'x' => number(&mut chars, 2, 16).filter(char::is_ascii)?,
            first @ '0'..='7' => {
                let octal = &mut std::iter::once(first).chain(chars.by_ref());
                number(octal, 3, 8).filter(char::is_ascii)?
            }
            'u' => number(&mut chars, 4, 16)?,
            'U' => number(&mut chars, 8, 16)?,
            _ => return None,
        });
    }
    Some(res)
}

/// The character whose number these digits are.
fn number(chars: &mut impl Iterator<Item = char>, digits: usize, radix: u32) -> Option<char> {
    let mut number = 0_u32;
    for _ in 0..digits {
        number = number.checked_mul(radix)?.checked_add(chars.next()?.to_digit(radix)?)?;
    }
    char::from_u32(number)
}
