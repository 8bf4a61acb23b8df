//! The response of an API server.

use go_data::yaml::Value;

/// The response of an API server, which may be a refusal.
#[derive(Debug)]
pub struct ApiResponse {
    /// The HTTP status.
    pub code: u16,
    /// The object, list or `Status`; a string if it is not JSON.
    pub body: Value,
    /// Warnings about a request that the server has served.
    pub warnings: Vec<String>,
    /// The seconds to wait before a retry.
    pub retry_after: Option<u64>,
}

impl ApiResponse {
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.code)
    }

    /// The message of a refusal; only its beginning if it is not from an API server.
    pub fn message(&self) -> String {
        let text = match (self.body["message"].as_str(), &self.body) {
            (Some(message), _) => message,
            (None, Value::String(text)) => text.trim().lines().next().unwrap_or_default(),
            _ => "",
        };
        match text.char_indices().nth(2000) {
            _ if text.is_empty() => format!("HTTP status {}", self.code),
            None => text.to_owned(),
            Some((end, _)) => format!("{}…", &text[..end]),
        }
    }
}

#[test]
fn only_the_beginning_of_a_long_refusal_is_shown() {
    let message = |body: Value| {
        ApiResponse { code: 502, body, warnings: Vec::new(), retry_after: None }.message()
    };
    assert_eq!(message("<html>\n<body>".into()), "<html>");
    assert_eq!(message(Value::Null), "HTTP status 502");
    assert_eq!(message("x".repeat(9999).into()).chars().count(), 2001);
}
