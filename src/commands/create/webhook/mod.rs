//! `operator-rs create webhook`

mod advice;
mod checks;

use clap::error::ErrorKind;

use self::checks::require_own_paths;
use crate::app::{
    compile,
    generation::{
        conversions,
        derive::{self, GenerateOptions},
    },
    scaffolding::{
        api::{
            foreign::ExternalTypeFlags,
            webhook::{self, WebhookTarget},
        },
        support,
    },
};
use crate::project::{Certificates, Operator, Options, Project, Resource, Webhooks};
use crate::{
    commands::OutputMode,
    plan::{Plan, WorkTree},
    scaffold, terminal,
};
use diagnostics::Hint as _;
use model::{FileContent, GroupPrefix, Kind, Plural, ProjectPath, Tree as _, Version};

/// Add a webhook to a kind: defaults, validation, or conversion between its versions
///
/// A constant default belongs in the type, and so does a rule about one object: they are part of the CRD and hold while
/// the operator is down. A webhook is for what needs other objects, the user, or a computation.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  operator-rs create webhook --group cache --kind Memcached --defaulting --programmatic-validation
  operator-rs create webhook --group cache --kind Memcached --version v1 --conversion --spoke v1alpha1
  operator-rs create webhook --group cache --kind Memcached --defaulting --certificates self    # no cert-manager
  operator-rs create webhook --group core --version v1 --kind Pod --programmatic-validation")]
pub struct Args {
    /// API group without the project's domain, e.g. `cache`, or one of Kubernetes, e.g. `apps`
    #[arg(long, allow_hyphen_values = true)]
    group: Option<GroupPrefix>,
    /// API version; with `--conversion`, the hub, which all others are converted to and from [default: the only version]
    #[arg(long)]
    version: Option<Version>,
    /// Kind, e.g. `Memcached`
    #[arg(long, allow_hyphen_values = true)]
    kind: Option<Kind>,
    /// Plural of a kind of another crate
    #[arg(long, requires = "external_api_path")]
    plural: Option<Plural>,
    /// Add a mutating webhook, which sets defaults
    #[arg(long)]
    defaulting: bool,
    /// Add a validating webhook, which accepts or refuses objects
    #[arg(long, visible_alias = "validation")]
    programmatic_validation: bool,
    /// Convert objects between the versions of the kind
    #[arg(long)]
    conversion: bool,
    /// Write a ValidatingAdmissionPolicy, which the API server evaluates without calling the operator
    #[arg(long)]
    admission_policy: bool,
    /// Version that is converted to and from the hub (can be repeated) [default: all other versions]
    #[arg(long, value_name = "VERSION", value_delimiter = ',', requires = "conversion")]
    spoke: Vec<Version>,
    /// Path of the defaulting webhook [default: /mutate-GROUP-VERSION-KIND]
    #[arg(long, value_name = "PATH", requires = "defaulting", value_parser = parse_path)]
    defaulting_path: Option<String>,
    /// Path of the validating webhook [default: /validate-GROUP-VERSION-KIND]
    #[arg(long, value_name = "PATH", requires = "programmatic_validation", value_parser = parse_path)]
    validation_path: Option<String>,
    /// Issuer of the webhooks' certificate [default: that of the project, or else cert-manager]
    #[arg(long, value_enum, value_name = "HOW")]
    certificates: Option<Certificates>,
    #[command(flatten)]
    external: ExternalTypeFlags,
    #[command(flatten)]
    compile: compile::CompileFlags,
    #[command(flatten)]
    pub mode: OutputMode,
}

/// The names that the code of a webhook imports from `operator_rs_runtime::admission`.
const IMPORTED: [&str; 5] = ["Defaulter", "FieldErrors", "Request", "Validator", "Verdict"];

