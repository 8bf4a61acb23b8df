//! The refusal of an apply whose fields others own.

use super::{super::refusal::Refusal, Manager};
use serde_json::json;

/// 409 of an apply that is not forced.
pub fn field_conflict(conflicts: &[(&Manager, Vec<String>)]) -> Refusal {
    let mut causes = Vec::new();
    let mut lines = Vec::new();
    for (manager, fields) in conflicts {
        let sub = match manager.subresource.as_str() {
            "" => String::new(),
            sub => format!(" with subresource \"{sub}\""),
        };
        let using = if manager.apply { String::new() } else { format!(" using {}", manager.api_version) };
        let message = format!("conflict with \"{}\"{sub}{using}", manager.name);
        for field in fields {
            causes.push(json!({ "reason": "FieldManagerConflict", "message": message, "field": field }));
        }
        lines.push((format!("with \"{}\"{sub}{using}", manager.name), fields));
    }
    let message = match (causes.len(), lines.as_slice()) {
        (1, [(line, fields)]) => {
            format!("Apply failed with 1 conflict: conflict {line}: {}", fields.join(""))
        }
        (count, lines) => {
            let list = lines.iter().map(|(line, fields)| format!("conflicts {line}:\n- {}", fields.join("\n- ")));
            format!("Apply failed with {count} conflicts: {}", list.collect::<Vec<_>>().join("\n"))
        }
    };
    Refusal { details: json!({ "causes": causes }), ..Refusal::new(409, "Conflict", message) }
}
