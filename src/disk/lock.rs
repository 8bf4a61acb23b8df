//! The lock of a folder: one command at a time writes there. It ends with the process, however that ends.
//!
//! Unix locks the folder itself. Windows cannot lock a folder: there, the lock is a file that only one process can have
//! open, and that the system deletes when it is closed.

use std::{
    fs::{File, TryLockError},
    io,
};

use super::folder::Folder;

/// The file that is the lock on Windows.
pub const NAME: &str = ".operator-rs.lock";

/// Locks a folder until the returned file is closed.
#[cfg(not(windows))]
pub fn try_lock(folder: &Folder) -> Result<File, TryLockError> {
    let file = folder.handle().map_err(TryLockError::Error)?;
    file.try_lock().map(|()| file)
}

/// Waits until the folder is locked.
#[cfg(not(windows))]
pub fn lock(folder: &Folder) -> io::Result<File> {
    let file = folder.handle()?;
    file.lock().map(|()| file)
}

/// Returns whether another process has locked the folder.
#[cfg(not(windows))]
pub fn is_locked(folder: &Folder) -> bool {
    folder
        .handle()
        .is_ok_and(|handle| matches!(handle.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

#[cfg(windows)]
pub fn try_lock(folder: &Folder) -> Result<File, TryLockError> {
    folder.alone(NAME, true).map_err(|error| {
        if is_in_use(&error) { TryLockError::WouldBlock } else { TryLockError::Error(error) }
    })
}

#[cfg(windows)]
pub fn lock(folder: &Folder) -> io::Result<File> {
    loop {
        match try_lock(folder) {
            Err(TryLockError::WouldBlock) => {
                std::thread::sleep(std::time::Duration::from_millis(100));
            }
            Err(TryLockError::Error(error)) => return Err(error),
            Ok(file) => return Ok(file),
        }
    }
}

#[cfg(windows)]
pub fn is_locked(folder: &Folder) -> bool {
    folder.alone(NAME, false).is_err_and(|error| is_in_use(&error))
}

#[cfg(windows)]
fn is_in_use(error: &io::Error) -> bool {
    error.raw_os_error() == Some(super::open_elsewhere::SHARING_VIOLATION)
}
