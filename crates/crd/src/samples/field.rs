//! Where in a sample something is.

use std::fmt;

use go_data::yaml::{Data, Mark, Node};

/// The way from the top of an object to one of its values.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct FieldPath(Vec<Step>);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Key(String),
    Item(usize),
}

impl FieldPath {
    pub fn key(&self, key: &str) -> Self {
        self.with(Step::Key(key.to_owned()))
    }

    pub fn item(&self, at: usize) -> Self {
        self.with(Step::Item(at))
    }

    fn with(&self, step: Step) -> Self {
        Self([&self.0[..], &[step]].concat())
    }

    pub fn is_top(&self) -> bool {
        self.0.is_empty()
    }

    /// The path as messages show it, behind the kind.
    pub fn of(&self, kind: &str) -> Vec<String> {
        vec![kind.to_owned(), self.to_string()]
    }

    /// Where a document has it: its key, if it has one; else the nearest thing around it.
    pub fn mark(&self, document: &Node) -> Mark {
        let (mut here, mut mark) = (document, document.mark);
        for step in &self.0 {
            let next = match (step, &here.data) {
                (Step::Key(key), Data::Map(entries)) => {
                    entries.iter().find(|it| it.key == *key).map(|it| (&it.value, it.mark))
                }
                (Step::Item(at), Data::List(items)) => items.get(*at).map(|it| (it, it.mark)),
                _ => None,
            };
            let Some(next) = next else { break };
            (here, mark) = next;
        }
        mark
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.0.iter().enumerate() {
            match step {
                Step::Item(at) => write!(f, "[{at}]")?,
                Step::Key(key) if key.contains(['.', '/']) => write!(f, "[{key}]")?,
                Step::Key(key) if at == 0 => f.write_str(key)?,
                Step::Key(key) => write!(f, ".{key}")?,
            }
        }
        Ok(())
    }
}
