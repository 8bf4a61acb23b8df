//! Files that other programs have open. Windows neither renames, replaces nor removes such a file. Virus scanners and
//! indexers open every new file for a moment, so that it is tried again; a file that stays open is an error.

use std::{io, thread, time::Duration};

/// The errors of Windows for a file that another program has open.
const ACCESS_DENIED: i32 = 5;
pub const SHARING_VIOLATION: i32 = 32;

const ATTEMPTS: usize = 20;
const PAUSE: Duration = Duration::from_millis(50);

/// Returns whether an error code of Windows says that another program may have the file open.
pub fn is_open_elsewhere(code: Option<i32>, is_windows: bool) -> bool {
    is_windows && matches!(code, Some(ACCESS_DENIED | SHARING_VIOLATION))
}

/// Tries again for a second if another program has the file open.
pub fn retry<T>(attempt: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let is_temporary = |error: &io::Error| is_open_elsewhere(error.raw_os_error(), cfg!(windows));
    retry_while(is_temporary, || thread::sleep(PAUSE), attempt)
}

fn retry_while<T>(
    is_temporary: impl Fn(&io::Error) -> bool,
    pause: impl Fn(),
    mut attempt: impl FnMut() -> io::Result<T>,
) -> io::Result<T> {
    for _ in 1..ATTEMPTS {
        match attempt() {
            Err(error) if is_temporary(&error) => pause(),
            result => return result,
        }
    }
    attempt()
}

#[test]
fn a_file_that_is_open_elsewhere_for_a_moment_is_tried_again() {
    let attempts_until = |last: usize, code: i32| {
        let mut attempts = 0;
        let is_temporary = |error: &io::Error| is_open_elsewhere(error.raw_os_error(), true);
        let result = retry_while(
            is_temporary,
            || (),
            || {
                attempts += 1;
                if attempts < last { Err(io::Error::from_raw_os_error(code)) } else { Ok(()) }
            },
        );
        (attempts, result.is_ok())
    };
    assert_eq!(attempts_until(3, SHARING_VIOLATION), (3, true));
    assert_eq!(attempts_until(3, ACCESS_DENIED), (3, true));
    assert_eq!(attempts_until(1000, SHARING_VIOLATION), (ATTEMPTS, false), "it stays open");
    assert_eq!(attempts_until(3, 2), (1, false), "the file is missing");
    assert!(!is_open_elsewhere(Some(ACCESS_DENIED), false));
}
