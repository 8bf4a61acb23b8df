//! Objects of one kind are much alike, so each is kept as what it does not share with an example:
//! a tenth of its text.

use std::sync::Arc;

/// What is shared in so many bytes, or more, is not kept.
const RUN: usize = 8;

/// As many places of the example are remembered at most.
const PLACES: usize = 1 << 12;

/// A text, as pieces of its own and of an example.
pub(super) struct Packed {
    example: Arc<str>,
    /// A piece of its own, and a piece of the example; and so on. The length of a piece comes
    /// first, that of the example's after the place where it begins.
    pieces: Box<[u8]>,
}

impl Packed {
    pub fn text(&self) -> String {
        let (mut res, mut rest) = (vec![], &*self.pieces);
        while !rest.is_empty() {
            let own = number(&mut rest);
            res.extend_from_slice(&rest[..own]);
            rest = &rest[own..];
            if !rest.is_empty() {
                let (from, length) = (number(&mut rest), number(&mut rest));
                res.extend_from_slice(&self.example.as_bytes()[from..from + length]);
            }
        }
        String::from_utf8(res).expect("it was a text")
    }
}

/// Packs texts, by an example that it finds among them.
#[derive(Default)]
pub(super) struct Packer {
    example: Arc<str>,
    /// Where in the example a run of bytes may begin, by the hash of the run.
    places: Vec<u32>,
    /// How many texts were not like the example, and how many have to be until it is changed. That
    /// doubles: texts that are never alike shall not all become examples.
    unlike: usize,
    patience: usize,
}

impl Packer {
    pub fn pack(&mut self, text: &str) -> Packed {
        let mut pieces = self.pieces(text.as_bytes());
        if text.len() < pieces.len() * 2 {
            self.unlike += 1;
            if self.patience < self.unlike {
                (self.unlike, self.patience) = (0, self.patience * 2 + 1);
                self.example = text.into();
                self.places = vec![0; PLACES];
                for (place, run) in text.as_bytes().windows(RUN).enumerate() {
                    self.places[hash(run)] = place as u32;
                }
                pieces = self.pieces(text.as_bytes());
            }
        }
        Packed { example: self.example.clone(), pieces: pieces.into() }
    }

    fn pieces(&self, text: &[u8]) -> Vec<u8> {
        let (mut res, mut begin, mut at) = (vec![], 0, 0);
        while let Some(run) = text.get(at..at + RUN) {
            let from = self.places.get(hash(run)).map_or(0, |it| *it as usize);
            let alike = self.example.as_bytes()[from..].iter().zip(&text[at..]);
            let length = alike.take_while(|(a, b)| a == b).count();
            if length < RUN {
                at += 1;
                continue;
            }
            push(&mut res, at - begin);
            res.extend_from_slice(&text[begin..at]);
            push(&mut res, from);
            push(&mut res, length);
            at += length;
            begin = at;
        }
        push(&mut res, text.len() - begin);
        res.extend_from_slice(&text[begin..]);
        res
    }
}

/// Below `PLACES`.
fn hash(run: &[u8]) -> usize {
    let number = run.iter().fold(0, |sum: u64, byte| sum << 8 | u64::from(*byte));
    (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52) as usize
}

/// Appends a number, seven bits a byte: small ones are short.
fn push(bytes: &mut Vec<u8>, mut number: usize) {
    while 0x80 <= number {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn number(bytes: &mut &[u8]) -> usize {
    let (mut res, mut shift) = (0, 0);
    while let Some((&first, rest)) = bytes.split_first() {
        *bytes = rest;
        res |= usize::from(first & 0x7f) << shift;
        shift += 7;
        if first < 0x80 {
            break;
        }
    }
    res
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_comes_back() {
        let mut packer = Packer::default();
        let long = "ä€".repeat(5000);
        let texts = ["", "a", "abcdefgh", "abcdefghabcdefgh", "xabcdefghy", "€bcdefghi", "äbcdefghi", &long, "last"];
        let packed: Vec<_> = texts.iter().cycle().take(100).map(|it| packer.pack(it)).collect();
        for (packed, text) in packed.iter().zip(texts.iter().cycle()) {
            assert_eq!(packed.text(), *text);
        }
    }

    #[test]
    fn what_is_alike_is_small() {
        let mut packer = Packer::default();
        let text = |name: &str| {
            format!(r#"{{"metadata":{{"name":"{name}","labels":{{"app":"{name}"}}}},"spec":{{"replicas":1}}}}"#)
        };
        packer.pack("another");
        let sizes: Vec<_> = ["a", "b", "c", "d"].map(|it| packer.pack(&text(it)).pieces.len()).into();
        assert!(sizes.iter().skip(1).all(|it| it * 3 < text("a").len()), "{sizes:?}");
    }
}
