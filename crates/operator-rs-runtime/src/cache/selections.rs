//! The children that the controllers of a process own. One that prunes deletes those that it has not applied, so that
//! two with the same children would create and delete for ever.

use super::{Watched, lock};
use crate::labels::Labels;
use std::sync::{Arc, Mutex, Weak};

/// The children of all controllers that run. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Selections(Arc<Mutex<Vec<Weak<Selection>>>>);

/// The children of one kind that a controller owns.
#[derive(Clone)]
pub(crate) struct Selection {
    primary: String,
    child: String,
    namespace: Option<String>,
    labels: Labels,
    fields: Option<String>,
    prunes: bool,
}

impl Selection {
    pub fn new<P: Watched, C: Watched>(namespace: Option<&str>, labels: &Labels, fields: Option<&str>) -> Self {
        Self {
            primary: resource::<P>(),
            child: resource::<C>(),
            namespace: namespace.map(Into::into),
            labels: labels.clone(),
            fields: fields.map(Into::into),
            prunes: false,
        }
    }

    /// Whether this one deletes what the other one has applied.
    fn deletes(&self, other: &Self) -> bool {
        self.prunes
            && (&self.primary, &self.child, &self.fields) == (&other.primary, &other.child, &other.fields)
            && (self.namespace == other.namespace || self.namespace.is_none() || other.namespace.is_none())
            && self.labels.iter().all(|(name, value)| other.labels.get(name) == Some(value))
    }
}

impl Selections {
    /// Adds the children of a controller, which deletes some or never does, as long as the result is kept.
    ///
    /// # Errors
    /// If another one has the same children.
    pub fn add(&self, selection: &Selection, prunes: bool) -> Result<Arc<Selection>, String> {
        let selection = Selection { prunes, ..selection.clone() };
        let mut all = lock(&self.0);
        all.retain(|it| 0 < it.strong_count());
        let others = all.iter().filter_map(Weak::upgrade);
        if others.into_iter().any(|it| it.deletes(&selection) || selection.deletes(&it)) {
            return Err(format!(
                "`owns` was called twice for `{}` of `{}` with the same labels, so that what one applies is pruned by the other: give each a label of its own",
                selection.child, selection.primary
            ));
        }
        let res = Arc::new(selection);
        all.push(Arc::downgrade(&res));
        Ok(res)
    }
}

fn resource<C: Watched>() -> String {
    format!("{}.{}", C::plural(&()), C::group(&())).trim_end_matches('.').to_owned()
}
