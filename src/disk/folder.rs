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
#[cfg(target_os = "linux")]
use super::system_errors::is_unsupported;
use super::{
    content::{read_content, size_limit},
    like::NewFileAttributes,
    open_elsewhere::retry,
    system_errors::is_missing,
};

pub struct Folder(Dir);

/// The kind of file that a name refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    Nothing,
    File,
    Folder,
    Symlink,
    /// A FIFO, a socket or a device.
    Special,
}

impl FileKind {
    fn from_metadata(meta: &Metadata) -> Self {
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
    pub fn open_trusted(path: &Path) -> io::Result<Self> {
        Dir::open_ambient_dir(path, ambient_authority()).map(Self)
    }

    /// Does the same, and creates the folder first if it is missing.
    pub fn open_or_create_trusted(path: &Path) -> io::Result<Self> {
        Dir::create_ambient_dir_all(path, ambient_authority())?;
        Self::open_trusted(path)
    }

    pub fn reopen(&self) -> io::Result<Self> {
        self.0.try_clone().map(Self)
    }

    /// Distinguishes it from every other folder, whatever its name is.
    #[cfg(unix)]
    pub fn identity(&self) -> io::Result<(u64, u64)> {
        use cap_std::fs::MetadataExt as _;
        #[cfg(test)]
        crash::before_read()?;
        self.0.dir_metadata().map(|metadata| (metadata.dev(), metadata.ino()))
    }

    /// On Windows, an open folder can be neither moved nor removed, so what has its name is the same folder.
    #[cfg(not(unix))]
    pub fn identity(&self) -> io::Result<(u64, u64)> {
        Ok((0, 0))
    }

    /// Opens a folder in this one; fails if it is a symlink.
    pub fn folder(&self, name: impl AsRef<Path>) -> io::Result<Self> {
        #[cfg(all(test, unix))]
        crash::before_read()?;
        self.0.open_dir_nofollow(name).map(Self)
    }

    pub fn kind(&self, name: impl AsRef<Path>) -> io::Result<FileKind> {
        #[cfg(all(test, unix))]
        crash::before_read()?;
        match self.0.symlink_metadata(name) {
            Ok(meta) => Ok(FileKind::from_metadata(&meta)),
            Err(error) if is_missing(&error) => Ok(FileKind::Nothing),
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
        crash::before_read()?;
        read_content(self.open(name)?, limit)
    }

    fn open(&self, name: impl AsRef<Path>) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).follow(FollowSymlinks::No).nonblock(true);
        self.0.open_with(name, &options)
    }

    /// Reads a regular file below this folder, up to `limit` bytes. Symlinks on the way are followed as long as they stay
    /// below: reading cannot change anything.
    pub fn read_below(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        read_content(self.0.open_with(path, OpenOptions::new().read(true).nonblock(true))?, limit)
    }

    /// Returns what a path below this folder refers to. Symlinks are followed as long as they stay below.
    pub fn kind_below(&self, path: &Path) -> io::Result<FileKind> {
        self.0.metadata(path).map(|metadata| FileKind::from_metadata(&metadata))
    }

    /// Returns what a path below this folder refers to. A symlink at the end of the path is not followed.
    pub fn kind_at(&self, path: &Path) -> io::Result<FileKind> {
        self.0.symlink_metadata(path).map(|metadata| FileKind::from_metadata(&metadata))
    }

