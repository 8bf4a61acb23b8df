//! The content of a layer: in memory, or in a file of a layout or an archive, which is read whenever it is needed. So no
//! image is in memory as a whole.

use std::{
    fmt,
    io::{self, Read},
    rc::Rc,
};

use anyhow::Context as _;
use sha2::{Digest as _, Sha256};

use model::{Blob, Digest};

/// Opens a file by its path: its length, and its content, which is read as it is needed; none if there is no such file.
pub type Open = dyn Fn(&str) -> anyhow::Result<Option<(u64, Box<dyn Read>)>>;

/// A layer, compressed or not.
#[derive(Clone)]
pub enum Content {
    Memory(Blob),
    File(StoredFile),
}

/// A file of a layout or an archive.
#[derive(Clone)]
pub struct StoredFile {
    pub files: Rc<Open>,
    pub path: String,
    pub media_type: String,
    pub size: u64,
    /// The expected digest; `None` if only that of the decompressed content is known.
    pub digest: Option<Digest>,
}

impl Content {
    pub fn media_type(&self) -> &str {
        match self {
            Self::Memory(blob) => blob.media_type(),
            Self::File(part) => &part.media_type,
        }
    }

    /// All of it in memory.
    pub fn blob(&self) -> anyhow::Result<Blob> {
        match self {
            Self::Memory(blob) => Ok(blob.clone()),
            Self::File(part) => self.read(|content| {
                let mut bytes = Vec::new();
                content.read_to_end(&mut bytes)?;
                Ok(Blob::new(&part.media_type, bytes))
            }),
        }
    }

    /// Calls `read` with the content, which must be whole: damage explains whatever else is found in it.
    pub fn read<T>(
        &self,
        read: impl FnOnce(&mut dyn Read) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let part = match self {
            Self::Memory(blob) => return read(&mut blob.bytes()),
            Self::File(part) => part,
        };
        let found = (part.files)(&part.path)?;
        let (size, content) =
            found.with_context(|| format!("it lacks the file `{}`", part.path))?;
        let mut hashed = Hashed { inner: content.take(size), hash: Sha256::new() };
        let result = read(&mut hashed);
        let Some(digest) = &part.digest else { return result };
        io::copy(&mut hashed, &mut io::sink())?;
        anyhow::ensure!(
            size == part.size && Digest::from_hash(&hashed.hash.finalize()) == *digest,
            "its blob {digest} has another content"
        );
        result
    }
}

/// Its name in messages.
impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory(blob) => blob.digest().fmt(f),
            Self::File(StoredFile { digest: Some(digest), .. }) => digest.fmt(f),
            Self::File(part) => write!(f, "`{}`", part.path),
        }
    }
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self} ({})", self.media_type())
    }
}

/// Reads a small file: all of it, if it has up to as many bytes.
pub fn read_small_file(files: &Open, path: &str, limit: u64) -> anyhow::Result<Option<Vec<u8>>> {
    let Some((size, content)) = files(path)? else { return Ok(None) };
    anyhow::ensure!(size <= limit, "its file `{path}` is longer than {} MiB", limit >> 20);
    let mut bytes = Vec::new();
    content.take(limit).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// Content, and the digest of what is read of it.
pub struct Hashed<R> {
    pub inner: R,
    pub hash: Sha256,
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let found = self.inner.read(buffer)?;
        self.hash.update(&buffer[..found]);
        Ok(found)
    }
}
