use std::{fmt, sync::Arc};

use super::Digest;

/// A part of an image: some bytes of a media type, named by their digest.
#[derive(Clone, PartialEq, Eq)]
pub struct Blob {
    media_type: String,
    digest: Digest,
    bytes: Arc<Vec<u8>>,
}

/// A reference to a blob, as in an image manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Descriptor {
    pub media_type: String,
    pub digest: Digest,
    pub size: u64,
}

impl Blob {
    pub fn new(media_type: impl Into<String>, bytes: Vec<u8>) -> Self {
        let digest = Digest::from_content(&bytes);
        Self { media_type: media_type.into(), digest, bytes: Arc::new(bytes) }
    }

    pub fn media_type(&self) -> &str {
        &self.media_type
    }

    pub fn digest(&self) -> &Digest {
        &self.digest
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub fn size(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Returns a blob of the same bytes with another media type.
    pub fn of_type(&self, media_type: &str) -> Self {
        Self { media_type: media_type.to_owned(), ..self.clone() }
    }
}

impl fmt::Debug for Blob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}, {} bytes)", self.digest, self.media_type, self.bytes.len())
    }
}
