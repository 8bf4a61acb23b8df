//! Logs, as text for people or as JSON for machines, with levels that suit an operator.

use tracing_subscriber::{
    filter::Targets,
    fmt::{self, writer::BoxMakeWriter},
    prelude::*,
};

/// The form of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "flags", derive(clap::ValueEnum))]
pub enum LogFormat {
    /// Lines for people.
    Text,
    /// One JSON object a line.
    Json,
}

/// The levels that are logged without `RUST_LOG`. (kube logs failed requests in Rust's Debug; who made
/// them logs them, too.)
const LEVELS: &str = "info,kube_client::client=off,kube_client::client::tls=warn,kube_runtime=off";

/// Starts the log, on stderr if stdout is for something else. `RUST_LOG` selects its levels, e.g. `RUST_LOG=info,operator=debug`.
pub fn init(format: LogFormat, to_stderr: bool) {
    let (filter, warning) = levels(std::env::var("RUST_LOG").ok().as_deref());
    let writer = if to_stderr { BoxMakeWriter::new(std::io::stderr) } else { BoxMakeWriter::new(std::io::stdout) };
    let layer = match format {
        LogFormat::Text => fmt::layer().with_writer(writer).boxed(),
        LogFormat::Json => fmt::layer().json().flatten_event(true).with_writer(writer).boxed(),
    };
    // A program that has set up a log of its own keeps it.
    let _ = tracing_subscriber::registry().with(filter).with(layer).try_init();
    if let Some(warning) = warning {
        tracing::warn!("{warning}");
    }
}

/// Starts the log in a test. Cargo prints it if the test fails.
pub fn capture_log() {
    let (filter, _) = levels(std::env::var("RUST_LOG").ok().as_deref());
    let layer = fmt::layer().with_test_writer();
    let _ = tracing_subscriber::registry().with(filter).with(layer).try_init();
}

fn levels(wanted: Option<&str>) -> (Targets, Option<String>) {
    let default = || LEVELS.parse().expect("a valid filter");
    match wanted.filter(|it| !it.is_empty()).map(|it| (it, it.parse::<Targets>())) {
        None => (default(), None),
        Some((_, Ok(levels))) => (levels, None),
        Some((text, Err(error))) => {
            (default(), Some(format!("RUST_LOG is `{text}`, which cannot be parsed ({error}); using `{LEVELS}`")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_that_cannot_be_parsed_are_told_and_the_default_is_used() {
        let (default, warning) = levels(None);
        assert_eq!(warning, None);
        let (used, warning) = levels(Some("info,operator=loud"));
        assert_eq!(used, default);
        assert!(warning.unwrap().contains("`info,operator=loud`"));
        assert_ne!(levels(Some("debug")).0, default);
    }
}
