//! Graphs as pictures, with the lines that a terminal shows.

use std::fmt::Write as _;

use super::text::{Line, Mark};

const ROW: usize = 24;
const STEP: usize = 24;
/// The width of a character at this size; fonts differ by less than the margin.
const CHARACTER: usize = 9;
const MARGIN: usize = 16;

const GREY: &str = "#57606a";
const BLACK: &str = "#1f2328";

/// Renders these lines as an SVG image.
pub fn render_svg(lines: &[Line]) -> String {
    let (mut paths, mut rest) = (String::new(), String::new());
    let mut width = 0;
    for (at, line) in lines.iter().enumerate() {
        let (y, colour) = (row_middle(at), mark_colour(line.mark));
        // Colour never carries meaning alone.
        let mark = if line.mark == Mark::Lost { "✗ " } else { "" };
        let name = &format!("{mark}{}", line.text.trim_start());
        let mut x = if line.text.starts_with(' ') { MARGIN + STEP } else { MARGIN };
        match (line.depth, line.mark) {
            (Some(depth), _) => {
                x = column_x(depth);
                paths += &upgrade_path(lines, at).unwrap_or_default();
                let _ = writeln!(rest, r#"<circle fill="{colour}" cx="{x}" cy="{y}" r="5"/>"#);
                x += MARGIN;
            }
            (None, Mark::Title) => {}
            (None, _) => x = column_x(0) - 5,
        }
        let colour = if line.mark == Mark::Entry { BLACK } else { colour };
        let weight = if line.mark == Mark::Title { "bold" } else { "normal" };
        let (baseline, name) = (y + 5, escape_xml(name));
        width = width.max(x + CHARACTER * name.chars().count() + MARGIN);
        let _ = writeln!(
            rest,
            r#"<text fill="{colour}" font-weight="{weight}" x="{x}" y="{baseline}">{name}</text>"#
        );
    }
    let height = lines.len() * ROW + MARGIN;
    // The background makes it readable on any page.
    format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" aria-label="Upgrades of a catalog" font-family="monospace" font-size="14">
<rect width="100%" height="100%" rx="8" fill="#ffffff"/>
<g fill="none" stroke="{GREY}" stroke-width="2">
{paths}</g>
{rest}</svg>
"##
    )
}

/// Returns the path from an entry to the one above it, to which it can be upgraded.
fn upgrade_path(lines: &[Line], at: usize) -> Option<String> {
    let depth = lines[at].depth.filter(|_| lines[at].is_joined)?;
    let to = lines[..at].iter().rposition(|line| line.depth == Some(depth.saturating_sub(1)))?;
    let (from, x, y) = (row_middle(at), column_x(depth.saturating_sub(1)), row_middle(to));
    Some(match depth {
        0 => format!("<path d=\"M{x} {y}V{from}\"/>\n"),
        _ => format!("<path d=\"M{x} {y}V{from}H{}\"/>\n", column_x(depth)),
    })
}

fn row_middle(row: usize) -> usize {
    (MARGIN + ROW) / 2 + row * ROW
}

fn column_x(depth: usize) -> usize {
    MARGIN + (depth + 2) * STEP
}

fn mark_colour(mark: Mark) -> &'static str {
    match mark {
        Mark::Title => BLACK,
        Mark::Head | Mark::Whole => "#1a7f37",
        Mark::Entry => GREY,
        Mark::Lost | Mark::Fault => "#cf222e",
    }
}

fn escape_xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
