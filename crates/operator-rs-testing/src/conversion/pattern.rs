//! Texts that match a pattern of a schema.

use super::random::Random;
use regex_syntax::hir::{Class, Hir, HirKind};

/// Some texts that match the pattern: none if it cannot be parsed, such as one with a look-ahead, which API servers
/// refuse, too.
pub fn matching_texts(pattern: &str) -> impl Iterator<Item = String> {
    let parsed = regex_syntax::parse(pattern).ok();
    (0..12).filter_map(move |seed| {
        let mut text = String::new();
        write_match(parsed.as_ref()?, &mut Random::new(seed), &mut text)?;
        Some(text)
    })
}

fn write_match(hir: &Hir, random: &mut Random, text: &mut String) -> Option<()> {
    match hir.kind() {
        // An anchor adds nothing, since the text is the whole match.
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => text.push_str(std::str::from_utf8(&literal.0).ok()?),
        HirKind::Class(class) => text.push(random_character(class, random)?),
        HirKind::Capture(capture) => write_match(&capture.sub, random, text)?,
        HirKind::Concat(parts) => parts.iter().try_for_each(|part| write_match(part, random, text))?,
        HirKind::Alternation(branches) => write_match(random.pick_item(branches)?, random, text)?,
        HirKind::Repetition(repetition) => {
            let most = repetition.max.unwrap_or(u32::MAX).min(repetition.min.saturating_add(3));
            let count = repetition.min as usize + random.number_below((most - repetition.min) as usize + 1);
            (0..count).try_for_each(|_| write_match(&repetition.sub, random, text))?;
        }
    }
    Some(())
}

/// A character of the class: one in ASCII that can be seen, if it has any.
fn random_character(class: &Class, random: &mut Random) -> Option<char> {
    let Class::Unicode(class) = class else { return None };
    let has = |it: char| class.ranges().iter().any(|range| (range.start()..=range.end()).contains(&it));
    let visible: Vec<char> = ('!'..='~').filter(|letter| has(*letter)).collect();
    random.pick_item(&visible).copied().or_else(|| Some(class.ranges().first()?.start()))
}
