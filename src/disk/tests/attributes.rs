//! Owners, permissions and access control lists of files that are replaced.

use std::os::unix::fs::PermissionsExt as _;

use super::*;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("it is there").permissions().mode() & 0o7777
}

#[test]
fn a_file_that_is_replaced_keeps_its_permissions() {
    for expected in [0o600, 0o640, 0o755, 0o444] {
        let dir = old();
        let a = dir.path().join("a");
        fs::set_permissions(&a, fs::Permissions::from_mode(expected)).expect("it is ours");
        write(dir.path()).expect("it writes");
        assert_eq!(mode(&a), expected, "{:o}", mode(&a));
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use rustix::fs::{XattrFlags, getxattr, setxattr};

    use super::*;

    const ACCESS: &str = "system.posix_acl_access";

    /// An access control list as the kernel has it: the version, and each entry's tag, permissions and number.
    fn list(entries: &[(u16, u16, u32)]) -> Vec<u8> {
        let mut res = 2_u32.to_le_bytes().to_vec();
        for (tag, permissions, number) in entries {
            res.extend(tag.to_le_bytes());
            res.extend(permissions.to_le_bytes());
            res.extend(number.to_le_bytes());
        }
        res
    }

    /// `user::rw-`, `user:1234:rw-`, `group::---`, `mask::rw-`, `other::---`.
    fn one_more_user() -> Vec<u8> {
        let none = u32::MAX;
        list(&[(1, 6, none), (2, 6, 1234), (4, 0, none), (16, 6, none), (32, 0, none)])
    }

    fn get(path: &Path, name: &str) -> Option<Vec<u8>> {
        let mut bytes = vec![0; 1000];
        let length = getxattr(path, name, &mut bytes[..]).ok()?;
        bytes.truncate(length);
        Some(bytes)
    }

    fn set(path: &Path, name: &str, value: &[u8]) -> bool {
        let set = setxattr(path, name, value, XattrFlags::empty());
        // Elsewhere, a file system without them is no failure.
        assert!(
            set.is_ok() || option_env!("CI") != Some("true"),
            "not run: {name} cannot be set: {set:?}"
        );
        set.is_ok()
    }

    #[test]
    fn a_file_that_is_replaced_keeps_its_access_control_list_and_other_attributes() {
        let dir = old();
        let a = dir.path().join("a");
        if !set(&a, ACCESS, &one_more_user()) || !set(&a, "user.note", b"mine") {
            return;
        }
        assert_eq!(mode(&a), 0o660, "the group's part is the mask");
        write(dir.path()).expect("it writes");
        assert!(fs::read_to_string(&a).expect("it reads").ends_with("new\n"));
        assert_eq!(get(&a, ACCESS), Some(one_more_user()));
        assert_eq!(get(&a, "user.note"), Some(b"mine".to_vec()));
        assert_eq!(mode(&a), 0o660);
        // Nothing is made of it for a new file.
        assert_eq!(get(&dir.path().join("PROJECT"), ACCESS), None);
    }

    #[test]
    fn a_replaced_file_does_not_take_the_list_that_its_directory_gives_to_new_files() {
        let dir = old();
        let a = dir.path().join("a");
        fs::set_permissions(&a, fs::Permissions::from_mode(0o640)).expect("it is ours");
        if !set(dir.path(), "system.posix_acl_default", &one_more_user()) {
            return;
        }
        write(dir.path()).expect("it writes");
        assert_eq!((get(&a, ACCESS), mode(&a)), (None, 0o640));
        assert!(get(&dir.path().join("PROJECT"), ACCESS).is_some(), "a new file does");
    }
}
