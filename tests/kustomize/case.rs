//! One tree of files, rendered by kustomize and by us, and how the two compare.

use std::{collections::BTreeMap, fs, path::Path};

use super::{differs, ours, support};

/// Files by path, each as the parts it is made of. A part is a heading, which neighbours share, and a text.
#[derive(Clone, Debug, Default)]
pub struct Case(pub BTreeMap<String, Vec<(String, String)>>);

#[derive(Debug)]
pub enum Verdict {
    Equal,
    /// Neither renders it; here is kustomize's reason.
    Refused(String),
    /// Only kustomize renders it; here is our reason.
    OurRefusal(String),
    /// Only we render it; here is kustomize's reason.
    TheirRefusal(String),
    Different(String),
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (Self::Refused(text)
        | Self::OurRefusal(text)
        | Self::TheirRefusal(text)
        | Self::Different(text)) = self
        else {
            return f.write_str(self.class());
        };
        write!(f, "{}: {text}", self.class())
    }
}

impl Verdict {
    /// What has to stay the same while a case is made smaller.
    pub fn class(&self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::Refused(_) => "refused by both",
            Self::OurRefusal(_) => "refused by us only",
            Self::TheirRefusal(_) => "accepted by us only",
            Self::Different(_) => "different",
        }
    }
}

impl Case {
    /// From a text with a line `==> path` before each file; what is before the first is `kustomization.yaml`.
    pub fn parse(text: &str) -> Self {
        let mut res = Self::default();
        let mut path = "kustomization.yaml".to_owned();
        for line in text.lines() {
            match line.strip_prefix("==> ") {
                Some(next) => next.clone_into(&mut path),
                None => res.add(&path, "", &format!("{line}\n")),
            }
        }
        res
    }

    pub fn add(&mut self, path: &str, heading: &str, text: &str) {
        self.0.entry(path.to_owned()).or_default().push((heading.to_owned(), text.to_owned()));
    }

    pub fn text(&self, path: &str) -> String {
        let (mut res, mut last) = (String::new(), "");
        for (heading, text) in self.0.get(path).into_iter().flatten() {
            if !heading.is_empty() && heading != last {
                res += heading;
                res += "\n";
            }
            last = heading;
            res += text;
        }
        res
    }

    /// Renders the kustomization in a folder of the case, both ways.
    pub fn run(&self, kustomize: &Path, dir: &Path, folder: &str) -> Verdict {
        let _ = fs::remove_dir_all(dir);
        for path in self.0.keys() {
            let file = dir.join("tree").join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, bytes(&self.text(path))).unwrap();
        }
        let folder = dir.join("tree").join(folder);
        let output = support::command(kustomize, &folder).args(["build", "."]).output().unwrap();
        let theirs = String::from_utf8(output.stdout).unwrap();
        let reason = String::from_utf8_lossy(&output.stderr).into_owned();
        match (output.status.success(), ours(&folder, &[])) {
            (true, Ok(ours)) => differs(&ours, &theirs).map_or(Verdict::Equal, Verdict::Different),
            (false, Err(_)) => Verdict::Refused(reason),
            (true, Err(error)) => Verdict::OurRefusal(format!("{error:#}")),
            (false, Ok(_)) => Verdict::TheirRefusal(reason),
        }
    }

    /// The smallest case with a verdict of the same class.
    pub fn shrink(mut self, class: &str, run: impl Fn(&Self) -> Verdict) -> Self {
        loop {
            let before = self.0.values().map(Vec::len).sum::<usize>();
            for path in self.0.keys().cloned().collect::<Vec<_>>() {
                let mut at = 0;
                while at < self.0.get(&path).map_or(0, Vec::len) {
                    let mut smaller = self.clone();
                    let parts = smaller.0.get_mut(&path).unwrap();
                    parts.remove(at);
                    if run(&smaller).class() == class {
                        self = smaller;
                    } else {
                        at += 1;
                    }
                }
            }
            if self.0.values().map(Vec::len).sum::<usize>() == before {
                self.0.retain(|_, parts| !parts.is_empty());
                return self;
            }
        }
    }
}

/// `\xHH` stands for a byte, so that a case can hold what is no text.
fn bytes(text: &str) -> Vec<u8> {
    let mut parts = text.split("\\x");
    let mut res = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        res.push(u8::from_str_radix(&part[..2], 16).unwrap());
        res.extend(&part.as_bytes()[2..]);
    }
    res
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.keys().try_for_each(|path| write!(f, "==> {path}\n{}", self.text(path)))
    }
}
