//! What a plan intends for one file.

use super::{
    Change, Changes,
    amendment::{self, Amendment},
    ours,
    overlay::lines_before,
};
use diagnostics::Diagnostic;
use go_data::yaml;
use model::ProjectPath;

#[derive(Clone, Debug)]
pub enum Intent {
    /// Written once, and the user's from then on.
    Scaffold(String),
    /// Written if there is no such file.
    Offer(String),
    /// The user's file: missing lines are added.
    Lines(String),
    /// A generated file, replaced on every run of the command `by`. `edit` says where changes belong.
    Generate { text: String, edit: String, by: &'static str },
    /// The user's file, with these changes. `seed` is the initial text if there is no file.
    Amend { seed: Option<String>, amendments: Vec<Amendment> },
    /// The user's file, which is deleted. A file with none of the `known` texts was edited.
    Delete { known: Vec<String> },
}

impl Intent {
    /// Adds the change of a file with the text `before`, or the reason why it must not be changed.
    pub fn apply(
        &self,
        path: &ProjectPath,
        before: Option<String>,
        force: bool,
        changes: &mut Changes,
    ) {
        if let (Self::Amend { .. } | Self::Lines(_), Some(text)) = (self, &before)
            && let Some(conflict) = diagnostics::conflict::in_file(path.as_str(), text)
        {
            return changes.problem(conflict);
        }
        let after = match self {
            Self::Scaffold(text) => match &before {
                Some(before) if *before != with_ends_of(before, text) => {
                    return changes.theirs(path);
                }
                Some(before) => before.clone(),
                None => text.clone(),
            },
            Self::Offer(text) => match &before {
                Some(before) if *before == with_ends_of(before, text) => return,
                Some(_) => return changes.stays(path, "it already exists"),
                None => text.clone(),
            },
            Self::Lines(text) => amendment::lacking(before.as_deref().unwrap_or(""), text),
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
                        ours::State::Edited if !force && is_same_data(path, before, text) => {
                            before.clone()
                        }
                        ours::State::Edited if !force => {
                            changes.edited(path, before, edit);
                            with_ends_of(before, &signed)
                        }
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
            Self::Amend { seed, amendments } => {
                let Some(text) = before.clone().or_else(|| seed.clone()) else {
                    return match amendments.iter().any(|it| matches!(it, Amendment::Replace { .. }))
                    {
                        true => changes.changed(path),
                        false => changes.missing(path),
                    };
                };
                match amended(path, text, amendments, force, changes) {
                    Some(text) => text,
                    None => return,
                }
            }
        };
        changes.push(Change { path: path.clone(), before, after: Some(after) });
    }
}

/// A user's file after all changes; none if one of them is a conflict.
fn amended(
    path: &ProjectPath,
    mut text: String,
    amendments: &[Amendment],
    force: bool,
    changes: &mut Changes,
) -> Option<String> {
    let before = text.clone();
    // Other entries may have been added or removed above it.
    let on_disk = |problem: Diagnostic, text: &str| {
        let move_to = |(line, column): (usize, usize)| {
            let line = *lines_before(&before, text).get(line.checked_sub(1)?)?;
            line.map(|it| (it, column))
        };
        Diagnostic { position: problem.position.and_then(move_to).or(problem.position), ..problem }
    };
    for it in amendments {
        let res = match it {
            Amendment::Add { marker, fragment } => amendment::added(path, &text, marker, fragment),
            Amendment::Remove { fragments, commit } => {
                amendment::removed(path, &text, fragments, commit).map(|it| {
                    changes.warnings.extend(it.warnings.into_iter().map(|it| on_disk(it, &text)));
                    let edited = it.edited.into_iter().filter(|_| !force);
                    edited.chain(it.stuck).for_each(|it| changes.problem(on_disk(it, &text)));
                    it.text
                })
            }
            Amendment::Replace { before, .. } if text != *before => {
                changes.changed(path);
                return None;
            }
            Amendment::Replace { after, .. } => Ok(after.clone()),
        };
        match res {
            Ok(after) => text = after,
            Err(problem) => {
                changes.problem(on_disk(*problem, &text));
                return None;
            }
        }
    }
    Some(text)
}

/// Whether two texts of a YAML file are one to every reader: a formatter may have changed the one.
fn is_same_data(path: &ProjectPath, one: &str, other: &str) -> bool {
    let read = |text| yaml::documents(text, yaml::Dialect::Kubernetes).ok();
    path.extension() == "yaml" && read(one).is_some_and(|it| Some(it) == read(other))
}

/// A text with the line endings of the file that it replaces.
fn with_ends_of(before: &str, text: &str) -> String {
    match before.split_once('\n') {
        Some((first, _)) if first.ends_with('\r') => text.replace('\n', "\r\n"),
        _ => text.to_owned(),
    }
}
