//! How much a rendering may add to the objects, and how much it may work, in all. A few lines can double a text with each
//! step, write a large one into each of thousands of objects, or have each of thousands of entries look at each of
//! thousands of objects. Each object refers to the budget of its rendering; what puts a value into one, or looks at one,
//! takes that from there first.

use std::{cell::Cell, rc::Rc};

use super::WAY_OUT;
use diagnostics::Hint as _;
use go_data::yaml::Value;

/// Far more than any operator has: some hundreds of the largest definitions of resources.
const MOST: usize = 128 << 20;

/// What a value takes in memory besides its text: itself, and what a map or a list, its key and the allocations of both
/// take. Measured with short keys and numbers, of which the most fit into a text.
const EACH: usize = 128;

/// How deep values may be nested.
const DEEPEST: usize = 1000;

/// The largest number of values that a rendering may visit. Visiting so many takes some seconds.
pub const MOST_WORK: usize = 20_000_000;

/// The work of comparing one object with a name or a kind, as values that are looked at.
const EACH_OBJECT: usize = 10;

/// The bytes of a compiled regular expression, and of a text, which take as long as a value that is looked at: compiling
/// so many, walking through the expression for all bytes of a text, and comparing two texts.
const COMPILED: usize = 16;
const SEARCHED: usize = 1024;
const COMPARED: usize = 64;

/// The items that are moved in a list, and the fields of a configuration that are passed over, in the time of a visit.
const MOVED: usize = 64;
const FIELDS: usize = 8;

/// What a compiled regular expression that was matched takes in memory, as often as its size.
const EACH_PATTERN: usize = 4;

#[derive(Clone, Debug)]
pub struct Budget(Rc<Left>);

#[derive(Debug)]
struct Left {
    bytes: Cell<usize>,
    work: Cell<usize>,
}

impl Default for Budget {
    fn default() -> Self {
        Self::new(MOST, MOST_WORK)
    }
}

impl Budget {
    pub(super) fn new(bytes: usize, work: usize) -> Self {
        Self(Rc::new(Left { bytes: Cell::new(bytes), work: Cell::new(work) }))
    }

    /// The work so far.
    #[cfg(test)]
    pub fn work(&self) -> usize {
        MOST_WORK - self.0.work.get()
    }

    /// Counts a visit of some objects: of their identities or of one field each.
    pub fn look_at(&self, objects: usize) -> anyhow::Result<()> {
        self.take_work(objects.saturating_mul(EACH_OBJECT))
    }

    /// Counts a visit of a value with everything in it.
    pub fn look_through(&self, value: &Value) -> anyhow::Result<()> {
        self.take_work(count(value))
    }

    /// Counts a visit of the items of a list, though not of what is in them.
    pub fn look_at_items(&self, items: usize) -> anyhow::Result<()> {
        self.take_work(items)
    }

    /// Counts that a regular expression is compiled.
    pub fn compile(&self, size: usize) -> anyhow::Result<()> {
        self.take_work(size / COMPILED)
    }

    /// Counts that a text is searched with a regular expression.
    pub fn search(&self, size: usize, text: usize) -> anyhow::Result<()> {
        self.take_work(size.saturating_mul(text + 1) / SEARCHED)
    }

    /// Counts that so many bytes of two texts are compared.
    pub fn compare(&self, bytes: usize) -> anyhow::Result<()> {
        self.take_work(1 + bytes / COMPARED)
    }

    /// Counts that so many items of a list make place for another one, or take its place.
    pub fn move_items(&self, items: usize) -> anyhow::Result<()> {
        self.take_work(items / MOVED)
    }

    /// Counts that the one that is meant is looked for among the fields of a configuration.
    pub fn look_at_fields(&self, fields: usize) -> anyhow::Result<()> {
        self.take_work(1 + fields / FIELDS)
    }

    fn take_work(&self, units: usize) -> anyhow::Result<()> {
        let Some(left) = self.0.work.get().checked_sub(units) else {
            let message =
                "this is too much work: its entries have to look at its objects too often";
            return Err(anyhow::format_err!(message))
                .hint("split it into kustomizations with fewer objects, or ".to_owned() + WAY_OUT);
        };
        self.0.work.set(left);
        Ok(())
    }

