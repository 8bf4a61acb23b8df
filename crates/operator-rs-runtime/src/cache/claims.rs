//! The conditions that the controllers of a process report on one object. Those of one kind share them: without this,
//! one that succeeds would remove the condition that another one reports, and each would trigger the other for ever.

use super::lock;
use std::{
    any::TypeId,
    collections::HashMap,
    sync::{Arc, Mutex},
};

/// Reason and message of a condition.
pub(super) type Explanation = (String, String);

/// The conditions that controllers report. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Claims(Arc<Mutex<ClaimsState>>);

#[derive(Default)]
struct ClaimsState {
    controllers: u64,
    /// By kind, key and type of the condition; who has reported it first comes first, and is the one whose reason it has.
    all: HashMap<(TypeId, Box<str>, &'static str), Vec<Claim>>,
}

struct Claim {
    controller: u64,
    uid: Option<String>,
    explanation: Explanation,
}

/// One controller among those that share claims.
pub(super) struct Claimant {
    claims: Claims,
    kind: TypeId,
    controller: u64,
}

impl Claims {
    /// One more controller of a kind.
    pub(super) fn add_claimant<K: 'static>(&self) -> Claimant {
        let mut state = lock(&self.0);
        state.controllers += 1;
        Claimant { claims: self.clone(), kind: TypeId::of::<K>(), controller: state.controllers }
    }
}

impl Claimant {
    /// This controller has a reason for a condition of the object with this uid. Returns the one of another controller
    /// that was first.
    pub fn hold_claim(&self, key: &str, uid: Option<&str>, condition: &'static str, explanation: Explanation) -> Option<Explanation> {
        let mut state = lock(&self.claims.0);
        let all = state.all.entry((self.kind, key.into(), condition)).or_default();
        all.retain(|it| it.uid.as_deref() == uid);
        match all.iter_mut().find(|it| it.controller == self.controller) {
            Some(it) => it.explanation = explanation,
            None => all.push(Claim { controller: self.controller, uid: uid.map(Into::into), explanation }),
        }
        all.first().filter(|it| it.controller != self.controller).map(|it| it.explanation.clone())
    }

    /// This controller has no reason any more. Returns that of another one.
    pub fn release_claim(&self, key: &str, condition: &'static str) -> Option<Explanation> {
        let mut state = lock(&self.claims.0);
        let place = (self.kind, key.into(), condition);
        let all = state.all.get_mut(&place)?;
        all.retain(|it| it.controller != self.controller);
        let next = all.first().map(|it| it.explanation.clone());
        if next.is_none() {
            state.all.remove(&place);
        }
        next
    }
}
