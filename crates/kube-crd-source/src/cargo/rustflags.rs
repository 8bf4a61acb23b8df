//! Flags of the compiler, as cargo's configuration has them: those that are known to change no type, and those that
//! set conditions. Any other one is refused.

use super::possible_cfgs::PossibleCfgs;

/// Short flags of one letter, with their values behind them or in the next word.
const LETTERS: &[char] = &['A', 'C', 'D', 'F', 'L', 'W', 'l'];

/// Long flags with a value, behind `=` or in the next word.
const WITH_VALUE: &[&str] = &[
    "allow",
    "cap-lints",
    "check-cfg",
    "codegen",
    "color",
    "deny",
    "diagnostic-width",
    "emit",
    "error-format",
    "forbid",
    "force-warn",
    "json",
    "remap-path-prefix",
    "warn",
];

const ALONE: &[&str] = &["-O", "-g", "-v", "--verbose"];

/// Unstable options that change no type.
const UNSTABLE: &[&str] = &[
    "codegen-backend",
    "debuginfo-compression",
    "dylib-lto",
    "embed-source",
    "export-executable-symbols",
    "fmt-debug",
    "function-sections",
    "hint-mostly-unused",
    "inline-mir",
    "instrument-coverage",
    "linker-features",
    "location-detail",
    "macro-backtrace",
    "mir-opt-level",
    "next-solver",
    "no-parallel-backend",
    "panic-abort-tests",
    "polonius",
    "print-type-sizes",
    "profile",
    "proc-macro-backtrace",
    "randomize-layout",
    "remap-cwd-prefix",
    "sanitizer",
    "self-profile",
    "share-generics",
    "split-dwarf-kind",
    "stack-protector",
    "thinlto",
    "threads",
    "time-passes",
    "tune-cpu",
    "unstable-options",
];

/// Adds the conditions that flags set; fails with the first flag that is not known.
pub fn add_conditions<'a>(
    flags: impl IntoIterator<Item = &'a str>,
    cfgs: &mut PossibleCfgs,
) -> Result<(), &'a str> {
    let mut flags = flags.into_iter();
    while let Some(flag) = flags.next() {
        if ALONE.contains(&flag) {
            continue;
        }
        let (name, value) = match flag.strip_prefix("--") {
            Some(long) => match long.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (long, None),
            },
            None => {
                let mut letters = flag.strip_prefix('-').ok_or(flag)?.char_indices();
                let end = letters.nth(1).map_or(flag.len(), |(at, _)| at + 1);
                (&flag[1..end], Some(&flag[end..]).filter(|value| !value.is_empty()))
            }
        };
        let value = value.or_else(|| flags.next()).unwrap_or_default();
        let is_letter = name.len() == 1 && !flag.starts_with("--");
        match name {
            "cfg" => cfgs.add_condition(value),
            "Z" if is_letter => {
                let option = value.split('=').next().unwrap_or_default().replace('_', "-");
                let option = option.strip_prefix("no-").unwrap_or(&option);
                if !UNSTABLE.contains(&option) {
                    return Err(flag);
                }
            }
            _ if is_letter && name.starts_with(LETTERS) => {}
            _ if !is_letter && WITH_VALUE.contains(&name) => {}
            _ => return Err(flag),
        }
    }
    Ok(())
}

#[test]
fn flags_that_change_no_type_are_known_and_conditions_are_taken_up() {
    let check = |flags: &str, expected: Result<&[&str], &str>| {
        let mut cfgs = PossibleCfgs::default();
        let found = add_conditions(flags.split(' '), &mut cfgs);
        let mut conditions = PossibleCfgs::default();
        expected
            .unwrap_or_default()
            .iter()
            .for_each(|condition| conditions.add_condition(condition));
        assert_eq!(found, expected.map(|_| ()), "{flags}");
        assert_eq!(cfgs, conditions, "{flags}");
    };
    check("-C link-arg=-fuse-ld=lld -Ctarget-cpu=native -D warnings", Ok(&[]));
    check(
        "-Dwarnings --codegen opt-level=3 --codegen=lto -Zshare-generics=y -Z threads=8",
        Ok(&[]),
    );
    check("-L native=/lib -lfoo -O -g --remap-path-prefix=/a=b", Ok(&[]));
    check("--cfg tokio_unstable", Ok(&["tokio_unstable"]));
    check("--cfg=tokio_unstable -C debuginfo=0", Ok(&["tokio_unstable"]));
    check("-D warnings --cfg feature=\"big\"", Ok(&["feature=\"big\""]));
    check("--extern a=b", Err("--extern"));
    check("-Zcrate-attr=feature(a)", Err("-Zcrate-attr=feature(a)"));
    check("--sysroot /a", Err("--sysroot"));
    check("@flags", Err("@flags"));
    check("-", Err("-"));
}
