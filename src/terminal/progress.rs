//! Progress of what takes longer than a second: a spinner or a bar on a terminal, one line a step elsewhere.

use std::{
    io::{self, IsTerminal as _},
    sync::Mutex,
    time::Duration,
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{advise, settings, shown};

/// The bar that is on the screen.
static SHOWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// One step of a command; it leaves the screen when the value is dropped.
pub struct Step {
    bar: Option<ProgressBar>,
}

impl Step {
    /// Begins a step. Not on a terminal, this prints its line.
    pub fn begin(text: &str) -> Self {
        let settings = settings::get();
        let is_animated = io::stderr().is_terminal()
            && settings.format == settings::MessageFormat::Human
            && super::variable("TERM").ok().flatten().is_none_or(|it| it != "dumb");
        if settings.is_quiet || !is_animated {
            advise(&format!("{text}\n"));
            return Self { bar: None };
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        bar.set_style(spinner());
        bar.set_message(line(text));
        bar.enable_steady_tick(Duration::from_millis(120));
        if let Ok(mut shown) = SHOWN.lock() {
            *shown = Some(bar.clone());
        }
        Self { bar: Some(bar) }
    }

    /// The step has come to something else. Not on a terminal, this prints its line.
    pub fn update(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.set_message(line(text)),
            None => advise(&format!("{text}\n")),
        }
    }

    /// How many bytes of a download are there, of how many where that is known.
    pub fn bytes(&self, done: u64, all: Option<u64>) {
        let Some(bar) = &self.bar else { return };
        if let Some(all) = all.filter(|it| bar.length() != Some(*it)) {
            bar.set_length(all);
            bar.set_style(meter());
        }
        bar.set_position(done);
    }
}

impl Drop for Step {
    fn drop(&mut self) {
        let Some(bar) = self.bar.take() else { return };
        if let Ok(mut shown) = SHOWN.lock() {
            *shown = None;
        }
        bar.finish_and_clear();
    }
}

/// What the command waits for, until it prints something else.
static WAITING: Mutex<Option<Step>> = Mutex::new(None);

/// Shows what the command waits for. Not on a terminal, this prints its line.
pub fn waiting(text: &str) {
    let Ok(mut waiting) = WAITING.lock() else { return };
    match &*waiting {
        Some(step) => step.update(text),
        None => *waiting = Some(Step::begin(text)).filter(|it| it.bar.is_some()),
    }
}

/// Takes what was waited for off the screen.
pub fn clear() {
    let step = WAITING.lock().ok().and_then(|mut it| it.take());
    drop(step);
}

/// Writes something while no bar is on the screen.
pub fn suspend(write: impl FnOnce()) {
    let bar = SHOWN.lock().ok().and_then(|it| it.clone());
    match bar {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

/// A text as one line of the screen.
fn line(text: &str) -> String {
    shown(text.lines().next().unwrap_or_default()).into_owned()
}

fn spinner() -> ProgressStyle {
    style("{spinner} {wide_msg} {elapsed}")
}

fn meter() -> ProgressStyle {
    style("{spinner} {msg} [{wide_bar}] {bytes}/{total_bytes}")
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
}
