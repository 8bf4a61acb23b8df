//! What a hostile clone is made of: each function puts one thing in place of what was there.

use std::{
    fs, io,
    os::unix::{
        ffi::OsStrExt as _,
        fs::{PermissionsExt as _, symlink},
        net::UnixListener,
    },
    path::{Path, PathBuf},
    process::Command,
};

use crate::world::World;

/// Removes what is at a path of the project, whatever it is, and makes the folders above it.
pub fn clear(world: &World, path: &str) -> io::Result<PathBuf> {
    let path = world.project.join(path);
    match fs::symlink_metadata(&path) {
        Ok(meta) if meta.is_dir() => fs::remove_dir_all(&path)?,
        Ok(_) => fs::remove_file(&path)?,
        Err(_) => {}
    }
    fs::create_dir_all(path.parent().unwrap_or(&world.project))?;
    Ok(path)
}

pub fn file(world: &World, path: &str, bytes: &[u8]) -> io::Result<()> {
    fs::write(clear(world, path)?, bytes)
}

/// A file of the project, or nothing where there is none.
pub fn text(world: &World, path: &str) -> String {
    fs::read_to_string(world.project.join(path)).unwrap_or_default()
}

/// Adds lines to a file of the project.
pub fn append(world: &World, path: &str, more: &str) -> io::Result<()> {
    file(world, path, format!("{}{more}", text(world, path)).as_bytes())
}

/// Puts code at the beginning of a Rust file, in place of the file's own documentation.
pub fn begin(world: &World, path: &str, code: &str) -> io::Result<()> {
    let old = text(world, path);
    let kept = old.split_inclusive('\n').filter(|it| !it.starts_with("//!"));
    file(world, path, kept.fold(code.to_owned(), |it, line| it + line).as_bytes())
}

/// Replaces a part of a file of the project.
pub fn replace(world: &World, path: &str, from: &str, to: &str) -> io::Result<()> {
    file(world, path, text(world, path).replacen(from, to, 1).as_bytes())
}

pub fn folder(world: &World, path: &str) -> io::Result<()> {
    fs::create_dir_all(clear(world, path)?)
}

pub fn link(world: &World, path: &str, to: impl AsRef<Path>) -> io::Result<()> {
    symlink(to, clear(world, path)?)
}

/// A link that is not absolute, to a path in the world outside of the project.
pub fn link_up(world: &World, path: &str, to: &str) -> io::Result<()> {
    let up = "../".repeat(path.matches('/').count() + 1);
    link(world, path, format!("{up}{to}"))
}

/// A link to a link to a link to a path outside of the project.
pub fn link_chain(world: &World, path: &str, to: &str) -> io::Result<()> {
    link(world, "hand-written/first", "second")?;
    link(world, "hand-written/second", "third")?;
    link(world, "hand-written/third", world.dir.join(to))?;
    let up = "../".repeat(path.matches('/').count());
    link(world, path, format!("{up}hand-written/first"))
}

/// A second name of a file outside of the project.
pub fn hard_link(world: &World, path: &str, to: &str) -> io::Result<()> {
    fs::hard_link(world.dir.join(to), clear(world, path)?)
}

pub fn fifo(world: &World, path: &str) -> io::Result<()> {
    let path = clear(world, path)?;
    let status = Command::new("mkfifo").arg(&path).status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other("mkfifo failed")) }
}

/// A socket; its path may be longer than the address of a socket can be.
pub fn socket(world: &World, path: &str) -> io::Result<()> {
    let short = world.dir.join("tmp/s");
    UnixListener::bind(&short)?;
    fs::rename(short, clear(world, path)?)
}

/// A terabyte that takes no room.
pub fn sparse(world: &World, path: &str) -> io::Result<()> {
    fs::File::create(clear(world, path)?)?.set_len(1 << 40)
}

/// Takes every permission away from a file or folder.
pub fn lock(world: &World, path: &str) -> io::Result<()> {
    fs::set_permissions(world.project.join(path), fs::Permissions::from_mode(0o000))
}

/// A file whose name need not be text.
pub fn named(world: &World, folder: &str, name: &[u8], bytes: &[u8]) -> io::Result<()> {
    let folder = world.project.join(folder);
    fs::create_dir_all(&folder)?;
    fs::write(folder.join(std::ffi::OsStr::from_bytes(name)), bytes)
}
