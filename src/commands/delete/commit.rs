//! The last commit: git can restore what is in it.

use crate::{
    disk::Root,
    plan::{self, LastCommit, Plan},
    process::{Answer, Git},
    terminal,
};
use diagnostics::Diagnostic;
use model::ProjectPath;

pub struct Commit {
    git: Option<Git>,
}

impl Commit {
    pub fn open_head(root: &Root) -> Self {
        Self { git: Git::new(root.resolved_path(), terminal::variable_names("GIT_")).ok() }
    }

    /// The text of a file, unless git does not answer.
    pub fn read_text(&mut self, path: &ProjectPath, plan: &mut Plan) -> Option<String> {
        let git = self.git.as_ref()?;
        match git.run(&["cat-file", "blob", &format!("HEAD:./{path}")]) {
            Ok(Answer::Done(bytes)) => Some(String::from_utf8_lossy(&bytes).into_owned()),
            Ok(_) => None,
            // It would not answer about the next file either.
            Err(error) => {
                self.git = None;
                plan.warn(Diagnostic::from(&error));
                None
            }
        }
    }

    /// The last commit's text of a file, to compare removed entries with. Git runs only if they were edited.
    pub fn of_entries(
        &mut self,
        path: &ProjectPath,
        text: &str,
        fragments: &[String],
        plan: &mut Plan,
    ) -> LastCommit {
        let removal = plan::remove_fragments(path, text, fragments, &LastCommit::Text(None));
        let is_edited =
            removal.is_ok_and(|removal| !removal.edited.is_empty() || !removal.warnings.is_empty());
        LastCommit::Text(if is_edited { self.read_text(path, plan) } else { None })
    }
}
