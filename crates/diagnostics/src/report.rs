//! An error as a value to show: each of its hints belongs to a message, so no format shows one without the other.

use super::{Diagnostic, Diagnostics, Hinted, find_error};

/// The parts of an error that are shown.
#[derive(Debug, PartialEq, Eq)]
pub struct Report {
    /// The diagnostics of the error, each with its location and hints.
    pub found: Vec<Diagnostic>,
    /// The consequence of the diagnostics; `None` if they say everything.
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
        let mut found = find_error::<Diagnostics>(error)
            .map_or(Vec::new(), |diagnostics| diagnostics.list.clone());
        let hints = collect_hints(error).into_iter().map(str::to_owned).collect();
        let mut messages = collect_messages(error).into_iter();
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

/// Converts an error into a single message with all of its hints.
impl From<&anyhow::Error> for Diagnostic {
    fn from(error: &anyhow::Error) -> Self {
        let Report { found, summary } = error.into();
        let mut whole = Self::from(format!("{error:#}"));
        whole.hints.extend(summary.into_iter().flat_map(|summary| summary.hints));
        whole.hints.extend(found.into_iter().flat_map(|diagnostic| diagnostic.hints));
        whole
    }
}

/// Collects the hints along an error's chain, outermost first. Those of [`Diagnostics`] are not among them, so that
/// only tests may look at these alone.
pub fn collect_hints(error: &anyhow::Error) -> Vec<&str> {
    match error.chain().find_map(|cause| cause.downcast_ref::<Hinted>()) {
        // Its chain continues after the error that it wraps, so that each message appears once: look inside for more.
        Some(hinted) => [vec![hinted.hint.as_str()], collect_hints(&hinted.error)].concat(),
        None => Vec::new(),
    }
}

/// Collects the messages along an error's chain, outermost first. Of [`Diagnostics`], it is the headline.
fn collect_messages(error: &anyhow::Error) -> Vec<String> {
    let found: Option<&Diagnostics> = find_error(error);
    let whole = found.map(ToString::to_string);
    let mut messages: Vec<String> = error.chain().map(ToString::to_string).collect();
    if let Some(message) = messages.iter_mut().find(|message| whole.as_ref() == Some(&**message)) {
        *message = found.map(|diagnostics| diagnostics.headline.clone()).unwrap_or_default();
    }
    messages.retain(|message| !message.is_empty());
    messages
}
