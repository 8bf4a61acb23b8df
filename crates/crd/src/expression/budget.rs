//! Limits the work that rules may cause. It is counted in steps, so that the result is the same on every machine.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use cel::{
    Context, DeclarationError, ExecutionError, Value as Cel,
    common::ast::{CallExpr, EntryExpr, Expr, IdedExpr},
};

use go_data::yaml::Value;

/// Rules that an API server accepts need far fewer: it limits what a rule may cost.
const STEPS: usize = 1_000_000;
const CHARGE: &str = "@charge";

pub struct Budget(Arc<AtomicUsize>);

impl Default for Budget {
    fn default() -> Self {
        Self(Arc::new(AtomicUsize::new(STEPS)))
    }
}

impl Budget {
    pub fn refill(&self) {
        self.0.store(STEPS, Ordering::Relaxed);
    }

    /// Takes steps; `None` if there are not that many left, and then none are left.
    pub fn take_steps(&self, steps: usize) -> Option<()> {
        take_steps(&self.0, steps)
    }

    pub fn is_spent(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }

    /// Makes each loop of an expression pay for its iterations before it begins.
    pub fn charge_loops(
        &self,
        expression: &mut IdedExpr,
        context: &mut Context<'_, '_>,
    ) -> Result<(), DeclarationError> {
        let remaining = self.0.clone();
        charge_expression(expression);
        context.add_function(CHARGE, move |range: Cel, steps: i64| {
            let steps = usize::try_from(steps).unwrap_or(usize::MAX);
            match take_steps(&remaining, count_parts_in_rule(&range).saturating_mul(steps)) {
                Some(()) => Ok(range),
                None => Err(ExecutionError::function_error(CHARGE, "too many steps")),
            }
        })
    }
}

fn take_steps(left: &AtomicUsize, steps: usize) -> Option<()> {
    let rest = left.load(Ordering::Relaxed).saturating_sub(steps);
    left.store(rest, Ordering::Relaxed);
    (rest > 0).then_some(())
}

/// Counts the parts of a value.
pub fn count_parts(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count_parts).sum(),
        Value::Object(map) => map.values().map(count_parts).sum(),
        _ => 0,
    }
}

/// Counts the parts of a value in a rule. Strings count as well, since nested loops can double them.
fn count_parts_in_rule(value: &Cel) -> usize {
    1 + match value {
        Cel::List(items) => items.iter().map(count_parts_in_rule).sum(),
        Cel::Map(map) => map.map.values().map(count_parts_in_rule).sum(),
        Cel::String(text) => text.len() / 64,
        _ => 0,
    }
}

/// Replaces the range of each loop by `@charge(range, steps)`. Returns the number of parts of the expression.
fn charge_expression(expression: &mut IdedExpr) -> usize {
    let id = expression.id;
    1 + match &mut expression.expr {
        Expr::Call(it) => {
            it.target.as_deref_mut().into_iter().chain(&mut it.args).map(charge_expression).sum()
        }
        Expr::Select(it) => charge_expression(&mut it.operand),
        Expr::List(it) => it.elements.iter_mut().map(charge_expression).sum(),
        Expr::Map(it) => it
            .entries
            .iter_mut()
            .map(|it| match &mut it.expr {
                EntryExpr::MapEntry(it) => {
                    charge_expression(&mut it.key) + charge_expression(&mut it.value)
                }
                EntryExpr::StructField(it) => charge_expression(&mut it.value),
            })
            .sum(),
        Expr::Comprehension(it) => {
            let around = charge_expression(&mut it.iter_range)
                + charge_expression(&mut it.accu_init)
                + charge_expression(&mut it.result);
            let steps = charge_expression(&mut it.loop_cond) + charge_expression(&mut it.loop_step);
            let count = i64::try_from(steps).unwrap_or(i64::MAX).into();
            let literal = Expr::Literal(cel::common::ast::LiteralValue::Int(count));
            let args = vec![std::mem::take(&mut it.iter_range), IdedExpr { id, expr: literal }];
            let call = CallExpr { func_name: CHARGE.to_owned(), target: None, args };
            it.iter_range = IdedExpr { id, expr: Expr::Call(call) };
            around + steps
        }
        Expr::Struct(_) | Expr::Ident(_) | Expr::Literal(_) | Expr::Unspecified => 0,
    }
}
