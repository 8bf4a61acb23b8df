//! The options of `init` and `create` beyond the fields of every PROJECT file. They suffice to write the same files
//! again.

use clap::Args as _;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Project, Resource};
use model::{Domain, GroupPrefix, Image, Kind, Plural, ProjectPath, Version};

/// The settings of this tool in PROJECT's `plugins`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "the settings of a project")]
pub struct Inputs {
    /// The issuer of the webhooks' certificate.
    #[serde(skip_serializing_if = "is_default")]
    pub certificates: Certificates,
    /// The chart of an operator in place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chart: Option<ProjectPath>,
    /// The directories that the CRDs of an operator in place are written to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub crds: Vec<ProjectPath>,
    /// The README and the license files that were there before.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<ProjectPath>,
    /// The license's SPDX identifier, or `none`. Nothing stands for Apache-2.0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    /// The file of a license whose identifier is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub license_file: Option<ProjectPath>,
    /// The manifests of an operator in place: a kustomization, a directory of YAML files, or a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manifests: Option<ProjectPath>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub owner: String,
    /// The package of an operator in place that is the operator's program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub package: Option<String>,
    /// For some of PROJECT's resources. The shape is that of kubebuilder's plugin `deploy-image`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<CreatedResource>,
    /// True if the project is to have the source of the crates of operator-rs that it depends on.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub vendor: bool,
    /// The files of `init --with`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub with: Vec<String>,
}

/// The issuer of the webhooks' certificate, which all webhooks of a project share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(expecting = "`cert-manager` or `self`")]
pub enum Certificates {
    #[default]
    #[serde(rename = "cert-manager")]
    CertManager,
    /// The operator itself.
    #[serde(rename = "self")]
    SelfManaged,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// The options that a resource was created with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "the fields of a resource in `plugins`")]
pub struct CreatedResource {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<Domain>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<GroupPrefix>,
    pub kind: Kind,
    #[serde(default)]
    pub options: Options,
    pub version: Version,
}

/// The choices for a type, its controller and its webhooks: the flags of `create api`, as PROJECT records them, and what a
/// command has found out. The id of each argument is the name of the field in PROJECT.
///
/// A new flag is a field here, a variable of `ApiContext` and its place in a template.
#[derive(clap::Args, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "the options of a resource")]
pub struct Options {
    /// The kind has a ValidatingAdmissionPolicy.
    #[arg(skip)]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub admission_policy: bool,
    /// Command and arguments, separated by commas or repeated
    #[arg(
        id = "containerCommand",
        long = "container-command",
        requires = "image",
        alias = "image-container-command",
        value_delimiter = ',',
        value_parser = parse_word,
        value_name = "WORDS",
        allow_hyphen_values = true,
        help_heading = IMAGE_FLAGS,
        display_order = 4
    )]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub container_command: Vec<String>,
    /// Port that the image listens on
    #[arg(
        id = "containerPort",
        long = "port",
        requires = "image",
        alias = "image-container-port",
        allow_negative_numbers = true,
        value_parser = clap::value_parser!(u16).range(1..),
        value_name = "PORT",
        help_heading = IMAGE_FLAGS,
        display_order = 2
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container_port: Option<u16>,
    /// Scaffold a finalizer in the controller, for clean-up before an object is deleted
    #[arg(long)]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub finalizer: bool,
    /// Copy the type from this version of the kind, and convert objects between the two
    #[arg(long, value_name = "VERSION", conflicts_with_all = ["image", "finalizer", "shortNames"])]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<Version>,
    /// True if the names of its files have the group, since another kind of that name was there before.
    #[arg(skip)]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub group_in_names: bool,
    /// True if the type was written by hand before `create api` took it over.
    #[arg(skip)]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub hand_written: bool,
    /// Image that the controller runs in a Deployment for each object
    #[arg(long, help_heading = IMAGE_FLAGS, display_order = 1)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<Image>,
    /// The scope of a type of another crate, which has no `api`, if it is not namespaced.
    #[arg(skip)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespaced: Option<bool>,
    /// The Rust path of a type of another crate that is not among the resources.
    #[arg(skip)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[arg(skip)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plural: Option<Plural>,
    /// Numeric user that the image runs as, not 0 [default: 1001]
    #[arg(
        id = "runAsUser",
        long = "run-as-user",
        requires = "image",
        allow_negative_numbers = true,
        value_parser = clap::value_parser!(i64).range(1..=2_147_483_647),
        value_name = "UID",
        help_heading = IMAGE_FLAGS,
        display_order = 3
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_as_user: Option<i64>,
    /// Short name for kubectl (can be repeated)
    #[arg(id = "shortNames", long = "shortname", value_name = "NAME")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub short_names: Vec<Plural>,
}

