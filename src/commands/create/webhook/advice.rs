//! Advises in two lines whether a schema default, a CEL rule, a policy or a webhook fits what was asked for.

use super::Args;
use crate::app::scaffolding::api::webhook::WebhookTarget;

const CONVERSION: &str = "\
Versions with the same fields need no webhook: API servers only change their `apiVersion`.
A webhook converts all others; without one, API servers drop the fields that a version does not have.";

pub fn advice_for(args: &Args, target: &WebhookTarget) -> &'static str {
    let own = target.resource.api.is_some();
    match (args.defaulting, args.programmatic_validation, args.admission_policy) {
        (true, true, _) if own => {
            "\
In the type: constant defaults (`#[serde(default = …)]`), and rules about one object (`#[x_kube(validation = …)]`).
In a policy (`--admission-policy`): rules about the user or the namespace. In a webhook: what is computed or looked up."
        }
        (true, false, _) if own => {
            "\
A constant default fits in the type, as `#[serde(default = …)]`: it works while the operator is down.
A webhook is for defaults that are computed or looked up."
        }
        (true, true | false, _) => {
            "\
A rule about one object, the user or the namespace fits in a policy (`--admission-policy`).
A webhook is for defaults, and for rules that look up other objects."
        }
        (false, true, _) if own => {
            "\
A rule about one object fits in the type (`#[x_kube(validation = …)]`), one about the user or the namespace in a policy
(`--admission-policy`): both work while the operator is down. A webhook is for rules that look up other objects."
        }
        (false, true, _) => {
            "\
A rule about one object, the user or the namespace fits in a policy (`--admission-policy`): it works while the operator
is down. A webhook is for rules that look up other objects."
        }
        (false, false, true) if own => {
            "\
A rule about one object fits in the type, as `#[x_kube(validation = …)]`; a policy also knows the user and the namespace.
Rules that look up other objects need a webhook (`--programmatic-validation`), and so do computed defaults (`--defaulting`)."
        }
        (false, false, true) => {
            "\
A policy knows the object, the user and the namespace, and works while the operator is down.
Rules that look up other objects need a webhook (`--programmatic-validation`), and so do defaults (`--defaulting`)."
        }
        (false, false, false) => CONVERSION,
    }
}
