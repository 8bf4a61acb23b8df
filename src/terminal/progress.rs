//! Progress of what takes longer than a second: a spinner or a bar on a terminal, one line a step elsewhere.

use std::{
    io::{self, IsTerminal as _},
    sync::Mutex,
    time::Duration,
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{escape_controls, print_advice, settings};

/// The bar that is on the screen.
static SHOWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// One step of a command; it leaves the screen when the value is dropped.
pub struct Step {
    bar: Option<ProgressBar>,
}

impl Step {
    /// Begins a step. Not on a terminal, this prints its line.
    pub fn begin(text: &str) -> Self {
        let settings = settings::current();
        let is_animated = io::stderr().is_terminal()
            && settings.format == settings::MessageFormat::Human
            && super::variable("TERM").ok().flatten().is_none_or(|variable| variable != "dumb");
        if settings.is_quiet || !is_animated {
            print_advice(&format!("{text}\n"));
            return Self { bar: None };
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        bar.set_style(spinner_style());
        bar.set_message(one_line(text));
        bar.enable_steady_tick(Duration::from_millis(120));
        if let Ok(mut shown) = SHOWN.lock() {
            *shown = Some(bar.clone());
        }
        Self { bar: Some(bar) }
    }

    /// The step has come to something else. Not on a terminal, this prints its line.
    pub fn update(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.set_message(one_line(text)),
            None => print_advice(&format!("{text}\n")),
        }
    }

    /// Shows how many bytes of a download are complete, and the total if it is known.
    pub fn update_bytes(&self, done: u64, all: Option<u64>) {
        let Some(bar) = &self.bar else { return };
        if let Some(all) = all.filter(|length| bar.length() != Some(*length)) {
            bar.set_length(all);
            bar.set_style(meter_style());
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

/// The step that the command waits for, until it prints something else.
static WAITING: Mutex<Option<Step>> = Mutex::new(None);

/// Shows what the command is waiting for. Not on a terminal, this prints its line.
pub fn show_waiting(text: &str) {
    let Ok(mut waiting) = WAITING.lock() else { return };
    match &*waiting {
        Some(step) => step.update(text),
        None => *waiting = Some(Step::begin(text)).filter(|step| step.bar.is_some()),
    }
}

/// Takes what was waited for off the screen.
pub fn clear_waiting() {
    let step = WAITING.lock().ok().and_then(|mut guard| guard.take());
    drop(step);
}

/// Writes something while no bar is on the screen.
pub fn without_bar(write: impl FnOnce()) {
    let bar = SHOWN.lock().ok().and_then(|guard| guard.clone());
    match bar {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

/// Returns a text as one line of the screen.
fn one_line(text: &str) -> String {
    escape_controls(text.lines().next().unwrap_or_default()).into_owned()
}

fn spinner_style() -> ProgressStyle {
    style_of("{spinner} {wide_msg} {elapsed}")
}

fn meter_style() -> ProgressStyle {
    style_of("{spinner} {msg} [{wide_bar}] {bytes}/{total_bytes}")
}

fn style_of(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
}
