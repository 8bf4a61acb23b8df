//! The limits of the evaluator: steps, depth and size, counted in one place.

use std::cell::{Cell, OnceCell};

use super::index::Index;
use crate::types::Types;

/// Steps and copied nodes of one evaluation.
const ONE: usize = 300_000;
/// The same of all evaluations of a reading together.
const ALL: usize = 3_000_000;
/// The limit of nested calls and expressions.
const DEPTH: usize = 128;

/// The steps that all evaluations of a reading have used, and the index that they share.
#[derive(Debug, Default)]
pub struct Budget {
    total: Cell<usize>,
    index: OnceCell<Index>,
}

/// The part of the budget that one evaluation has used.
#[derive(Debug, Default)]
pub struct Meter {
    used: Cell<usize>,
    depth: Cell<usize>,
}

impl Budget {
    pub fn index(&self, types: &Types) -> &Index {
        self.index.get_or_init(|| Index::new(types))
    }

    /// Takes an amount off; says whether it was there.
    pub fn try_spend(&self, meter: &Meter, amount: usize) -> bool {
        self.total.set(self.total.get().saturating_add(amount));
        meter.used.set(meter.used.get().saturating_add(amount));
        self.total.get() <= ALL && meter.used.get() <= ONE
    }
}

impl Meter {
    /// One level deeper until the guard is dropped; none where that is too deep.
    pub fn enter_level(&self) -> Option<MeterLevel<'_>> {
        self.depth.set(self.depth.get() + 1);
        let level = MeterLevel(self);
        (self.depth.get() <= DEPTH).then_some(level)
    }
}

pub struct MeterLevel<'a>(&'a Meter);

impl Drop for MeterLevel<'_> {
    fn drop(&mut self) {
        self.0.depth.set(self.0.depth.get() - 1);
    }
}
