//! The intention of a plan for one file.

use super::{
    amendment::{self, Amendment},
    ours,
    outcome::Outcome,
    work_tree::lines_before,
};
use diagnostics::Diagnostic;
use go_data::yaml;
use model::ProjectPath;
use std::iter;

#[derive(Clone, Debug)]
pub enum Intent {
    /// Written once, and the user's from then on.
    Scaffold(String),
    /// Written if there is no such file.
    Offer(String),
    /// The user's file: missing lines are added.
    Lines(String),
    /// A generated file, replaced on every run of the command `by`. `edit` says where changes belong.
    /// `owner` is the package that it is for, where several projects may write. `over` says how a file differs that was not
    /// generated, and may be replaced as an edited one.
    Generate {
        text: String,
        edit: String,
        by: &'static str,
        owner: Option<String>,
        over: Option<String>,
    },
    /// The user's file, with these changes. `seed` is the initial text if there is no file.
    Amend { seed: Option<String>, amendments: Vec<Amendment> },
    /// The user's file, which is deleted. A file with none of the `known` texts was edited.
    Delete { known: Vec<String> },
}

impl Intent {
    /// The change of a file with the text `before`, or the reason why it must not be changed.
    pub fn apply(
        &self,
        path: &ProjectPath,
        before: Option<String>,
        force: bool,
        outcome: &mut Outcome,
    ) {
        if let (Self::Amend { .. } | Self::Lines(_), Some(text)) = (self, &before)
            && let Some(conflict) = diagnostics::conflict::in_file(path.as_str(), text)
        {
            return outcome.refuse(conflict, false);
        }
        let after = match self {
            Self::Scaffold(text) => match &before {
                Some(before) if *before != with_ends_of(before, text) => {
                    return outcome.theirs();
                }
                Some(before) => before.clone(),
                None => text.clone(),
            },
            Self::Offer(text) => match &before {
                Some(before) if *before == with_ends_of(before, text) => return,
                Some(_) => {
                    outcome.stays = Some("it already exists".to_owned());
                    return;
                }
                None => text.clone(),
            },
            Self::Lines(text) => amendment::lacking(before.as_deref().unwrap_or(""), text),
            Self::Generate { text, edit, by, owner, over } => {
                let signer = ours::by_and_owner(by, owner.as_deref());
                let signed = ours::signed(path, text, edit, &signer);
                let is_edited =
                    |before: &String| !matches!(ours::state(path, before, by), ours::State::Ours);
                outcome.is_forced = force && before.as_ref().is_some_and(is_edited);
                match &before {
                    None => signed,
                    Some(before) => match ours::state(path, before, by) {
                        // git's first marker may be above our line.
                        ours::State::Theirs if ours::is_in_conflict(path, before) => {
                            if !force {
                                outcome.edited(before, edit);
                            }
                            with_ends_of(before, &signed)
                        }
                        ours::State::Theirs => {
                            let Some(why) = over else { return outcome.theirs() };
                            if !force {
                                outcome.differs(why);
                            }
                            with_ends_of(before, &signed)
                        }
                        ours::State::Another { by } => return outcome.another(&by),
                        ours::State::Edited if !force && is_same_data(path, before, text) => {
                            before.clone()
                        }
                        ours::State::Edited if !force => {
                            outcome.edited(before, edit);
                            with_ends_of(before, &signed)
                        }
                        _ => with_ends_of(before, &signed),
                    },
                }
            }
            Self::Delete { known } => {
                let Some(before) = before else { return };
                let is_known = known.iter().any(|text| with_ends_of(&before, text) == before);
                if !is_known && !force {
                    outcome.not_committed(&before, known);
                }
                outcome.is_forced = !is_known && force;
                return outcome.delete(path, before);
            }
            Self::Amend { seed, amendments } => {
                let Some(text) = before.clone().or_else(|| seed.clone()) else {
                    return match amendments.iter().any(|it| matches!(it, Amendment::Replace { .. }))
                    {
                        true => outcome.changed(),
                        false => outcome.missing(path),
                    };
                };
                match amended(path, text, amendments, force, outcome) {
                    Some(text) => text,
                    None => return,
                }
            }
        };
        outcome.put(path, before, after);
    }
}

/// A user's file after all changes; none if one of them is a conflict.
fn amended(
    path: &ProjectPath,
    mut text: String,
    amendments: &[Amendment],
    force: bool,
    outcome: &mut Outcome,
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
    let mut rest = amendments;
    while let [it, following @ ..] = rest {
        rest = following;
        let res = match it {
            Amendment::Add { marker, fragment } => {
                let more = following.iter().map_while(|it| it.fragment_above(marker));
                let fragments: Vec<&str> = iter::once(&**fragment).chain(more).collect();
                match amendment::added_together(path, &text, marker, &fragments) {
                    Some(text) => {
                        rest = &following[fragments.len() - 1..];
                        Ok(text)
                    }
                    None => amendment::added(path, &text, marker, fragment),
                }
            }
            Amendment::Remove { fragments, commit } => {
                amendment::removed(path, &text, fragments, commit).map(|it| {
                    outcome.warnings.extend(it.warnings.into_iter().map(|it| on_disk(it, &text)));
                    let edited = it.edited.into_iter().filter(|_| !force);
                    edited.for_each(|it| outcome.refuse(on_disk(it, &text), true));
                    it.stuck.into_iter().for_each(|it| outcome.refuse(on_disk(it, &text), false));
                    it.text
                })
            }
            Amendment::Replace { before, .. } if text != *before => {
                outcome.changed();
                return None;
            }
            Amendment::Replace { after, .. } => Ok(after.clone()),
        };
        match res {
            Ok(after) => text = after,
            Err(problem) => {
                outcome.refuse(on_disk(*problem, &text), false);
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
