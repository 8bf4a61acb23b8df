//! Text for people, and the one place that decides whether a terminal shows it in colour.

use std::{fmt, io};

use clap::builder::styling::{AnsiColor, Style};

use super::{inert, shown};
use diagnostics::Severity;

/// What a part of a text is, which a terminal shows by its colour. A reader without colours misses nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    Plain,
    Heading,
    Good,
    Bad,
    Doubtful,
    Note,
    /// What few readers need.
    Aside,
}

/// A text whose parts have a look.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    parts: Vec<(Look, String)>,
}

impl Text {
    pub fn new(look: Look, text: impl Into<String>) -> Self {
        Self { parts: vec![(look, text.into())] }
    }

    /// Adds a part.
    pub fn add(&mut self, look: Look, text: impl Into<String>) {
        self.parts.push((look, text.into()));
    }

    /// The text without its colours, as files have it.
    pub(super) fn plain(&self) -> String {
        self.parts.iter().map(|it| it.1.as_str()).collect()
    }

    /// The text as a stream shows it. Nothing in it is obeyed but our own colours.
    pub(super) fn render(&self, has_colour: bool) -> String {
        let paint = |(look, text): &(Look, String)| {
            let style = look.style();
            let text = shown(text);
            // A colour that crosses the end of a line would fill the rest of the row in some terminals.
            let lines = text.split_inclusive('\n').map(|line| {
                let (line, end) = line.strip_suffix('\n').map_or((line, ""), |it| (it, "\n"));
                match line {
                    "" => end.to_owned(),
                    _ => format!("{style}{}{style:#}{end}", inert(line)),
                }
            });
            lines.collect::<String>()
        };
        match has_colour {
            true => self.parts.iter().map(paint).collect(),
            false => inert(&shown(&self.plain())).into_owned(),
        }
    }

    fn width(&self) -> usize {
        self.parts.iter().map(|it| it.1.chars().count()).sum()
    }
}

impl Look {
    fn style(self) -> Style {
        let of = |it: AnsiColor| Style::new().fg_color(Some(it.into()));
        match self {
            Self::Plain => Style::new(),
            Self::Heading => Style::new().bold(),
            Self::Good => of(AnsiColor::Green),
            Self::Bad => of(AnsiColor::Red),
            Self::Doubtful => of(AnsiColor::Yellow),
            Self::Note => of(AnsiColor::Cyan),
            Self::Aside => Style::new().dimmed(),
        }
    }
}

impl From<Severity> for Look {
    fn from(severity: Severity) -> Self {
        match severity {
            Severity::Error => Self::Bad,
            Severity::Warning => Self::Doubtful,
            Severity::Note => Self::Note,
        }
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self::new(Look::Plain, text)
    }
}

impl From<&String> for Text {
    fn from(text: &String) -> Self {
        text.as_str().into()
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self::new(Look::Plain, text)
    }
}

impl std::ops::AddAssign<Self> for Text {
    fn add_assign(&mut self, other: Self) {
        self.parts.extend(other.parts);
    }
}

impl FromIterator<Self> for Text {
    fn from_iter<T: IntoIterator<Item = Self>>(all: T) -> Self {
        Self { parts: all.into_iter().flat_map(|it| it.parts).collect() }
    }
}

impl fmt::Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.add(Look::Plain, text);
        Ok(())
    }
}

/// Rows whose columns begin below each other, each in lines of its own.
pub fn table<const N: usize>(rows: &[[Text; N]]) -> Vec<Text> {
    let width = |at: usize| rows.iter().map(|it| it[at].width()).max().unwrap_or_default();
    let widths: [usize; N] = std::array::from_fn(width);
    let line = |row: &[Text; N]| {
        // Blanks stand only between cells, as editors and `git diff` point out those at the end of a line.
        let last = row.iter().rposition(|it| 0 < it.width()).unwrap_or_default();
        let mut res = Text::default();
        for (at, cell) in row.iter().enumerate().take(last + 1) {
            res += cell.clone();
            let end = if at == last { 0 } else { widths[at] - cell.width() + 2 };
            res.add(Look::Plain, " ".repeat(end));
        }
        res.add(Look::Plain, "\n");
        res
    };
    rows.iter().map(line).collect()
}

/// Whether a stream is to have colours: `NO_COLOR`, `CLICOLOR` and `TERM=dumb` count.
pub(super) fn has_colour(stream: &impl anstream::stream::RawStream) -> bool {
    anstream::AutoStream::choice(stream) != anstream::ColorChoice::Never
}

/// Whether stdout is to have colours. A file or a pipe never has them, whatever `CLICOLOR_FORCE` says: programs read it.
pub(super) fn stdout_has_colour() -> bool {
    super::is_screen() && has_colour(&io::stdout())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_colours_are_obeyed() {
        let mut text = Text::new(Look::Bad, "a\u{1b}[2J\n\n::error::b");
        text.add(Look::Plain, "\u{202e}c\n");
        let escaped = "a\\u{1b}[2J\n\n\\u{3a}:error::b\\u{202e}c\n";
        assert_eq!(text.render(false), escaped);
        let coloured = text.render(true);
        assert!(coloured.starts_with("\u{1b}[31ma\\u{1b}[2J\u{1b}[0m\n\n"), "{coloured:?}");
        let without = coloured.replace("\u{1b}[31m", "").replace("\u{1b}[0m", "");
        assert_eq!(without, escaped);
    }

    #[test]
    fn columns_of_a_table_begin_below_each_other() {
        let row = |cells: [&str; 3]| cells.map(Text::from);
        let rows = [row(["é", "b", "c"]), row(["long", "", ""]), row(["a", "", "z"])];
        let lines: String = table(&rows).iter().map(Text::plain).collect();
        assert_eq!(lines, "é     b  c\nlong\na        z\n");
    }
}