    /// Returns the names in a folder below this one, and whether each is a folder. A symlink that leads back up does
    /// not count as a folder: recursion into it would never end.
    pub fn names_below(&self, path: &Path) -> io::Result<Vec<(String, bool)>> {
        let mut pairs = Vec::new();
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
                    && self
                        .kind_below(&path.join(&name))
                        .is_ok_and(|kind| kind == FileKind::Folder)
                    && leads_down(&path.join(&name));
            pairs.push((name, folder));
        }
        Ok(pairs)
    }

    /// Writes a new file; fails if the name exists.
    pub fn create(&self, name: &str, bytes: &[u8], like: &NewFileAttributes) -> io::Result<()> {
        #[cfg(all(test, unix))]
        crash::before_change()?;
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        if like.is_some() {
            cap_std::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
        let mut file = self.0.open_with(name, &options)?;
        #[cfg(all(test, unix))]
        crash::record_created(&self.0, name, bytes);
        file.write_all(bytes)?;
        like.apply_to(&file)
    }

    /// Writes a new file that only this user may read, outside any project; fails if the name exists.
    pub fn create_private(&self, name: impl AsRef<Path>, bytes: &[u8]) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        cap_std::fs::OpenOptionsExt::mode(&mut options, 0o600);
        self.0.open_with(name, &options)?.write_all(bytes)
    }

    /// Returns the attributes that a replacement of this file should have.
    pub fn attributes_like(&self, name: impl AsRef<Path>) -> io::Result<NewFileAttributes> {
        match self.kind(&name)? {
            FileKind::File => NewFileAttributes::from_file(&self.open(name)?),
            _ => Ok(NewFileAttributes::default()),
        }
    }

    /// Opens a folder, and creates it first if it is missing; also returns whether it is new.
    pub fn folder_or_new(&self, name: &str) -> io::Result<(Self, bool)> {
        match self.folder(name) {
            Err(error) if is_missing(&error) => {
                #[cfg(all(test, unix))]
                crash::before_change()?;
                match self.0.create_dir(name) {
                    // Another process has created it in the meantime.
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                        return self.folder(name).map(|folder| (folder, false));
                    }
                    created => created?,
                }
                #[cfg(all(test, unix))]
                crash::record_folder(&self.0, name);
                let new = self.folder(name);
                if new.is_err() {
                    let _ = self.remove_folder(name);
                }
                new.map(|folder| (folder, true))
            }
            found => found.map(|folder| (folder, false)),
        }
    }

    /// Renames within this folder, and replaces what has the new name.
    pub fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        #[cfg(all(test, unix))]
        crash::before_change()?;
        retry(|| self.0.rename(from, &self.0, to))?;
        #[cfg(all(test, unix))]
        crash::record_renamed(&self.0, from, to);
        Ok(())
    }

    /// Renames within this folder; fails if the new name exists.
    pub fn rename_new(&self, from: &str, to: &str) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        {
            #[cfg(test)]
            crash::before_change()?;
            match self.rename_with(from, to, rustix::fs::RenameFlags::NOREPLACE) {
                Err(error) if is_unsupported(&error) => {}
                done => {
                    #[cfg(test)]
                    done.iter().for_each(|()| crash::record_renamed(&self.0, from, to));
                    return done;
                }
            }
        }
        match self.kind(to)? {
            FileKind::Nothing => self.rename(from, to),
            _ => Err(io::ErrorKind::AlreadyExists.into()),
        }
    }

    /// Swaps two files, so that the replaced one can still be read. Returns false if the system cannot do that.
    pub fn exchange(&self, one: &str, other: &str) -> io::Result<bool> {
        #[cfg(target_os = "linux")]
        {
            #[cfg(test)]
            crash::before_change()?;
            match self.rename_with(one, other, rustix::fs::RenameFlags::EXCHANGE) {
                Err(error) if is_unsupported(&error) => {}
                done => {
                    #[cfg(test)]
                    done.iter().for_each(|()| crash::record_exchanged(&self.0, one, other));
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
        if crash::lacks_exchange() {
            return Err(rustix::io::Errno::INVAL.into());
        }
        rustix::fs::renameat_with(&self.0, from, &self.0, to, how).map_err(Into::into)
    }

    /// Removes a file or a symlink, never the target of the symlink. Succeeds if there is no such file.
    pub fn remove(&self, name: impl AsRef<Path>) -> io::Result<()> {
        #[cfg(all(test, unix))]
        crash::before_change()?;
        match retry(|| self.0.remove_file(&name)) {
            Err(error) if is_missing(&error) => return Ok(()),
            done => done?,
        }
        #[cfg(all(test, unix))]
        crash::record_removed(&self.0, name.as_ref());
        Ok(())
    }

    /// Removes a folder if it is empty.
    pub fn remove_folder(&self, name: impl AsRef<Path>) -> io::Result<()> {
        #[cfg(all(test, unix))]
        crash::before_change()?;
        retry(|| self.0.remove_dir(&name))?;
        #[cfg(all(test, unix))]
        crash::record_removed(&self.0, name.as_ref());
        Ok(())
    }

    pub fn symlink(&self, target: &Path, name: &str) -> io::Result<()> {
        #[cfg(not(windows))]
        return self.0.symlink_contents(target, name);
        #[cfg(windows)]
        if target.is_dir() {
            self.0.symlink_dir(target, name)
        } else {
            self.0.symlink_file(target, name)
        }
    }

    pub fn link_target(&self, name: &str) -> io::Result<PathBuf> {
        self.0.read_link_contents(name)
    }

    /// Returns the entries of this folder, sorted.
    pub fn entries(&self) -> io::Result<Vec<(OsString, FileKind)>> {
        let mut pairs = Vec::new();
        for entry in self.0.entries()? {
            let entry = entry?;
            pairs.push((entry.file_name(), FileKind::from_metadata(&entry.metadata()?)));
        }
        pairs.sort_by(|one, other| one.0.cmp(&other.0));
        Ok(pairs)
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
        crash::record_synced_file(&self.0, name.as_ref());
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
        crash::record_synced_folder(&self.0);
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

    /// Returns the folder as an open file, for a lock.
    pub fn handle(&self) -> io::Result<fs::File> {
        self.0.open_with(".", OpenOptions::new().read(true).maybe_dir(true)).map(File::into_std)
    }
}
