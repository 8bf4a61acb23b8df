use diagnostics::Diagnostic;
use model::ProjectPath;

use super::{Change, portable::Refused};

/// The result of all plans for one file.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The file as messages name it.
    file: String,
    /// None if the file stays as it is.
    pub change: Option<Change>,
    /// Why a file stays as it is, if the user is to know.
    pub stays: Option<String>,
    /// Whether edits by hand would be lost.
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
    /// Whether something else is at the path or above it, which may block other paths, too.
    pub is_blocked: bool,
}

impl Outcome {
    pub fn new(path: &ProjectPath, shown_in: &str) -> Self {
        Self { file: format!("{shown_in}{path}"), ..Self::default() }
    }

    pub fn put(&mut self, path: &ProjectPath, before: Option<String>, after: String) {
        let after = Some(after);
        if before != after {
            self.change = Some(Change { path: path.clone(), before, after });
        }
    }

    pub fn delete(&mut self, path: &ProjectPath, before: String) {
        self.change = Some(Change { path: path.clone(), before: Some(before), after: None });
    }

    pub fn theirs(&mut self) {
        let hint = "move or delete it, or choose another name or directory";
        self.conflict("already exists and was not created by operator-rs", hint);
    }

    /// A file that may be generated, and was not.
    pub fn differs(&mut self, why: &str) {
        let what = format!("was not created by operator-rs, and differs: {why}");
        let hint = "`--diff --force` shows all changes; `--force` replaces the file";
        self.loses_edit(self.named(&what, hint));
    }

    pub fn another(&mut self, by: &str) {
        let what = format!("`operator-rs {by}` generates this file");
        self.conflict(&what, "choose another name or directory");
    }

    pub fn changed(&mut self) {
        self.conflict("it changed while the command ran", "run the command again");
    }

    pub fn missing(&mut self, path: &ProjectPath) {
        let hint = format!("restore {path} from version control: new lines are inserted there");
        self.conflict("it is missing", &hint);
    }

    /// The path, or one above it, is no file.
    pub fn blocked(&mut self, what: &str) {
        self.block(what, "move or delete it");
    }

    /// A path that other systems could not have.
    pub fn refused(&mut self, refused: &Refused) {
        self.block(&refused.why, &refused.hint);
    }

    fn block(&mut self, what: &str, hint: &str) {
        let problem = self.named(what, hint);
        self.conflicts.push(Conflict { problem, yields_to_force: false, is_blocked: true });
    }

    /// A generated file that was edited by hand.
    pub fn edited(&mut self, text: &str, edit: &str) {
        let conflict = diagnostics::conflict::in_file(&self.file, text);
        let problem = match conflict {
            Some(it) => {
                Diagnostic { hints: vec!["pass `--force` to generate the file again".into()], ..it }
            }
            None => self.named(
                "this generated file was edited by hand",
                &format!("put the change in {edit}; `--force` replaces the edited file"),
            ),
        };
        self.loses_edit(problem);
    }

    /// A file that is no longer generated and is to be deleted, and was edited by hand.
    pub fn retired(&mut self, hint: &str) {
        let what = "this file is no longer generated, and it was edited by hand";
        self.loses_edit(self.named(what, hint));
    }

    /// A user's file with edits that are stored nowhere else: the difference from the closest text that is known.
    pub fn not_committed(&mut self, text: &str, known: &[String]) {
        let hint = "commit these files, so that git keeps your edits; or run the command with `--force` to delete them anyway";
        let what = "was edited by hand, and the last commit does not have this text";
        let edits = known.iter().map(|it| edits(it, text)).min_by_key(Vec::len).unwrap_or_default();
        let more = edits.len().saturating_sub(LONGEST);
        let mut lines: String =
            edits.iter().take(LONGEST).map(|it| format!("\n    {it}")).collect();
        if 0 < more {
            lines += &format!("\n    … and {}", diagnostics::count(more, "more line"));
        }
        let colon = if lines.is_empty() { "" } else { ":" };
        self.loses_edit(self.named(&format!("{what}{colon}{lines}"), hint));
    }

    fn loses_edit(&mut self, problem: Diagnostic) {
        self.is_edited = true;
        self.refuse(problem, true);
    }

    pub fn refuse(&mut self, problem: Diagnostic, yields_to_force: bool) {
        self.conflicts.push(Conflict { problem, yields_to_force, is_blocked: false });
    }

    fn conflict(&mut self, what: &str, hint: &str) {
        self.refuse(self.named(what, hint), false);
    }

    fn named(&self, what: &str, hint: &str) -> Diagnostic {
        Diagnostic::in_file(&*self.file, what).with_hint(hint)
    }
}

/// How many lines of a difference a message shows.
const LONGEST: usize = 20;

/// The lines in which a file differs from a text that is known, as a unified diff without context.
fn edits(known: &str, text: &str) -> Vec<String> {
    let text = text.replace("\r\n", "\n");
    let diff = similar::TextDiff::from_lines(known, &text);
    let diff = diff.unified_diff().context_radius(0).to_string();
    diff.lines().filter(|it| !it.starts_with('\\')).map(|it| it.trim_end().to_owned()).collect()
}
