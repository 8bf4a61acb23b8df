//! Flags in hints. Some commands do a part of what another one does, whose hints name flags that only that one has.

use std::sync::OnceLock;

use super::{Cli, peer_commands};
use crate::terminal;

/// The commands that others run a part of.
const MAKERS: &[&str] = &["manifests", "bundle", "generate crds"];

/// A hint that names the command of each flag that the current command lacks.
pub fn qualify_flags(hint: &str) -> String {
    static PROGRAM: OnceLock<clap::Command> = OnceLock::new();
    if !hint.contains("`-") {
        return hint.to_owned();
    }
    let program = PROGRAM.get_or_init(build_program);
    qualify_flags_in(
        hint,
        program,
        &peer_commands::find_command(program, &terminal::command_arguments()),
    )
}

fn build_program() -> clap::Command {
    let mut program = <Cli as clap::CommandFactory>::command();
    program.build();
    program
}

fn qualify_flags_in(hint: &str, program: &clap::Command, here: &str) -> String {
    let mut qualified = String::new();
    for (at, part) in hint.split('`').enumerate() {
        let is_code = at % 2 == 1;
        if at > 0 {
            qualified.push('`');
        }
        qualified += part;
        let flag = part.split([' ', '=']).next().unwrap_or_default();
        if is_code
            && flag.starts_with('-')
            && !peer_commands::accepts_flag(program, Some(here), flag)
        {
            let maker = MAKERS
                .iter()
                .find(|command| peer_commands::accepts_flag(program, Some(command), flag));
            qualified +=
                &maker.map_or_else(String::new, |command| format!("` of `operator-rs {command}"));
        }
    }
    qualified
}

#[test]
fn a_flag_is_named_with_its_command_where_the_current_one_lacks_it() {
    let program = build_program();
    let check = |here: &str, hint: &str, expected: &str| {
        assert_eq!(qualify_flags_in(hint, &program, here), expected, "{here}");
    };
    let image = "pass `--image`, or `--image=x`";
    check("bundle", image, image);
    check(
        "generate",
        image,
        "pass `--image` of `operator-rs bundle`, or `--image=x` of `operator-rs bundle`",
    );
    let lengths =
        "pass `--max-description-length`, or `kubectl apply --server-side`, or `--server-side`";
    check("manifests", lengths, lengths);
    check(
        "create api",
        lengths,
        "pass `--max-description-length` of `operator-rs manifests`, or `kubectl apply --server-side`, or `--server-side`",
    );
    check(
        "manifests",
        "`-p` or `--module`",
        "`-p` of `operator-rs generate crds` or `--module` of `operator-rs generate crds`",
    );
    check("generate crds", "`-p` or `--module`", "`-p` or `--module`");
}
