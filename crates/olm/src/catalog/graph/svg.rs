//! Graphs as pictures, with the lines that a terminal shows.

use std::fmt::Write as _;

use super::text::{Line, Mark};

const ROW: usize = 24;
const STEP: usize = 24;
/// The width of a character at this size; fonts differ by less than the margin.
const CHARACTER: usize = 9;
const MARGIN: usize = 16;

/// The picture brings its own background, so that it can be read on any page.
const HEAD: &str = "<style>
text { font: 14px monospace; fill: #1f2328; white-space: pre }
.title { font-weight: bold }
.head, .whole { fill: #1a7f37 }
.entry { fill: #57606a }
.lost, .fault { fill: #cf222e }
text.entry { fill: #1f2328 }
path { fill: none; stroke: #57606a; stroke-width: 2 }
</style>
";

/// A picture of these lines.
pub fn svg(lines: &[Line]) -> String {
    let (mut paths, mut rest) = (String::new(), String::new());
    let mut width = 0;
    for (at, line) in lines.iter().enumerate() {
        let (y, class) = (middle(at), class(line.mark));
        // Colour alone says nothing.
        let mark = if line.mark == Mark::Lost { "✗ " } else { "" };
        let name = &format!("{mark}{}", line.text.trim_start());
        let mut x = if line.text.starts_with(' ') { MARGIN + STEP } else { MARGIN };
        match (line.depth, line.mark) {
            (Some(depth), _) => {
                x = column(depth);
                paths += &upgrade(lines, at).unwrap_or_default();
                let _ = writeln!(rest, r#"<circle class="{class}" cx="{x}" cy="{y}" r="5"/>"#);
                x += MARGIN;
            }
            (None, Mark::Title) => {}
            (None, _) => x = column(0) - 5,
        }
        // Names begin at their baseline.
        let _ = writeln!(
            rest,
            r#"<text class="{class}" x="{x}" y="{}">{}</text>"#,
            y + 5,
            escaped(name)
        );
        width = width.max(x + CHARACTER * name.chars().count() + MARGIN);
    }
    let height = lines.len() * ROW + MARGIN;
    format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" aria-label="Upgrades of a catalog">
{HEAD}<rect width="100%" height="100%" rx="8" fill="#ffffff"/>
{paths}{rest}</svg>
"##
    )
}

/// The path from an entry to the one that it can be upgraded to, which is above it.
fn upgrade(lines: &[Line], at: usize) -> Option<String> {
    let depth = lines[at].depth.filter(|_| lines[at].is_joined)?;
    let to = lines[..at].iter().rposition(|it| it.depth == Some(depth.saturating_sub(1)))?;
    let (from, x, y) = (middle(at), column(depth.saturating_sub(1)), middle(to));
    Some(match depth {
        0 => format!("<path d=\"M{x} {y}V{from}\"/>\n"),
        _ => format!("<path d=\"M{x} {y}V{from}H{}\"/>\n", column(depth)),
    })
}

fn middle(row: usize) -> usize {
    (MARGIN + ROW) / 2 + row * ROW
}

fn column(depth: usize) -> usize {
    MARGIN + (depth + 2) * STEP
}

fn class(mark: Mark) -> &'static str {
    match mark {
        Mark::Title => "title",
        Mark::Head => "head",
        Mark::Entry => "entry",
        Mark::Lost => "lost",
        Mark::Whole => "whole",
        Mark::Fault => "fault",
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
