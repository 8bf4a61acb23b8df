//! The ways in which a bundle is broken.

use std::fmt;

use serde_json::{Map, Value, json};

use super::{super::random_numbers::Random, File, Files, facts::facts};

/// One change of one file.
#[derive(Clone, Debug)]
pub struct Break {
    file: &'static str,
    change: Change,
}

#[derive(Clone, Debug)]
enum Change {
    /// At a place, by its number among all that the file has.
    Place(usize, Place),
    /// A value at a pointer.
    Set(&'static str, Value),
    /// Of the file's text: what is put before and after it.
    Around(&'static [u8], &'static [u8]),
    Replace(&'static str, &'static str),
    New(&'static [u8]),
    Copy(&'static str),
    Move(&'static str),
    Remove,
}

#[derive(Clone, Debug)]
enum Place {
    Delete,
    Set(Value),
    Rename(&'static str),
    Upper,
    Twice,
}

pub const CSV: &str = super::super::CSV;
pub const CRD: &str = "manifests/cache.example.com_memcacheds.yaml";
pub const ANNOTATIONS: &str = "metadata/annotations.yaml";
pub const DEPENDENCIES: &str = "metadata/dependencies.yaml";
pub const MAP: &str = "manifests/map.yaml";
const FILES: &[&str] = &[CSV, CSV, CSV, CSV, CRD, CRD, CRD, ANNOTATIONS, DEPENDENCIES, MAP];

/// Before a text: it is written into YAML without quotes.
const RAW: &str = "RAW:";

impl Break {
    pub fn random(random: &mut Random) -> Self {
        if random.one_in(9) {
            return Self {
                file: random.pick::<&str>(FILES),
                change: random.pick(&wholes()).clone(),
            };
        }
        if random.one_in(2) {
            let all = facts();
            let (file, pointer, values) = random.pick(&all).clone();
            let change = Change::Set(pointer, random.pick(&values).clone());
            return Self { file, change };
        }
        let change = match random.below(10) {
            0..3 => Place::Delete,
            3..8 => Place::Set(random.pick(&values()).clone()),
            8 => [Place::Rename("other"), Place::Upper][random.below(2)].clone(),
            _ => Place::Twice,
        };
        Self {
            file: random.pick::<&str>(FILES),
            change: Change::Place(random.below(100_000), change),
        }
    }

    /// Every fact, one by one, and every whole file.
    pub fn all() -> Vec<Self> {
        let facts = facts().into_iter().flat_map(|(file, pointer, values)| {
            values.into_iter().map(move |it| Self { file, change: Change::Set(pointer, it) })
        });
        let files = [CSV, CRD, ANNOTATIONS, DEPENDENCIES, MAP].into_iter();
        let files =
            files.flat_map(|file| wholes().into_iter().map(move |change| Self { file, change }));
        facts.chain(files).collect()
    }

    pub fn apply(&self, files: &mut Files) {
        let Some(file) = files.get(self.file).cloned() else { return };
        let bytes = |file: &File| match file {
            File::Data(data) => text(data).into_bytes(),
            File::Bytes(bytes) => bytes.clone(),
        };
        let next = match (&self.change, file) {
            (Change::Place(number, place), File::Data(mut data)) => {
                let mut count = count(&data);
                let at = number % count.max(1);
                count = 0;
                place.apply(&mut data, at, &mut count);
                File::Data(data)
            }
            (Change::Set(pointer, value), File::Data(mut data)) => {
                set(&mut data, pointer, value);
                File::Data(data)
            }
            (Change::Place(..) | Change::Set(..), file) => file,
            (Change::Around(before, after), file) => {
                File::Bytes([before, &bytes(&file)[..], after].concat())
            }
            (Change::Replace(one, other), file) => {
                let text = String::from_utf8_lossy(&bytes(&file)).replace(one, other);
                File::Bytes(text.into_bytes())
            }
            (Change::New(bytes), _) => File::Bytes(bytes.to_vec()),
            (Change::Copy(path), file) => {
                files.insert((*path).to_owned(), file);
                return;
            }
            (Change::Move(path), file) => {
                files.remove(self.file);
                files.insert((*path).to_owned(), file);
                return;
            }
            (Change::Remove, _) => {
                files.remove(self.file);
                return;
            }
        };
        files.insert(self.file.to_owned(), next);
    }
}

impl fmt::Display for Break {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let change: String = format!("{:?}", self.change).chars().take(160).collect();
        write!(f, "{}: {change}", self.file)
    }
}

/// YAML, with raw words where they are wanted.
pub fn text(data: &Value) -> String {
    let text = serde_yaml::to_string(data).expect("data is YAML");
    text.lines().map(|line| format!("{}\n", raw(line))).collect()
}

fn raw(line: &str) -> String {
    match line.split_once(RAW) {
        Some((before, after)) => format!(
            "{}{}",
            before.trim_end_matches(['\'', '"']),
            after.trim_end_matches(['\'', '"'])
        ),
        None => line.to_owned(),
    }
}

fn count(value: &Value) -> usize {
    let below: usize = match value {
        Value::Object(map) => map.values().map(count).sum(),
        Value::Array(list) => list.iter().map(count).sum(),
        _ => 0,
    };
    below + 1
}

impl Place {
    /// Changes the value whose number is `at`, counting from its container.
    fn apply(&self, value: &mut Value, at: usize, count: &mut usize) {
        match value {
            Value::Object(map) => {
                for key in map.keys().cloned().collect::<Vec<_>>() {
                    *count += 1;
                    if *count == at {
                        return self.of_map(map, &key);
                    }
                    self.apply(&mut map[&key], at, count);
                }
            }
            Value::Array(list) => {
                for it in 0..list.len() {
                    *count += 1;
                    if *count == at {
                        return self.of_list(list, it);
                    }
                    self.apply(&mut list[it], at, count);
                }
            }
            _ => {}
        }
    }

    fn of_map(&self, map: &mut Map<String, Value>, key: &str) {
        let Some(value) = map.get(key).cloned() else { return };
        match self {
            Self::Delete => drop(map.remove(key)),
            Self::Set(value) => drop(map.insert(key.to_owned(), value.clone())),
            Self::Rename(name) => {
                map.remove(key);
                map.insert((*name).to_owned(), value);
            }
            Self::Upper => {
                map.remove(key);
                map.insert(key.to_uppercase(), value);
            }
            Self::Twice => drop(map.insert(format!("{key}2"), value)),
        }
    }

    fn of_list(&self, list: &mut Vec<Value>, at: usize) {
        match self {
            Self::Delete => drop(list.remove(at)),
            Self::Set(value) => list[at] = value.clone(),
            _ => list.push(list[at].clone()),
        }
    }
}

pub fn set(data: &mut Value, pointer: &str, value: &Value) {
    let Some((parent, key)) = pointer.rsplit_once('/') else { return };
    let key = key.replace("~1", "/");
    match data.pointer_mut(parent) {
        Some(Value::Object(map)) => drop(map.insert(key, value.clone())),
        Some(Value::Array(list)) => {
            if let Some(it) = key.parse().ok().and_then(|it: usize| list.get_mut(it)) {
                *it = value.clone();
            }
        }
        _ => {}
    }
}

/// Values of every type, and words that readers of YAML may take for something else.
fn values() -> Vec<Value> {
    let raw = |it: &str| json!(format!("{RAW}{it}"));
    vec![
        Value::Null,
        json!(true),
        json!(false),
        json!(0),
        json!(1),
        json!(-1),
        json!(1.5),
        json!(8_589_934_592_u64),
        json!(""),
        json!("a"),
        json!("A b"),
        json!("1"),
        json!("true"),
        json!("null"),
        json!("é"),
        json!([]),
        json!(["a"]),
        json!([1]),
        json!({}),
        json!({ "a": "b" }),
        json!({ "a": 1 }),
        json!([{}]),
        json!([null]),
        raw("no"),
        raw("1.0"),
        raw("2023-11-14T22:13:20Z"),
        raw("012"),
        raw("~"),
        raw("1e3"),
    ]
}

/// What a whole file becomes.
fn wholes() -> Vec<Change> {
    const ACCOUNT: &[u8] = b"\n---\napiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: x\n";
    vec![
        Change::Around(b"---\n", b""),
        Change::Around(b"# a comment\n---\n", b""),
        Change::Around(b"---\n---\n", b""),
        Change::Around(b"", b"\n---\n"),
        Change::Around(b"", ACCOUNT),
        Change::Around(b"---\n", ACCOUNT),
        Change::Around(b"", b"\n--- a\n"),
        Change::Around(b"", b"\n...\n"),
        Change::Around(b"\xef\xbb\xbf", b""),
        Change::Around(b"", b"\n# \xe9\n"),
        Change::Around(b"", b"\n# \x00\n"),
        Change::Around(b"", b"\nkind: Other\n"),
        Change::Around(b"1: a\n", b""),
        Change::Around(b"a: &a b\nc: *a\n", b""),
        Change::Around(b"", b"\n\ta: b\n"),
        Change::Around(b"%YAML 1.1\n---\n", b""),
        Change::Replace("\n", "\r\n"),
        Change::Replace("kind: ", "Kind: "),
        Change::Replace("  ", "   "),
        Change::New(b""),
        Change::New(b"# nothing\n"),
        Change::New(b"a"),
        Change::New(b"[]"),
        Change::New(b"{}"),
        Change::New(b"a: ["),
        Change::New(b"{apiVersion: v1, kind: ConfigMap, metadata: {name: a}} behind\n"),
        Change::New(b"{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"a\"}}\n}\n"),
        Change::New(b"\x89PNG\r\n\x1a\n\x00"),
        Change::Copy("manifests/copy.yaml"),
        Change::Copy("manifests/folder/copy.yaml"),
        Change::Copy("manifests/.hidden.yaml"),
        Change::Copy("metadata/copy.yaml"),
        Change::Copy("other/copy.yaml"),
        Change::Move("manifests/moved.yaml"),
        Change::Move("metadata/moved.yaml"),
        Change::Move("other/moved.yaml"),
        Change::Remove,
    ]
}