/// The heading of the flags for a controller that runs an image.
const IMAGE_FLAGS: &str = "Controller that runs an image";

/// The flags that configure only the controller.
pub const CONTROLLER_FLAGS: &[&str] = &["container-command", "finalizer", "run-as-user"];

/// A word of a command that can be written in a raw string of Rust.
fn parse_word(text: &str) -> Result<String, &'static str> {
    if text.is_empty() {
        return Err("must not be empty: separate words with one comma");
    }
    if text.contains("\"#") || text.contains(char::is_control) {
        return Err("must not contain control characters or `\"#`");
    }
    Ok(text.to_owned())
}

impl Options {
    /// Returns the flags of `create api` that give these options, as names and values; a switch has no value.
    pub fn flags(&self) -> Vec<(String, Option<String>)> {
        let recorded = serde_json::to_value(self).unwrap_or_default();
        let command = Self::augment_args(clap::Command::new("api"));
        let mut flags = Vec::new();
        for argument in command.get_arguments() {
            let name = argument.get_long().unwrap_or_default().to_owned();
            match &recorded[argument.get_id().as_str()] {
                Value::Null | Value::Bool(false) => {}
                Value::Bool(true) => flags.push((name, None)),
                Value::Array(words) => {
                    flags.extend(words.iter().map(|word| (name.clone(), Some(flag_value(word)))));
                }
                value => flags.push((name, Some(flag_value(value)))),
            }
        }
        flags
    }

    /// Returns the record of the policy of a kind that is not among the resources: for a type of another crate, it is
    /// the only place that has these.
    pub fn of_policy(resource: &Resource) -> Self {
        let Resource { external, path, plural, .. } = resource;
        Self {
            admission_policy: true,
            path: path.clone().filter(|_| *external),
            plural: plural.clone().filter(|_| *external),
            ..Self::default()
        }
    }
}

/// Returns a value as it is written on the command line.
fn flag_value(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

impl CreatedResource {
    /// Returns the resource, which others define.
    fn resource(&self) -> Resource {
        let Self { domain, group, kind, options, version } = self.clone();
        Resource {
            api: None,
            controller: false,
            core: options.path.is_none(),
            domain,
            external: options.path.is_some(),
            group,
            kind,
            path: options.path,
            plural: options.plural,
            version,
            webhooks: None,
        }
    }

    fn is_of(&self, resource: &Resource) -> bool {
        (&self.domain, &self.group, &self.kind, self.version)
            == (&resource.domain, &resource.group, &resource.kind, resource.version)
    }
}

impl Inputs {
    /// Returns the options that a resource was created with. PROJECT has none if no flag was given.
    pub fn options_of(&self, resource: &Resource) -> Options {
        self.find_record(resource).map(|pair| pair.1.options.clone()).unwrap_or_default()
    }

    /// Returns the record of a resource, and its place in the list.
    pub fn find_record(&self, resource: &Resource) -> Option<(usize, &CreatedResource)> {
        self.resources.iter().enumerate().find(|pair| pair.1.is_of(resource))
    }

    /// Returns the resources with a ValidatingAdmissionPolicy, which need not be among those of PROJECT.
    pub fn with_policies(&self) -> impl Iterator<Item = Resource> + '_ {
        let with = self.resources.iter().filter(|resource| resource.options.admission_policy);
        with.map(CreatedResource::resource)
    }

    /// Sets what a resource was created with.
    fn set_options(&mut self, resource: &Resource, options: Options) {
        let at = self.resources.iter().position(|other| other.is_of(resource));
        match (at, options == Options::default()) {
            (Some(at), true) => drop(self.resources.remove(at)),
            (Some(at), false) => self.resources[at].options = options,
            (None, true) => {}
            (None, false) => {
                let Resource { domain, group, kind, version, .. } = resource.clone();
                self.resources.push(CreatedResource { domain, group, kind, options, version });
            }
        }
    }
}

impl Project {
    /// Records who makes the certificate of the webhooks.
    pub fn with_certificates(&self, certificates: Certificates) -> anyhow::Result<Self> {
        self.with_inputs(&Inputs { certificates, ..self.inputs.clone() })
    }

    /// Without the choice of the certificates, if no webhook is left.
    pub(super) fn without_unused_certificates(self) -> anyhow::Result<Self> {
        let has = |resource: &Resource| {
            resource.webhooks.as_ref().is_some_and(|webhook| !webhook.is_empty())
        };
        if self.resources.iter().any(has) {
            Ok(self)
        } else {
            self.with_certificates(Certificates::default())
        }
    }

