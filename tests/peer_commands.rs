//! Every command and flag of operator-sdk and kubebuilder is accepted here, or answered by what to type instead.
//! `tests/peers.txt` lists them.

#![allow(clippy::disallowed_methods, reason = "the walls stand in src; a test looks from outside")]

mod support;

use std::{
    collections::{BTreeMap, BTreeSet},
    os::unix::fs::PermissionsExt,
    path::Path,
};

/// A line of `peers.txt`.
struct Peer {
    program: String,
    command: String,
    /// Each way to write a flag with its value: `-o=text`, `--output=text`.
    flags: Vec<String>,
}

fn peers() -> Vec<Peer> {
    let lines = include_str!("peers.txt").lines();
    let lines = lines.filter(|it| !it.is_empty() && !it.starts_with('#'));
    let peer = |line: &str| {
        let (words, flags) = line.split_once(':').expect("a colon ends the command");
        let (program, command) = words.split_once(' ').unwrap_or((words, ""));
        let each = |it: &str| match it.split_once(",--") {
            Some((short, long)) if short.len() == 2 => {
                let value = long.split_once('=').map(|it| format!("={}", it.1));
                vec![format!("{short}{}", value.unwrap_or_default()), format!("--{long}")]
            }
            _ => vec![it.to_owned()],
        };
        Peer {
            program: program.to_owned(),
            command: command.to_owned(),
            flags: flags.split_whitespace().flat_map(each).collect(),
        }
    };
    lines.map(peer).collect()
}

