//! An open folder. Every access below a root goes through this type. A method that changes something takes a single
//! name, so that no path can lead elsewhere; it never follows a symlink, and never opens anything but a regular file.

use std::{
    ffi::OsString,
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use cap_fs_ext::{
    DirExt as _, FollowSymlinks, OpenOptionsFollowExt as _, OpenOptionsMaybeDirExt as _,
    OpenOptionsSyncExt as _,
};
use cap_std::{
    ambient_authority,
    fs::{Dir, File, Metadata, OpenOptions},
};

#[cfg(all(test, unix))]
use super::crash;
use super::{
    content::{content, size_limit},
    like::Like,
    open_elsewhere::retry,
};

pub struct Folder(Dir);

/// What a name refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Nothing,
    File,
    Folder,
    Symlink,
    /// A FIFO, a socket or a device.
    Special,
}

impl Kind {
    fn of(meta: &Metadata) -> Self {
        match meta {
            it if it.is_file() => Self::File,
            it if it.is_dir() => Self::Folder,
            it if it.is_symlink() => Self::Symlink,
            _ => Self::Special,
        }
    }
}

impl Folder {
    /// Opens a folder that the user has named. Symlinks on the way to it are followed.
    pub fn trusted(path: &Path) -> io::Result<Self> {
        Dir::open_ambient_dir(path, ambient_authority()).map(Self)
    }

    /// Does the same, and creates the folder first if it is missing.
    pub fn trusted_or_new(path: &Path) -> io::Result<Self> {
        Dir::create_ambient_dir_all(path, ambient_authority())?;
        Self::trusted(path)
    }

    pub fn again(&self) -> io::Result<Self> {
        self.0.try_clone().map(Self)
    }

    /// Distinguishes it from every other folder, whatever its name is.
    #[cfg(unix)]
    pub fn identity(&self) -> io::Result<(u64, u64)> {
        use cap_std::fs::MetadataExt as _;
        #[cfg(test)]
        crash::look()?;
        self.0.dir_metadata().map(|it| (it.dev(), it.ino()))
    }

    /// On Windows, an open folder can be neither moved nor removed, so what has its name is the same folder.
    #[cfg(not(unix))]
    pub fn identity(&self) -> io::Result<(u64, u64)> {
        Ok((0, 0))
    }

    /// Opens a folder in this one; fails if it is a symlink.
    pub fn folder(&self, name: impl AsRef<Path>) -> io::Result<Self> {
        #[cfg(all(test, unix))]
        crash::look()?;
        self.0.open_dir_nofollow(name).map(Self)
    }

    pub fn kind(&self, name: impl AsRef<Path>) -> io::Result<Kind> {
        #[cfg(all(test, unix))]
        crash::look()?;
        match self.0.symlink_metadata(name) {
            Ok(meta) => Ok(Kind::of(&meta)),
            Err(error) if is_missing(&error) => Ok(Kind::Nothing),
            Err(error) => Err(error),
        }
    }

    /// Reads a regular file.
    pub fn read(&self, name: impl AsRef<Path>) -> io::Result<Vec<u8>> {
        let limit = size_limit(name.as_ref());
        self.read_up_to(name, limit)
    }

    /// Reads a regular file of up to `limit` bytes.
    pub fn read_up_to(&self, name: impl AsRef<Path>, limit: u64) -> io::Result<Vec<u8>> {
        #[cfg(all(test, unix))]
        crash::look()?;
        content(self.open(name)?, limit)
    }

