//! Compressed data, recognized by its first bytes as other tools do.

use std::io::{self, BufReader, Read};

use flate2::read::MultiGzDecoder;
use ruzstd::decoding::StreamingDecoder;

/// Reads what is compressed with gzip or zstd, or not at all.
pub fn decompress(bytes: &[u8]) -> anyhow::Result<Box<dyn Read + '_>> {
    Ok(match bytes {
        [0x1f, 0x8b, ..] => Box::new(BufReader::new(MultiGzDecoder::new(bytes))),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Box::new(Frames { rest: bytes, current: None }),
        [b'B', b'Z', b'h', ..] => anyhow::bail!("bzip2 compression is not supported in an image"),
        [0xfd, b'7', b'z', b'X', b'Z', ..] => {
            anyhow::bail!("xz compression is not supported in an image")
        }
        _ => Box::new(bytes),
    })
}

/// zstd in several frames, as some builders write it.
struct Frames<'a> {
    rest: &'a [u8],
    current: Option<StreamingDecoder<&'a [u8], ruzstd::decoding::FrameDecoder>>,
}

impl Read for Frames<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(decoder) = &mut self.current {
                let found = decoder.read(buffer)?;
                if 0 < found || buffer.is_empty() {
                    return Ok(found);
                }
                self.rest = decoder.get_ref();
                self.current = None;
            }
            match self.rest {
                [] => return Ok(0),
                // A frame to be skipped: its length follows its magic number.
                [0x50..=0x5f, 0x2a, 0x4d, 0x18, a, b, c, d, rest @ ..] => {
                    let length = u32::from_le_bytes([*a, *b, *c, *d]) as usize;
                    self.rest = rest.get(length..).ok_or(io::ErrorKind::UnexpectedEof)?;
                }
                rest => {
                    let decoder = StreamingDecoder::new(rest).map_err(io::Error::other)?;
                    self.current = Some(decoder);
                }
            }
        }
    }
}

/// Reads up to a number of bytes, and fails if there are more.
pub struct Limited<R> {
    pub inner: R,
    pub left: u64,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let found = self.inner.read(buffer)?;
        let Some(left) = self.left.checked_sub(found as u64) else {
            return Err(io::Error::other("it is larger than is accepted once it is decompressed"));
        };
        self.left = left;
        Ok(found)
    }
}
