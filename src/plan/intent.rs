//! What a plan intends for one file.

use super::{Change, Changes, fragment, fragment::Fragment, ours};
use crate::model::{self, ProjectPath};

#[derive(Debug)]
pub enum Intent {
    /// Written once, and the user's from then on.
    Scaffold(String),
    /// Written if there is no such file.
    Offer(String),
    /// The user's file: missing lines are added.
    Lines(String),
    /// A generated file, replaced on every run of the command `by`. `edit` says where changes belong.
    Generate { text: String, edit: String, by: &'static str },
    /// The user's file: each fragment is inserted above its marker, once.
    /// `seed` is the initial text if there is no file.
    Insert { seed: Option<String>, fragments: Vec<Fragment>, removals: Vec<String> },
    /// The user's file, which is deleted. A file with none of the `known` texts was edited.
    Delete { known: Vec<String> },
    /// The user's file, which the command has read as `before` and edited.
    Edit { before: String, after: String },
}

impl Intent {
    /// Adds the change of a file with the text `before`, or the reason why it must not be changed.
    pub fn meet(
        &self,
        path: &ProjectPath,
        before: Option<String>,
        force: bool,
        changes: &mut Changes,
    ) {
        if let (Self::Insert { .. } | Self::Lines(_) | Self::Edit { .. }, Some(text)) =
            (self, &before)
            && let Some(conflict) = model::merge_conflict(path, text)
        {
            return changes.problem(conflict);
        }
        let after = match self {
            Self::Edit { before: read, after } => {
                if before.as_ref() != Some(read) {
                    return changes.changed(path);
                }
                after.clone()
            }
            Self::Scaffold(text) => match &before {
                Some(before) if *before != with_ends_of(before, text) => {
                    return changes.theirs(path);
                }
                Some(before) => before.clone(),
                None => text.clone(),
            },
            Self::Offer(text) => match &before {
                Some(_) => return,
                None => text.clone(),
            },
            Self::Lines(text) => fragment::lacking(before.as_deref().unwrap_or(""), text),
            Self::Generate { text, edit, by } => {
                let signed = ours::signed(path, text, edit, by);
                match &before {
                    None => signed,
                    Some(before) => match ours::state(path, before, by) {
                        // git's first marker may be above our line.
                        ours::State::Theirs if ours::is_in_conflict(path, before) => {
                            if !force {
                                changes.edited(path, before, edit);
                            }
                            with_ends_of(before, &signed)
                        }
                        ours::State::Theirs => return changes.theirs(path),
                        ours::State::Another { by } => return changes.another(path, &by),
                        ours::State::Edited if !force => {
                            changes.edited(path, before, edit);
                            with_ends_of(before, &signed)
                        }
                        // It is signed anew when there is something else to change.
                        ours::State::Older if ours::same(before, &signed) => before.clone(),
                        _ => with_ends_of(before, &signed),
                    },
                }
            }
            Self::Delete { known } => {
                let Some(before) = before else { return };
                if !force && !known.iter().any(|it| with_ends_of(&before, it) == before) {
                    changes.kept(path);
                }
                return changes.delete(path.clone(), before);
            }
            Self::Insert { seed, fragments, removals } => {
                let Some(mut text) = before.clone().or_else(|| seed.clone()) else {
                    return changes.missing(path);
                };
                for line in removals {
                    text = fragment::without(&text, line);
                }
                for fragment in fragments {
                    match fragment.put(path, &text) {
                        Ok(after) => text = after,
                        Err(problem) => return changes.problem(problem),
                    }
                }
                text
            }
        };
        changes.push(Change { path: path.clone(), before, after: Some(after) });
    }
}

/// A text with the line endings of the file that it replaces.
fn with_ends_of(before: &str, text: &str) -> String {
    match before.split_once('\n') {
        Some((first, _)) if first.ends_with('\r') => text.replace('\n', "\r\n"),
        _ => text.to_owned(),
    }
}
