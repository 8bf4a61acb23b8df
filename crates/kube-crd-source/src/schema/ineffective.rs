//! Attributes that leave nothing in the CRD: warnings with the attribute that works.

use super::container::Field;
use super::{Reader, This};
use crate::attributes::limits::Ineffective;
use crate::attributes::schemars::Common;

const FLATTENED: &str = "the field is flattened";
const ON_FIELDS: &str = "put it on the fields of the flattened type";

impl Reader {
    /// Warns of limits that schemars does not write into the schema of their field.
    pub(super) fn warn_of_ineffective(&self, this: &This, all: Vec<Ineffective>) {
        for Ineffective { item, span, reason, hint } in all {
            let message = format!("`{item}` leaves nothing in the CRD: {reason}");
            let problem = self.world.problem_at(this.scope.module, span, message, &hint);
            let problem = self.with_field_path(problem, None).with_rule("no-effect");
            self.warnings.borrow_mut().push(problem);
        }
    }

    /// Warns of all attributes of a flattened field: schemars reads none of them.
    pub(super) fn warn_of_flattened(&self, this: &This, field: &Field) {
        let mut all = field.validation.all_ineffective(FLATTENED, ON_FIELDS);
        if !field.common.extensions.is_empty() {
            let (reason, hint) = (FLATTENED.to_owned(), ON_FIELDS.to_owned());
            all.push(Ineffective { item: "extend", span: field.span, reason, hint });
        }
        self.warn_of_ineffective(this, all);
    }

    /// Warns of `required` on a field that has a default, which makes it optional.
    pub(super) fn warn_of_optional(&self, this: &This, field: &Field, is_optional: bool) {
        if let Some(span) = field.validation.required_span().filter(|_| is_optional) {
            let message =
                "`required` does not make the field required: one with a default is optional";
            let hint = "remove `#[serde(default)]`, or remove `required`";
            let problem = self.world.problem_at(this.scope.module, span, message, hint);
            let problem = self.with_field_path(problem, None).with_rule("no-effect");
            self.warnings.borrow_mut().push(problem);
        }
    }

    /// Warns of examples: schemas of CRDs have one in place of a list.
    pub(super) fn warn_of_examples(&self, this: &This, common: &Common) {
        let Some((span, example)) = common.example_span.zip(common.examples.first()) else {
            return;
        };
        let reason = "CRDs have the keyword `example`, and schemars writes `examples`".to_owned();
        let hint = format!("use `#[schemars(extend(\"example\" = {example}))]`");
        self.warn_of_ineffective(this, vec![Ineffective { item: "example", span, reason, hint }]);
    }
}
