//! Escapes text of CRDs in a Markdown page: it reads as its author meant it, and cannot change the rest of the page.
//!
//! A CRD may come from any source. Data is put into code, and a description keeps its Markdown without HTML, without
//! headings, and without links to anything but the web. `{` is escaped too: site generators expand `{{ … }}`.

use std::{collections::BTreeMap, ops::Range};

use pulldown_cmark::{CodeBlockKind, Event, LinkType, Options, Parser, Tag};

/// The maximum number of rounds of escaping: an escape may turn text into code, or code into text.
const ROUNDS: usize = 8;

/// Returns a code span with exactly this text, without line breaks.
pub fn code_span(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let ticks = "`".repeat(longest_run(&text, '`') + 1);
    let pad = if text.starts_with([' ', '`']) || text.ends_with([' ', '`']) || text.is_empty() {
        " "
    } else {
        ""
    };
    escape_includes(&format!("{ticks}{pad}{text}{pad}{ticks}"))
}

/// Returns a code block with exactly this text.
pub fn code_block(text: &str, language: &str) -> String {
    let fence = "`".repeat(longest_run(text, '`').max(2) + 1);
    escape_includes(&format!("{fence}{language}\n{}\n{fence}\n", text.trim_end()))
}

/// Returns one line of text, without any markup.
pub fn escape_text(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut escaped = String::new();
    for (at, c) in text.char_indices() {
        let is_markup = match c {
            '#' | '>' => at == 0,
            '_' => {
                !(escaped.ends_with(char::is_alphanumeric)
                    && text[at + 1..].starts_with(char::is_alphanumeric))
            }
            '&' => text[at + 1..].starts_with(|c: char| c == '#' || c.is_alphanumeric()),
            _ => "\\`*{[]<|~$".contains(c),
        };
        if is_markup {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// Returns the first sentence of a description, on one line, for use within a paragraph.
pub fn first_sentence(text: &str) -> String {
    let paragraph = text.trim().lines().take_while(|line| !line.trim().is_empty());
    let line = paragraph.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ");
    let line = line.trim_start_matches('#').trim_start();
    let is_end = |at: &usize| {
        let (before, after) = line.split_at(*at);
        let word = before.rsplit(' ').next().unwrap_or_default();
        // `e.g.` has a full stop in it, and so has a version.
        before.ends_with(['.', '!', '?'])
            && !word[..word.len() - 1].contains('.')
            && before.matches('`').count() % 2 == 0
            && !after[1..].starts_with(char::is_lowercase)
    };
    let end = line.match_indices(' ').map(|space| space.0).find(is_end).unwrap_or(line.len());
    // Escaped as what follows a word: here, a list or a quote cannot begin.
    let sentence = &line[..end];
    let escaped = sanitize_description(&format!("x {sentence}"));
    escaped.strip_prefix("x ").map_or_else(|| escape_text(sentence), str::to_owned)
}

/// Returns the paragraphs of a description, in a form that does not affect the text after an empty line.
pub fn sanitize_description(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut sanitized = text.trim_matches('\n').trim_end().to_owned();
    for _ in 0..ROUNDS {
        // Cells of a table end code that goes on without tables.
        let mut edits = find_edits(&sanitized, Options::empty());
        edits.extend(self::find_edits(
            &sanitized,
            Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH,
        ));
        if edits.is_empty() {
            return escape_includes(&sanitized);
        }
        for (at, edit) in edits.into_iter().rev() {
            sanitized.replace_range(at..at + edit.removed, &edit.added);
        }
    }
    code_block(&text, "text")
}

/// A change of a text.
struct Edit {
    removed: usize,
    added: String,
}

impl Edit {
    fn insertion(text: &str) -> Self {
        Self { removed: 0, added: text.to_owned() }
    }
}

/// Returns the changes that a description needs, by offset.
fn find_edits(text: &str, options: Options) -> BTreeMap<usize, Edit> {
    let mut edits = BTreeMap::new();
    let parser = Parser::new_ext(text, options);
    for (_, it) in parser.reference_definitions().iter() {
        if !is_of_web(&it.dest) {
            edits.insert(it.span.start, Edit::insertion("\\"));
        }
    }
    let mut kept: Vec<Range<usize>> = Vec::new();
    let mut fence = String::new();
    for (event, range) in parser.into_offset_iter() {
        match event {
            Event::Code(_) => kept.push(range),
            Event::Start(Tag::CodeBlock(kind)) => {
                if matches!(kind, CodeBlockKind::Fenced(_)) {
                    let c = text[range.clone()].chars().next().unwrap_or('`');
                    fence = text[range.clone()].chars().take_while(|next| *next == c).collect();
                }
                kept.push(range);
            }
            Event::Start(Tag::Heading { .. }) => edits.extend(flatten_heading(text, &range)),
            Event::Start(Tag::Link { link_type: LinkType::Autolink, dest_url, .. })
                if is_of_web(&dest_url) =>
            {
                kept.push(range);
            }
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. })
                if !is_of_web(&dest_url) && !text[range.clone()].starts_with('<') =>
            {
                let bracket = text[range.clone()].find('[').unwrap_or_default();
                edits.insert(range.start + bracket, Edit::insertion("\\"));
            }
            _ => {}
        }
    }
    let mut kept = kept.into_iter().peekable();
    for (at, c) in text.char_indices() {
        while kept.next_if(|range| range.end <= at).is_some() {}
        let is_kept = kept.peek().is_some_and(|range| range.contains(&at));
        let is_escaped =
            text[..at].bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1;
        if (c == '<' || c == '{') && !is_kept && !is_escaped {
            edits.insert(at, Edit::insertion("\\"));
        }
    }
    if !ends_paragraph(text, options) {
        edits.insert(text.len(), Edit::insertion(&format!("\n{fence}")));
    }
    edits
}

/// Turns a heading into a paragraph, since its level would not fit the page.
fn flatten_heading(text: &str, range: &Range<usize>) -> Vec<(usize, Edit)> {
    let source = text[range.clone()].trim_end();
    let end = range.start + source.len();
    if source.starts_with('#') {
        let title = source.trim_start_matches('#').trim_start();
        let marks = Edit { removed: source.len() - title.len(), added: "**".to_owned() };
        if title.is_empty() {
            return vec![(range.start, Edit { added: String::new(), ..marks })];
        }
        return vec![(range.start, marks), (end, Edit::insertion("**\n"))];
    }
    let underline = text[..end].rfind('\n').map_or(0, |newline| newline + 1);
    match text[underline..end].find(['-', '=']).map(|offset| underline + offset) {
        // An underline of dashes was meant to be a line between paragraphs.
        Some(mark) if text[mark..].starts_with('-') => vec![(underline, Edit::insertion("\n"))],
        Some(mark) => vec![(mark, Edit::insertion("\\"))],
        None => Vec::new(),
    }
}

/// Returns whether a paragraph after an empty line is separate, and no part of the text before it.
fn ends_paragraph(text: &str, options: Options) -> bool {
    let whole = format!("{text}\n\nx");
    let mut depth = 0_usize;
    let mut last = None;
    for (event, range) in Parser::new_ext(&whole, options).into_offset_iter() {
        match event {
            Event::Start(tag) => {
                if depth == 0 {
                    last = Some((matches!(tag, Tag::Paragraph), range));
                }
                depth += 1;
            }
            Event::End(_) => depth -= 1,
            _ => {}
        }
    }
    last == Some((true, whole.len() - 1..whole.len()))
}

fn is_of_web(url: &str) -> bool {
    ["https://", "http://", "mailto:"].iter().any(|scheme| url.starts_with(scheme))
}

/// Escapes the includes of mdBook: it reads files where `{{#include …}}` is, also in code; with a backslash in front,
/// it shows that text.
fn escape_includes(text: &str) -> String {
    text.replace("{{#", "\\{{#")
}

/// Returns the length of the longest run of a character.
fn longest_run(text: &str, c: char) -> usize {
    text.split(|other| other != c).map(str::len).max().unwrap_or_default()
}
