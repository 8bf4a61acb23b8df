//! Commands that users of operator-sdk and kubebuilder type out of habit, and the commands to type here instead.
//!
//! `table` has the answers. Commands and flags that are the same here need none.

mod table;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use self::table::{COMMANDS, FLAGS};

/// A command of theirs that is not one of ours.
pub struct PeerCommand {
    /// The words that are typed.
    typed: &'static str,
    /// Our command that replaces it, if there is one.
    here: Option<&'static str>,
    hint: &'static str,
}

/// A flag of theirs that our command does not have.
pub struct PeerFlag {
    /// Our command, or theirs if nothing here replaces it; empty for every command.
    command: &'static str,
    /// The flag's name; after `=`, a text that its value contains.
    flag: &'static str,
    hint: &'static str,
}

/// A command line, split into words and flags.
struct Typed<'a> {
    words: Vec<&'a str>,
    flags: Vec<(&'a str, Option<&'a str>)>,
}

/// Hints for a command line that clap refused, if something in it is known to be a habit.
pub fn find_hints(
    error: &clap::Error,
    program: &clap::Command,
    arguments: &[impl AsRef<str>],
) -> Vec<String> {
    let typed = Typed::new(arguments);
    let command = COMMANDS.iter().find(|peer| typed.begins_with(peer.typed));
    match (error.kind(), command) {
        (ErrorKind::InvalidSubcommand, Some(command)) => {
            let flags = typed.flags.iter().filter_map(|(name, value)| {
                // Ours may have a flag of this name that means something else.
                let own = flag_hint(name, *value, |flag| flag.command == command.typed);
                let here = command.here.filter(|_| !accepts_flag(program, command.here, name));
                let hint = own.or_else(|| {
                    let here = here?;
                    flag_hint(name, *value, |flag| flag.command.is_empty() || flag.command == here)
                });
                hint.map(|text| format!("`{name}`: {text}"))
            });
            [command.hint.to_owned()].into_iter().chain(flags).collect()
        }
        (ErrorKind::UnknownArgument, _) => {
            let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidArg) else {
                return Vec::new();
            };
            let name = given.split('=').next().unwrap_or(given);
            let value = typed.flags.iter().find(|flag| flag.0 == name).and_then(|flag| flag.1);
            let hint = flag_hint(name, value, |flag| typed.begins_with(flag.command));
            hint.map(str::to_owned).or_else(|| switch_hint(given, arguments)).into_iter().collect()
        }
        (ErrorKind::ValueValidation, _) => version_hint(error).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// Returns a hint for a value of a switch that is a separate word, as in `--resource true`.
fn switch_hint(given: &str, arguments: &[impl AsRef<str>]) -> Option<String> {
    let at = arguments.iter().position(|argument| argument.as_ref() == given)?;
    let switch =
        arguments[..at].last().map(AsRef::as_ref).filter(|argument| argument.starts_with("--"))?;
    ["true", "false"].contains(&given).then(|| format!("write `{switch}={given}`"))
}

/// A hint for a semantic version with the `v` that tags have.
fn version_hint(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidValue) else {
        return None;
    };
    let bare = given.strip_prefix('v')?;
    let is_version = bare.split('.').count() >= 3
        && bare.starts_with(|character: char| character.is_ascii_digit());
    is_version.then(|| format!("leave out the `v`: `{bare}`"))
}

/// Removes clap's suggestions that resemble what was typed only by chance, such as `create` for `scorecard`.
pub fn keep_near_tips(error: &mut clap::Error) {
    for (typed, suggested) in [
        (ContextKind::InvalidSubcommand, ContextKind::SuggestedSubcommand),
        (ContextKind::InvalidArg, ContextKind::SuggestedArg),
    ] {
        let Some(ContextValue::String(typed)) = error.get(typed) else { continue };
        let mut near = match error.get(suggested) {
            Some(ContextValue::Strings(all)) => all.clone(),
            Some(ContextValue::String(one)) => vec![one.clone()],
            _ => continue,
        };
        near.retain(|suggestion| is_near(typed, suggestion));
        if near.is_empty() {
            error.remove(suggested)
        } else {
            error.insert(suggested, ContextValue::Strings(near))
        };
    }
}

fn is_near(typed: &str, suggestion: &str) -> bool {
    let distance = diagnostics::edit_distance(typed, suggestion);
    distance <= 1.max(suggestion.len() / 4)
        || typed.starts_with(suggestion)
        || suggestion.starts_with(typed)
}

