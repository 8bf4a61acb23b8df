//! CEL rules that may cost more than API servers allow: each on its own, and all of a schema together.

use super::Fault;
use crate::expression;
use crate::keyword::text;
use go_data::yaml::Value;

/// What one rule, and all rules of a schema, may cost.
const OF_ONE: u64 = 10_000_000;
const OF_ALL: u64 = 100_000_000;

const BOUND: &str = "simplify the rule, or set `maxItems`, `maxProperties` and `maxLength` on each list, map and string that it uses or is in";

/// The costs of the rules of a schema.
#[derive(Default)]
pub struct Costs {
    total: u64,
    /// The rules that cost a hundredth of what all may, with their field paths.
    expensive: Vec<(u64, String)>,
}

impl Costs {
    /// The fault of a rule, if it may cost too much itself.
    pub fn add(&mut self, (at, rule): (&str, &str), cost: u64) -> Option<Fault> {
        self.total = self.total.saturating_add(cost);
        if cost >= OF_ALL / 100 {
            let at = if at.is_empty() { "the schema".to_owned() } else { format!("`{at}`") };
            self.expensive.push((cost, at));
        }
        (cost > OF_ONE).then(|| {
            let message = format!("has a rule with {}: `{rule}`", excess(cost, OF_ONE));
            Fault { at: at.to_owned(), message, hint: BOUND }
        })
    }

    /// The fault of all rules together.
    pub fn of_all(mut self) -> Option<Fault> {
        self.expensive.sort_by_key(|it| std::cmp::Reverse(it.0));
        let mut places: Vec<String> = self.expensive.into_iter().take(4).map(|it| it.1).collect();
        places.dedup();
        (self.total > OF_ALL).then(|| {
            let (excess, places) = (excess(self.total, OF_ALL), places.join(", "));
            let message = format!("has rules that have together {excess}; most of it in {places}");
            Fault { at: String::new(), message, hint: BOUND }
        })
    }
}

fn excess(cost: u64, limit: u64) -> String {
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

/// How often values of a schema can be in one resource: what the lists and maps above it hold, or what fits into a
/// request if one of them has no limit.
pub fn times(above: &[&Value], (schema, is_resource): (&Value, bool)) -> u64 {
    let limit = |it: &&Value| {
        let limit = |key: &str| Some(it.get(key)?.as_i64()?.max(0).cast_unsigned());
        match text(it, "type") {
            "array" => limit("maxItems"),
            "object" if it.get("additionalProperties").is_some_and(|it| !it.is_null()) => {
                limit("maxProperties")
            }
            _ => Some(1),
        }
    };
    let product = above.iter().map(limit).try_fold(1, |res: u64, it| Some(res.saturating_mul(it?)));
    product.unwrap_or_else(|| expression::times_per_request(schema, is_resource))
}

/// The schemas around one, the outermost first.
pub fn above<'a>(all: &'a Value, wanted: &Value) -> Vec<&'a Value> {
    let mut res = Vec::new();
    find(all, wanted, &mut res);
    res
}

fn find<'a>(here: &'a Value, wanted: &Value, above: &mut Vec<&'a Value>) -> bool {
    if std::ptr::eq(here, wanted) {
        return true;
    }
    above.push(here);
    let inside = |key: &str| here.get(key).filter(|it| it.is_object());
    let fields = inside("properties").and_then(Value::as_object).into_iter().flatten();
    let inner = [inside("items"), inside("additionalProperties")].into_iter().flatten();
    let found = fields.map(|it| it.1).chain(inner).any(|it| find(it, wanted, above));
    if !found {
        above.pop();
    }
    found
}

/// Rules with their costs, and schemas with whether they are refused: `tests/deploy` asks a real API server for the same
/// verdicts.
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
            let it = expression::of_crd(rule, (&table["schema"], false), false, "bool");
            assert!(it.faults.is_empty() && it.unchecked.is_none(), "{rule}: {it:?}");
            assert_eq!(Some(it.cost), row[1].as_u64(), "{rule}");
        }
    }

    #[test]
    fn schemas_are_refused_for_how_often_their_rules_apply() {
        for row in table()["schemas"].as_array().unwrap() {
            let schema = json!({ "type": "object", "properties": { "spec": row[0] } });
            let faults = super::super::rules::faults(&schema);
            let found: Vec<&str> = faults.iter().map(|it| it.message.as_str()).collect();
            assert!(faults.iter().all(|it| it.hint == BOUND), "{found:?}");
            assert_eq!(found.is_empty(), row[1] == false, "{schema}: {found:?}");
        }
    }
}