impl Args {
    pub fn write_files(mut self, tree: &mut WorkTree<'_>) -> anyhow::Result<()> {
        let has_code = self.defaulting || self.programmatic_validation || self.conversion;
        self.refuse_conflicts(has_code)?;
        let project = Project::read(tree)?;
        let group = terminal::ask_for_value(self.group.take(), "group", "cache")?;
        let kind = terminal::ask_for_value(self.kind.take(), "kind", "Memcached")?;
        let is_admission = self.defaulting || self.programmatic_validation;
        if is_admission && IMPORTED.contains(&&*kind.to_string()) {
            return Err(anyhow::format_err!(
                "the code of a webhook imports another type with the name `{kind}`"
            ))
            .hint("write the webhook by hand, and import the kind under another name");
        }
        let (at, target) = self.find_target(&project, &group, &kind)?;
        let target = target.deployed(&project, tree)?;
        let own = target.resource.api.is_some() && has_code;
        let source = if own { derive::operator(tree) } else { Operator::default() };
        conversions::declared(&source, &target.resource, target.resource.version)?;
        let is_first = webhook::is_first(&project);
        let certificates = self.choose_certificates(&project, is_first)?;
        let webhooks = self.merge_webhooks(&project, &target)?;
        require_own_paths(&project, &target, &webhooks)?;
        let edited = self.with_record(&project, (at, &target), &webhooks, certificates)?;
        let was_converted =
            target.resource.webhooks.as_ref().is_some_and(|webhooks| webhooks.conversion);
        let mut plan = Plan::default();
        target
            .deadlock()
            .filter(|_| is_admission)
            .into_iter()
            .for_each(|warning| plan.warn(warning));
        conversions::olm_warning(&project)
            .filter(|_| self.conversion)
            .into_iter()
            .for_each(|warning| plan.warn(warning));
        for (set, is_asked) in [
            (webhook::FIRST, has_code && is_first),
            (webhook::certificates(certificates), has_code && is_first),
            (webhook::DEFAULTING, self.defaulting),
            (webhook::VALIDATION, self.programmatic_validation),
            (webhook::FIRST_CONVERSION, self.conversion && project.converted_versions().is_empty()),
            (webhook::CONVERSION, self.conversion && !was_converted),
        ] {
            if is_asked {
                add_set(&mut plan, &edited, &target, set, &webhooks, None)?;
            }
        }
        if self.admission_policy {
            add_policy(&mut plan, tree, &project, &target)?;
        }
        let old = target
            .resource
            .webhooks
            .as_ref()
            .map(|webhooks| webhooks.spoke.clone())
            .unwrap_or_default();
        let mut open = Vec::new();
        for spoke in
            webhooks.spoke.iter().filter(|version| self.conversion && !old.contains(version))
        {
            let written = conversions::written(tree, &source, &target.resource, *spoke)?;
            let code = Some((*spoke, written.text.as_str()));
            add_set(&mut plan, &edited, &target, webhook::SPOKE, &webhooks, code)?;
            open.extend(written.open);
        }
        switch_on(&mut plan, tree, is_admission, self.conversion)?;
        let options = GenerateOptions {
            flags: Some(self.compile),
            samples: true,
            ..GenerateOptions::default()
        };
        derive::with_project(tree, plan, &project, &edited, &options)?;
        tree.set_next_steps(format!(
            "{}\n\n{}",
            next_steps(&target, &self, certificates, &open),
            advice::advice_for(&self, &target)
        ));
        Ok(())
    }

    /// Refuses flags that create nothing, or that contradict each other.
    fn refuse_conflicts(&self, has_code: bool) -> anyhow::Result<()> {
        if !has_code && !self.admission_policy {
            return Err(terminal::usage_error(
                ErrorKind::MissingRequiredArgument,
                "choose what to create: `--defaulting`, `--programmatic-validation`, `--conversion` or `--admission-policy`",
            ));
        }
        if !has_code && self.certificates.is_some() {
            return Err(terminal::usage_error(
                ErrorKind::ArgumentConflict,
                "an admission policy needs no certificate: leave out `--certificates`",
            ));
        }
        Ok(())
    }

    /// The project with the record of what is created.
    fn with_record(
        &self,
        project: &Project,
        (at, target): (Option<usize>, &WebhookTarget),
        webhooks: &Webhooks,
        certificates: Certificates,
    ) -> anyhow::Result<Project> {
        let mut edited = project.clone();
        if self.defaulting || self.programmatic_validation || self.conversion {
            let listed = with_webhooks(project, at, target, webhooks)?;
            edited = listed.with_certificates(certificates)?;
        }
        if self.admission_policy {
            edited = with_policy(&edited, target)?;
        }
        Ok(edited)
    }
}

