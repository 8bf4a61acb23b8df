//! Text of others in a Markdown page: it reads as its author meant it, and nothing of it reaches beyond its place.
//!
//! A CRD may come from anybody. What is data is put into code, and a description keeps its Markdown without HTML, without
//! headings, and without links to anything but the web. `{` is escaped too: site generators expand `{{ … }}`.

use std::{collections::BTreeMap, ops::Range};

use pulldown_cmark::{CodeBlockKind, Event, LinkType, Options, Parser, Tag};

/// Rounds of escaping: what is escaped may make code of what was none, and the other way around.
const ROUNDS: usize = 8;

/// A code span with exactly this text, without line breaks.
pub fn code(text: &str) -> String {
    let text: String = text.chars().map(|it| if it.is_control() { ' ' } else { it }).collect();
    let ticks = "`".repeat(longest_run(&text, '`') + 1);
    let pad = match text.starts_with([' ', '`']) || text.ends_with([' ', '`']) || text.is_empty() {
        true => " ",
        false => "",
    };
    guarded(&format!("{ticks}{pad}{text}{pad}{ticks}"))
}

/// A code block with exactly this text.
pub fn block(text: &str, language: &str) -> String {
    let fence = "`".repeat(longest_run(text, '`').max(2) + 1);
    guarded(&format!("{fence}{language}\n{}\n{fence}\n", text.trim_end()))
}

/// One line of text, without any markup.
pub fn plain(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut res = String::new();
    for (at, c) in text.char_indices() {
        let is_markup = match c {
            '#' | '>' => at == 0,
            '_' => {
                !(res.ends_with(char::is_alphanumeric)
                    && text[at + 1..].starts_with(char::is_alphanumeric))
            }
            '&' => text[at + 1..].starts_with(|it: char| it == '#' || it.is_alphanumeric()),
            _ => "\\`*{[]<|~$".contains(c),
        };
        if is_markup {
            res.push('\\');
        }
        res.push(c);
    }
    res
}

/// The first sentence of a description, on one line. It is for a place within a paragraph.
pub fn summary(text: &str) -> String {
    let paragraph = text.trim().lines().take_while(|it| !it.trim().is_empty());
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
    let end = line.match_indices(' ').map(|it| it.0).find(is_end).unwrap_or(line.len());
    // Escaped as what follows a word: here, a list or a quote cannot begin.
    let sentence = &line[..end];
    let escaped = description(&format!("x {sentence}"));
    escaped.strip_prefix("x ").map_or_else(|| plain(sentence), str::to_owned)
}

/// The paragraphs of a description. What follows it after an empty line is no part of it.
pub fn description(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut res = text.trim_matches('\n').trim_end().to_owned();
    for _ in 0..ROUNDS {
        // Cells of a table end code that goes on without tables.
        let mut edits = edits(&res, Options::empty());
        edits.extend(self::edits(&res, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH));
        if edits.is_empty() {
            return guarded(&res);
        }
        for (at, edit) in edits.into_iter().rev() {
            res.replace_range(at..at + edit.removed, &edit.added);
        }
    }
    block(&text, "text")
}

/// A change of a text.
struct Edit {
    removed: usize,
    added: String,
}

impl Edit {
    fn insert(text: &str) -> Self {
        Self { removed: 0, added: text.to_owned() }
    }
}

/// What is to be changed in a description, by place.
fn edits(text: &str, options: Options) -> BTreeMap<usize, Edit> {
    let mut res = BTreeMap::new();
    let parser = Parser::new_ext(text, options);
    for (_, it) in parser.reference_definitions().iter() {
        if !is_of_web(&it.dest) {
            res.insert(it.span.start, Edit::insert("\\"));
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
                    fence = text[range.clone()].chars().take_while(|it| *it == c).collect();
                }
                kept.push(range);
            }
            Event::Start(Tag::Heading { .. }) => res.extend(flat(text, &range)),
            Event::Start(Tag::Link { link_type: LinkType::Autolink, dest_url, .. })
                if is_of_web(&dest_url) =>
            {
                kept.push(range);
            }
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. })
                if !is_of_web(&dest_url) && !text[range.clone()].starts_with('<') =>
            {
                let bracket = text[range.clone()].find('[').unwrap_or_default();
                res.insert(range.start + bracket, Edit::insert("\\"));
            }
            _ => {}
        }
    }
    let mut kept = kept.into_iter().peekable();
    for (at, c) in text.char_indices() {
        while kept.next_if(|it| it.end <= at).is_some() {}
        let is_kept = kept.peek().is_some_and(|it| it.contains(&at));
        let is_escaped = text[..at].bytes().rev().take_while(|it| *it == b'\\').count() % 2 == 1;
        if (c == '<' || c == '{') && !is_kept && !is_escaped {
            res.insert(at, Edit::insert("\\"));
        }
    }
    if !ends(text, options) {
        res.insert(text.len(), Edit::insert(&format!("\n{fence}")));
    }
    res
}

/// A heading as a paragraph: its place in the page is not that of its author's text.
fn flat(text: &str, range: &Range<usize>) -> Vec<(usize, Edit)> {
    let source = text[range.clone()].trim_end();
    let end = range.start + source.len();
    if source.starts_with('#') {
        let title = source.trim_start_matches('#').trim_start();
        let marks = Edit { removed: source.len() - title.len(), added: "**".to_owned() };
        return match title.is_empty() {
            true => vec![(range.start, Edit { added: String::new(), ..marks })],
            false => vec![(range.start, marks), (end, Edit::insert("**\n"))],
        };
    }
    let underline = text[..end].rfind('\n').map_or(0, |it| it + 1);
    match text[underline..end].find(['-', '=']).map(|it| underline + it) {
        // Of dashes, it was meant to be a line between paragraphs.
        Some(mark) if text[mark..].starts_with('-') => vec![(underline, Edit::insert("\n"))],
        Some(mark) => vec![(mark, Edit::insert("\\"))],
        None => Vec::new(),
    }
}

/// Whether a paragraph after an empty line is one, and no part of what is before it.
fn ends(text: &str, options: Options) -> bool {
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
    ["https://", "http://", "mailto:"].iter().any(|it| url.starts_with(it))
}

/// mdBook reads files where `{{#include …}}` is, also in code; with a backslash in front, it shows that text.
fn guarded(text: &str) -> String {
    text.replace("{{#", "\\{{#")
}

/// Length of the longest run of a character.
fn longest_run(text: &str, c: char) -> usize {
    text.split(|it| it != c).map(str::len).max().unwrap_or_default()
}
