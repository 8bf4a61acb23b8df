//! Bounds of sizes, and paths as cel-go has them.

use std::{cell::RefCell, rc::Rc};

/// The least and most characters of a text, or items of a list or map.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    pub min: u64,
    pub max: u64,
}

impl Size {
    pub const UNKNOWN: Self = Self { min: 0, max: u64::MAX };

    pub fn exactly(size: u64) -> Self {
        Self { min: size, max: size }
    }

    pub fn plus(self, other: Self) -> Self {
        let (min, max) = (self.min.saturating_add(other.min), self.max.saturating_add(other.max));
        Self { min, max }
    }

    pub fn times(self, other: Self) -> Self {
        let (min, max) = (self.min.saturating_mul(other.min), self.max.saturating_mul(other.max));
        Self { min, max }
    }

    /// Returns bounds that include both sizes.
    pub fn or(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }
}

/// The sizes of the keys and values in a list or map that a rule makes.
#[derive(Clone, Copy)]
pub struct Entries {
    pub is_list: bool,
    pub keys: Size,
    pub values: Size,
}

impl Entries {
    pub fn or(self, other: Self) -> Self {
        let (keys, values) = (self.keys.or(other.keys), self.values.or(other.values));
        Self { keys, values, ..self }
    }
}

/// Returns a number times a factor, rounded up, as Go computes it.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the same float is needed, and a cast saturates"
)]
pub fn scaled(number: u64, factor: f64) -> u64 {
    (number as f64 * factor).ceil() as u64
}

/// The fields from a variable to a value: a slice of Go. Two that extend a third can share its array, where the second
/// overwrites what the first has added.
#[derive(Clone, Default)]
pub struct Path {
    array: Rc<RefCell<Vec<String>>>,
    length: usize,
    capacity: usize,
}

impl Path {
    pub fn below(&self, name: &str) -> Self {
        let length = self.length + 1;
        if length > self.capacity {
            let mut own = self.steps();
            own.push(name.to_owned());
            let capacity = length.next_power_of_two();
            return Self { array: Rc::new(RefCell::new(own)), length, capacity };
        }
        let mut array = self.array.borrow_mut();
        if array.len() < length {
            array.push(String::new());
        }
        name.clone_into(&mut array[self.length]);
        Self { array: Rc::clone(&self.array), length, capacity: self.capacity }
    }

    pub fn deep_copy(&self) -> Self {
        let (length, capacity) = (self.length, self.length);
        Self { array: Rc::new(RefCell::new(self.steps())), length, capacity }
    }

    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    pub fn steps(&self) -> Vec<String> {
        self.array.borrow()[..self.length].to_vec()
    }
}
