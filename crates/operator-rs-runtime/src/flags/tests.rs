use super::*;
use crate::flag_values::{address, seconds, time, time_or_zero};
use clap::{CommandFactory, Parser};

#[derive(clap::Parser)]
struct Args {
    #[command(flatten)]
    flags: Flags,
}

fn read(flags: &[&str]) -> Result<Flags, String> {
    let args = Args::try_parse_from([&["manager"], flags].concat()).map_err(|error| error.to_string())?;
    args.flags.check().map(|()| args.flags)
}

#[test]
fn addresses_may_be_written_as_in_go() {
    let read = |s| address(s).map(|parsed| parsed.0.iter().map(ToString::to_string).collect::<Vec<_>>());
    assert_eq!(read("0").unwrap(), [""; 0]);
    assert_eq!(read(":8081").unwrap(), ["[::]:8081", "0.0.0.0:8081"]);
    assert_eq!(read("127.0.0.1:1").unwrap(), ["127.0.0.1:1"]);
    assert_eq!(read("[::1]:1").unwrap(), ["[::1]:1"]);
    for bad in ["8081", ":80810", "::1:", "localhost"] {
        read(bad).unwrap_err();
    }
}

#[test]
fn switches_may_be_written_as_in_go() {
    let leads = |flag: &str| read(&[flag]).unwrap().leader_elect;
    assert!(leads("--leader-elect") && leads("--leader-elect=true") && !leads("--leader-elect=false"));
    assert!(!read(&["--warm-standby=false"]).unwrap().warm_standby && read(&[]).unwrap().warm_standby);
}

#[test]
fn times_are_written_as_in_go() {
    for (text, milliseconds) in [
        ("300ms", 300),
        ("10s", 10_000),
        ("2m", 120_000),
        ("1h30m", 5_400_000),
        ("10h", 36_000_000),
        ("1.5h", 5_400_000),
    ] {
        assert_eq!(time(text).map(|duration| duration.as_millis()), Ok(milliseconds), "{text}");
    }
    assert_eq!(time_or_zero("0"), Ok(Duration::ZERO));
    assert_eq!(time_or_zero("0s"), Ok(Duration::ZERO));
    for bad in
        ["", "10", "s", "-1s", "1 hour", "PT1S", "P1D", "1d", "1y", "ten", "1h-30m", "0", "0s", "99999999999999999999h"]
    {
        time(bad).unwrap_err();
    }
    assert!(seconds("1500ms").is_err() && seconds("2s").is_ok());
}

#[test]
fn the_defaults_are_those_of_the_settings() {
    let flags = read(&[]).unwrap();
    assert_eq!(flags.settings(), Settings::default());
    assert_eq!(flags.limits(), Limits::default());
    assert_eq!(flags.graceful_shutdown_timeout, Duration::from_secs(30));
    assert_eq!(flags.certificate(), None);
}

#[test]
fn nonsense_is_refused_with_one_sentence() {
    for (flags, why) in [
        (&["--max-concurrent-reconciles=0"][..], "use a number from 1 to 65535"),
        (&["--reconcile-timeout=0s"], "it has to be more than zero"),
        (&["--kube-api-timeout=soon"], "use a time like 300ms, 10s, 2m or 1h30m"),
        (&["--kube-api-qps=-1"], "use a number from 0 to 1000000"),
        (&["--kube-api-qps=NaN"], "use a number from 0 to 1000000"),
        (&["--metrics-bind-address=8443"], "is not an address"),
        (&["--watch-namespace=a,B"], "`B` is not the name of a namespace"),
        (
            &["--leader-election-renew-deadline=15s"],
            "--leader-election-renew-deadline (15s) has to be less than --leader-election-lease-duration (15s)",
        ),
        (
            &["--leader-election-retry-period=9s"],
            "--leader-election-retry-period (9s), times 1.2, has to be less than --leader-election-renew-deadline (10s)",
        ),
    ] {
        let error = read(flags).unwrap_err();
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn every_flag_is_a_variable_and_says_in_a_line_what_it_takes() {
    for arg in Args::command().get_arguments() {
        let (Some(long), Some(env)) = (arg.get_long(), arg.get_env()) else { continue };
        assert_eq!(long.to_uppercase().replace('-', "_"), env.to_string_lossy());
        assert!(arg.get_value_names().is_some_and(|names| names[0].len() <= 9), "{long}");
        assert!(arg.get_help().is_some_and(|help| help.to_string().len() <= 60), "{long}");
    }
}

#[test]
fn the_help_begins_with_the_program_s_own_words() {
    #[derive(Parser)]
    #[command(about = "An operator of caches")]
    struct Program {
        #[command(flatten)]
        _flags: Flags,
    }
    for help in [Program::command().render_help(), Program::command().render_long_help()] {
        assert!(help.to_string().starts_with("An operator of caches\n\nUsage: "), "{help}");
    }
}
