//! CEL rules that may cost more than API servers allow: each on its own, and all of a schema together.

use super::Fault;
use crate::expression;
use crate::keyword::text;
use go_data::yaml::Value;

/// The maximum cost of one rule.
const RULE_LIMIT: u64 = 10_000_000;
/// The maximum cost of all rules of a schema together.
const SCHEMA_LIMIT: u64 = 100_000_000;

const BOUND: &str = "simplify the rule, or set `maxItems`, `maxProperties` and `maxLength` on each list, map and string that it uses or is in";

/// Adds up the costs of the rules of a schema.
#[derive(Default)]
pub struct RuleCosts {
    total: u64,
    /// The rules that cost a hundredth of what all may, with their field paths.
    expensive: Vec<(u64, String)>,
}

impl RuleCosts {
    /// Adds a rule's cost, and returns a fault if the rule alone may cost too much.
    pub fn add_rule(&mut self, (at, rule): (&str, &str), cost: u64) -> Option<Fault> {
        self.total = self.total.saturating_add(cost);
        if cost >= SCHEMA_LIMIT / 100 {
            let at = if at.is_empty() { "the schema".to_owned() } else { format!("`{at}`") };
            self.expensive.push((cost, at));
        }
        (cost > RULE_LIMIT).then(|| {
            let message =
                format!("has a rule with {}: `{rule}`", describe_excess(cost, RULE_LIMIT));
            Fault { at: at.to_owned(), message, hint: BOUND }
        })
    }

    /// Returns a fault if all rules together may cost too much.
    pub fn into_total_fault(mut self) -> Option<Fault> {
        self.expensive.sort_by_key(|expensive| std::cmp::Reverse(expensive.0));
        let mut places: Vec<String> =
            self.expensive.into_iter().take(4).map(|expensive| expensive.1).collect();
        places.dedup();
        (self.total > SCHEMA_LIMIT).then(|| {
            let (excess, places) = (describe_excess(self.total, SCHEMA_LIMIT), places.join(", "));
            let message = format!("has rules that have together {excess}; most of it in {places}");
            Fault { at: String::new(), message, hint: BOUND }
        })
    }
}

fn describe_excess(cost: u64, limit: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "it is rounded")]
    let factor = cost as f64 / limit as f64;
    let factor = match factor {
        ..1.5 => format!("{factor:.6}"),
        ..=100.0 => format!("{factor:.1}"),
        _ => "more than 100".to_owned(),
    };
    let magnitude = cost.checked_ilog10().unwrap_or(0);
    format!(
        "an estimated cost of about 10^{magnitude}, {factor} times the limit of API servers ({limit})"
    )
}

/// Returns how often values of a schema can occur in one resource: the product of the limits of the lists and maps
/// above it, or the number that fits into a request if one of them has no limit.
pub fn times_in_resource(above: &[&Value], (schema, is_resource): (&Value, bool)) -> u64 {
    let limit = |schema: &&Value| {
        let limit = |key: &str| Some(schema.get(key)?.as_i64()?.max(0).cast_unsigned());
        match text(schema, "type") {
            "array" => limit("maxItems"),
            "object"
                if schema.get("additionalProperties").is_some_and(|value| !value.is_null()) =>
            {
                limit("maxProperties")
            }
            _ => Some(1),
        }
    };
    let product =
        above.iter().map(limit).try_fold(1, |product: u64, it| Some(product.saturating_mul(it?)));
    product.unwrap_or_else(|| expression::max_values_per_request(schema, is_resource))
}

/// Returns the schemas around `wanted`, the outermost first.
pub fn schemas_above<'a>(all: &'a Value, wanted: &Value) -> Vec<&'a Value> {
    let mut above = Vec::new();
    find_path_to(all, wanted, &mut above);
    above
}

fn find_path_to<'a>(here: &'a Value, wanted: &Value, above: &mut Vec<&'a Value>) -> bool {
    if std::ptr::eq(here, wanted) {
        return true;
    }
    above.push(here);
    let inside = |key: &str| here.get(key).filter(|value| value.is_object());
    let fields = inside("properties").and_then(Value::as_object).into_iter().flatten();
    let inner = [inside("items"), inside("additionalProperties")].into_iter().flatten();
    let found =
        fields.map(|field| field.1).chain(inner).any(|schema| find_path_to(schema, wanted, above));
    if !found {
        above.pop();
    }
    found
}

/// Rules with their costs, and schemas with whether they are refused: `tests/deploy` asks a real API server for the
/// same verdicts.
#[cfg(test)]
mod tests {
    use super::*;
    use go_data::yaml::json;

    fn table() -> Value {
        serde_json::from_str(include_str!("../../../../tests/deploy/costs.json")).unwrap()
    }

    #[test]
    fn rules_cost_here_what_they_cost_on_api_servers() {
        let table = table();
        for row in table["rules"].as_array().unwrap() {
            let rule = row[0].as_str().unwrap();
            let it = expression::compile_crd_rule(rule, (&table["schema"], false), false, "bool");
            assert!(it.faults.is_empty() && it.unchecked.is_none(), "{rule}: {it:?}");
            assert_eq!(Some(it.cost), row[1].as_u64(), "{rule}");
        }
    }

    #[test]
    fn schemas_are_refused_for_how_often_their_rules_apply() {
        for row in table()["schemas"].as_array().unwrap() {
            let schema = json!({ "type": "object", "properties": { "spec": row[0] } });
            let faults = super::super::rules::check_rules(&schema);
            let found: Vec<&str> = faults.iter().map(|fault| fault.message.as_str()).collect();
            assert!(faults.iter().all(|fault| fault.hint == BOUND), "{found:?}");
            assert_eq!(found.is_empty(), row[1] == false, "{schema}: {found:?}");
        }
    }
}
