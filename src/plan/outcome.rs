use diagnostics::Diagnostic;
use model::ProjectPath;

use super::{Change, portable::NotPortable};

/// The result of all plans for one file.
#[derive(Clone, Debug, Default)]
pub struct FileOutcome {
    /// The file as messages name it.
    file: String,
    /// None if the file stays as it is.
    pub change: Option<Change>,
    /// Why a file stays as it is, if the user is to know.
    pub stays: Option<String>,
    /// True if edits by hand would be lost.
    pub is_edited: bool,
    /// True if an edit by hand is lost, as `--force` is given.
    pub is_forced: bool,
    pub conflicts: Vec<Conflict>,
    pub warnings: Vec<Diagnostic>,
}

/// Why a file must not be changed.
#[derive(Clone, Debug)]
pub struct Conflict {
    pub problem: Diagnostic,
    pub yields_to_force: bool,
    /// True if something else is at the path or above it, which may block other paths, too.
    pub is_blocked: bool,
}

impl FileOutcome {
    pub fn new(path: &ProjectPath, shown_in: &str) -> Self {
        Self { file: format!("{shown_in}{path}"), ..Self::default() }
    }

    pub fn write_file(&mut self, path: &ProjectPath, before: Option<String>, after: String) {
        let after = Some(after);
        if before != after {
            self.change = Some(Change { path: path.clone(), before, after });
        }
    }

    pub fn delete_file(&mut self, path: &ProjectPath, before: String) {
        self.change = Some(Change { path: path.clone(), before: Some(before), after: None });
    }

    pub fn conflict_with_user_file(&mut self) {
        let hint = "move or delete it, or choose another name or directory";
        self.add_fixed_conflict("already exists and was not created by operator-rs", hint);
    }

    /// A file that may be generated, and was not.
    pub fn conflict_with_difference(&mut self, why: &str) {
        let what = format!("was not created by operator-rs, and differs: {why}");
        let hint = "`--diff --force` shows all changes; `--force` replaces the file";
        self.add_edit_conflict(self.diagnostic(&what, hint));
    }

    pub fn conflict_with_command(&mut self, by: &str) {
        let what = format!("`operator-rs {by}` generates this file");
        self.add_fixed_conflict(&what, "choose another name or directory");
    }

    pub fn conflict_with_change(&mut self) {
        self.add_fixed_conflict("it changed while the command ran", "run the command again");
    }

    pub fn conflict_with_missing_file(&mut self, path: &ProjectPath) {
        let hint = format!("restore {path} from version control: new lines are inserted there");
        self.add_fixed_conflict("it is missing", &hint);
    }

    /// The path, or one above it, is no file.
    pub fn conflict_with_non_file(&mut self, what: &str) {
        self.add_blocking_conflict(what, "move or delete it");
    }

    /// A path that other systems could not have.
    pub fn conflict_with_path(&mut self, refused: &NotPortable) {
        self.add_blocking_conflict(&refused.why, &refused.hint);
    }

    fn add_blocking_conflict(&mut self, what: &str, hint: &str) {
        let problem = self.diagnostic(what, hint);
        self.conflicts.push(Conflict { problem, yields_to_force: false, is_blocked: true });
    }

    /// A generated file that was edited by hand.
    pub fn conflict_with_edit(&mut self, text: &str, edit: &str) {
        let conflict = diagnostics::conflict::in_file(&self.file, text);
        let problem = match conflict {
            Some(it) => {
                Diagnostic { hints: vec!["pass `--force` to generate the file again".into()], ..it }
            }
            None => self.diagnostic(
                "this generated file was edited by hand",
                &format!("put the change in {edit}; `--force` replaces the edited file"),
            ),
        };
        self.add_edit_conflict(problem);
    }

    /// A file that is no longer generated and is to be deleted, and was edited by hand.
    pub fn conflict_with_edit_of_stale_file(&mut self, hint: &str) {
        let what = "this file is no longer generated, and it was edited by hand";
        self.add_edit_conflict(self.diagnostic(what, hint));
    }

    /// A user's file with edits that are stored nowhere else: the difference from the closest text that is known.
    pub fn conflict_with_uncommitted_edit(&mut self, text: &str, known: &[String]) {
        let hint = "commit these files, so that git keeps your edits; or run the command with `--force` to delete them anyway";
        let what = "was edited by hand, and the last commit does not have this text";
        let edits = known
            .iter()
            .map(|expected| changed_lines(expected, text))
            .min_by_key(Vec::len)
            .unwrap_or_default();
        let more = edits.len().saturating_sub(LONGEST);
        let mut lines: String =
            edits.iter().take(LONGEST).map(|edit| format!("\n    {edit}")).collect();
        if more > 0 {
            lines += &format!("\n    … and {}", diagnostics::count(more, "more line"));
        }
        let colon = if lines.is_empty() { "" } else { ":" };
        self.add_edit_conflict(self.diagnostic(&format!("{what}{colon}{lines}"), hint));
    }

    fn add_edit_conflict(&mut self, problem: Diagnostic) {
        self.is_edited = true;
        self.add_conflict(problem, true);
    }

    pub fn add_conflict(&mut self, problem: Diagnostic, yields_to_force: bool) {
        self.conflicts.push(Conflict { problem, yields_to_force, is_blocked: false });
    }

    fn add_fixed_conflict(&mut self, what: &str, hint: &str) {
        self.add_conflict(self.diagnostic(what, hint), false);
    }

    fn diagnostic(&self, what: &str, hint: &str) -> Diagnostic {
        Diagnostic::in_file(&*self.file, what).with_hint(hint)
    }
}

/// The number of lines of a difference that a message shows.
const LONGEST: usize = 20;

/// Returns the lines in which a file differs from a text that is known, as a unified diff without context.
fn changed_lines(known: &str, text: &str) -> Vec<String> {
    let text = text.replace("\r\n", "\n");
    let diff = similar::TextDiff::from_lines(known, &text);
    let diff = diff.unified_diff().context_radius(0).to_string();
    diff.lines()
        .filter(|line| !line.starts_with('\\'))
        .map(|line| line.trim_end().to_owned())
        .collect()
}
