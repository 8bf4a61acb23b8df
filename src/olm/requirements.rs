//! What a ClusterServiceVersion lacks, from its status.

use crate::yaml::Value;

/// The requirements that are not met, in one line each.
pub fn unmet(csv: &Value) -> Vec<String> {
    let mut res = Vec::new();
    for it in csv["status"]["requirementStatus"].as_array().into_iter().flatten() {
        if it["status"] == "Present" {
            continue;
        }
        let kind = text(&it["kind"]);
        let what = match (kind, text(&it["group"])) {
            // This is how OLM reports `minKubeVersion`.
            ("ClusterServiceVersion", _) => String::new(),
            (_, "") => format!("{kind} {}: ", text(&it["name"])),
            (_, group) => format!("{kind} {} ({group}): ", text(&it["name"])),
        };
        let why = match (text(&it["message"]), text(&it["status"])) {
            ("", status) => status,
            (message, _) => message,
        };
        res.push(format!("{what}{}", one_line(why)));
        for rule in it["dependents"].as_array().into_iter().flatten() {
            if rule["status"] != "Satisfied" {
                res.push(format!(
                    "  {}: {}",
                    text(&rule["status"]),
                    one_line(text(&rule["message"]))
                ));
            }
        }
    }
    res
}

pub fn text(it: &Value) -> &str {
    it.as_str().unwrap_or_default()
}

pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
