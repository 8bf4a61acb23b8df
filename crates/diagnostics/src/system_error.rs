//! Errors of the operating system, in words that are the same on every system.

use std::{
    borrow::Cow,
    io::{self, ErrorKind},
};

/// The start of the number at the end of each error of the system: `Connection refused (os error 111)`.
const NUMBER: &str = " (os error ";

/// Replaces each error of the system in a text with words that do not depend on the system. Errors without such words
/// stay as they are.
pub fn with_portable_system_errors(text: &str) -> Cow<'_, str> {
    let mut replaced = Cow::Borrowed(text);
    for (start, _) in text.match_indices(NUMBER) {
        let digits = text[start + NUMBER.len()..].split(')').next().unwrap_or_default();
        let Ok(number) = digits.parse() else { continue };
        let error = io::Error::from_raw_os_error(number);
        if let Some(words) = portable_message(error.kind()) {
            replaced = replaced.replace(&error.to_string(), words).into();
        }
    }
    replaced
}

/// Returns the words for a kind of error; none if the system's own message says more.
fn portable_message(kind: ErrorKind) -> Option<&'static str> {
    Some(match kind {
        ErrorKind::AddrInUse => "address already in use",
        ErrorKind::AlreadyExists => "the file exists already",
        ErrorKind::ConnectionAborted => "connection aborted",
        ErrorKind::ConnectionRefused => "connection refused",
        ErrorKind::ConnectionReset => "connection reset by the server",
        ErrorKind::DirectoryNotEmpty => "the directory is not empty",
        ErrorKind::HostUnreachable => "the host is unreachable",
        ErrorKind::IsADirectory => "it is a directory",
        ErrorKind::NetworkUnreachable => "the network is unreachable",
        ErrorKind::NotADirectory => "it is not a directory",
        ErrorKind::NotFound => "no such file or directory",
        ErrorKind::PermissionDenied => "permission denied",
        ErrorKind::ReadOnlyFilesystem => "the file system is read-only",
        ErrorKind::StorageFull => "no space left on the disk",
        _ => return None,
    })
}

#[test]
fn errors_of_the_system_are_worded_alike_on_every_system() {
    let system = |kind: ErrorKind| {
        let mut numbers = (1..20_000).map(io::Error::from_raw_os_error);
        numbers.find(|error| error.kind() == kind).expect("the system has it").to_string()
    };
    let check = |text: &str, expected: &str| {
        assert_eq!(with_portable_system_errors(text), expected);
    };
    let (refused, missing) = (system(ErrorKind::ConnectionRefused), system(ErrorKind::NotFound));
    check(
        &format!("cannot reach http://a: {refused}; retried: {refused}"),
        "cannot reach http://a: connection refused; retried: connection refused",
    );
    check(&format!("{missing}, {refused}"), "no such file or directory, connection refused");
    check("`a (os error x` and (os error 2)", "`a (os error x` and (os error 2)");
    let other = system(ErrorKind::Interrupted);
    check(&other, &other);
    for (kind, words) in [
        (ErrorKind::AlreadyExists, "the file exists already"),
        (ErrorKind::ConnectionReset, "connection reset by the server"),
        (ErrorKind::DirectoryNotEmpty, "the directory is not empty"),
        (ErrorKind::HostUnreachable, "the host is unreachable"),
        (ErrorKind::NotADirectory, "it is not a directory"),
        (ErrorKind::ReadOnlyFilesystem, "the file system is read-only"),
    ] {
        check(&system(kind), words);
    }
}