    fn open(&self, name: impl AsRef<Path>) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).follow(FollowSymlinks::No).nonblock(true);
        self.0.open_with(name, &options)
    }

    /// Reads a regular file below this folder, up to `limit` bytes. Symlinks on the way are followed as long as they stay
    /// below: reading cannot change anything.
    pub fn read_below(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        content(self.0.open_with(path, OpenOptions::new().read(true).nonblock(true))?, limit)
    }

    /// What a path below this folder refers to. Symlinks are followed as long as they stay below.
    pub fn kind_below(&self, path: &Path) -> io::Result<Kind> {
        self.0.metadata(path).map(|it| Kind::of(&it))
    }

    /// What a path below this folder refers to. A symlink at the end of the path is not followed.
    pub fn kind_at(&self, path: &Path) -> io::Result<Kind> {
        self.0.symlink_metadata(path).map(|it| Kind::of(&it))
    }

    /// The names in a folder below this one, and whether each is a folder. A symlink that leads back up does not count
    /// as a folder: recursion into it would never end.
    pub fn names_below(&self, path: &Path) -> io::Result<Vec<(String, bool)>> {
        let mut res = Vec::new();
        let leads_down = |link: &Path| {
            let here = self.0.canonicalize(path);
            let there = self.0.canonicalize(link);
            here.is_ok_and(|here| {
                there.is_ok_and(|there| !here.starts_with(&there) && there != Path::new("."))
            })
        };
        for entry in self.0.read_dir(path)? {
            let entry = entry?;
            // A project cannot use a name that is not UTF-8.
            let Ok(name) = entry.file_name().into_string() else { continue };
            let kind = entry.file_type()?;
            let folder = kind.is_dir()
                || kind.is_symlink()
                    && self.kind_below(&path.join(&name)).is_ok_and(|it| it == Kind::Folder)
                    && leads_down(&path.join(&name));
            res.push((name, folder));
        }
        Ok(res)
    }

    /// Writes a new file; fails if the name exists.
    pub fn create(&self, name: &str, bytes: &[u8], like: &Like) -> io::Result<()> {
        #[cfg(all(test, unix))]
        crash::point()?;
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        if like.is_some() {
            cap_std::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
        let mut file = self.0.open_with(name, &options)?;
        #[cfg(all(test, unix))]
        crash::created(&self.0, name, bytes);
        file.write_all(bytes)?;
        like.give(&file)
    }

    /// Writes a new file that only this user may read, outside any project; fails if the name exists.
    pub fn create_private(&self, name: impl AsRef<Path>, bytes: &[u8]) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        cap_std::fs::OpenOptionsExt::mode(&mut options, 0o600);
        self.0.open_with(name, &options)?.write_all(bytes)
    }

    /// The attributes that a replacement of this file should have.
    pub fn like(&self, name: impl AsRef<Path>) -> io::Result<Like> {
        match self.kind(&name)? {
            Kind::File => Like::of(&self.open(name)?),
            _ => Ok(Like::default()),
        }
    }

    /// Opens a folder, and creates it first if it is missing; also returns whether it is new.
    pub fn folder_or_new(&self, name: &str) -> io::Result<(Self, bool)> {
        match self.folder(name) {
            Err(error) if is_missing(&error) => {
                #[cfg(all(test, unix))]
                crash::point()?;
                match self.0.create_dir(name) {
                    // Another process has created it in the meantime.
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                        return self.folder(name).map(|it| (it, false));
                    }
                    created => created?,
                }
                #[cfg(all(test, unix))]
                crash::folder(&self.0, name);
                let new = self.folder(name);
                if new.is_err() {
                    let _ = self.remove_folder(name);
                }
                new.map(|it| (it, true))
            }
            found => found.map(|it| (it, false)),
        }
    }

    /// Renames within this folder, and replaces what has the new name.
    pub fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        #[cfg(all(test, unix))]
        crash::point()?;
        retry(|| self.0.rename(from, &self.0, to))?;
        #[cfg(all(test, unix))]
        crash::renamed(&self.0, from, to);
        Ok(())
    }

    /// Renames within this folder; fails if the new name exists.
    pub fn rename_new(&self, from: &str, to: &str) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        {
            #[cfg(test)]
            crash::point()?;
            match self.rename_with(from, to, rustix::fs::RenameFlags::NOREPLACE) {
                Err(error) if is_unsupported(&error) => {}
                done => {
                    #[cfg(test)]
                    done.iter().for_each(|()| crash::renamed(&self.0, from, to));
                    return done;
                }
            }
        }
        match self.kind(to)? {
            Kind::Nothing => self.rename(from, to),
            _ => Err(io::ErrorKind::AlreadyExists.into()),
        }
    }

    /// Swaps two files, so that the replaced one can still be read. Returns false if the system cannot do that.
    pub fn exchange(&self, one: &str, other: &str) -> io::Result<bool> {
        #[cfg(target_os = "linux")]
        {
            #[cfg(test)]
            crash::point()?;
            match self.rename_with(one, other, rustix::fs::RenameFlags::EXCHANGE) {
                Err(error) if is_unsupported(&error) => {}
                done => {
                    #[cfg(test)]
                    done.iter().for_each(|()| crash::exchanged(&self.0, one, other));
                    return done.map(|()| true);
                }
            }
        }
        let _ = (one, other);
        Ok(false)
    }

    #[cfg(target_os = "linux")]
    fn rename_with(&self, from: &str, to: &str, how: rustix::fs::RenameFlags) -> io::Result<()> {
        #[cfg(test)]
        if crash::is_plain() {
            return Err(rustix::io::Errno::INVAL.into());
        }
        rustix::fs::renameat_with(&self.0, from, &self.0, to, how).map_err(Into::into)
    }

    /// Removes a file or a symlink, never the target of the symlink. Succeeds if there is no such file.
    pub fn remove(&self, name: impl AsRef<Path>) -> io::Result<()> {
        #[cfg(all(test, unix))]
        crash::point()?;
        match retry(|| self.0.remove_file(&name)) {
            Err(error) if is_missing(&error) => return Ok(()),
            done => done?,
        }
        #[cfg(all(test, unix))]
        crash::removed(&self.0, name.as_ref());
        Ok(())
    }

    /// Removes a folder if it is empty.
    pub fn remove_folder(&self, name: impl AsRef<Path>) -> io::Result<()> {
        #[cfg(all(test, unix))]
        crash::point()?;
        retry(|| self.0.remove_dir(&name))?;
        #[cfg(all(test, unix))]
        crash::removed(&self.0, name.as_ref());
        Ok(())
    }

    pub fn symlink(&self, target: &Path, name: &str) -> io::Result<()> {
        #[cfg(not(windows))]
        return self.0.symlink_contents(target, name);
        #[cfg(windows)]
        match target.is_dir() {
            true => self.0.symlink_dir(target, name),
            false => self.0.symlink_file(target, name),
        }
    }

    pub fn link_target(&self, name: &str) -> io::Result<PathBuf> {
        self.0.read_link_contents(name)
    }

    /// The entries of this folder, sorted.
    pub fn entries(&self) -> io::Result<Vec<(OsString, Kind)>> {
        let mut res = Vec::new();
        for entry in self.0.entries()? {
            let entry = entry?;
            res.push((entry.file_name(), Kind::of(&entry.metadata()?)));
        }
        res.sort_by(|one, other| one.0.cmp(&other.0));
        Ok(res)
    }

    /// Returns when the content of a file is on the disk.
    pub fn sync_file(&self, name: impl AsRef<Path>) -> io::Result<()> {
        #[cfg(all(test, unix))]
        crash::sync_point()?;
        // Windows syncs a file only through a handle that may write.
        let mut options = OpenOptions::new();
        options.read(true).write(cfg!(windows)).follow(FollowSymlinks::No).nonblock(true);
        let file = self.0.open_with(&name, &options)?;
        // The disk of the tests loses what it is not told to sync, however slow the real one is.
        if !cfg!(test) {
            file.sync_all()?;
        }
        #[cfg(all(test, unix))]
        crash::synced_file(&self.0, name.as_ref());
        Ok(())
    }

    /// Returns when the names in this folder are on the disk.
    pub fn sync(&self) -> io::Result<()> {
        #[cfg(all(test, unix))]
        crash::sync_point()?;
        match self.handle() {
            // Windows has no request to sync a folder: NTFS keeps a journal of its names.
            _ if cfg!(windows) => {}
            Ok(_) if cfg!(test) => {}
            Ok(handle) => handle.sync_all()?,
            // A folder that must not be read cannot be synced.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
            Err(error) => return Err(error),
        }
        #[cfg(all(test, unix))]
        crash::synced_folder(&self.0);
        Ok(())
    }

    /// Opens a file that no other process has open, nor can open until it is closed. A new one is deleted then.
    #[cfg(windows)]
    pub fn alone(&self, name: &str, is_new: bool) -> io::Result<fs::File> {
        use cap_std::fs::OpenOptionsExt as _;
        const DELETE: u32 = 0x0001_0000;
        const GENERIC_READ: u32 = 0x8000_0000;
        const GENERIC_WRITE: u32 = 0x4000_0000;
        const DELETE_ON_CLOSE: u32 = 0x0400_0000;
        let mut options = OpenOptions::new();
        options.read(true).share_mode(0).follow(FollowSymlinks::No);
        if is_new {
            options.write(true).create(true).custom_flags(DELETE_ON_CLOSE);
            options.access_mode(GENERIC_READ | GENERIC_WRITE | DELETE);
        }
        self.0.open_with(name, &options).map(File::into_std)
    }

    /// The folder as an open file, for a lock.
    pub fn handle(&self) -> io::Result<fs::File> {
        self.0.open_with(".", OpenOptions::new().read(true).maybe_dir(true)).map(File::into_std)
    }
}

/// Whether the file system does not support the operation at all.
#[cfg(target_os = "linux")]
pub fn is_unsupported(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let is = |it: Errno| error.raw_os_error() == Some(it.raw_os_error());
    is(Errno::INVAL) || is(Errno::NOSYS) || is(Errno::NOTSUP)
}

/// Whether the file, or a folder on the way to it, does not exist.
pub fn is_missing(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
}
