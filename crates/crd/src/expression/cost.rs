//! Estimates the maximum cost of a rule: a port of `checker/cost.go` of cel-go 0.26, which API servers of Kubernetes
//! 1.36 have.
//!
//! Only the upper bound of a cost is estimated. Sizes have a lower bound, too, since it decides how long strings
//! become.

use std::{collections::BTreeMap, ptr};

use cel::common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr, LiteralValue};

use super::{
    calls,
    checker::Checker,
    estimates::{Entries, Path, Size, scaled},
    functions::Overload,
    sizes::Values,
    types::Type::{self, Compound, Object, Simple},
};

const LIST: u64 = 10;
const MAP: u64 = 30;

/// Returns the maximum cost of a checked rule on values of a schema.
pub fn estimate_cost(rule: &IdedExpr, checker: &Checker<'_>, values: Values<'_>) -> u64 {
    let (paths, sizes, entries) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    CostEstimator { checker, values, paths, sizes, entries, locals: Vec::new() }.cost_of(rule)
}

/// The known bounds of an argument.
pub struct Node<'e, 'a> {
    pub expr: &'e IdedExpr,
    pub type_: Type<'a>,
    pub path: Path,
    pub size: Option<Size>,
    pub entries: Option<Entries>,
    pub cost: u64,
}

impl Node<'_, '_> {
    pub fn size_or_unknown(&self) -> Size {
        self.size.unwrap_or(Size::UNKNOWN)
    }
}

/// The largest size of the items of a list; none if it is of another type.
pub struct Items {
    pub are_texts: bool,
    pub size: Size,
}

struct Local<'e> {
    name: &'e str,
    path: Path,
    size: Option<Size>,
    entries: Option<Entries>,
}

struct CostEstimator<'e, 'a, 'c> {
    checker: &'c Checker<'a>,
    values: Values<'a>,
    paths: BTreeMap<*const IdedExpr, Path>,
    sizes: BTreeMap<*const IdedExpr, Size>,
    entries: BTreeMap<*const IdedExpr, Entries>,
    locals: Vec<Local<'e>>,
}

