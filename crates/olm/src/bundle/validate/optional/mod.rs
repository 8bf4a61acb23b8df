//! Validators that run on request, with the names and labels that operator-sdk gives them.

use std::collections::BTreeMap;

use super::{
    Findings,
    load::Loaded,
    rules::{Rule, Selection, Suite},
};

mod hub;
mod platforms;
mod practices;
mod removed;
mod selector;

pub use platforms::Platform;
pub use selector::Selector;

pub struct Validator {
    pub name: &'static str,
    pub suite: Option<&'static str>,
    pub description: &'static str,
    /// The optional value that it reads.
    pub value: Option<&'static str>,
    run: fn(&Loaded, &Context, &mut Findings),
}

/// Input of validators besides the bundle.
pub struct Context<'a> {
    /// `--optional-values`
    pub values: &'a BTreeMap<String, String>,
    /// The categories that take the place of OperatorHub's, or why they cannot be read.
    pub categories: Option<Result<Vec<String>, String>>,
    /// The platforms of an image, or why they are not known.
    pub platforms: &'a dyn Fn(&str) -> Result<Vec<Platform>, String>,
}

impl<'a> Context<'a> {
    /// Builds a context for checks that read only the bundle.
    pub fn without_images(values: &'a BTreeMap<String, String>) -> Self {
        let platforms = &|_: &str| Err("images are not inspected".to_owned());
        Self { values, categories: None, platforms }
    }
}

impl Context<'_> {
    fn value(&self, key: &str) -> &str {
        self.values.get(key).map(String::as_str).unwrap_or_default()
    }
}

const SUITE: Option<&str> = Some("operatorframework");
const VERSION: Option<&str> = Some("k8s-version");

/// In operator-sdk's order.
pub const VALIDATORS: &[Validator] = &[
    Validator {
        name: "operatorhubv2",
        suite: SUITE,
        description: "What OperatorHub.io asks of the CSV, and APIs that newer Kubernetes versions have removed",
        value: VERSION,
        run: |bundle, context, findings| {
            hub::check(bundle, findings);
            removed::check(bundle, context.value("k8s-version"), findings);
        },
    },
    Validator {
        name: "capabilities",
        suite: SUITE,
        description: "The annotation `capabilities` is one of OperatorHub.io's levels",
        value: None,
        run: |bundle, _, findings| hub::check_capabilities(bundle, findings),
    },
    Validator {
        name: "categories",
        suite: SUITE,
        description: "The annotation `categories` names categories of OperatorHub.io, or of the file that OPERATOR_BUNDLE_CATEGORIES names",
        value: None,
        run: |bundle, context, findings| hub::check_categories(bundle, context, findings),
    },
    Validator {
        name: "operatorhub",
        suite: None,
        description: "Deprecated: operatorhubv2, capabilities and categories in one",
        value: VERSION,
        run: |bundle, context, findings| {
            hub::check(bundle, findings);
            hub::check_capabilities(bundle, findings);
            hub::check_categories(bundle, context, findings);
            removed::check(bundle, context.value("k8s-version"), findings);
            findings.warning(
                Rule::HubDeprecated,
                "",
                "the validator \"operatorhub\" is deprecated: select \"operatorhubv2\", \"capabilities\" and \"categories\" instead",
            );
        },
    },
    Validator {
        name: "alpha-deprecated-apis",
        suite: SUITE,
        description: "APIs that Kubernetes 1.22, 1.25 and 1.26 removed",
        value: VERSION,
        run: |bundle, context, findings| {
            removed::check(bundle, context.value("k8s-version"), findings);
        },
    },
    Validator {
        name: "good-practices",
        suite: SUITE,
        description: "Resource requests, descriptions of CRDs, channel names, permissions to create CRDs, the CSV's name",
        value: None,
        run: |bundle, _, findings| practices::check(bundle, findings),
    },
    Validator {
        name: "multiarch",
        suite: None,
        description: "The platforms of the images are those that the CSV's labels promise. Asks their registries, or docker or podman",
        value: Some("container-tools"),
        run: platforms::check,
    },
];

impl Validator {
    pub fn is_selected(&self, selector: &Selector) -> bool {
        let labels = [("name", Some(self.name)), ("suite", self.suite)];
        selector.matches(|key| labels.iter().find(|it| it.0 == key).and_then(|label| label.1))
    }

    /// Returns whether a rule that is selected by its own name is one of its rules.
    pub(super) fn has_selected_rules(&self, select: &Selection) -> bool {
        let suite = match self.name {
            "operatorhubv2" => Suite::Operatorhub,
            "capabilities" => Suite::Capabilities,
            "categories" => Suite::Categories,
            "alpha-deprecated-apis" => Suite::DeprecatedApis,
            "good-practices" => Suite::GoodPractices,
            "multiarch" => Suite::Multiarch,
            _ => return false,
        };
        Rule::all().any(|rule| rule.suite() == suite && select.contains(rule))
    }

    pub(super) fn check(&self, bundle: &Loaded, context: &Context, findings: &mut Findings) {
        (self.run)(bundle, context, findings);
    }
}
