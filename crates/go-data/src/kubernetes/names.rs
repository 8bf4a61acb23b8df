//! Validates names as Kubernetes does, with its messages.

const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an \
     alphanumeric character (e.g. 'example.com', regex used for validation is \
     '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL_VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
     alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is \
     '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const DNS_1035: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an \
     alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const WORD: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character \
     (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

/// Validates an RFC 1123 subdomain.
pub fn validate_subdomain(text: &str) -> Vec<String> {
    let mut messages = validate_length(text, 253);
    if !text.split('.').all(is_lower_label) {
        messages.push(SUBDOMAIN.to_owned());
    }
    messages
}

pub fn validate_label_value(text: &str) -> Vec<String> {
    let mut messages = validate_length(text, 63);
    if !text.is_empty() && !is_word(text) {
        messages.push(LABEL_VALUE.to_owned());
    }
    messages
}

/// Validates an RFC 1035 label.
pub fn validate_dns_1035_label(text: &str) -> Vec<String> {
    let mut messages = validate_length(text, 63);
    if !is_lower_label(text) || text.starts_with(|c: char| c.is_ascii_digit()) {
        messages.push(DNS_1035.to_owned());
    }
    messages
}

/// Validates a qualified name such as the key of a label or an annotation: `[prefix/]name`.
pub fn validate_qualified_name(text: &str) -> Vec<String> {
    let mut messages = Vec::new();
    let name = match text.split_once('/') {
        None => text,
        Some((prefix, name)) if !name.contains('/') => {
            if prefix.is_empty() {
                messages.push("prefix part must be non-empty".to_owned());
            } else {
                messages.extend(
                    validate_subdomain(prefix)
                        .iter()
                        .map(|message| format!("prefix part {message}")),
                );
            }
            name
        }
        Some(_) => {
            let prefix = "an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
            return vec![format!("a qualified name {WORD} with {prefix}")];
        }
    };
    if name.is_empty() {
        messages.push("name part must be non-empty".to_owned());
    }
    messages.extend(validate_length(name, 63).iter().map(|message| format!("name part {message}")));
    if !is_word(name) {
        messages.push(format!("name part {WORD}"));
    }
    messages
}

fn validate_length(text: &str, most: usize) -> Vec<String> {
    let message = || format!("must be no more than {most} characters");
    (text.len() > most).then(message).into_iter().collect()
}

fn is_lower_label(text: &str) -> bool {
    let inside = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !text.is_empty() && text.chars().all(inside) && !text.starts_with('-') && !text.ends_with('-')
}

/// Returns whether a text has letters and digits at both ends, and only these, `-`, `_` and `.` between.
fn is_word(text: &str) -> bool {
    let inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let end = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    text.chars().all(inside) && end(text.chars().next()) && end(text.chars().next_back())
}
