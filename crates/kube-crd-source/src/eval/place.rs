//! Places: what stands left of `=`, what `&mut` leads to, fields and items.

use syn::Expr;

use super::value::{Place, Step, Value};
use super::{Eval, Evaluator, Frame, Ty};
use crate::world::plain;

impl Evaluator<'_> {
    /// The place that an expression names; none where it is only a value.
    pub fn place(&self, frame: &Frame, expr: &Expr) -> Eval<Option<Place>> {
        self.deeper(frame, expr, || self.place_(frame, expr))
    }

    fn place_(&self, frame: &Frame, expr: &Expr) -> Eval<Option<Place>> {
        match expr {
            Expr::Paren(it) => self.place(frame, &it.expr),
            Expr::Group(it) => self.place(frame, &it.expr),
            Expr::Path(_) => {
                let Some(name) = super::expr::word(expr) else { return Ok(None) };
                let name = name.strip_prefix("r#").unwrap_or(&name).to_owned();
                Ok(frame.local(&name).map(|slot| led(Place { slot, way: Vec::new() })))
            }
            Expr::Unary(it) if matches!(it.op, syn::UnOp::Deref(_)) => {
                match self.place(frame, &it.expr)? {
                    Some(place) => Ok(Some(place)),
                    None => Ok(match self.expr(frame, &it.expr, &Ty::Unknown)? {
                        Value::Place(place) => Some(place),
                        _ => None,
                    }),
                }
            }
            Expr::Field(it) => {
                let Some(place) = self.place(frame, &it.base)? else { return Ok(None) };
                Ok(Some(led(place.then(Step::Field(member(&it.member))))))
            }
            Expr::Index(it) => {
                let Some(place) = self.place(frame, &it.expr)? else { return Ok(None) };
                let index = self.part_any(frame, &it.index, &Ty::Unknown)?;
                let list = matches!(place.read(), Some(Value::List(..)));
                Ok(match index {
                    Value::Int(it, None | Some("usize")) => {
                        usize::try_from(it).ok().map(|it| led(place.then(Step::Index(it))))
                    }
                    key @ Value::Text(..) if !list => Some(led(place.then(Step::Key(key)))),
                    _ => return self.refuse(frame, it, "is an index that is not read"),
                })
            }
            Expr::MethodCall(_) | Expr::Call(_) => {
                Ok(match self.expr(frame, expr, &Ty::Unknown)? {
                    Value::Place(place) => Some(place),
                    value => Some(Place::new(value)),
                })
            }
            _ => Ok(None),
        }
    }

    /// A field or an item.
    pub fn read(&self, frame: &Frame, expr: &Expr) -> Eval<Value> {
        let place = match self.place(frame, expr)? {
            Some(place) => place,
            None => match expr {
                Expr::Field(it) => {
                    let value = self.expr(frame, &it.base, &Ty::Unknown)?;
                    led(super::pattern::place_of(value).then(Step::Field(member(&it.member))))
                }
                Expr::Index(it) => {
                    let value = self.part_any(frame, &it.expr, &Ty::Unknown)?;
                    let index = self.part_any(frame, &it.index, &Ty::known("usize"))?;
                    let step = match index {
                        Value::Int(it, _) => Step::Index(usize::try_from(it).unwrap_or(usize::MAX)),
                        key => Step::Key(key),
                    };
                    led(super::pattern::place_of(value).then(step))
                }
                _ => return self.refuse(frame, expr, "is no place that can be read"),
            },
        };
        match place.read() {
            Some(value) => self.settled(frame, expr, value),
            None => self.refuse(frame, expr, "is no place that can be read"),
        }
    }

    pub fn assign(&self, frame: &Frame, it: &syn::ExprAssign) -> Eval<()> {
        if let Expr::Infer(_) = &*it.left {
            return self.expr(frame, &it.right, &Ty::Unknown).map(drop);
        }
        // A variable that is given another `&mut` leads elsewhere from then on.
        let Some(place) = self.place(frame, &it.left)? else {
            return self.refuse(frame, it, "gives a value to what is no place");
        };
        let before = match place.read() {
            Some(value) => value,
            None => Value::Unit,
        };
        let ty = self.declared(&place).unwrap_or_else(|| match before {
            Value::Unit => Ty::Unknown,
            ref before => before.ty(),
        });
        let value = self.part(frame, &it.right, &ty)?;
        match place.write(value) {
            true => Ok(()),
            false => self.refuse(frame, it, "gives a value to what is no place"),
        }
    }

    /// The type of a field as it is declared.
    fn declared(&self, place: &Place) -> Option<Ty> {
        let (Step::Field(name), before) = place.way.split_last()? else { return None };
        let of = Place { slot: place.slot.clone(), way: before.to_vec() };
        let Some(Value::Data(data)) = of.read() else { return None };
        let there = self.inside(data.id, &data.arguments);
        let fields = self.fields(data.id, data.variant.as_deref());
        let (_, ty) = fields.into_iter().find(|(it, _)| it == name)?;
        self.ty(&there, ty).ok()
    }
}

/// Follows a place that holds another.
fn led(place: Place) -> Place {
    let mut place = place;
    for _ in 0..16 {
        match place.read() {
            Some(Value::Place(next)) => place = next,
            _ => break,
        }
    }
    place
}

pub fn member(it: &syn::Member) -> String {
    match it {
        syn::Member::Named(it) => plain(it),
        syn::Member::Unnamed(it) => it.index.to_string(),
    }
}
