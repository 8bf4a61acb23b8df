//! The intention of a plan for one file.

use super::{
    amendment::{self, Amendment},
    line_numbers::lines_before,
    ours,
    outcome::FileOutcome,
};
use diagnostics::Diagnostic;
use go_data::yaml;
use model::ProjectPath;
use std::iter;

#[derive(Clone, Debug)]
pub enum Intent {
    /// Written once, and the user's from then on. Another file in its place is a conflict.
    Scaffold(String),
    /// Written once, and the user's from then on. Another file in its place is left as it is.
    CreateIfMissing(String),
    /// The user's file: missing lines are added.
    AppendMissingLines(String),
    /// A generated file, replaced on every run of the command `by`. `edit` says where changes belong.
    /// `owner` is the package that it is for, where several projects may write. `takeover_reason` says how a file differs that was not
    /// generated, and may be replaced as an edited one.
    Generate {
        text: String,
        edit: String,
        by: &'static str,
        owner: Option<String>,
        takeover_reason: Option<String>,
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
        outcome: &mut FileOutcome,
    ) {
        if let (Self::Amend { .. } | Self::AppendMissingLines(_), Some(text)) = (self, &before)
            && let Some(conflict) = diagnostics::conflict::in_file(path.as_str(), text)
        {
            return outcome.add_conflict(conflict, false);
        }
        let after = match self {
            Self::Scaffold(text) => match &before {
                Some(before) if *before != with_ends_of(before, text) => {
                    return outcome.conflict_with_user_file();
                }
                Some(before) => before.clone(),
                None => text.clone(),
            },
            Self::CreateIfMissing(text) => match &before {
                Some(before) if *before == with_ends_of(before, text) => return,
                Some(_) => {
                    outcome.stays = Some("it already exists".to_owned());
                    return;
                }
                None => text.clone(),
            },
            Self::AppendMissingLines(text) => {
                amendment::append_missing_lines(before.as_deref().unwrap_or(""), text)
            }
            Self::Generate { text, edit, by, owner, takeover_reason } => {
                let signer = ours::by_and_owner(by, owner.as_deref());
                let signed = ours::add_signature(path, text, edit, &signer);
                let is_edited = |before: &String| {
                    !matches!(ours::generated_state(path, before, by), ours::GeneratedState::Ours)
                };
                outcome.is_forced = force && before.as_ref().is_some_and(is_edited);
                match &before {
                    None => signed,
                    Some(before) => match ours::generated_state(path, before, by) {
                        // git's first marker may be above our line.
                        ours::GeneratedState::Theirs if ours::is_in_conflict(path, before) => {
                            if !force {
                                outcome.conflict_with_edit(before, edit);
                            }
                            with_ends_of(before, &signed)
                        }
                        ours::GeneratedState::Theirs => {
                            let Some(why) = takeover_reason else {
                                return outcome.conflict_with_user_file();
                            };
                            if !force {
                                outcome.conflict_with_difference(why);
                            }
                            with_ends_of(before, &signed)
                        }
                        ours::GeneratedState::Another { by } => {
                            return outcome.conflict_with_command(&by);
                        }
                        ours::GeneratedState::Edited
                            if !force && is_same_data(path, before, text) =>
                        {
                            before.clone()
                        }
                        ours::GeneratedState::Edited if !force => {
                            outcome.conflict_with_edit(before, edit);
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
                    outcome.conflict_with_uncommitted_edit(&before, known);
                }
                outcome.is_forced = !is_known && force;
                return outcome.delete_file(path, before);
            }
            Self::Amend { seed, amendments } => {
                let Some(text) = before.clone().or_else(|| seed.clone()) else {
                    return if amendments
                        .iter()
                        .any(|amendment| matches!(amendment, Amendment::Replace { .. }))
                    {
                        outcome.conflict_with_change()
                    } else {
                        outcome.conflict_with_missing_file(path)
                    };
                };
                match apply_amendments(path, text, amendments, force, outcome) {
                    Some(text) => text,
                    None => return,
                }
            }
        };
        outcome.write_file(path, before, after);
    }
}

/// Returns a user's file after all changes; none if one of them is a conflict.
fn apply_amendments(
    path: &ProjectPath,
    mut text: String,
    amendments: &[Amendment],
    force: bool,
    outcome: &mut FileOutcome,
) -> Option<String> {
    let before = text.clone();
    // Other entries may have been added or removed above it.
    let on_disk = |problem: Diagnostic, text: &str| {
        let move_to = |(line, column): (usize, usize)| {
            let line = *lines_before(&before, text).get(line.checked_sub(1)?)?;
            line.map(|line| (line, column))
        };
        Diagnostic { position: problem.position.and_then(move_to).or(problem.position), ..problem }
    };
    let mut rest = amendments;
    while let [it, following @ ..] = rest {
        rest = following;
        let res = match it {
            Amendment::Add { marker, fragment } => {
                let more = following.iter().map_while(|amendment| amendment.fragment_above(marker));
                let fragments: Vec<&str> = iter::once(&**fragment).chain(more).collect();
                match amendment::add_fragments(path, &text, marker, &fragments) {
                    Some(text) => {
                        rest = &following[fragments.len() - 1..];
                        Ok(text)
                    }
                    None => amendment::add_fragment(path, &text, marker, fragment),
                }
            }
            Amendment::Remove { fragments, commit } => {
                amendment::remove_fragments(path, &text, fragments, commit).map(|removed| {
                    outcome.warnings.extend(
                        removed.warnings.into_iter().map(|warning| on_disk(warning, &text)),
                    );
                    let edited = removed.edited.into_iter().filter(|_| !force);
                    edited.for_each(|diagnostic| {
                        outcome.add_conflict(on_disk(diagnostic, &text), true)
                    });
                    removed.stuck.into_iter().for_each(|diagnostic| {
                        outcome.add_conflict(on_disk(diagnostic, &text), false)
                    });
                    removed.text
                })
            }
            Amendment::Replace { before, .. } if text != *before => {
                outcome.conflict_with_change();
                return None;
            }
            Amendment::Replace { after, .. } => Ok(after.clone()),
        };
        match res {
            Ok(after) => text = after,
            Err(problem) => {
                outcome.add_conflict(on_disk(*problem, &text), false);
                return None;
            }
        }
    }
    Some(text)
}

/// Returns whether two texts of a YAML file are one to every reader: a formatter may have changed the one.
fn is_same_data(path: &ProjectPath, one: &str, other: &str) -> bool {
    let read = |text| yaml::parse_documents(text, yaml::Dialect::Kubernetes).ok();
    path.extension() == "yaml" && read(one).is_some_and(|it| Some(it) == read(other))
}

/// Returns a text with the line endings of the file that it replaces.
fn with_ends_of(before: &str, text: &str) -> String {
    match before.split_once('\n') {
        Some((first, _)) if first.ends_with('\r') => text.replace('\n', "\r\n"),
        _ => text.to_owned(),
    }
}