    /// For as many bytes more.
    pub fn take(&self, bytes: usize) -> anyhow::Result<()> {
        if self.has_taken(bytes) {
            return Ok(());
        }
        let message = "this adds too much: in total, objects may grow by at most 128 MiB";
        Err(anyhow::format_err!(message)).hint("reduce the output, or ".to_owned() + WAY_OUT)
    }

    /// For a compiled regular expression that is kept.
    pub fn keep_pattern(&self, size: usize) -> anyhow::Result<()> {
        if self.has_taken(size.saturating_mul(EACH_PATTERN)) {
            return Ok(());
        }
        let message = "all regular expressions together are too large when they are compiled";
        Err(anyhow::format_err!(message)).hint("make them smaller, or ".to_owned() + WAY_OUT)
    }

    fn has_taken(&self, bytes: usize) -> bool {
        let left = self.0.bytes.get().checked_sub(bytes);
        left.inspect(|left| self.0.bytes.set(*left)).is_some()
    }

    /// For a text in the place of another one.
    pub fn take_text(&self, old: &str, new: &str) -> anyhow::Result<()> {
        self.take(new.len().saturating_sub(old.len()))
    }

    /// For a value that is put below so many others.
    pub fn take_value(&self, value: &Value, depth: usize) -> anyhow::Result<()> {
        self.take(size(value, depth)?)
    }

    /// Counts an entry that is added to a map, with its note.
    pub fn take_entry(&self, key: &str, value: &str) -> anyhow::Result<()> {
        self.take(2 * (key.len() + EACH) + value.len())
    }

    /// Changes a value, and takes what its text has grown by. What is added to a list or a map is taken by whoever adds it.
    pub fn change(
        &self,
        value: &mut Value,
        set: &mut dyn FnMut(&mut Value) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let length = |value: &Value| value.as_str().map_or(0, str::len);
        let before = length(value);
        set(value)?;
        self.take(length(value).saturating_sub(before))
    }
}

/// Refuses what is below more than so many others.
pub fn check_depth(depth: usize) -> anyhow::Result<()> {
    if depth <= DEEPEST {
        return Ok(());
    }
    let message = format!("values are nested deeper than {DEEPEST} levels there");
    Err(anyhow::format_err!(message)).hint(WAY_OUT)
}

/// Counts a value and the values in it.
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(map) => map.values().map(count).sum(),
        _ => 0,
    }
}

fn size(value: &Value, depth: usize) -> anyhow::Result<usize> {
    check_depth(depth)?;
    let inner = match value {
        Value::String(text) => text.len(),
        Value::Array(items) => {
            items.iter().try_fold(0, |sum, it| anyhow::Ok(sum + size(it, depth + 1)?))?
        }
        Value::Object(map) => {
            let mut entries = map.iter();
            entries
                .try_fold(0, |sum, (key, it)| anyhow::Ok(sum + key.len() + size(it, depth + 1)?))?
        }
        _ => 0,
    };
    Ok(EACH + inner)
}

#[cfg(test)]
mod tests {
    use model::{Found, ProjectPath, Tree};

    use super::{super::resources, *};

    /// One text in every file.
    struct Same(&'static str);

    impl Tree for Same {
        fn look(&self, _: &ProjectPath) -> anyhow::Result<Found> {
            Ok(Found::Text(self.0.to_owned()))
        }
        fn names(&self, _: &str) -> anyhow::Result<Vec<String>> {
            Ok(Vec::new())
        }
        fn list(&self, _: &ProjectPath) -> anyhow::Result<Vec<ProjectPath>> {
            Ok(Vec::new())
        }
    }

    #[test]
    fn a_file_that_is_read_again_and_again_uses_up_the_budget() {
        let text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: aaaaaaaaaa}\n";
        let path = ProjectPath::fixed("a.yaml");
        let budget = Budget::new(3000, 1000);
        let read = || resources::read(&Same(text), &path, &budget);
        let count = std::iter::from_fn(|| read().ok()).count();
        assert_eq!(count, 3);
        let error = format!("{:#}", read().expect_err("the budget is used up"));
        assert_eq!(
            error,
            "a.yaml: this adds too much: in total, objects may grow by at most 128 MiB"
        );
    }
}
