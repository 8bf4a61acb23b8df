//! The optional validators: which are asked for, and what they read beside the bundle.

use std::{collections::BTreeMap, path::Path, str::FromStr};

use crate::{
    app::images::{self, RegistryAccess},
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
pub struct OptionalValidators {
    /// Also run the optional validators with these labels, e.g. `suite=operatorframework` or `name=good-practices`; `--select`
    /// names the same rules by their suites
    #[arg(long, value_name = "SELECTOR", group = "selection")]
    select_optional: Option<Selector>,
    /// Values for optional validators, separated by commas: `k8s-version=1.30`, for which `--kube-version` needs no selection,
    /// and `container-tools=docker|podman` (multiarch; the registry is asked otherwise)
    #[arg(long, value_name = "KEY=VALUE", value_delimiter = ',', requires = "selection")]
    optional_values: Vec<KeyValue>,
}

#[derive(Clone)]
struct KeyValue(String, String);

impl FromStr for KeyValue {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        match text.split_once('=') {
            Some((key, value)) => Ok(Self(key.to_owned(), value.to_owned())),
            None => anyhow::bail!("`{text}` is not of the form KEY=VALUE"),
        }
    }
}

impl OptionalValidators {
    /// Gives the selected validators, and what they read.
    pub fn with<T>(
        &self,
        kube_version: Option<&str>,
        images: Option<&RegistryAccess>,
        run: impl FnOnce(&[&Validator], &Context) -> T,
    ) -> anyhow::Result<T> {
        let mut selected = self.selected_validators()?;
        let mut values: BTreeMap<String, String> =
            self.optional_values.iter().map(|pair| (pair.0.clone(), pair.1.clone())).collect();
        if let Some(version) = kube_version {
            values.insert("k8s-version".to_owned(), version.to_owned());
            let removed =
                VALIDATORS.iter().find(|validator| validator.name == "alpha-deprecated-apis");
            selected.extend(
                removed.filter(|removed| !selected.iter().any(|one| one.name == removed.name)),
            );
        }
        for key in values.keys() {
            let reads = |value: &Validator| value.value == Some(key);
            if !VALIDATORS.iter().any(reads) {
                return Err(anyhow::format_err!("no validator reads the optional value `{key}`"))
                    .hint("check its spelling; `--help` lists the supported values");
            }
            // One pipeline may give the same values for every selector.
            if self.select_optional.is_some() && !selected.iter().any(|validator| reads(validator))
            {
                let text = "no selected validator reads the optional value";
                terminal::warn(format!("{text} `{key}`"));
            }
        }
        let tool = match values.get("container-tools").map(|value| value.to_lowercase()).as_deref()
        {
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
        let categories = terminal::variable("OPERATOR_BUNDLE_CATEGORIES")?
            .map(|variable| read_categories(Path::new(&variable)));
        let platforms = |image: &str| match (tool, images) {
            (Some(tool), _) => inspect_platforms(tool, image),
            (None, Some(access)) => of_registry(image, access),
            (None, None) => Err("`--offline` contacts no registry".to_owned()),
        };
        let context = Context { values: &values, categories, platforms: &platforms };
        Ok(run(&selected, &context))
    }

    fn selected_validators(&self) -> anyhow::Result<Vec<&'static Validator>> {
        let Some(selector) = self.select_optional.as_ref().filter(|selector| !selector.is_empty())
        else {
            return Ok(Vec::new());
        };
        let res: Vec<_> =
            VALIDATORS.iter().filter(|validator| validator.is_selected(selector)).collect();
        if res.is_empty() {
            return Err(anyhow::format_err!(
                "no optional validator has the labels `{}`",
                selector.as_str()
            ))
            .hint(if selector.as_str().contains("community") {
                "operator-sdk has deprecated the validator `community`: use https://github.com/redhat-openshift-ecosystem/ocp-olm-catalog-validator"
            } else {
                "`operator-rs bundle validate --list-optional` lists them with their labels"
            });
        }
        Ok(res)
    }
}

/// Names, labels and descriptions.
pub fn format_validators() -> String {
    let mut output = format!("{:<24} {:<29} DESCRIPTION\n", "NAME", "LABELS");
    for it in VALIDATORS {
        let name = format!("name={}", it.name);
        output.push_str(&format!("{:<24} {name:<29} {}\n", it.name, it.description));
        if let Some(suite) = it.suite {
            output.push_str(&format!("{:<24} suite={suite}\n", ""));
        }
    }
    output
}

/// `{"categories": ["My own"]}`
fn read_categories(path: &Path) -> Result<Vec<String>, String> {
    let text = disk::read_text(path).map_err(|error| format!("{error:#}"))?;
    let file =
        yaml::from_json(&text).map_err(|error| format!("`{}`: {error:#}", display_path(&path)))?;
    let texts = |value: &Value| {
        value.as_array()?.iter().map(|value| value.as_str().map(str::to_owned)).collect()
    };
    match file.get("categories") {
        None | Some(Value::Null) if file.is_object() => Ok(Vec::new()),
        list => list.and_then(texts).ok_or_else(|| {
            format!("`{}`: `categories` must be a list of strings", display_path(&path))
        }),
    }
}

/// Returns the platforms of an image in its registry.
fn of_registry(image: &str, access: &RegistryAccess) -> Result<Vec<Platform>, String> {
    let image: Image = image.parse().map_err(|error| format!("{error}"))?;
    let list = images::platforms(&image, access).map_err(|error| format!("{error:#}"))?;
    Ok(list
        .into_iter()
        .map(|platform| Platform { os: platform.os, architecture: platform.architecture })
        .collect())
}

/// Returns the platforms that an image's index lists. An image without an index has none.
fn inspect_platforms(tool: &str, image: &str) -> Result<Vec<Platform>, String> {
    let Some(program) = ProgramPath::find(tool) else {
        return Err(format!("`{tool}` is not on PATH"));
    };
    let run = |words: &[&str]| {
        let words: Vec<_> = words.iter().map(Into::into).collect();
        // To pull an image may take long.
        process::ask(&program, Path::new("."), &words, 600)
    };
    // An image that cannot be pulled is not reported, as in operator-sdk.
    let inspect = || run(&["pull", image]).and_then(|_| run(&["manifest", "inspect", image]));
    let text = inspect()
        .or_else(inspect)
        .ok_or_else(|| format!("`{tool} pull` or `{tool} manifest inspect` failed"))?;
    let index = yaml::from_json(&text)
        .map_err(|error| format!("`{tool} manifest inspect` printed no JSON: {error:#}"))?;
    let manifests = index.get("manifests").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let text =
        |value: &Value, key: &str| value["platform"][key].as_str().unwrap_or_default().to_owned();
    Ok(manifests
        .iter()
        .map(|manifest| Platform {
            os: text(manifest, "os"),
            architecture: text(manifest, "architecture"),
        })
        .collect())
}
