//! Text for people, and the one place that decides whether a terminal shows it in colour.

use std::{fmt, io};

use clap::builder::styling::{AnsiColor, Style};

use super::{escape_controls, escape_workflow_commands};
use diagnostics::Severity;

/// The role of a part of a text, which a terminal shows by its colour. Without colours, nothing is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    Plain,
    Heading,
    Good,
    Bad,
    Doubtful,
    Note,
    /// Secondary text, dimmed.
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
    pub fn add_part(&mut self, look: Look, text: impl Into<String>) {
        self.parts.push((look, text.into()));
    }

    /// Returns the text without its colours, as files have it.
    pub(super) fn to_plain(&self) -> String {
        self.parts.iter().map(|pair| pair.1.as_str()).collect()
    }

    /// Returns the text as a stream shows it. Nothing in it is obeyed but our own colours.
    pub(super) fn render(&self, has_colour: bool) -> String {
        let paint = |(look, text): &(Look, String)| {
            let style = look.style_of();
            let text = escape_controls(text);
            // A colour that crosses the end of a line would fill the rest of the row in some terminals.
            let lines = text.split_inclusive('\n').map(|line| {
                let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
                match line {
                    "" => end.to_owned(),
                    _ => format!("{style}{}{style:#}{end}", escape_workflow_commands(line)),
                }
            });
            lines.collect::<String>()
        };
        if has_colour {
            self.parts.iter().map(paint).collect()
        } else {
            escape_workflow_commands(&escape_controls(&self.to_plain())).into_owned()
        }
    }

    fn width(&self) -> usize {
        self.parts.iter().map(|pair| pair.1.chars().count()).sum()
    }
}

impl Look {
    fn style_of(self) -> Style {
        let of = |color: AnsiColor| Style::new().fg_color(Some(color.into()));
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
        Self { parts: all.into_iter().flat_map(|text| text.parts).collect() }
    }
}

impl fmt::Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.add_part(Look::Plain, text);
        Ok(())
    }
}

/// Formats rows so that their columns are aligned. Each row has its own lines.
pub fn format_table<const N: usize>(rows: &[[Text; N]]) -> Vec<Text> {
    let width = |at: usize| rows.iter().map(|row| row[at].width()).max().unwrap_or_default();
    let widths: [usize; N] = std::array::from_fn(width);
    let line = |row: &[Text; N]| {
        // Blanks stand only between cells, as editors and `git diff` point out those at the end of a line.
        let last = row.iter().rposition(|cell| cell.width() > 0).unwrap_or_default();
        let mut output = Text::default();
        for (at, cell) in row.iter().enumerate().take(last + 1) {
            output += cell.clone();
            let end = if at == last { 0 } else { widths[at] - cell.width() + 2 };
            output.add_part(Look::Plain, " ".repeat(end));
        }
        output.add_part(Look::Plain, "\n");
        output
    };
    rows.iter().map(line).collect()
}

/// Returns whether a stream is to have colours: `NO_COLOR`, `CLICOLOR` and `TERM=dumb` count.
pub(super) fn has_colour(stream: &impl anstream::stream::RawStream) -> bool {
    anstream::AutoStream::choice(stream) != anstream::ColorChoice::Never
}

/// Returns whether stdout is to have colours. A file or a pipe never has them, whatever `CLICOLOR_FORCE` says: programs
/// read it.
pub(super) fn stdout_has_colour() -> bool {
    super::stdout_is_terminal() && has_colour(&io::stdout())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_colours_are_obeyed() {
        let mut text = Text::new(Look::Bad, "a\u{1b}[2J\n\n::error::b");
        text.add_part(Look::Plain, "\u{202e}c\n");
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
        let lines: String = format_table(&rows).iter().map(Text::to_plain).collect();
        assert_eq!(lines, "é     b  c\nlong\na        z\n");
    }
}