impl<'a> Typed<'a> {
    fn new(arguments: &'a [impl AsRef<str>]) -> Self {
        let mut typed = Self { words: Vec::new(), flags: Vec::new() };
        let mut rest = arguments.iter().map(AsRef::as_ref).peekable();
        while let Some(word) = rest.next() {
            let Some((name, value)) = split_flag(word) else {
                typed.words.push(word);
                continue;
            };
            let next = rest.peek().copied().filter(|next| !next.starts_with('-'));
            if ["--dir", "--message-format"].contains(&name) && value.is_none() {
                rest.next();
            }
            typed.flags.push((name, value.or(next)));
        }
        typed
    }

    fn begins_with(&self, command: &str) -> bool {
        let words: Vec<&str> = command.split_whitespace().collect();
        self.words.starts_with(&words)
    }
}

/// A flag's name and the value after `=`.
fn split_flag(word: &str) -> Option<(&str, Option<&str>)> {
    if !word.starts_with('-') || word.len() == 1 {
        return None;
    }
    Some(match word.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (word, None),
    })
}

fn flag_hint(
    name: &str,
    value: Option<&str>,
    about: impl Fn(&PeerFlag) -> bool,
) -> Option<&'static str> {
    let named = |flag: &PeerFlag| match flag.flag.split_once('=') {
        Some((flag, part)) => flag == name && value.is_some_and(|value| value.contains(part)),
        None => flag.flag == name,
    };
    FLAGS.iter().find(|flag| named(flag) && about(flag)).map(|flag| flag.hint)
}

/// The command of ours that a command line names.
pub fn find_command(program: &clap::Command, arguments: &[impl AsRef<str>]) -> String {
    let mut at = program;
    let mut names = Vec::new();
    for word in Typed::new(arguments).words {
        let Some(below) = at.find_subcommand(word) else { break };
        at = below;
        names.push(word);
    }
    names.join(" ")
}

/// Returns whether a command of ours has the flag.
pub fn accepts_flag(program: &clap::Command, command: Option<&str>, name: &str) -> bool {
    let Some(command) = command else { return false };
    let found =
        command.split_whitespace().try_fold(program, |command, word| command.find_subcommand(word));
    let has = |argument: &clap::Arg| match name.strip_prefix("--") {
        Some(long) => {
            let aliases = argument.get_all_aliases().unwrap_or_default();
            argument.get_long() == Some(long) || aliases.contains(&long)
        }
        None => argument.get_short().is_some_and(|short| name == format!("-{short}")),
    };
    found.is_some_and(|command| command.get_arguments().any(has))
}

#[test]
fn no_row_is_about_a_command_or_flag_that_is_ours() {
    use clap::CommandFactory as _;
    let mut program = super::Cli::command();
    program.build();
    for row in COMMANDS {
        let ours = row
            .typed
            .split(' ')
            .try_fold(&program, |command, word| command.find_subcommand(word))
            .is_some();
        assert!(!ours, "`{}` is a command of ours", row.typed);
        let found = row.here.is_none_or(|words| {
            words
                .split(' ')
                .try_fold(&program, |command, word| command.find_subcommand(word))
                .is_some()
        });
        assert!(found, "`{}` is replaced by {:?}, which does not exist", row.typed, row.here);
        let first = COMMANDS.iter().find(|peer| {
            Typed::new(&row.typed.split(' ').collect::<Vec<_>>()).begins_with(peer.typed)
        });
        assert_eq!(first.map(|peer| peer.typed), Some(row.typed), "an earlier row hides this one");
    }
    for row in FLAGS {
        let name = row.flag.split('=').next().unwrap_or_default();
        assert!(
            !accepts_flag(&program, Some(row.command), name),
            "`{} {name}` is ours",
            row.command
        );
    }
}

#[test]
fn a_command_is_found_behind_global_flags() {
    use clap::CommandFactory as _;
    let program = super::Cli::command();
    let line = ["--dir", "generate", "create", "--verbose", "api", "--group", "a", "bundle"];
    assert_eq!(find_command(&program, &line), "create api");
}

#[test]
fn far_suggestions_are_removed() {
    for (typed, suggestion, near) in [
        ("scorecard", "create", false),
        ("delete", "generate", false),
        ("creat", "create", true),
        ("apis", "api", true),
        ("initialize", "init", true),
        ("--ouput-dir", "--output-dir", true),
        ("--yes", "--keep", false),
    ] {
        assert_eq!(is_near(typed, suggestion), near, "{typed} {suggestion}");
    }
}
