//! The text of a catalog as ConfigMaps, which may have 1 MiB each.

use std::io::Write as _;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use flate2::{Compression, GzBuilder};

use go_data::yaml::{Value, json};
use model::Digest;

/// The largest size of the data in one ConfigMap, in bytes: a little less than its limit, which is 1 MiB with the
/// keys.
const MOST: usize = 1_000_000;

/// A catalog, in parts that fit into ConfigMaps.
pub enum Content {
    /// All of it, as text.
    Whole(String),
    /// Compressed with gzip, cut into pieces.
    Pieces(Vec<Vec<u8>>),
}

impl Content {
    /// Returns the first digits of the SHA-256 of a text, which identify it.
    pub fn short_digest(text: &str) -> String {
        Digest::from_content(text.as_bytes()).hex()[..10].to_owned()
    }

    pub fn from_text(text: String) -> Self {
        if text.len() <= MOST {
            return Self::Whole(text);
        }
        let mut writer = GzBuilder::new().write(Vec::new(), Compression::best());
        let compressed = writer.write_all(text.as_bytes()).and_then(|()| writer.finish());
        let compressed = compressed.expect("a vector takes all that is written");
        Self::Pieces(compressed.chunks(MOST).map(<[u8]>::to_vec).collect())
    }

    /// Returns the file in each ConfigMap, by the key that is also its name.
    pub fn files(&self) -> Vec<(String, Value)> {
        match self {
            Self::Whole(text) => {
                let key = "catalog.json";
                vec![(key.to_owned(), json!({"data": {key: text}}))]
            }
            Self::Pieces(pieces) => {
                let file = |(at, bytes): (usize, &Vec<u8>)| {
                    // The shell sorts them by name.
                    let key = format!("catalog.json.gz.{at:03}");
                    let data = json!({"binaryData": {key.clone(): BASE64_STANDARD.encode(bytes)}});
                    (key, data)
                };
                pieces.iter().enumerate().map(file).collect()
            }
        }
    }
}

#[test]
fn a_catalog_is_compressed_and_cut_where_it_does_not_fit() {
    use std::io::Read as _;
    let small = Content::from_text("{}".into()).files();
    assert_eq!(small, [("catalog.json".to_owned(), json!({"data": {"catalog.json": "{}"}}))]);
    // Random text does not get smaller than its information.
    let mut text = String::new();
    let mut state = 1u32;
    while text.len() < 4_000_000 {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        text.push(char::from(b'0' + (state >> 24) as u8 % 64));
    }
    let files = Content::from_text(text.clone()).files();
    assert!(files.len() > 2, "{}", files.len());
    let mut bytes = Vec::new();
    for (key, data) in &files {
        let piece = BASE64_STANDARD.decode(data["binaryData"][key].as_str().unwrap()).unwrap();
        assert!(piece.len() <= MOST && !piece.is_empty());
        bytes.extend(piece);
    }
    assert!(files.is_sorted_by_key(|it| it.0.clone()));
    let mut read = String::new();
    flate2::read::GzDecoder::new(&bytes[..]).read_to_string(&mut read).unwrap();
    assert!(read == text);
}
