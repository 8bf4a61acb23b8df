//! Methods of lists, and of what goes through them.

use super::super::value::{Step, Value};
use super::super::{Eval, Evaluator, Ty};
use super::Call;

impl Evaluator<'_> {
    pub fn list_method<A: quote::ToTokens>(
        &self,
        call: &Call<'_, '_, A>,
        mut items: Vec<Value>,
        kind: &'static str,
    ) -> Eval<Option<Value>> {
        let (frame, at) = (call.frame, call.at);
        let inner = items.first().map_or(Ty::Unknown, Value::ty);
        let inner = if inner.is_whole() { inner } else { Ty::Unknown };
        let argument = |index: usize, want: &Ty| {
            let value = self.take(frame, at, &call.given, index, want)?;
            self.settled(frame, at, value)
        };
        let option = |it: Option<&Value>| Value::Option(it.map(|it| Box::new(it.clone())));
        let vec = kind == "std::vec::Vec";
        let write = |items: Vec<Value>| match call.place.write(Value::List(items, kind)) {
            true => Ok(Value::Unit),
            false => self.refuse(frame, at, "changes what is no place"),
        };
        Ok(Some(match call.shape() {
            ("len", 0) => Value::usize(items.len()),
            ("is_empty", 0) => Value::Bool(items.is_empty()),
            ("to_vec" | "into_vec", 0) => Value::List(items, "std::vec::Vec"),
            ("to_owned", 0) => match kind {
                "[]" => Value::List(items, "std::vec::Vec"),
                kind => Value::List(items, kind),
            },
            ("as_slice", 0) => Value::List(items, "[]"),
            ("iter" | "into_iter", 0) => Value::Iterator(items),
            ("iter_mut", 0) => {
                let places =
                    (0..items.len()).map(|it| Value::Place(call.place.then(Step::Index(it))));
                Value::Iterator(places.collect())
            }
            ("first" | "front", 0) => option(items.first()),
            ("last" | "back", 0) => option(items.last()),
            ("get", 1) => match argument(0, &Ty::known("usize"))? {
                Value::Int(it, _) => option(usize::try_from(it).ok().and_then(|it| items.get(it))),
                _ => return Ok(None),
            },
            ("contains", 1) => {
                let wanted = argument(0, &inner)?;
                for it in &items {
                    if self.same(frame, at, it, &wanted)? {
                        return Ok(Some(Value::Bool(true)));
                    }
                }
                Value::Bool(false)
            }
            ("concat", 0) | ("join", 1) => {
                let between = match call.given.len() {
                    0 => String::new(),
                    _ => match argument(0, &Ty::known("str"))? {
                        Value::Text(it, _) => it,
                        _ => return Ok(None),
                    },
                };
                let mut texts = Vec::new();
                for it in items {
                    match it {
                        Value::Text(it, _) => texts.push(it),
                        _ => return Ok(None),
                    }
                }
                Value::text(texts.join(&between))
            }
            ("push" | "push_back", 1) if kind != "[]" && kind != "[;]" => {
                let added = argument(0, &inner)?;
                self.bounded(frame, at, items.len())?;
                items.push(added);
                write(items)?
            }
            ("push_front", 1) if !vec && kind != "[]" => {
                items.insert(0, argument(0, &inner)?);
                write(items)?
            }
            ("pop", 0) if vec => {
                let last = items.pop();
                write(items)?;
                Value::Option(last.map(Box::new))
            }
            ("insert", 2) if vec => {
                let Value::Int(index, _) = argument(0, &Ty::known("usize"))? else {
                    return Ok(None);
                };
                let added = argument(1, &inner)?;
                match usize::try_from(index).ok().filter(|it| *it <= items.len()) {
                    Some(index) => items.insert(index, added),
                    None => return self.panics(frame, at, "there is no such index"),
                }
                write(items)?
            }
            ("extend" | "append" | "extend_from_slice", 1) if vec => {
                let given = self.take(frame, at, &call.given, 0, &Ty::Unknown)?;
                if let (Value::Place(other), "append") = (&given, call.name) {
                    let other = other.clone();
                    let Some(Value::List(more, of)) = other.read() else { return Ok(None) };
                    if !other.write(Value::List(Vec::new(), of)) {
                        return Ok(None);
                    }
                    items.extend(more);
                    return write(items).map(Some);
                }
                let given = self.settled(frame, at, given)?;
                let Some(more) = self.iterated(frame, at, given)? else { return Ok(None) };
                self.bounded(frame, at, items.len() + more.len())?;
                for it in more {
                    items.push(self.conform(frame, at, it, &inner)?);
                }
                write(items)?
            }
            ("clear", 0) if vec => write(Vec::new())?,
            ("reverse", 0) => {
                items.reverse();
                write(items)?
            }
            ("sort" | "sort_unstable" | "dedup", 0) => {
                if call.name == "dedup" {
                    let mut res: Vec<Value> = Vec::new();
                    for it in items {
                        let twice = match res.last() {
                            Some(last) => self.same(frame, at, last, &it)?,
                            None => false,
                        };
                        if !twice {
                            res.push(it);
                        }
                    }
                    return write(res).map(Some);
                }
                for it in items.windows(2) {
                    if super::super::compare::order(&it[0], &it[1]).is_none() {
                        return Ok(None);
                    }
                }
                items.sort_by(|one, other| {
                    super::super::compare::order(one, other).unwrap_or(std::cmp::Ordering::Equal)
                });
                write(items)?
            }
            // A slice has them too.
            ("map", 1) if kind == "[;]" => {
                let function = argument(0, &Ty::Unknown)?;
                let mut res = Vec::new();
                for it in items {
                    res.push(self.apply(frame, at, &function, vec![it], &call.want.inside(0))?);
                }
                Value::List(res, "[;]")
            }
            _ => return Ok(None),
        }))
    }

    pub fn iterator_method<A: quote::ToTokens>(
        &self,
        call: &Call<'_, '_, A>,
        items: Vec<Value>,
    ) -> Eval<Option<Value>> {
        let (frame, at) = (call.frame, call.at);
        let argument = |index: usize, want: &Ty| self.take(frame, at, &call.given, index, want);
        let bool = Ty::known("bool");
        let holds = |function: &Value, it: &Value| -> Eval<bool> {
            match self.apply(frame, at, function, vec![it.clone()], &bool)? {
                Value::Bool(it) => Ok(it),
                _ => self.refuse(frame, at, "is no condition"),
            }
        };
        let count = || -> Eval<usize> {
            match argument(0, &Ty::known("usize"))? {
                Value::Int(it, _) => Ok(usize::try_from(it).unwrap_or(usize::MAX)),
                _ => self.refuse(frame, at, "counts what is not read"),
            }
        };
        Ok(Some(match call.shape() {
            ("iter" | "into_iter" | "cloned" | "copied" | "by_ref" | "fuse" | "peekable", 0) => {
                Value::Iterator(items)
            }
            ("collect", 0) => {
                let mut settled = Vec::new();
                for it in items {
                    settled.push(self.settled(frame, at, it)?);
                }
                let mut target = call.target();
                // `collect::<Vec<_>>()` leaves the rest to what is wanted.
                if !target.is_whole() && call.want.path() == target.path() {
                    target = call.want.clone();
                }
                self.collected(frame, at, settled, &target)?
            }
            ("map", 1) => {
                let function = argument(0, &Ty::Unknown)?;
                let inner = match call.want.path() == super::ITERATOR {
                    true => call.want.inside(0),
                    false => Ty::Unknown,
                };
                let mut res = Vec::new();
                for it in items {
                    res.push(self.apply(frame, at, &function, vec![it], &inner)?);
                }
                Value::Iterator(res)
            }
            ("filter", 1) => {
                let function = argument(0, &Ty::Unknown)?;
                let mut res = Vec::new();
                for it in items {
                    if holds(&function, &it)? {
                        res.push(it);
                    }
                }
                Value::Iterator(res)
            }
            ("filter_map" | "flat_map", 1) => {
                let function = argument(0, &Ty::Unknown)?;
                let mut res = Vec::new();
                for it in items {
                    let found = self.apply(frame, at, &function, vec![it], &Ty::Unknown)?;
                    match self.iterated(frame, at, found)? {
                        Some(more) => res.extend(more),
                        None => return Ok(None),
                    }
                    self.bounded(frame, at, res.len())?;
                }
                Value::Iterator(res)
            }
            ("for_each", 1) => {
                let function = argument(0, &Ty::Unknown)?;
                for it in items {
                    self.apply(frame, at, &function, vec![it], &Ty::Unknown)?;
                }
                Value::Unit
            }
            ("fold", 2) => {
                let mut res = argument(0, call.want)?;
                let function = argument(1, &Ty::Unknown)?;
                for it in items {
                    res = self.apply(frame, at, &function, vec![res, it], call.want)?;
                }
                res
            }
            ("any" | "all", 1) => {
                let function = argument(0, &Ty::Unknown)?;
                let any = call.name == "any";
                for it in &items {
                    if holds(&function, it)? == any {
                        return Ok(Some(Value::Bool(any)));
                    }
                }
                Value::Bool(!any)
            }
            ("find", 1) => {
                let function = argument(0, &Ty::Unknown)?;
                for it in items {
                    if holds(&function, &it)? {
                        return Ok(Some(Value::some(it)));
                    }
                }
                Value::Option(None)
            }
            ("enumerate", 0) => {
                let pair = |(at, it)| Value::Tuple(vec![Value::usize(at), it]);
                Value::Iterator(items.into_iter().enumerate().map(pair).collect())
            }
            ("rev", 0) => Value::Iterator(items.into_iter().rev().collect()),
            ("skip", 1) => Value::Iterator(items.into_iter().skip(count()?).collect()),
            ("take", 1) => Value::Iterator(items.into_iter().take(count()?).collect()),
            ("step_by", 1) => match count()? {
                0 => return self.panics(frame, at, "the step is zero"),
                step => Value::Iterator(items.into_iter().step_by(step).collect()),
            },
            ("chain", 1) => {
                let other = argument(0, &Ty::Unknown)?;
                let other = self.settled(frame, at, other)?;
                match self.iterated(frame, at, other)? {
                    Some(more) => Value::Iterator([items, more].concat()),
                    None => return Ok(None),
                }
            }
            ("zip", 1) => {
                let other = argument(0, &Ty::Unknown)?;
                let other = self.settled(frame, at, other)?;
                match self.iterated(frame, at, other)? {
                    Some(more) => {
                        let pairs = items.into_iter().zip(more);
                        Value::Iterator(
                            pairs.map(|(one, other)| Value::Tuple(vec![one, other])).collect(),
                        )
                    }
                    None => return Ok(None),
                }
            }
            ("count", 0) => Value::usize(items.len()),
            ("next", 0) => {
                let mut rest = items;
                let first = (!rest.is_empty()).then(|| Box::new(rest.remove(0)));
                if !call.place.write(Value::Iterator(rest)) {
                    return Ok(None);
                }
                Value::Option(first)
            }
            ("last", 0) => Value::Option(items.last().cloned().map(Box::new)),
            ("sum" | "product", 0) => {
                let Some(ty) = call.target().integer() else { return Ok(None) };
                let mut res: i128 = i128::from(call.name == "product");
                for it in items {
                    let it = self.settled(frame, at, it)?;
                    let Value::Int(it, _) = it else { return Ok(None) };
                    let next = match call.name {
                        "sum" => res.checked_add(it),
                        _ => res.checked_mul(it),
                    };
                    match next.filter(|it| super::super::number::fits(*it, ty)) {
                        Some(next) => res = next,
                        None => return self.panics(frame, at, "it overflows"),
                    }
                }
                Value::Int(res, Some(ty))
            }
            ("max" | "min", 0) => {
                let mut items = items.into_iter();
                let Some(mut res) = items.next() else { return Ok(Some(Value::Option(None))) };
                for it in items {
                    let Some(order) = super::super::compare::order(&res, &it) else {
                        return Ok(None);
                    };
                    if (call.name == "max" && order.is_le())
                        || (call.name == "min" && order.is_gt())
                    {
                        res = it;
                    }
                }
                Value::some(res)
            }
            _ => return Ok(None),
        }))
    }
}
