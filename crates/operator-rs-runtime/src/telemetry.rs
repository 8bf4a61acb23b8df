//! The log, as text for people or as JSON for machines, with levels that suit an operator.

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

/// The levels that are logged without `RUST_LOG`. (kube's logs of failed requests are off: they are in Rust's Debug
/// format, and the caller logs the error, too.)
const LEVELS: &str = "info,kube_client::client=off,kube_client::client::tls=warn,kube_runtime=off";

/// Starts the log, on stderr if stdout is for something else. `RUST_LOG` selects its levels, e.g.
/// `RUST_LOG=info,operator=debug`.
pub fn init(format: LogFormat, to_stderr: bool) {
    let (filter, warning) = parse_levels(std::env::var("RUST_LOG").ok().as_deref());
    let writer = if to_stderr { BoxMakeWriter::new(std::io::stderr) } else { BoxMakeWriter::new(std::io::stdout) };
    let layer = match format {
        LogFormat::Text => fmt::layer().with_writer(writer).boxed(),
        LogFormat::Json => fmt::layer().json().flatten_event(true).with_writer(writer).boxed(),
    };
    // If the program has already set up its own log, it keeps it.
    let _ = tracing_subscriber::registry().with(filter).with(layer).try_init();
    if let Some(warning) = warning {
        tracing::warn!("{warning}");
    }
}

/// Starts the log in a test. Cargo prints it if the test fails.
pub fn capture_log() {
    let (filter, _) = parse_levels(std::env::var("RUST_LOG").ok().as_deref());
    let layer = fmt::layer().with_test_writer();
    let _ = tracing_subscriber::registry().with(filter).with(layer).try_init();
}

/// Parses the value of `RUST_LOG`. If it is invalid, returns the default levels and a warning.
fn parse_levels(wanted: Option<&str>) -> (Targets, Option<String>) {
    let default = || LEVELS.parse().expect("a valid filter");
    match wanted.filter(|wanted| !wanted.is_empty()).map(|wanted| (wanted, wanted.parse::<Targets>())) {
        None => (default(), None),
        Some((_, Ok(levels))) => (levels, None),
        Some((wanted, Err(error))) => {
            (default(), Some(format!("RUST_LOG is `{wanted}`, which cannot be parsed ({error}); using `{LEVELS}`")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_that_cannot_be_parsed_are_told_and_the_default_is_used() {
        let (default, warning) = parse_levels(None);
        assert_eq!(warning, None);
        let (used, warning) = parse_levels(Some("info,operator=loud"));
        assert_eq!(used, default);
        assert!(warning.unwrap().contains("`info,operator=loud`"));
        assert_ne!(parse_levels(Some("debug")).0, default);
    }
}
