//! The limits of a rendering: the bytes that it may add to the objects, and the work that it may do. A few lines can
//! double a text with each step, write a large one into each of thousands of objects, or have each of thousands of
//! entries visit each of thousands of objects. Each object refers to the budget of its rendering. Code that adds a
//! value to an object, or visits one, takes that from the budget first.

use std::{cell::Cell, rc::Rc};

use super::WAY_OUT;
use diagnostics::Hint as _;
use go_data::yaml::Value;

/// Far more than any operator has: some hundreds of the largest definitions of resources.
const MAX_BYTES: usize = 128 << 20;

/// The bytes that a value takes in memory besides its text: itself, its key, and the allocations of maps and lists.
/// Measured with short keys and numbers, of which the most fit into a text.
const VALUE_BYTES: usize = 128;

/// The deepest level of nested values.
const MAX_DEPTH: usize = 1000;

/// The largest number of values that a rendering may visit. Visiting so many takes some seconds.
pub const MAX_WORK: usize = 20_000_000;

/// The work of comparing one object with a name or a kind, in visits of values.
const OBJECT_WORK: usize = 10;

/// The bytes that are handled in the time of a visit: of a regular expression that is compiled, of an expression times
/// a text that is searched, and of two texts that are compared.
const COMPILED_BYTES: usize = 16;
const SEARCHED_BYTES: usize = 1024;
const COMPARED_BYTES: usize = 64;

/// The items that are moved in a list, and the fields of a configuration that are passed over, in the time of a visit.
const MOVED_ITEMS: usize = 64;
const PASSED_FIELDS: usize = 8;

/// The bytes that a compiled regular expression takes in memory for each byte of its size, once it was matched.
const PATTERN_BYTES: usize = 4;

#[derive(Clone, Debug)]
pub struct Budget(Rc<Remaining>);

#[derive(Debug)]
struct Remaining {
    bytes: Cell<usize>,
    work: Cell<usize>,
}

impl Default for Budget {
    fn default() -> Self {
        Self::new(MAX_BYTES, MAX_WORK)
    }
}

impl Budget {
    pub(super) fn new(bytes: usize, work: usize) -> Self {
        Self(Rc::new(Remaining { bytes: Cell::new(bytes), work: Cell::new(work) }))
    }

    /// Returns the work so far.
    #[cfg(test)]
    pub fn used_work(&self) -> usize {
        MAX_WORK - self.0.work.get()
    }

    /// Counts a visit of some objects: of their identities or of one field each.
    pub fn count_objects(&self, objects: usize) -> anyhow::Result<()> {
        self.take_work(objects.saturating_mul(OBJECT_WORK))
    }

    /// Counts a visit of a value with everything in it.
    pub fn count_value(&self, value: &Value) -> anyhow::Result<()> {
        self.take_work(value_count(value))
    }

    /// Counts a visit of the items of a list, though not of what is in them.
    pub fn count_items(&self, items: usize) -> anyhow::Result<()> {
        self.take_work(items)
    }

    /// Counts the compilation of a regular expression.
    pub fn count_compilation(&self, size: usize) -> anyhow::Result<()> {
        self.take_work(size / COMPILED_BYTES)
    }

    /// Counts a search in a text with a regular expression.
    pub fn count_search(&self, size: usize, text: usize) -> anyhow::Result<()> {
        self.take_work(size.saturating_mul(text + 1) / SEARCHED_BYTES)
    }

    /// Counts the comparison of so many bytes of two texts.
    pub fn count_comparison(&self, bytes: usize) -> anyhow::Result<()> {
        self.take_work(1 + bytes / COMPARED_BYTES)
    }

    /// Counts the items of a list that move when an item is inserted or removed.
    pub fn count_moves(&self, items: usize) -> anyhow::Result<()> {
        self.take_work(items / MOVED_ITEMS)
    }

