//! Compressed data, recognized by its first bytes as other tools do.

use std::io::{self, BufReader, Chain, Cursor, Read};

use flate2::read::MultiGzDecoder;
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

/// Reads what is compressed with gzip or zstd, or not at all.
pub fn decompress<'a>(bytes: impl Read + 'a) -> anyhow::Result<Box<dyn Read + 'a>> {
    let (start, bytes) = peek_start(bytes, 5)?;
    Ok(match start[..] {
        [0x1f, 0x8b, ..] => Box::new(BufReader::new(MultiGzDecoder::new(bytes))),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Box::new(Frames::Between(bytes)),
        [b'B', b'Z', b'h', ..] => anyhow::bail!("bzip2 compression is not supported in an image"),
        [0xfd, b'7', b'z', b'X', b'Z', ..] => {
            anyhow::bail!("xz compression is not supported in an image")
        }
        _ => Box::new(bytes),
    })
}

/// Returns whether it is compressed in a way that can be read.
pub fn is_compressed(bytes: impl Read) -> io::Result<bool> {
    let start = peek_start(bytes, 4)?.0;
    Ok(matches!(start[..], [0x1f, 0x8b, ..] | [0x28, 0xb5, 0x2f, 0xfd]))
}

type Peeked<R> = Chain<Cursor<Vec<u8>>, R>;

/// The first bytes, and a reader that still has them.
fn peek_start<R: Read>(mut bytes: R, most: u64) -> io::Result<(Vec<u8>, Peeked<R>)> {
    let mut start = Vec::new();
    bytes.by_ref().take(most).read_to_end(&mut start)?;
    Ok((start.clone(), Cursor::new(start).chain(bytes)))
}

/// zstd in several frames, as some builders write it.
enum Frames<R: Read> {
    Between(R),
    In(Box<StreamingDecoder<Peeked<R>, FrameDecoder>>),
    End,
}

impl<R: Read> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Self::In(decoder) = self {
                let count = decoder.read(buffer)?;
                if count > 0 || buffer.is_empty() {
                    return Ok(count);
                }
            }
            let rest = match std::mem::replace(self, Self::End) {
                Self::Between(rest) => rest,
                Self::In(decoder) => decoder.into_inner().into_inner().1,
                Self::End => return Ok(0),
            };
            let (start, mut bytes) = peek_start(rest, 4)?;
            *self = match start[..] {
                [] => return Ok(0),
                // A frame to be skipped: its length follows its magic number.
                [0x50..=0x5f, 0x2a, 0x4d, 0x18] => {
                    let mut header = [0; 8];
                    bytes.read_exact(&mut header)?;
                    let [.., a, b, c, d] = header;
                    let length = u64::from(u32::from_le_bytes([a, b, c, d]));
                    let mut rest = bytes.into_inner().1;
                    if io::copy(&mut rest.by_ref().take(length), &mut io::sink())? < length {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                    Self::Between(rest)
                }
                _ => Self::In(Box::new(StreamingDecoder::new(bytes).map_err(io::Error::other)?)),
            };
        }
    }
}

/// Reads up to a number of bytes, and fails if there are more.
pub struct SizeLimited<R> {
    pub inner: R,
    pub left: u64,
}

impl<R: Read> Read for SizeLimited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let found = self.inner.read(buffer)?;
        let Some(left) = self.left.checked_sub(found as u64) else {
            return Err(io::Error::other("it is too large once it is decompressed"));
        };
        self.left = left;
        Ok(found)
    }
}
