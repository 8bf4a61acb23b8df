//! The help of the program: its commands, grouped by what people do with them.

use std::fmt::Write as _;

/// The groups, in the order of an operator's life. Each command is in one.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Start a project", &["init", "adopt"]),
    ("Develop", &["create", "delete", "edit", "manifests", "generate", "test"]),
    ("Check", &["crds", "chart"]),
    ("Run on a cluster", &["install", "uninstall", "deploy", "undeploy", "migrate", "status"]),
    ("Publish", &["image", "bundle", "scorecard", "catalog", "olm", "run", "cleanup"]),
    ("More", &["version", "completion", "man", "help"]),
];

/// The program with that help.
pub fn with_command_groups(program: clap::Command) -> clap::Command {
    let style = *program.get_styles().get_header();
    let name_style = *program.get_styles().get_literal();
    let mut list = String::new();
    for (group, names) in GROUPS {
        let _ = writeln!(list, "{style}{group}:{style:#}");
        for name in names {
            let about = match program.find_subcommand(name) {
                Some(command) => command.get_about().map(ToString::to_string).unwrap_or_default(),
                None => "Print this message, or the help of a command".to_owned(),
            };
            let _ = writeln!(list, "  {name_style}{name:<10}{name_style:#}  {about}");
        }
        list.push('\n');
    }
    program.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}{style}Options:{style:#}\n{{options}}{{after-help}}"
    ))
}

#[test]
fn each_command_is_in_one_group_and_on_one_line() {
    use clap::CommandFactory as _;
    let program = super::Cli::command();
    let shown = program.get_subcommands().filter(|command| !command.is_hide_set());
    let mut shown: Vec<&str> = shown.map(clap::Command::get_name).chain(["help"]).collect();
    let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|group| group.1).copied().collect();
    shown.sort_unstable();
    grouped.sort_unstable();
    assert_eq!(shown, grouped);
    let help = with_command_groups(program).render_help().to_string();
    let (list, _) = help.split_once("\nOptions:").expect("options follow");
    let long: Vec<&str> =
        list.lines().filter(|line| line.len() > 80 && line.starts_with("  ")).collect();
    assert!(long.is_empty(), "80 columns: {long:#?}");
}
