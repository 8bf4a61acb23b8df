//! The judge itself: a program that does harm is found out, and one that does none is not.

use std::path::Path;

use crate::{
    run::{self, Outcome},
    snapshot,
    world::{Base, World},
};

/// What a program does, and what must be said of it.
const HARM: &[(&str, &str)] = &[
    ("exit 101", "exit code Some(101)"),
    ("echo thread panicked at here >&2; exit 1", "panicked at here"),
    ("kill -SEGV $$", "died of signal 11"),
    ("sleep 60", "ran longer than 55 s"),
    ("sleep 60 & sleep 60", "ran longer than 55 s"),
    ("while :; do :; done", "ran longer than 55 s"),
    (r"printf '\033[2J' >&2", "the control character 0x1b is on stderr"),
    (r"printf '\302\2332J' >&2", "the control character 0x9b is on stderr"),
    (r"printf '\rok' >&2", "the control character 0x0d is on stderr"),
    (r"printf '\033[2J'", "an escape is on stdout"),
    ("cat $KUBECONFIG", "a secret is on stdout"),
    ("cat ../victim/id_ed25519 >&2", "a secret is on stderr"),
    ("touch ../victim/bashrc", "has another mtime, ctime"),
    ("chmod 600 ../victim/bashrc", "had mode"),
    ("echo more >> ../victim/bashrc", "has other contents"),
    ("ln ../victim/bashrc linked", "has another ctime, link count"),
    ("rm ../victim/bashrc", "\"victim/bashrc\" is gone"),
    ("rm -r ../victim/empty && ln -s /etc ../victim/empty", "was a folder and is a link"),
    ("touch ../beside", "\"beside\" is new"),
    ("touch $HOME/.cargo/new", "\"home/.cargo/new\" is new"),
    ("touch $TMPDIR/left", "\"tmp/left\" is new"),
];

#[test]
fn a_harmful_program_is_detected() {
    for (script, expected) in HARM {
        let found = judge(script);
        assert!(found.iter().any(|it| it.contains(expected)), "`{script}`: {found:?}");
    }
}

#[test]
fn a_harmless_program_passes() {
    for script in [
        r"echo done; printf 'two\nlines\t\303\251' >&2",
        "exit 2",
        "echo a > new; mkdir src/new; touch PROJECT",
        "echo a > $TMPDIR/a; rm $TMPDIR/a",
        "cat ../victim/bashrc > /dev/null; ls ../home",
    ] {
        assert_eq!(judge(script), Vec::<String>::new(), "`{script}`");
    }
}

#[test]
fn a_change_of_the_project_is_seen() {
    for script in ["touch PROJECT", "touch new", "rm NOTES.md", "chmod 600 NOTES.md", "mkdir new"] {
        let world = World::new(Base::Project);
        let before = world.inside();
        shell(&world, script);
        assert!(!snapshot::differences(&before, &world.inside()).is_empty(), "`{script}`");
    }
}

fn judge(script: &str) -> Vec<String> {
    let world = World::new(Base::Project);
    let before = world.outside();
    let outcome = shell(&world, script);
    let mut res = outcome.faults();
    res.extend(snapshot::differences(&before, &world.outside()));
    res
}

fn shell(world: &World, script: &str) -> Outcome {
    run::program(Path::new("/bin/sh"), world, &["-c".into(), script.into()], false, "")
}
