//! The command that compares files of CRDs in place of source that cannot be read.

use std::iter;

use super::Args;
use crate::{
    app::crds::crd_states::{StateName, UnreadParts},
    terminal,
};

/// The states that one side of the comparison could be.
struct ComparedSide {
    /// The states as the command line names them; empty for the working tree, which has no name.
    states: Vec<String>,
    is_source: bool,
}

const FILE: &str = "FILE";

impl Args {
    /// Adds the hint that names the command to the first revision that could not be read.
    pub(super) fn add_file_hint(
        &self,
        names: [&StateName; 2],
        unread: &mut [Option<UnreadParts>; 2],
    ) {
        let hint = self.file_hint(names, unread);
        let first = unread.iter_mut().flatten().find(|unread| unread.states_instead.is_some());
        first.into_iter().for_each(|unread| unread.hints.extend(hint.clone()));
    }

    fn file_hint(
        &self,
        names: [&StateName; 2],
        unread: &[Option<UnreadParts>; 2],
    ) -> Option<String> {
        let instead = unread.each_ref().map(|unread| unread.as_ref()?.states_instead.as_ref());
        let is_without = instead.iter().flatten().any(|states| states.is_empty());
        let given = [vec![self.from.clone()], self.to.iter().cloned().collect()];
        let side = |index: usize, given| match instead[index] {
            None => ComparedSide { states: given, is_source: names[index].is_source() },
            Some(_) if is_without => {
                ComparedSide { states: vec![FILE.to_owned()], is_source: false }
            }
            Some(states) => ComparedSide { states: states.clone(), is_source: false },
        };
        let [old, new] = given;
        let (old, new) = (side(0, old), side(1, new));
        let commands = match instead {
            [None, None] => return None,
            [Some(_), Some(_)] => vec![self.format_command(&old, 0, &new, 0)],
            [Some(_), None] => {
                (0..old.states.len()).map(|n| self.format_command(&old, n, &new, 0)).collect()
            }
            [None, Some(_)] => {
                (0..new.states.len()).map(|n| self.format_command(&old, 0, &new, n)).collect()
            }
        };
        const LISTED: usize = 3;
        let commands = commands[..commands.len().min(LISTED)].join(" or ");
        Some(if is_without {
            format!(
                "compare with a file of CRDs instead, e.g. the CRDs that this version installed: {commands}"
            )
        } else {
            format!("compare with CRD files that are committed there: {commands}")
        })
    }

    /// The command line that compares these states with the same flags.
    fn format_command(
        &self,
        old: &ComparedSide,
        old_index: usize,
        new: &ComparedSide,
        new_index: usize,
    ) -> String {
        let mut words = vec![old.states[old_index].clone()];
        if let Some(new) = new.states.get(new_index) {
            words.extend(["--to".to_owned(), new.clone()]);
        }
        if old.is_source || new.is_source {
            let flags = self.source_flags().into_iter();
            words.extend(flags.flat_map(|(flag, value)| iter::once(flag.to_owned()).chain(value)));
        }
        words.extend(self.address.words());
        let words: Vec<_> = words.iter().map(|word| terminal::shell_word(word)).collect();
        format!("`operator-rs crds diff {}`", words.join(" "))
    }
}
