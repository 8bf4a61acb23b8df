//! Formats an error as one sentence. kube's errors show Rust's Debug output and repeat their causes, and hyper's errors
//! leave the cause out.

use std::error::Error;

/// Returns the message of an error and of its causes, each once and without Debug output.
///
/// ```
/// let refused = std::io::Error::from(std::io::ErrorKind::ConnectionRefused);
/// let error = kube::Error::Service(Box::new(refused));
/// assert_eq!(operator_rs_runtime::explain(&error), "connection refused");
/// ```
pub fn explain(error: &(dyn Error + 'static)) -> String {
    let cause = error.source().map(explain);
    let message = match (error.downcast_ref::<kube::Error>(), &cause) {
        (Some(kube::Error::Api(status)), _) if !status.message.is_empty() => {
            return status.message.clone();
        }
        (Some(kube::Error::Api(status)), _) => {
            let answer = format!("the API server answered {} {}", status.code, status.reason);
            return answer.trim_end().to_owned();
        }
        (Some(kube::Error::Service(_)), Some(cause)) => return cause.clone(),
        _ => error.to_string(),
    };
    match cause {
        Some(cause) if !message.contains(&cause) => format!("{message}: {cause}"),
        _ => message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kube::core::Status;

    #[test]
    fn an_error_is_told_once_and_without_debug() {
        let api = kube::Error::Api(Box::new(Status::failure("pods is forbidden", "Forbidden").with_code(403)));
        assert_eq!(explain(&api), "pods is forbidden");
        let with_context = anyhow::Error::new(api).context("cannot list `pods`");
        assert_eq!(explain(with_context.as_ref()), "cannot list `pods`: pods is forbidden");
        let silent = kube::Error::Api(Box::new(Status { code: 502, reason: "BadGateway".into(), ..Status::default() }));
        assert_eq!(explain(&silent), "the API server answered 502 BadGateway");
    }
}