/// Switches on the features of the runtime that new webhooks need.
fn switch_on(
    plan: &mut Plan,
    tree: &WorkTree<'_>,
    admission: bool,
    conversion: bool,
) -> anyhow::Result<()> {
    let mut features = vec![("admission", admission), ("conversion", conversion)];
    features.retain(|feature| feature.1);
    support::feature(plan, tree, &features)
}

/// The project with these webhooks of a kind, which PROJECT may not have yet.
fn with_webhooks(
    project: &Project,
    at: Option<usize>,
    target: &WebhookTarget,
    webhooks: &Webhooks,
) -> anyhow::Result<Project> {
    match at {
        Some(at) => project.with_webhooks(at, webhooks),
        None => {
            let resource = target.resource.clone();
            project.with_resource(Resource {
                webhooks: Some(webhooks.clone()),
                controller: false,
                ..resource
            })
        }
    }
}

/// The project with the record of a kind's policy.
fn with_policy(project: &Project, target: &WebhookTarget) -> anyhow::Result<Project> {
    let is_listed =
        project.resources.iter().any(|resource| resource.is_same_version(&target.resource));
    let options = if is_listed {
        Options { admission_policy: true, ..project.inputs.options_of(&target.resource) }
    } else {
        Options::of_policy(&target.resource)
    };
    project.with_options(&target.resource, options)
}

/// Plans the policy of a kind, and the folder of all policies with the first one.
fn add_policy(
    plan: &mut Plan,
    tree: &WorkTree<'_>,
    project: &Project,
    target: &WebhookTarget,
) -> anyhow::Result<()> {
    if tree.read_content(&target.policy()?)? != FileContent::Nothing {
        return Err(anyhow::format_err!(
            "{} already has an admission policy",
            target.resource.kind
        ))
        .hint(format!(
            "edit {}, or remove it with `{}`",
            target.policy()?,
            target.resource.command_line("delete webhook", "--admission-policy")
        ));
    }
    let list = ProjectPath::fixed(webhook::POLICIES).join("kustomization.yaml")?;
    let none = Webhooks::default();
    if tree.read_content(&list)? == FileContent::Nothing {
        add_set(plan, project, target, webhook::FIRST_POLICY, &none, None)?;
    }
    add_set(plan, project, target, webhook::POLICY, &none, None)
}

fn add_set(
    plan: &mut Plan,
    project: &Project,
    target: &WebhookTarget,
    set: &'static str,
    webhooks: &Webhooks,
    spoke: Option<(Version, &str)>,
) -> anyhow::Result<()> {
    scaffold::add(plan, &[set], &target.context(project, set, webhooks, spoke))
}

fn next_steps(
    target: &WebhookTarget,
    args: &Args,
    made_by: Certificates,
    open: &[String],
) -> String {
    let kind = &target.resource.kind;
    let what = match (args.defaulting, args.programmatic_validation) {
        (true, true) => "defaults and rules",
        (true, false) => "defaults",
        _ => "rules",
    };
    if args.admission_policy
        && !args.defaulting
        && !args.programmatic_validation
        && !args.conversion
    {
        return format!(
            "Next: write the rules of {kind} in config/admission-policy/, then\n  operator-rs deploy"
        );
    }
    let mut steps = if args.conversion {
        format!("Next: see what the conversion of {kind} does with each field")
    } else {
        format!("Next: write the {what} of {kind} in src/webhook/")
    };
    if !open.is_empty() {
        steps += &format!("; these are yours to decide:\n  {}", open.join("\n  "));
    }
    steps += "\nthen\n  cargo test\n  operator-rs deploy";
    match made_by {
        Certificates::CertManager => steps + "    # the cluster needs cert-manager",
        Certificates::SelfManaged => steps,
    }
}

/// A path that API servers take in a webhook: its parts are names of DNS.
fn parse_path(text: &str) -> Result<String, &'static str> {
    let is_word = |word: &str| {
        let is_inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        !word.is_empty()
            && !word.starts_with('-')
            && !word.ends_with('-')
            && word.chars().all(is_inner)
    };
    let rest = text.strip_prefix('/').ok_or("must begin with `/`, e.g. `/mutate-v1`")?;
    if rest == "convert" {
        Err("is the path of conversion webhooks")
    } else if rest.is_empty() || rest.split('/').all(is_word) {
        Ok(text.to_owned())
    } else {
        Err(
            "must have only lower-case letters, digits and inner `-` between its slashes: API servers accept no others",
        )
    }
}
