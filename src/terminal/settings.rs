//! The flags that every command accepts for its output.

use std::sync::{Mutex, OnceLock};

/// In which format errors, warnings and notes are printed
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum MessageFormat {
    /// With source lines, for people
    #[default]
    Human,
    /// One line each: `path:line:column: error: message`
    Short,
    /// One JSON object a line
    Json,
    /// Workflow commands, which GitHub shows as annotations
    Github,
}

/// How a command prints its messages.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct Settings {
    /// Format of errors and warnings on stderr
    #[arg(
        long = "message-format",
        global = true,
        value_name = "FORMAT",
        default_value = "human",
        hide_default_value = true,
        hide_possible_values = true,
        help_heading = "Common options",
        help = "Format of errors and warnings: human, short, json or github [default: human]"
    )]
    pub(super) format: MessageFormat,
    /// List every file and every warning, even if the list is long
    #[arg(
        long = "verbose",
        short = 'v',
        global = true,
        conflicts_with = "is_quiet",
        help_heading = "Common options"
    )]
    pub(super) is_verbose: bool,
    /// Print results, warnings and errors only
    #[arg(long = "quiet", short = 'q', global = true, help_heading = "Common options")]
    pub(super) is_quiet: bool,
    /// Fail if there are warnings, before a file is written or a cluster is changed
    #[arg(long = "deny-warnings", global = true, help_heading = "Common options")]
    pub(super) denies_warnings: bool,
}

static SETTINGS: OnceLock<Settings> = OnceLock::new();

impl Settings {
    /// Returns the format that the arguments name, for the errors of those that do not parse.
    pub fn from_arguments(arguments: &[String]) -> Self {
        let mut arguments = arguments.iter().take_while(|argument| *argument != "--");
        let mut value = None;
        while let Some(it) = arguments.next() {
            match it.strip_prefix("--message-format") {
                Some("") => value = arguments.next().map(String::as_str),
                Some(rest) => value = rest.strip_prefix('=').or(value),
                None => {}
            }
        }
        let parse = |rest: &str| clap::ValueEnum::from_str(rest, false).ok();
        Self { format: value.and_then(parse).unwrap_or_default(), ..Self::default() }
    }

    /// Applies to all that is printed from now on.
    pub fn make_current(self) {
        let _ = SETTINGS.set(self);
    }
}

/// Returns whether lists are shown as a whole.
pub fn is_verbose() -> bool {
    current().is_verbose
}

/// The path of the directory that files are named from, below the repository's top: empty, or with a `/` at the end.
static BELOW: Mutex<String> = Mutex::new(String::new());

/// Returns whether messages are annotations, which name files from the top of the repository.
pub fn prints_annotations() -> bool {
    current().format == MessageFormat::Github
}

/// Names files in annotations from the repository's top: `folder` is the path of the directory that they are in.
pub fn set_annotation_root(folder: &str) {
    let mut below = BELOW.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    *below = if folder.is_empty() { String::new() } else { format!("{folder}/") };
}

/// Returns a file as annotations name it.
pub(super) fn annotated_path(file: &str) -> String {
    let below = BELOW.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    format!("{below}{file}")
}

pub(super) fn current() -> Settings {
    SETTINGS.get().copied().unwrap_or_default()
}

#[test]
fn the_format_is_found_before_the_arguments_parse() {
    let check = |line: &str, expected: MessageFormat| {
        let arguments: Vec<String> = line.split(' ').map(str::to_owned).collect();
        assert_eq!(Settings::from_arguments(&arguments).format, expected, "{line}");
    };
    check("manifests", MessageFormat::Human);
    check("--message-format json manifests", MessageFormat::Json);
    check("manifests --message-format=github --nope", MessageFormat::Github);
    check("manifests --message-format", MessageFormat::Human);
    check("manifests --message-format=nope", MessageFormat::Human);
    check("manifests --message-formats=json", MessageFormat::Human);
    check("manifests -- --message-format=json", MessageFormat::Human);
}
