//! An error as a value to show: each of its hints belongs to a message, so no format shows one without the other.

use super::{Diagnostic, Diagnostics, Hinted, find};

/// The parts of an error that are shown.
#[derive(Debug, PartialEq, Eq)]
pub struct Report {
    /// What is wrong, each with its own place and hints.
    pub found: Vec<Diagnostic>,
    /// Its consequence; `None` if the finding says everything.
    pub summary: Option<Summary>,
}

/// The messages along an error's chain, outermost first.
#[derive(Debug, PartialEq, Eq)]
pub struct Summary {
    pub message: String,
    pub causes: Vec<String>,
    pub hints: Vec<String>,
}

impl From<&anyhow::Error> for Report {
    fn from(error: &anyhow::Error) -> Self {
        let mut found = find::<Diagnostics>(error).map_or(Vec::new(), |it| it.list.clone());
        let hints = hints(error).into_iter().map(str::to_owned).collect();
        let mut messages = messages(error).into_iter();
        let summary = match (messages.next(), found.last_mut()) {
            (None, Some(last)) => {
                last.hints.splice(0..0, hints);
                None
            }
            (message, _) => Some(Summary {
                message: message.unwrap_or_default(),
                causes: messages.collect(),
                hints,
            }),
        };
        Self { found, summary }
    }
}

/// An error in the place of a message, with all of its hints.
impl From<&anyhow::Error> for Diagnostic {
    fn from(error: &anyhow::Error) -> Self {
        let Report { found, summary } = error.into();
        let mut res = Self::from(format!("{error:#}"));
        res.hints.extend(summary.into_iter().flat_map(|it| it.hints));
        res.hints.extend(found.into_iter().flat_map(|it| it.hints));
        res
    }
}

/// Every hint along an error's chain, outermost first. Those of [`Diagnostics`] are not among them, so that only tests
/// may look at these alone.
pub fn hints(error: &anyhow::Error) -> Vec<&str> {
    match error.chain().find_map(|it| it.downcast_ref::<Hinted>()) {
        // Its chain continues after the error that it wraps, so that each message appears once: look inside for more.
        Some(hinted) => [vec![hinted.hint.as_str()], hints(&hinted.error)].concat(),
        None => Vec::new(),
    }
}

/// The messages along an error's chain, outermost first. Of [`Diagnostics`], the headline.
fn messages(error: &anyhow::Error) -> Vec<String> {
    let found: Option<&Diagnostics> = find(error);
    let whole = found.map(ToString::to_string);
    let mut res: Vec<String> = error.chain().map(ToString::to_string).collect();
    if let Some(it) = res.iter_mut().find(|it| whole.as_ref() == Some(&**it)) {
        *it = found.map(|it| it.headline.clone()).unwrap_or_default();
    }
    res.retain(|it| !it.is_empty());
    res
}
