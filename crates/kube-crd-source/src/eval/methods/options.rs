//! Methods of `Option` and `Result`.

use super::super::value::{Step, Value};
use super::super::{Eval, Evaluator, Ty};
use super::Call;

impl Evaluator<'_> {
    pub fn option_method<A: quote::ToTokens>(
        &self,
        call: &Call<'_, '_, A>,
        value: Value,
    ) -> Eval<Option<Value>> {
        let (frame, at, want) = (call.frame, call.at, call.want);
        let argument = |index: usize, want: &Ty| {
            let value = self.take(frame, at, &call.given, index, want)?;
            self.settled(frame, at, value)
        };
        let result = matches!(value, Value::Result(_));
        let (inside, wrong) = match value {
            Value::Option(it) => (it.map(|it| *it), None),
            Value::Result(Ok(it)) => (Some(*it), None),
            Value::Result(Err(it)) => (None, Some(*it)),
            _ => return Ok(None),
        };
        let again = |inside: Option<Value>, wrong: Option<Value>| match (result, inside, wrong) {
            (false, inside, _) => Value::Option(inside.map(Box::new)),
            (true, Some(it), _) => Value::ok(it),
            (true, None, wrong) => Value::Result(Err(Box::new(wrong.unwrap_or(Value::Unit)))),
        };
        let apply = |function: &Value, given: Vec<Value>, want: &Ty| {
            self.apply(frame, at, function, given, want)
        };
        Ok(Some(match call.shape() {
            ("unwrap", 0) => match inside {
                Some(it) => it,
                None => return self.panics(frame, at, "there is nothing in it"),
            },
            ("expect", 1) => match inside {
                Some(it) => it,
                None => return self.panics(frame, at, "there is nothing in it"),
            },
            ("unwrap_or", 1) => {
                let other = argument(0, &inside.as_ref().map_or(want.clone(), Value::ty))?;
                inside.unwrap_or(other)
            }
            ("unwrap_or_default", 0) => match inside {
                Some(it) => it,
                None => self.default_of(frame, at, want)?,
            },
            ("unwrap_or_else", 1) => match (inside, wrong) {
                (Some(it), _) => it,
                (None, wrong) => {
                    let function = argument(0, &Ty::Unknown)?;
                    apply(&function, wrong.into_iter().collect(), want)?
                }
            },
            ("is_some" | "is_ok", 0) => Value::Bool(inside.is_some()),
            ("is_none" | "is_err", 0) => Value::Bool(inside.is_none()),
            ("ok", 0) if result => Value::Option(inside.map(Box::new)),
            ("as_ref" | "as_deref" | "cloned" | "copied" | "iter" | "into_iter", 0) => {
                match call.name {
                    "iter" | "into_iter" => Value::Iterator(inside.into_iter().collect()),
                    _ => again(inside, wrong),
                }
            }
            ("as_mut" | "as_deref_mut", 0) if !result => match inside {
                Some(_) => Value::some(Value::Place(call.place.then(Step::Inside))),
                None => Value::Option(None),
            },
            ("take", 0) if !result => {
                if !call.place.write(Value::Option(None)) {
                    return Ok(None);
                }
                again(inside, wrong)
            }
            ("map", 1) => match inside {
                Some(it) => {
                    let function = argument(0, &Ty::Unknown)?;
                    let found = apply(&function, vec![it], &want.inside(0))?;
                    again(Some(found), None)
                }
                None => again(None, wrong),
            },
            ("map_err", 1) if result => match (inside, wrong) {
                (None, Some(it)) => {
                    let function = argument(0, &Ty::Unknown)?;
                    again(None, Some(apply(&function, vec![it], &Ty::Unknown)?))
                }
                (inside, wrong) => again(inside, wrong),
            },
            ("map_or", 2) => {
                let other = argument(0, want)?;
                match inside {
                    Some(it) => {
                        let function = argument(1, &Ty::Unknown)?;
                        apply(&function, vec![it], want)?
                    }
                    None => other,
                }
            }
            ("map_or_else", 2) => match inside {
                Some(it) => {
                    let function = argument(1, &Ty::Unknown)?;
                    apply(&function, vec![it], want)?
                }
                None => {
                    let function = argument(0, &Ty::Unknown)?;
                    apply(&function, wrong.into_iter().collect(), want)?
                }
            },
            ("and_then", 1) => match inside {
                Some(it) => {
                    let function = argument(0, &Ty::Unknown)?;
                    apply(&function, vec![it], want)?
                }
                None => again(None, wrong),
            },
            ("or", 1) => {
                let other = argument(0, want)?;
                match inside {
                    Some(_) => again(inside, None),
                    None => other,
                }
            }
            ("or_else", 1) if !result => match inside {
                Some(_) => again(inside, None),
                None => {
                    let function = argument(0, &Ty::Unknown)?;
                    apply(&function, Vec::new(), want)?
                }
            },
            ("filter", 1) if !result => match inside {
                Some(it) => {
                    let function = argument(0, &Ty::Unknown)?;
                    match apply(&function, vec![it.clone()], &Ty::known("bool"))? {
                        Value::Bool(true) => Value::some(it),
                        Value::Bool(false) => Value::Option(None),
                        _ => return Ok(None),
                    }
                }
                None => Value::Option(None),
            },
            ("is_some_and" | "is_ok_and" | "is_none_or", 1) => match inside {
                Some(it) => {
                    let function = argument(0, &Ty::Unknown)?;
                    apply(&function, vec![it], &Ty::known("bool"))?
                }
                None => Value::Bool(call.name == "is_none_or"),
            },
            ("ok_or", 1) if !result => {
                let error = argument(0, &want.inside(1))?;
                match inside {
                    Some(it) => Value::ok(it),
                    None => Value::Result(Err(Box::new(error))),
                }
            }
            ("flatten", 0) if !result => match inside {
                Some(it @ Value::Option(_)) => it,
                None => Value::Option(None),
                Some(_) => return Ok(None),
            },
            ("zip", 1) if !result => match (inside, argument(0, &Ty::Unknown)?) {
                (Some(one), Value::Option(Some(other))) => {
                    Value::some(Value::Tuple(vec![one, *other]))
                }
                (_, Value::Option(_)) => Value::Option(None),
                _ => return Ok(None),
            },
            _ => return Ok(None),
        }))
    }
}
