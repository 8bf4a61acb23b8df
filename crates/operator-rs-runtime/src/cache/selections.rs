//! The selections of dependents that the controllers of a process own. A controller that prunes deletes the dependents
//! that it has not applied. Two controllers with the same selection would therefore create and delete them for ever.

use super::{Watchable, lock};
use crate::labels::Labels;
use std::sync::{Arc, Mutex, Weak};

/// The selections of all running controllers. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Selections(Arc<Mutex<Vec<Weak<Selection>>>>);

/// The dependents of one kind that a controller owns, as its watch selects them.
#[derive(Clone)]
pub(crate) struct Selection {
    /// The method of `Controller` that was called.
    method: &'static str,
    primary: String,
    dependent: String,
    namespace: Option<String>,
    labels: Labels,
    fields: Option<String>,
    prunes: bool,
}

impl Selection {
    /// Creates the selection of a call of `method`.
    pub fn new<P: Watchable, C: Watchable>(
        method: &'static str,
        namespace: Option<&str>,
        labels: &Labels,
        fields: Option<&str>,
    ) -> Self {
        Self {
            method,
            primary: resource_name::<P>(),
            dependent: resource_name::<C>(),
            namespace: namespace.map(Into::into),
            labels: labels.clone(),
            fields: fields.map(Into::into),
            prunes: false,
        }
    }

    /// Returns whether the controller of this selection would delete objects that the other controller has applied.
    fn would_prune(&self, other: &Self) -> bool {
        self.prunes
            && self.method == other.method
            && (&self.primary, &self.dependent, &self.fields) == (&other.primary, &other.dependent, &other.fields)
            && (self.namespace == other.namespace || self.namespace.is_none() || other.namespace.is_none())
            && self.labels.iter().all(|(name, value)| other.labels.get(name) == Some(value))
    }
}

impl Selections {
    /// Adds the selection of a controller, until the result is dropped. `prunes` says whether the controller can prune.
    ///
    /// # Errors
    ///
    /// Fails with the reason if another controller has the same dependents, and one of the two would delete those of
    /// the other.
    pub fn add(&self, selection: &Selection, prunes: bool) -> Result<Arc<Selection>, String> {
        let selection = Selection { prunes, ..selection.clone() };
        let mut all = lock(&self.0);
        all.retain(|other| other.strong_count() > 0);
        let others = all.iter().filter_map(Weak::upgrade);
        if others.into_iter().any(|other| other.would_prune(&selection) || selection.would_prune(&other)) {
            return Err(format!(
                "`{}` was called twice for `{}` of `{}` with the same labels, so that what one applies is pruned by the other: give each a label of its own",
                selection.method, selection.dependent, selection.primary
            ));
        }
        let shared = Arc::new(selection);
        all.push(Arc::downgrade(&shared));
        Ok(shared)
    }
}

/// Returns the plural name and the group of a kind, such as `deployments.apps`.
fn resource_name<C: Watchable>() -> String {
    format!("{}.{}", C::plural(&()), C::group(&())).trim_end_matches('.').to_owned()
}
