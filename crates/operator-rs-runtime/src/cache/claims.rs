//! The conditions that the controllers of a process report on one object. Those of one kind share them: without this,
//! one that succeeds would remove the condition that another one reports, and each would trigger the other for ever.

use super::lock;
use std::{
    any::TypeId,
    collections::HashMap,
    sync::{Arc, Mutex},
};

/// Reason and message of a condition.
pub(super) type Because = (String, String);

/// The conditions that controllers report. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Claims(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    controllers: u64,
    members: Vec<Member>,
    /// The controllers that have a reason for a condition. The condition has the reason of the first one. An empty list
    /// means that it was reported by this process, and that no controller has a reason any more.
    all: HashMap<Place, Vec<Claim>>,
    /// The controllers that have succeeded since the start, for each condition that was reported before it.
    inherited: HashMap<Place, Vec<u64>>,
}

/// Kind, key and type of a condition.
type Place = (TypeId, Box<str>, &'static str);

/// A controller, and whether it may report on the object with a key.
struct Member {
    controller: u64,
    kind: TypeId,
    reports_on: Box<dyn Fn(&str) -> bool + Send + Sync>,
}

struct Claim {
    controller: u64,
    uid: Option<String>,
    because: Because,
}

/// One controller among those that share claims.
pub(super) struct Claimant {
    claims: Claims,
    kind: TypeId,
    controller: u64,
}

impl Claims {
    /// One more controller of a kind.
    pub(super) fn claimant<K: 'static>(&self, reports_on: impl Fn(&str) -> bool + Send + Sync + 'static) -> Claimant {
        let mut state = lock(&self.0);
        state.controllers += 1;
        let (controller, kind) = (state.controllers, TypeId::of::<K>());
        state.members.push(Member { controller, kind, reports_on: Box::new(reports_on) });
        Claimant { claims: self.clone(), kind, controller }
    }
}

impl Claimant {
    /// This controller has a reason for a condition of the object with this uid, which may have the condition already.
    /// Returns the reason of another controller that was first.
    pub fn hold(
        &self,
        (key, uid): (&str, Option<&str>),
        (condition, is_there): (&'static str, bool),
        because: Because,
    ) -> Option<Because> {
        let mut state = lock(&self.claims.0);
        let place = self.place(key, condition);
        if is_there && !state.all.contains_key(&place) {
            state.inherited.entry(place.clone()).or_default().retain(|it| *it != self.controller);
        }
        let all = state.all.entry(place).or_default();
        all.retain(|it| it.uid.as_deref() == uid);
        match all.iter_mut().find(|it| it.controller == self.controller) {
            Some(it) => it.because = because,
            None => all.push(Claim { controller: self.controller, uid: uid.map(Into::into), because }),
        }
        all.first().filter(|it| it.controller != self.controller).map(|it| it.because.clone())
    }

    /// This controller has no reason any more. Returns that of another one.
    pub fn release(&self, key: &str, condition: &'static str) -> Option<Because> {
        let mut state = lock(&self.claims.0);
        let all = state.all.get_mut(&self.place(key, condition))?;
        all.retain(|it| it.controller != self.controller);
        all.first().map(|it| it.because.clone())
    }

    /// This controller succeeds. Returns whether the condition may be over. One that was reported before this process
    /// may be of any controller: it is over when all that have the object have succeeded.
    pub fn may_be_over(&self, key: &str, condition: &'static str) -> bool {
        let state = &mut *lock(&self.claims.0);
        let place = self.place(key, condition);
        if state.all.contains_key(&place) && !state.inherited.contains_key(&place) {
            return true;
        }
        if let Some(all) = state.all.get_mut(&place) {
            all.retain(|it| it.controller != self.controller);
        }
        let succeeded = state.inherited.entry(place).or_default();
        if !succeeded.contains(&self.controller) {
            succeeded.push(self.controller);
        }
        let mut others = state.members.iter().filter(|it| it.kind == self.kind && !succeeded.contains(&it.controller));
        !others.any(|it| (it.reports_on)(key))
    }

    /// The condition is gone, or the object is.
    pub fn forget(&self, key: &str, condition: &'static str) {
        let mut state = lock(&self.claims.0);
        let place = self.place(key, condition);
        state.inherited.remove(&place);
        if state.all.get(&place).is_some_and(Vec::is_empty) {
            state.all.remove(&place);
        }
    }

    fn place(&self, key: &str, condition: &'static str) -> Place {
        (self.kind, key.into(), condition)
    }
}

impl Drop for Claimant {
    fn drop(&mut self) {
        lock(&self.claims.0).members.retain(|it| it.controller != self.controller);
    }
}
