//! Refuses an option that is given twice with the same value, such as `--shortname z --shortname z`: what is listed twice
//! would be written twice, or one of the two is a mistake.

use clap::{ArgMatches, Command, error::ErrorKind};

use crate::terminal;

/// Parses the command line.
pub fn parse_command_line(mut command: Command) -> Result<ArgMatches, clap::Error> {
    let matches = command.try_get_matches_from_mut(terminal::command_line())?;
    require_distinct(&command, &matches)?;
    Ok(matches)
}

/// Refuses the first such option of the command that was chosen.
fn require_distinct(command: &Command, matches: &ArgMatches) -> Result<(), clap::Error> {
    for option in command.get_arguments().filter(|argument| !argument.is_positional()) {
        // Options of a group of flags are no arguments of the command line.
        let Ok(Some(values)) = matches.try_get_raw(option.get_id().as_str()) else { continue };
        let values: Vec<_> = values.collect();
        let is_second = |&index: &usize| values[..index].contains(&values[index]);
        if let Some(index) = (1..values.len()).find(is_second) {
            let flag = option.get_long().unwrap_or_default();
            let value = values[index].display();
            let message = format!("`--{flag}` is given twice with `{value}`: leave one out\n");
            return Err(clap::Error::raw(ErrorKind::ArgumentConflict, message));
        }
    }
    match matches.subcommand() {
        Some((name, matches)) => command
            .find_subcommand(name)
            .map_or(Ok(()), |command| require_distinct(command, matches)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::Cli;
    use clap::CommandFactory as _;

    #[track_caller]
    fn check(line: &str, expected: &str) {
        let words = std::iter::once("operator-rs").chain(line.split(' '));
        let matches = Cli::command().try_get_matches_from(words).unwrap();
        let refused = require_distinct(&Cli::command(), &matches).err();
        let message = refused.map_or_else(String::new, |error| error.to_string());
        assert!(
            message.contains(expected) && message.is_empty() == expected.is_empty(),
            "{message}"
        );
    }

    #[test]
    fn no_option_has_the_same_value_twice() {
        let api = "create api --group g --kind A";
        check(&format!("{api} --shortname a --shortname b"), "");
        check(
            &format!("{api} --shortname a --shortname a"),
            "`--shortname` is given twice with `a`: leave one out",
        );
        check("bundle --channels a,b,a", "`--channels` is given twice with `a`: leave one out");
        check("generate crds -p a -p a", "`--package` is given twice with `a`: leave one out");
        check("crds diff HEAD HEAD", "");
        check("test -- a a", "");
    }
}
