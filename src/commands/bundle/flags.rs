//! The flags that change a bundle. `bundle.Dockerfile` lists them, so that a later run without one of them can say
//! what it loses.

use super::Args;
use diagnostics::Diagnostic;
use go_data::yaml;
use model::display_path;
use olm::bundle::{self, CargoPackage, GeneratedBundle};

/// The flags that a later run has to repeat for the same bundle: each that is given, except a `--version` that
/// Cargo.toml has, too.
pub fn to_record(args: &Args, cargo: &CargoPackage) -> Vec<String> {
    let mut flags = given_flags(args);
    if args.version == cargo.version {
        flags.retain(|flag| !flag.starts_with("--version="));
    }
    flags
}

/// Each flag that is given, as a person would type it.
fn given_flags(args: &Args) -> Vec<String> {
    fn join_values<T: ToString>(items: &[T]) -> Option<String> {
        let texts: Vec<String> = items.iter().map(ToString::to_string).collect();
        Some(texts.join(",")).filter(|joined| !joined.is_empty())
    }
    let all = [
        ("--version", args.version.as_ref().map(ToString::to_string)),
        ("--image", args.image.as_ref().map(ToString::to_string)),
        ("--channels", join_values(&args.channels)),
        ("--default-channel", args.default_channel.as_ref().map(ToString::to_string)),
        ("--extra-service-accounts", join_values(&args.extra_service_accounts)),
        ("--package", args.package.as_ref().map(ToString::to_string)),
        ("--input", args.input.as_ref().map(|path| display_path(&path))),
        ("--output-dir", Some(args.output_dir.to_string()).filter(|folder| folder != "bundle")),
    ];
    let given = all.into_iter().filter_map(|(flag, value)| Some((flag, value?)));
    let mut flags: Vec<String> = given.map(|(flag, value)| format!("{flag}={value}")).collect();
    flags.extend(args.use_image_digests.then(|| "--use-image-digests".to_owned()));
    flags
}

/// A warning that names the flags that the bundle of this `bundle.Dockerfile` was generated with, and whose values are
/// missing from the new bundle.
pub fn lost_flags_warning(
    dockerfile: &str,
    args: &Args,
    bundle: &GeneratedBundle,
) -> Option<Diagnostic> {
    let given = given_flags(args);
    let (mut lost, mut homes) = (Vec::new(), Vec::new());
    for flag in bundle::recorded_flags(dockerfile) {
        let (name, value) = flag.split_once('=').unwrap_or((&flag, ""));
        let Some((_, line, home)) = HOMES.iter().find(|entry| entry.0 == name) else { continue };
        let is_given = given.iter().any(|flag| flag.split('=').next() == Some(name));
        let line = line.map(|prefix| prefix.to_owned() + &yaml::to_text(&value.into()));
        let has = |text: &String| line.as_ref().is_some_and(|line| text.contains(line));
        if !is_given && !bundle.files.values().any(has) {
            homes.extend(home.filter(|home| !homes.contains(home)));
            lost.push(flag);
        }
    }
    let warning =
        format!("the last bundle was generated with `{}`, and this one is not", lost.join(" "));
    let hint = if homes.is_empty() {
        "give the flags again".to_owned()
    } else {
        format!("give the flags again, or set {}", homes.join(", "))
    };
    Some(Diagnostic::from(warning).with_hint(hint)).filter(|_| !lost.is_empty())
}

/// Each flag with the text before its value in the bundle, and the setting that makes the flag unnecessary. Without
/// `--image`, the bundle has the image of config/manager, or a separate warning.
const HOMES: &[(&str, Option<&str>, Option<&str>)] = &[
    ("--version", Some("\n  version: "), Some("the version in Cargo.toml")),
    ("--channels", Some(".bundle.channels.v1: "), CHANNELS),
    ("--default-channel", Some(".channel.default.v1: "), CHANNELS),
    ("--extra-service-accounts", None, None),
    ("--use-image-digests", None, None),
    ("--package", Some(".bundle.package.v1: "), None),
];

const CHANNELS: Option<&str> = Some("the channels in config/manifests/metadata/annotations.yaml");