    /// Counts a search among the fields of a configuration.
    pub fn count_fields(&self, fields: usize) -> anyhow::Result<()> {
        self.take_work(1 + fields / PASSED_FIELDS)
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

    /// Takes so many bytes from the budget.
    pub fn take_bytes(&self, bytes: usize) -> anyhow::Result<()> {
        if self.has_taken(bytes) {
            return Ok(());
        }
        let message = "this adds too much: in total, objects may grow by at most 128 MiB";
        Err(anyhow::format_err!(message)).hint("reduce the output, or ".to_owned() + WAY_OUT)
    }

    /// Takes the memory of a compiled regular expression that is kept.
    pub fn take_pattern(&self, size: usize) -> anyhow::Result<()> {
        if self.has_taken(size.saturating_mul(PATTERN_BYTES)) {
            return Ok(());
        }
        let message = "all regular expressions together are too large when they are compiled";
        Err(anyhow::format_err!(message)).hint("make them smaller, or ".to_owned() + WAY_OUT)
    }

    fn has_taken(&self, bytes: usize) -> bool {
        let left = self.0.bytes.get().checked_sub(bytes);
        left.inspect(|left| self.0.bytes.set(*left)).is_some()
    }

    /// Takes the bytes by which a new text is longer than the old one.
    pub fn take_text(&self, old: &str, new: &str) -> anyhow::Result<()> {
        self.take_bytes(new.len().saturating_sub(old.len()))
    }

    /// Takes the memory of a value at a depth.
    pub fn take_value(&self, value: &Value, depth: usize) -> anyhow::Result<()> {
        self.take_bytes(value_size(value, depth)?)
    }

    /// Takes the memory of an entry that is added to a map, with its note.
    pub fn take_entry(&self, key: &str, value: &str) -> anyhow::Result<()> {
        self.take_bytes(2 * (key.len() + VALUE_BYTES) + value.len())
    }

    /// Changes a value, and takes the bytes by which its text has grown. Code that adds to a list or a map takes that
    /// itself.
    pub fn change_value(
        &self,
        value: &mut Value,
        set: &mut dyn FnMut(&mut Value) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let length = |value: &Value| value.as_str().map_or(0, str::len);
        let before = length(value);
        set(value)?;
        self.take_bytes(length(value).saturating_sub(before))
    }
}

/// Refuses values that are nested too deep.
pub fn check_depth(depth: usize) -> anyhow::Result<()> {
    if depth <= MAX_DEPTH {
        return Ok(());
    }
    let message = format!("values are nested deeper than {MAX_DEPTH} levels there");
    Err(anyhow::format_err!(message)).hint(WAY_OUT)
}

/// Returns the number of values in a value, with itself.
fn value_count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(value_count).sum(),
        Value::Object(map) => map.values().map(value_count).sum(),
        _ => 0,
    }
}

fn value_size(value: &Value, depth: usize) -> anyhow::Result<usize> {
    check_depth(depth)?;
    let inner = match value {
        Value::String(text) => text.len(),
        Value::Array(items) => {
            items.iter().try_fold(0, |sum, item| anyhow::Ok(sum + value_size(item, depth + 1)?))?
        }
        Value::Object(map) => {
            let mut entries = map.iter();
            entries.try_fold(0, |sum, (key, value)| {
                anyhow::Ok(sum + key.len() + value_size(value, depth + 1)?)
            })?
        }
        _ => 0,
    };
    Ok(VALUE_BYTES + inner)
}

#[cfg(test)]
mod tests {
    use model::{FileContent, ProjectPath, Tree};

    use super::{super::resources, *};

    /// One text in every file.
    struct Same(&'static str);

    impl Tree for Same {
        fn read_content(&self, _: &ProjectPath) -> anyhow::Result<FileContent> {
            Ok(FileContent::Text(self.0.to_owned()))
        }
        fn list_names(&self, _: &str) -> anyhow::Result<Vec<String>> {
            Ok(Vec::new())
        }
        fn list_files(&self, _: &ProjectPath) -> anyhow::Result<Vec<ProjectPath>> {
            Ok(Vec::new())
        }
    }

    #[test]
    fn a_file_that_is_read_again_and_again_uses_up_the_budget() {
        let text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: aaaaaaaaaa}\n";
        let path = ProjectPath::fixed("a.yaml");
        let budget = Budget::new(3000, 1000);
        let read = || resources::read_objects(&Same(text), &path, &budget);
        let count = std::iter::from_fn(|| read().ok()).count();
        assert_eq!(count, 3);
        let error = format!("{:#}", read().expect_err("the budget is used up"));
        assert_eq!(
            error,
            "a.yaml: this adds too much: in total, objects may grow by at most 128 MiB"
        );
    }
}
