//! The flags that change a bundle. `bundle.Dockerfile` lists them, so that a later run without one of them can say
//! what it loses.

use super::Args;
use diagnostics::Diagnostic;
use go_data::yaml;
use model::display_path;
use olm::bundle::{self, Bundle, Package};

/// The flags that a later run has to repeat for the same bundle: each that is given, except a `--version` that
/// Cargo.toml has, too.
pub fn to_record(args: &Args, cargo: &Package) -> Vec<String> {
    let mut flags = given(args);
    if args.version == cargo.version {
        flags.retain(|flag| !flag.starts_with("--version="));
    }
    flags
}

/// Each flag that is given, as a person would type it.
fn given(args: &Args) -> Vec<String> {
    fn list<T: ToString>(items: &[T]) -> Option<String> {
        let texts: Vec<String> = items.iter().map(ToString::to_string).collect();
        Some(texts.join(",")).filter(|it| !it.is_empty())
    }
    let all = [
        ("--version", args.version.as_ref().map(ToString::to_string)),
        ("--image", args.image.as_ref().map(ToString::to_string)),
        ("--channels", list(&args.channels)),
        ("--default-channel", args.default_channel.as_ref().map(ToString::to_string)),
        ("--extra-service-accounts", list(&args.extra_service_accounts)),
        ("--package", args.package.as_ref().map(ToString::to_string)),
        ("--input", args.input.as_ref().map(|it| display_path(&it))),
        ("--output-dir", Some(args.output_dir.to_string()).filter(|it| it != "bundle")),
    ];
    let given = all.into_iter().filter_map(|(flag, value)| Some((flag, value?)));
    let mut res: Vec<String> = given.map(|(flag, value)| format!("{flag}={value}")).collect();
    res.extend(args.use_image_digests.then(|| "--use-image-digests".to_owned()));
    res
}

/// A warning that names the flags that the bundle of this `bundle.Dockerfile` was generated with, and whose values are
/// missing from the new bundle.
pub fn lost(dockerfile: &str, args: &Args, bundle: &Bundle) -> Option<Diagnostic> {
    let given = given(args);
    let (mut lost, mut homes) = (Vec::new(), Vec::new());
    for flag in bundle::recorded_flags(dockerfile) {
        let (name, value) = flag.split_once('=').unwrap_or((&flag, ""));
        let Some((_, line, home)) = HOMES.iter().find(|it| it.0 == name) else { continue };
        let is_given = given.iter().any(|it| it.split('=').next() == Some(name));
        let line = line.map(|it| it.to_owned() + &yaml::to_text(&value.into()));
        let has = |text: &String| line.as_ref().is_some_and(|it| text.contains(it));
        if !is_given && !bundle.files.values().any(has) {
            homes.extend(home.filter(|it| !homes.contains(it)));
            lost.push(flag);
        }
    }
    let warning =
        format!("the last bundle was generated with `{}`, and this one is not", lost.join(" "));
    let hint = match homes.is_empty() {
        true => "give the flags again".to_owned(),
        false => format!("give the flags again, or set {}", homes.join(", ")),
    };
    Some(Diagnostic::from(warning).with_hint(hint)).filter(|_| !lost.is_empty())
}

/// How a flag's value is written in the bundle, and where to set it so that no later run needs the flag. Without `--image`,
/// the bundle has that of config/manager, or a warning of its own.
const HOMES: &[(&str, Option<&str>, Option<&str>)] = &[
    ("--version", Some("\n  version: "), Some("the version in Cargo.toml")),
    ("--channels", Some(".bundle.channels.v1: "), CHANNELS),
    ("--default-channel", Some(".channel.default.v1: "), CHANNELS),
    ("--extra-service-accounts", None, None),
    ("--use-image-digests", None, None),
    ("--package", Some(".bundle.package.v1: "), None),
];

const CHANNELS: Option<&str> = Some("the channels in config/manifests/metadata/annotations.yaml");
