//! The optional validators: which are asked for, and what they read beside the bundle.

use std::{collections::BTreeMap, path::Path, str::FromStr};

use crate::{
    app::images::{self, Access},
    disk,
    process::{self, ProgramPath},
    terminal,
};
use diagnostics::Hint as _;
use go_data::yaml::{self, Value};
use model::{Image, display_path};
use olm::bundle::validate::optional::{Context, Platform, Selector, VALIDATORS, Validator};

#[derive(Clone, Default, clap::Args)]
#[command(next_help_heading = "As in operator-sdk")]
pub struct Optional {
    /// Also run the optional validators with these labels, e.g. `suite=operatorframework` or `name=good-practices`; `--select`
    /// names the same rules by their suites
    #[arg(long, value_name = "SELECTOR", group = "selection")]
    select_optional: Option<Selector>,
    /// Values for optional validators, separated by commas: `k8s-version=1.30`, for which `--kube-version` needs no selection,
    /// and `container-tools=docker|podman` (multiarch; the registry is asked otherwise)
    #[arg(long, value_name = "KEY=VALUE", value_delimiter = ',', requires = "selection")]
    optional_values: Vec<Pair>,
}

#[derive(Clone)]
struct Pair(String, String);

impl FromStr for Pair {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        match text.split_once('=') {
            Some((key, value)) => Ok(Self(key.to_owned(), value.to_owned())),
            None => anyhow::bail!("`{text}` is not of the form KEY=VALUE"),
        }
    }
}

impl Optional {
    /// Gives the selected validators, and what they read.
    pub fn with<T>(
        &self,
        kube_version: Option<&str>,
        images: Option<&Access>,
        run: impl FnOnce(&[&Validator], &Context) -> T,
    ) -> anyhow::Result<T> {
        let mut selected = self.selected()?;
        let mut values: BTreeMap<String, String> =
            self.optional_values.iter().map(|it| (it.0.clone(), it.1.clone())).collect();
        if let Some(version) = kube_version {
            values.insert("k8s-version".to_owned(), version.to_owned());
            let removed = VALIDATORS.iter().find(|it| it.name == "alpha-deprecated-apis");
            selected.extend(removed.filter(|it| !selected.iter().any(|one| one.name == it.name)));
        }
        for key in values.keys() {
            let reads = |it: &Validator| it.value == Some(key);
            if !VALIDATORS.iter().any(reads) {
                return Err(anyhow::format_err!("no validator reads the optional value `{key}`"))
                    .hint("check its spelling; `--help` lists the supported values");
            }
            // One pipeline may give the same values for every selector.
            if self.select_optional.is_some() && !selected.iter().any(|it| reads(it)) {
                let text = "no selected validator reads the optional value";
                terminal::warn(format!("{text} `{key}`"));
            }
        }
        let tool = match values.get("container-tools").map(|it| it.to_lowercase()).as_deref() {
            None | Some("" | "none") => None,
            Some("docker") => Some("docker"),
            Some("podman") => Some("podman"),
            Some(other) => {
                return Err(anyhow::format_err!(
                    "`container-tools` must be `docker` or `podman`, not `{other}`"
                ))
                .hint("give `docker` or `podman`");
            }
        };
        let categories =
            terminal::variable("OPERATOR_BUNDLE_CATEGORIES")?.map(|it| categories(Path::new(&it)));
        let platforms = |image: &str| match (tool, images) {
            (Some(tool), _) => platforms(tool, image),
            (None, Some(access)) => of_registry(image, access),
            (None, None) => Err("`--offline` contacts no registry".to_owned()),
        };
        let context = Context { values: &values, categories, platforms: &platforms };
        Ok(run(&selected, &context))
    }

    fn selected(&self) -> anyhow::Result<Vec<&'static Validator>> {
        let Some(selector) = self.select_optional.as_ref().filter(|it| !it.is_empty()) else {
            return Ok(Vec::new());
        };
        let res: Vec<_> = VALIDATORS.iter().filter(|it| it.is_selected(selector)).collect();
        if res.is_empty() {
            return Err(anyhow::format_err!(
                "no optional validator has the labels `{}`",
                selector.text()
            ))
            .hint(match selector.text().contains("community") {
                true => "operator-sdk has deprecated the validator `community`: use https://github.com/redhat-openshift-ecosystem/ocp-olm-catalog-validator",
                false => "`operator-rs bundle validate --list-optional` lists them with their labels",
            });
        }
        Ok(res)
    }
}

/// Names, labels and descriptions.
pub fn list() -> String {
    let mut res = format!("{:<24} {:<29} DESCRIPTION\n", "NAME", "LABELS");
    for it in VALIDATORS {
        let name = format!("name={}", it.name);
        res.push_str(&format!("{:<24} {name:<29} {}\n", it.name, it.description));
        if let Some(suite) = it.suite {
            res.push_str(&format!("{:<24} suite={suite}\n", ""));
        }
    }
    res
}

/// `{"categories": ["My own"]}`
fn categories(path: &Path) -> Result<Vec<String>, String> {
    let text = disk::text(path).map_err(|it| format!("{it:#}"))?;
    let file = yaml::from_json(&text).map_err(|it| format!("`{}`: {it:#}", display_path(&path)))?;
    let texts =
        |it: &Value| it.as_array()?.iter().map(|it| it.as_str().map(str::to_owned)).collect();
    match file.get("categories") {
        None | Some(Value::Null) if file.is_object() => Ok(Vec::new()),
        list => list.and_then(texts).ok_or_else(|| {
            format!("`{}`: `categories` must be a list of strings", display_path(&path))
        }),
    }
}

/// The platforms of an image in its registry.
fn of_registry(image: &str, access: &Access) -> Result<Vec<Platform>, String> {
    let image: Image = image.parse().map_err(|it| format!("{it}"))?;
    let list = images::platforms(&image, access).map_err(|it| format!("{it:#}"))?;
    Ok(list.into_iter().map(|it| Platform { os: it.os, architecture: it.architecture }).collect())
}

/// The platforms that an image's index lists. An image without an index has none.
fn platforms(tool: &str, image: &str) -> Result<Vec<Platform>, String> {
    let Some(program) = ProgramPath::find(tool) else {
        return Err(format!("`{tool}` is not on PATH"));
    };
    let run = |words: &[&str]| {
        let words: Vec<_> = words.iter().map(Into::into).collect();
        // To pull an image may take long.
        process::ask(&program, Path::new("."), &words, 600)
    };
    // As operator-sdk does: where the image cannot be pulled, nothing is said of it.
    let inspect = || run(&["pull", image]).and_then(|_| run(&["manifest", "inspect", image]));
    let text = inspect()
        .or_else(inspect)
        .ok_or_else(|| format!("`{tool} pull` or `{tool} manifest inspect` failed"))?;
    let index = yaml::from_json(&text)
        .map_err(|it| format!("`{tool} manifest inspect` printed no JSON: {it:#}"))?;
    let manifests = index.get("manifests").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let text = |it: &Value, key: &str| it["platform"][key].as_str().unwrap_or_default().to_owned();
    Ok(manifests
        .iter()
        .map(|it| Platform { os: text(it, "os"), architecture: text(it, "architecture") })
        .collect())
}