#[test]
fn every_command_and_flag_is_accepted_or_answered() {
    let dir = support::fresh("peer-commands");
    let mut seen = BTreeSet::new();
    let mut faults = Vec::new();
    for peer in peers() {
        for flag in [String::new()].iter().chain(&peer.flags) {
            let line = format!("{} {flag}", peer.command).trim().to_owned();
            if seen.insert(line.clone())
                && let Err(fault) = answer(&dir, &peer.command, flag)
            {
                faults.push(format!("operator-rs {line}: {fault}"));
            }
        }
    }
    assert!(300 < seen.len(), "peers.txt has only {} command lines", seen.len());
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

/// Whether a command line is accepted, or refused with a hint about each part that is not.
fn answer(dir: &Path, command: &str, flag: &str) -> Result<(), String> {
    let output = support::operator_rs(dir, &format!("{command} {flag} --help"));
    let text = support::said(&output);
    if output.status.success() {
        // A shell's name is an argument here.
        let command = if command.starts_with("completion") { "completion" } else { command };
        let usage = format!("Usage: operator-rs {command}");
        return text.contains(usage.trim_end()).then_some(()).ok_or(text);
    }
    let hints: Vec<&str> = text.lines().filter_map(|it| it.strip_prefix("hint: ")).collect();
    if hints.is_empty() || text.contains("tip:") || output.status.code() != Some(2) {
        return Err(text);
    }
    // Another command replaces the one that was typed: it accepts the flag, or a second hint is about it.
    let replacement =
        hints[0].strip_prefix("use `operator-rs ").and_then(|it| it.split_once('`')).map(|it| it.0);
    let Some(replacement) = replacement.filter(|_| text.contains("subcommand") && !flag.is_empty())
    else {
        return Ok(());
    };
    let name = flag.split('=').next().unwrap_or(flag);
    let about = format!("`{name}`: ");
    let accepted = support::operator_rs(dir, &format!("{replacement} {flag} --help"));
    match accepted.status.success() {
        false if hints.iter().any(|it| it.starts_with(&about)) => Ok(()),
        true if hints.len() == 1 => Ok(()),
        _ => Err(text),
    }
}

#[test]
fn the_list_has_what_the_help_of_operator_sdk_lists() {
    let Some(program) = support::tool("operator-sdk") else { return };
    let mut expected = BTreeMap::new();
    collect(&program, "", &mut expected);
    let mut listed: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for peer in peers().into_iter().filter(|it| it.program == "operator-sdk") {
        let names = peer.flags.iter().filter_map(|it| it.split('=').next()?.strip_prefix("--"));
        listed.entry(peer.command).or_default().extend(names.map(str::to_owned));
    }
    for (command, flags) in &expected {
        let listed = listed.get(command).unwrap_or_else(|| panic!("`{command}` is missing"));
        let missing: Vec<_> = flags.difference(listed).collect();
        assert!(missing.is_empty(), "`{command}` lacks {missing:?}");
    }
    assert!(expected.contains_key("run bundle-upgrade") && expected["scorecard"].contains("list"));
}

/// Every command below a path, with the long names of its flags, as cobra prints them.
fn collect(program: &Path, command: &str, res: &mut BTreeMap<String, BTreeSet<String>>) {
    let output = support::command(program, support::home())
        .args(command.split_whitespace())
        .arg("--help")
        .output()
        .expect("operator-sdk starts");
    let text = String::from_utf8(output.stdout).expect("help is UTF-8");
    let mut section = "";
    let mut flags = BTreeSet::new();
    for line in text.lines() {
        if !line.starts_with(' ') {
            section = line;
        } else if section == "Available Commands:" {
            let name = line.split_whitespace().next().unwrap_or_default();
            if name != "help" {
                collect(program, format!("{command} {name}").trim(), res);
            }
        } else if section.ends_with("Flags:") {
            let name = line.split_whitespace().find_map(|it| it.strip_prefix("--"));
            flags.extend(name.filter(|it| *it != "help").map(str::to_owned));
        }
    }
    res.insert(command.to_owned(), flags);
}

/// A command as operator-sdk gets it: `--force` is for a second webhook, which is added here without it, and `PATH` is the
/// type of another project. Paths of webhooks are left out: its version of kubebuilder has no flags for them.
const PROJECTS: [&str; 3] = [
    "api cache v1 Defaulting --resource --controller
    webhook cache v1 Defaulting --defaulting
    api cache v1 Both --resource --controller
    webhook cache v1 Both --defaulting --programmatic-validation
    api cache v1 Later --resource --controller
    webhook cache v1 Later --programmatic-validation
    webhook cache v1 Later --defaulting --force
    api cache v1 Spokes --resource --controller
    api cache v1alpha1 Spokes --resource --controller=false
    api cache v1beta1 Spokes --resource --controller=false
    webhook cache v1 Spokes --conversion --spoke v1beta1 --spoke v1alpha1
    api cache v1 Spoke --resource --controller
    api cache v1alpha1 Spoke --resource --controller=false
    api cache v1beta1 Spoke --resource --controller=false
    webhook cache v1 Spoke --defaulting
    webhook cache v1 Spoke --conversion --spoke v1beta1 --force
    webhook cache v1 Spoke --conversion --spoke v1alpha1 --force",
    "webhook core v1 Pod --defaulting --programmatic-validation
    api core v1 ConfigMap --resource=false --controller
    webhook core v1 ConfigMap --programmatic-validation",
    "webhook cert-manager v1 Certificate --defaulting --external-api-path PATH --external-api-domain io",
];

#[test]
fn project_says_of_webhooks_what_operator_sdk_writes() {
    let Some(program) = support::tool("operator-sdk") else { return };
    let bin = support::fresh("peer-webhooks/bin");
    // It runs `go mod tidy`, whose result nobody reads.
    let go = "#!/bin/sh\ncase $1 in\n  version) echo go version go1.25.0 linux/amd64 ;;\n  env) echo {} ;;\nesac\n";
    std::fs::write(bin.join("go"), go).unwrap();
    std::fs::set_permissions(bin.join("go"), PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    for (at, commands) in PROJECTS.iter().enumerate() {
        let theirs = support::fresh(&format!("peer-webhooks/theirs-{at}"));
        let ours = support::fresh(&format!("peer-webhooks/ours-{at}"));
        let init = "init --domain example.com --project-name it".to_owned();
        let go = "--plugins go/v4 --repo example.com/x --skip-go-version-check --fetch-deps=false";
        let mut lines = vec![(init.clone(), format!("{init} {go}"))];
        for line in commands.lines() {
            let [command, group, version, kind, rest] =
                line.trim().splitn(5, ' ').collect::<Vec<_>>()[..]
            else {
                panic!("{line}");
            };
            let line = format!(
                "create {command} --group {group} --version {version} --kind {kind} {rest}"
            );
            let theirs = line.replace("PATH", "example.com/y/api/v1") + " --make=false";
            lines.push((line.replace("PATH", "y::v1").replace(" --force", ""), theirs));
        }
        for (our, their) in lines {
            support::done(&ours, &our);
            let mut command = support::command(&program, &theirs);
            let output = command.args(their.split(' ')).env("PATH", &path).output();
            let output = output.expect("operator-sdk starts");
            assert!(output.status.success(), "{their}: {}", support::said(&output));
        }
        assert_eq!(resources(&ours), resources(&theirs), "{commands}");
    }
}

/// The resources in PROJECT, without what differs on purpose: the paths of packages, and the plural, which is always
/// written here, so that another way to find it changes no project.
fn resources(dir: &Path) -> Vec<serde_yaml::Value> {
    let text = std::fs::read_to_string(dir.join("PROJECT")).expect("it has been written");
    let mut project: serde_yaml::Value = serde_yaml::from_str(&text).expect("it is YAML");
    let mut res = project["resources"].as_sequence_mut().map(std::mem::take).unwrap_or_default();
    for it in &mut res {
        let it = it.as_mapping_mut().expect("it is a mapping");
        it.remove("path");
        it.remove("plural");
    }
    assert!(!res.is_empty(), "{text}");
    res
}