impl<'e, 'a> CostEstimator<'e, 'a, '_> {
    fn cost_of(&mut self, expr: &'e IdedExpr) -> u64 {
        match &expr.expr {
            Expr::Ident(name) => self.cost_of_name(expr, name),
            // The name of a type.
            Expr::Select(_) if matches!(self.checker.type_at(expr), Compound("type", _)) => {
                self.cost_of_name(expr, "")
            }
            Expr::Select(it) => {
                let cost = self.cost_of(&it.operand);
                if it.test {
                    return cost;
                }
                let path = self.path_of(&it.operand).below(&it.field);
                self.paths.insert(ptr::from_ref(expr), path);
                match self.checker.type_at(&it.operand) {
                    Object(..) | Simple(_) | Compound("map", _) => cost.saturating_add(1),
                    _ => cost,
                }
            }
            Expr::Call(it) => self.cost_of_call(expr, it),
            Expr::List(it) => self.cost_of_list(expr, &it.elements),
            Expr::Map(it) => {
                let entries = it.entries.iter().filter_map(|entry| match &entry.expr {
                    EntryExpr::MapEntry(entry) => Some((&entry.key, &entry.value)),
                    EntryExpr::StructField(_) => None,
                });
                let (keys, values): (Vec<_>, Vec<_>) = entries.unzip();
                let mut cost = MAP;
                for (key, value) in keys.iter().zip(&values) {
                    cost =
                        cost.saturating_add(self.cost_of(key)).saturating_add(self.cost_of(value));
                }
                let (keys, values) = (self.union_of_sizes(keys), self.union_of_sizes(values));
                self.entries.insert(ptr::from_ref(expr), Entries { is_list: false, keys, values });
                cost
            }
            Expr::Comprehension(it) => self.cost_of_comprehension(expr, it),
            Expr::Literal(_) | Expr::Struct(_) | Expr::Unspecified => 0,
        }
    }

    fn cost_of_name(&mut self, expr: &'e IdedExpr, name: &str) -> u64 {
        let path = match self.local_variable(expr) {
            Some(local) => local.path.clone(),
            None => Path::default().below(name),
        };
        self.paths.insert(ptr::from_ref(expr), path);
        1
    }

    fn cost_of_list(&mut self, expr: &'e IdedExpr, items: &'e [IdedExpr]) -> u64 {
        let costs = items.iter().map(|item| self.cost_of(item));
        let cost = costs.fold(LIST, u64::saturating_add);
        let values = self.union_of_sizes(items.iter().collect());
        let entries = Entries { is_list: true, keys: Size::exactly(1), values };
        self.entries.insert(ptr::from_ref(expr), entries);
        cost
    }

    /// Returns bounds that include the sizes of all of these expressions.
    fn union_of_sizes(&mut self, items: Vec<&'e IdedExpr>) -> Size {
        let start = Size { min: if items.is_empty() { 0 } else { u64::MAX }, max: 0 };
        let mut sizes = items.into_iter().map(|item| self.size_of(item).unwrap_or(Size::UNKNOWN));
        sizes.by_ref().fold(start, Size::or)
    }

    fn cost_of_call(&mut self, expr: &'e IdedExpr, call: &'e CallExpr) -> u64 {
        let name = call.func_name.as_str();
        if name == "dyn" {
            let cost = self.cost_of(&call.args[0]);
            self.copy_bounds(expr, &call.args[0]);
            return cost.saturating_add(1);
        }
        let args: Vec<_> = call.args.iter().map(|arg| self.node_of(arg)).collect();
        let checker = self.checker;
        let overloads = checker.overloads_at(expr);
        // A target that is the first part of a function's name has no value.
        let is_method = overloads.iter().any(|overload| overload.is_method);
        let target =
            call.target.as_deref().filter(|_| is_method).map(|target| self.node_of(target));
        let around = args.iter().fold(0, |sum, it| u64::saturating_add(sum, it.cost));
        if overloads.is_empty() {
            return around.saturating_add(1);
        }
        let qualified = match call.target.as_deref() {
            Some(of) if !is_method => {
                super::checker::dotted_name(of).map(|namespace| format!("{namespace}.{name}"))
            }
            _ => None,
        };
        let name = qualified.as_deref().unwrap_or(name);
        let (mut most, mut size) = (0, None);
        for overload in overloads {
            let (cost, result) =
                self.cost_of_overload(expr, (name, overload), target.as_ref(), &args);
            most = most.max(cost);
            size = match (size, result) {
                (Some(one), Some(other)) => Some(Size::or(one, other)),
                (one, other) => one.or(other),
            };
            let step = match overload.arguments.first() {
                Some(Compound("list", _)) if name == "_[_]" => Some("@items"),
                Some(Compound("map", _)) if name == "_[_]" => Some("@values"),
                _ => None,
            };
            if let Some(step) = step {
                size = self.entries_of(&call.args[0]).map(|entries| entries.values);
                let path = self.path_of(&call.args[0]).below(step);
                self.paths.insert(ptr::from_ref(expr), path);
            }
            size = size.or_else(|| self.size_of(expr));
        }
        if let Some(size) = size {
            self.sizes.insert(ptr::from_ref(expr), size);
        }
        target.map_or(0, |target| target.cost).saturating_add(most)
    }

    /// Returns the cost of a call with its arguments, and the size of its result.
    fn cost_of_overload(
        &mut self,
        expr: &'e IdedExpr,
        (name, overload): (&str, &Overload),
        target: Option<&Node<'e, 'a>>,
        args: &[Node<'e, 'a>],
    ) -> (u64, Option<Size>) {
        let around = args.iter().fold(0, |sum, it| u64::saturating_add(sum, it.cost));
        let is = |kinds: &[&str]| match overload.arguments.first() {
            Some(Simple(kind) | Compound(kind, _)) => kinds.contains(kind),
            _ => false,
        };
        match (name, args) {
            ("_&&_" | "_||_", _) => (around, None),
            ("_?_:_", [condition, one, other]) => {
                if let (Some(one), Some(other)) = (one.entries, other.entries) {
                    self.entries.insert(ptr::from_ref(expr), one.or(other));
                }
                let cost = condition.cost.saturating_add(one.cost.max(other.cost));
                (cost, Some(one.size_or_unknown().or(other.size_or_unknown())))
            }
            ("_+_", [one, other]) if is(&["string", "bytes", "list"]) => {
                if let (Some(one), Some(other)) = (one.entries, other.entries) {
                    self.entries.insert(ptr::from_ref(expr), one.or(other));
                }
                let size = one.size_or_unknown().plus(other.size_or_unknown());
                let own = if is(&["list"]) { 1 } else { scaled(size.max, 0.1) };
                (own.saturating_add(around), Some(size))
            }
            _ => {
                let items = |list: &Node<'e, 'a>| self.items_of(list);
                let (own, size) = calls::call_cost((name, overload), target, args, &items);
                (own.saturating_add(around), size)
            }
        }
    }

    /// Returns the bounds of a list's items, from its type and its path.
    fn items_of(&self, list: &Node<'e, 'a>) -> Option<Items> {
        let item = match &list.type_ {
            Compound(_, of) => of.first()?,
            _ => return None,
        };
        let size = if list.path.is_empty() {
            None
        } else {
            self.size_at(&list.path.deep_copy().below("@items"))
        };
        let are_texts = matches!(item, Simple("string" | "bytes"));
        Some(Items { are_texts, size: size.unwrap_or(Size::UNKNOWN) })
    }

    fn cost_of_comprehension(&mut self, expr: &'e IdedExpr, it: &'e ComprehensionExpr) -> u64 {
        let cost = self.cost_of(&it.iter_range).saturating_add(self.cost_of(&it.accu_init));
        let depth = self.locals.len();
        let (path, size) = (self.path_of(&it.accu_init), self.size_of(&it.accu_init));
        let entries = self.entries_of(&it.accu_init);
        self.locals.push(Local { name: &it.accu_var, path, size, entries });
        let entries = self.entries_of(&it.iter_range);
        let is_list = match entries {
            Some(entries) => entries.is_list,
            None => matches!(self.checker.type_at(&it.iter_range), Compound("list", _)),
        };
        let size = entries.map(|entries| if is_list { entries.values } else { entries.keys });
        let path = self.path_of(&it.iter_range).below(if is_list { "@items" } else { "@keys" });
        self.locals.push(Local { name: &it.iter_var, path, size, entries: None });
        let each = self.cost_of(&it.loop_cond).saturating_add(self.cost_of(&it.loop_step));
        self.locals.truncate(depth + 1);
        let cost = cost.saturating_add(self.cost_of(&it.result));
        self.locals.truncate(depth);
        let times = self.size_of(&it.iter_range).unwrap_or(Size::UNKNOWN);
        match it.accu_init.expr {
            Expr::Literal(_) => {
                let size = self.size_of(&it.accu_init);
                self.sizes.extend(size.map(|size| (ptr::from_ref(expr), size)));
            }
            Expr::List(_) | Expr::Map(_) => {
                self.sizes.insert(ptr::from_ref(expr), times);
                let entries = self.entries_of(&it.loop_step);
                self.entries.extend(entries.map(|entries| (ptr::from_ref(expr), entries)));
            }
            _ => {}
        }
        cost.saturating_add(times.max.saturating_mul(each))
    }

    fn copy_bounds(&mut self, to: &'e IdedExpr, from: &'e IdedExpr) {
        let (size, entries) = (self.size_of(from), self.entries_of(from));
        self.sizes.extend(size.map(|size| (ptr::from_ref(to), size)));
        self.entries.extend(entries.map(|entries| (ptr::from_ref(to), entries)));
    }

    fn node_of(&mut self, expr: &'e IdedExpr) -> Node<'e, 'a> {
        let cost = self.cost_of(expr);
        let (type_, path) = (self.checker.type_at(expr), self.path_of(expr));
        Node { expr, type_, path, size: self.size_of(expr), entries: self.entries_of(expr), cost }
    }

    fn local_variable(&self, expr: &IdedExpr) -> Option<&Local<'e>> {
        let Expr::Ident(name) = &expr.expr else { return None };
        self.locals.iter().rev().find(|local| local.name == name)
    }

    fn path_of(&self, expr: &IdedExpr) -> Path {
        match self.local_variable(expr) {
            Some(local) => local.path.clone(),
            None => self.paths.get(&ptr::from_ref(expr)).cloned().unwrap_or_default(),
        }
    }

    fn size_of(&mut self, expr: &IdedExpr) -> Option<Size> {
        if let Some(known) = self.sizes.get(&ptr::from_ref(expr)) {
            return Some(*known);
        }
        let length = match &expr.expr {
            Expr::Literal(LiteralValue::String(it)) => Some(it.inner().chars().count()),
            Expr::Literal(LiteralValue::Bytes(it)) => Some(it.inner().len()),
            Expr::Literal(_) => Some(1),
            Expr::List(it) => Some(it.elements.len()),
            Expr::Map(it) => Some(it.entries.len()),
            _ => None,
        };
        if let Some(length) = length {
            return u64::try_from(length).ok().map(Size::exactly);
        }
        if let Some(size) = self.size_at(&self.path_of(expr)) {
            self.sizes.insert(ptr::from_ref(expr), size);
            return Some(size);
        }
        if is_scalar(&self.checker.type_at(expr)) {
            Some(Size::exactly(1))
        } else {
            self.local_variable(expr).and_then(|local| local.size)
        }
    }

    /// Returns the size of the values that a path leads to. The first name of a path stands for `self`.
    fn size_at(&self, path: &Path) -> Option<Size> {
        let steps = path.steps();
        let (_, steps) = steps.split_first()?;
        let values = steps.iter().try_fold(self.values, |values, step| values.values_at(step))?;
        Some(Size { min: 0, max: values.max_size() })
    }

    fn entries_of(&self, expr: &IdedExpr) -> Option<Entries> {
        let known = self.entries.get(&ptr::from_ref(expr)).copied();
        known.or_else(|| self.local_variable(expr)?.entries)
    }
}

/// Returns true if all values of a type have the size 1.
fn is_scalar(type_: &Type<'_>) -> bool {
    match type_ {
        Simple(name) => matches!(
            *name,
            "bool"
                | "double"
                | "google.protobuf.Duration"
                | "google.protobuf.Timestamp"
                | "int"
                | "uint"
        ),
        Compound("optional_type", of) => is_scalar(&of[0]),
        _ => false,
    }
}
