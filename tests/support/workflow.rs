//! What every workflow keeps to, those of scaffolded projects and ours: few rights, pinned actions, jobs that end.

use serde_json::Value;

pub fn check(path: &str, text: &str) {
    let workflow = yaml(path, text);
    assert_eq!(workflow["permissions"], serde_json::json!({"contents": "read"}), "{path}");
    for (name, job) in workflow["jobs"].as_object().expect("it has jobs") {
        assert!(job["timeout-minutes"].is_u64(), "{path}: {name}");
        for step in job["steps"].as_array().expect("it has steps") {
            if let Some(script) = step["run"].as_str() {
                is_bash(script);
            }
            let Some(action) = step["uses"].as_str() else { continue };
            let commit = action.split_once('@').map_or("", |it| it.1);
            let is_pinned = commit.len() == 40 && commit.chars().all(|c| c.is_ascii_hexdigit());
            assert!(is_pinned, "{path}: {action}");
            assert!(text.contains(&format!("{action} # v")), "{path}: {action} without version");
        }
    }
}

pub fn yaml(path: &str, text: &str) -> Value {
    serde_yaml::from_str(text).unwrap_or_else(|it| panic!("{path}: {it}"))
}

fn is_bash(script: &str) {
    let check = std::process::Command::new("bash").args(["-n", "-c", script]).output();
    let check = check.expect("there is bash");
    assert!(check.status.success(), "{script}\n{}", super::said(&check));
}
