//! Errors of the operating system that are answers: there is no such file, or no such operation.

use std::io;

/// Returns whether the file system does not support the operation at all.
#[cfg(target_os = "linux")]
pub fn is_unsupported(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let is = |errno: Errno| error.raw_os_error() == Some(errno.raw_os_error());
    is(Errno::INVAL) || is(Errno::NOSYS) || is(Errno::NOTSUP)
}

/// Returns whether the file, or a folder on the way to it, does not exist.
pub fn is_missing(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
}
