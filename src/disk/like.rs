//! The owner, permissions and extended attributes of a file, for the one that replaces it.
//!
//! Nobody gains access: where an attribute cannot be given to the new file, its permissions become narrower.

use std::io;

use cap_std::fs::{File, Permissions};

/// The attributes of a new file; by default those that the system gives.
#[derive(Default)]
pub struct NewFileAttributes(Option<Attributes>);

struct Attributes {
    permissions: Permissions,
    /// User and group.
    #[cfg(unix)]
    owner: Option<(u32, u32)>,
    #[cfg(target_os = "linux")]
    extended: extended::ExtendedAttributes,
}

impl NewFileAttributes {
    pub fn from_file(file: &File) -> io::Result<Self> {
        let meta = file.metadata()?;
        #[cfg(unix)]
        let owner = {
            use cap_std::fs::MetadataExt as _;
            Some((meta.uid(), meta.gid()))
        };
        // Windows neither replaces nor deletes such a file, nor does it sync the one that would replace it.
        if cfg!(windows) && meta.permissions().readonly() {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is read-only"));
        }
        Ok(Self(Some(Attributes {
            permissions: meta.permissions(),
            #[cfg(unix)]
            owner,
            #[cfg(target_os = "linux")]
            extended: extended::read(file)?,
        })))
    }

    /// Only this user may read it.
    #[cfg(unix)]
    pub fn private() -> Self {
        use cap_std::fs::PermissionsExt as _;
        Self(Some(Attributes {
            permissions: Permissions::from_mode(0o600),
            owner: None,
            #[cfg(target_os = "linux")]
            extended: extended::ExtendedAttributes::default(),
        }))
    }

    #[cfg(not(unix))]
    pub fn private() -> Self {
        Self::default()
    }

    #[cfg(unix)]
    pub fn is_some(&self) -> bool {
        self.0.is_some()
    }

    /// Gives the attributes to a new file that no other user can read yet.
    pub fn apply_to(&self, file: &File) -> io::Result<()> {
        let Some(attributes) = &self.0 else { return Ok(()) };
        #[cfg(unix)]
        let permissions = {
            use cap_std::fs::PermissionsExt as _;
            let mode = attributes.permissions.mode();
            let mode = attributes.owner.map_or(Ok(mode), |pair| apply_owner(file, pair, mode))?;
            #[cfg(target_os = "linux")]
            let mode =
                if extended::give(&attributes.extended, file)? { mode } else { mode & 0o700 };
            Permissions::from_mode(mode)
        };
        #[cfg(not(unix))]
        let permissions = attributes.permissions.clone();
        file.set_permissions(permissions)
    }
}

/// Gives a file its owner. Returns the permissions that remain: without its former owner, a setuid program would run
/// with the wrong user's rights, and the permissions of one group are not those of another.
#[cfg(unix)]
fn apply_owner(file: &File, (user, group): (u32, u32), mode: u32) -> io::Result<u32> {
    use std::os::unix::fs::fchown;

    use cap_std::fs::MetadataExt as _;
    let meta = file.metadata()?;
    if (user, group) == (meta.uid(), meta.gid()) || fchown(file, Some(user), Some(group)).is_ok() {
        return Ok(mode);
    }
    let has_group = group == meta.gid() || fchown(file, None, Some(group)).is_ok();
    Ok(narrow_mode(mode, user == meta.uid(), has_group))
}

#[cfg(unix)]
fn narrow_mode(mode: u32, has_user: bool, has_group: bool) -> u32 {
    let (of_user, of_group, of_others) = ((mode >> 6) & 7, (mode >> 3) & 7, mode & 7);
    let most = if has_user { 7 } else { of_user };
    if has_group {
        (of_user << 6) | ((of_group & most) << 3) | (of_others & most)
    } else {
        (of_user << 6) | ((of_group & of_others & most) * 0o11)
    }
}

/// Extended attributes, among them access control lists.
#[cfg(target_os = "linux")]
mod extended {
    use std::{
        collections::BTreeMap,
        ffi::{OsStr, OsString},
        io,
        os::unix::ffi::OsStrExt as _,
    };

    use cap_std::fs::File;
    use rustix::fs::{
        XattrFlags, fgetxattr, fgetxattr_query, flistxattr, flistxattr_query, fremovexattr,
        fsetxattr,
    };

    use crate::disk::system_errors::is_unsupported;

    /// The values by their names; none for what cannot be read.
    pub type ExtendedAttributes = BTreeMap<OsString, Option<Vec<u8>>>;

    pub fn read(file: &File) -> io::Result<ExtendedAttributes> {
        let length = match flistxattr_query(file).map_err(io::Error::from) {
            Err(error) if is_unsupported(&error) => 0,
            length => length?,
        };
        if length == 0 {
            return Ok(ExtendedAttributes::new());
        }
        let mut names = vec![0; length];
        let length = flistxattr(file, &mut names[..])?;
        let names = names[..length].split(|name| *name == 0).filter(|part| !part.is_empty());
        let names = names.map(OsStr::from_bytes).filter(|name| !is_of_content(name));
        let value = |name: &OsStr| {
            let mut res = vec![0; fgetxattr_query(file, name).ok()?];
            let length = fgetxattr(file, name, &mut res[..]).ok()?;
            res.truncate(length);
            Some(res)
        };
        Ok(names.map(|name| (name.to_owned(), value(name))).collect())
    }

    /// Sets the attributes. Returns whether the file has them now, as far as they decide about access.
    pub fn give(wanted: &ExtendedAttributes, file: &File) -> io::Result<bool> {
        let present = read(file)?;
        let mut res = true;
        for (name, value) in wanted.iter().filter(|pair| present.get(pair.0) != Some(pair.1)) {
            let set = |value| fsetxattr(file, name, value, XattrFlags::empty()).is_ok();
            res &= value.as_deref().is_some_and(set) || !is_of_access(name);
        }
        // A new file inherits an access control list from its directory.
        for name in present.keys().filter(|key| !wanted.contains_key(*key)) {
            res &= !name.as_bytes().starts_with(b"system.") || fremovexattr(file, name).is_ok();
        }
        Ok(res)
    }

    fn is_of_access(name: &OsStr) -> bool {
        name.as_bytes().starts_with(b"system.") || name.as_bytes().starts_with(b"security.")
    }

    /// Returns the rights of a program and signatures of a text, which are lost with every edit.
    fn is_of_content(name: &OsStr) -> bool {
        ["security.capability", "security.evm", "security.ima"].iter().any(|other| name == *other)
    }
}

#[cfg(unix)]
#[test]
fn nobody_gains_access_by_another_owner() {
    let check = |mode, has_user, has_group, expected: u32| {
        let is = narrow_mode(mode, has_user, has_group);
        assert_eq!(is, expected, "{mode:o}: {is:o}");
    };
    check(0o4755, false, true, 0o755);
    check(0o640, true, false, 0o600);
    check(0o664, true, false, 0o644);
    check(0o604, true, false, 0o600);
    check(0o466, false, true, 0o444);
    check(0o466, false, false, 0o444);
}
