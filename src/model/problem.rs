//! Converts problems of the source code, YAML errors and merge conflicts into diagnostics.

use std::sync::Arc;

use kube_crd_source::{Problem, conflict, conflict_in_malformed};

use super::ProjectPath;
use crate::{
    hint::{self, Diagnostic, Lines},
    yaml,
};

impl From<Problem> for Diagnostic {
    fn from(it: Problem) -> Self {
        Self {
            message: it.message,
            file: Some(it.place.path.to_string()),
            position: Some((it.place.line, it.place.column)),
            source_line: it.source_line.map(Arc::from),
            field_paths: Some(it.field_path).into_iter().filter(|it| !it.is_empty()).collect(),
            hints: it.hint.into_iter().collect(),
            ..Self::default()
        }
    }
}

/// Adds the place in a file to an error of the YAML parser: that of a merge conflict, or of the error itself.
pub fn locate<'a>(file: &'a str, text: &'a str) -> impl Fn(anyhow::Error) -> anyhow::Error + 'a {
    move |error| match hint::find::<yaml::Fault>(&error) {
        Some(fault) => malformed(file, text, fault).into_error(),
        None => error.context(format!("cannot read {file}")),
    }
}

/// Why a YAML file cannot be read: a merge conflict, or the error with its place.
pub fn malformed(file: &str, text: &str, fault: &yaml::Fault) -> Diagnostic {
    let path = file.parse().ok();
    if let Some(conflict) = path.and_then(|it| conflict_in_malformed(&it, text)) {
        return conflict.into();
    }
    let mut res = Diagnostic::in_file(file, &fault.message);
    res.hints.extend(fault.hint.map(str::to_owned));
    match fault.mark {
        yaml::Mark { line: 0, .. } => res,
        yaml::Mark { line, column } => res.at(line, column).quote(&mut Lines::of(text)),
    }
}

/// The merge conflict in a file that is not parsed, if there is one.
pub fn merge_conflict(path: &ProjectPath, text: &str) -> Option<Diagnostic> {
    conflict(&path.clone().into(), text).map(|it| it.problem.into())
}