    /// Removes the resource with this index, and what names it. Its policy stays, and so does the record of the policy: for
    /// another version of the project's own kind, if there is one.
    pub fn without_resource(&self, at: usize) -> anyhow::Result<Self> {
        let gone = &self.resources[at];
        let is_other = |resource: &&Resource| {
            gone.api.is_some() && resource.is_same_kind(gone) && *resource != gone
        };
        let others: Vec<&Resource> = self.resources.iter().filter(is_other).collect();
        let has_policy = self.inputs.options_of(gone).admission_policy;
        let left = if has_policy && others.is_empty() {
            Options::of_policy(gone)
        } else {
            Options::default()
        };
        let mut res = self.with_options(gone, left)?;
        for (nth, other) in others.into_iter().enumerate() {
            let mut options = res.inputs.options_of(other);
            options.admission_policy |= has_policy && nth == 0;
            options.from = options.from.filter(|option| *option != gone.version);
            res = res.with_options(other, options)?;
        }
        res.apply_edit(|document| document.remove_item("/0", "resources", at))?
            .without_unused_certificates()
    }

    /// Removes the record of a kind's policy.
    pub fn without_policy(&self, resource: &Resource) -> anyhow::Result<Self> {
        let mut project = self.clone();
        for it in self.inputs.with_policies().filter(|input| input.is_same_kind(resource)) {
            let options = self.inputs.options_of(&it);
            let options = Options { admission_policy: false, path: None, plural: None, ..options };
            project = project.with_options(&it, options)?;
        }
        Ok(project)
    }

    /// Records what a resource was created with.
    pub fn with_options(&self, resource: &Resource, options: Options) -> anyhow::Result<Self> {
        let mut inputs = self.inputs.clone();
        inputs.set_options(resource, options);
        self.with_inputs(&inputs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Removes the resource with this index from a project with these records and resources.
    fn check(at: usize, before: (&str, &str), after: (&str, &str)) {
        let text = |(records, resources): (&str, &str)| {
            let plugins = match records {
                "" => String::new(),
                _ => format!("plugins:\n  {}:\n    resources:\n{records}", Project::LAYOUT),
            };
            let head = format!("domain: a.io\nlayout: {}\n", Project::LAYOUT);
            format!("{head}{plugins}projectName: p\nresources:\n{resources}version: \"3\"\n")
        };
        let project = Project::from_text(&text(before)).expect("a project");
        assert_eq!(project.without_resource(at).expect("it can be removed").text(), text(after));
    }

    #[test]
    fn the_record_of_a_policy_stays_with_the_policy() {
        let (a, b) = ("- kind: A\n  version: v1\n", "- kind: B\n  version: v1\n");
        let policy = |version: &str| {
            format!(
                "    - kind: A\n      options:\n        admissionPolicy: true\n      version: {version}\n"
            )
        };
        check(0, (&policy("v1"), &[a, b].concat()), (&policy("v1"), b));
        check(1, (&policy("v1"), &[a, b].concat()), (&policy("v1"), a));
        let external = "- external: true\n  kind: A\n  path: a::b\n  plural: az\n  version: v1\n";
        let full = policy("v1").replace("true\n", "true\n        path: a::b\n        plural: az\n");
        check(0, (&policy("v1"), &[external, b].concat()), (&full, b));
        let of = |core: &str, version: &str| format!("- {core}\n  kind: A\n  version: {version}\n");
        let core = [of("core: true", "v1"), of("core: true", "v2")];
        check(0, (&policy("v1"), &core.concat()), (&policy("v1"), &core[1]));
        let own = [of("api: {crdVersion: v1}", "v1"), of("api: {crdVersion: v1}", "v2")];
        check(0, (&policy("v1"), &own.concat()), (&policy("v2"), &own[1]));
    }

    #[test]
    fn a_version_that_is_gone_is_named_nowhere() {
        let own = "- api: {crdVersion: v1}\n  kind: A\n  version: ";
        let (one, two) = (&*format!("{own}v1\n"), &*format!("{own}v2\n"));
        let from = "    - kind: A\n      options:\n        from: v1\n      version: v2\n";
        check(0, (from, &[one, two].concat()), ("", two));
        let also = from.replace("v1\n", "v1\n        finalizer: true\n");
        check(0, (&also, &[one, two].concat()), (&also.replace("        from: v1\n", ""), two));
        let other = "- kind: B\n  version: v1\n";
        check(2, (from, &[one, two, other].concat()), (from, &[one, two].concat()));
    }
}
