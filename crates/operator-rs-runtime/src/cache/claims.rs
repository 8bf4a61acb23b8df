//! The conditions that the controllers of a process report on one object. Controllers of the same kind share them.
//! Otherwise a controller that succeeds would remove the condition that another one reports, and they would trigger
//! each other for ever.

use super::lock;
use std::{
    any::TypeId,
    collections::HashMap,
    sync::{Arc, Mutex},
};

/// The reason and the message of a condition.
pub(super) type Explanation = (String, String);

/// The conditions that controllers report. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Claims(Arc<Mutex<ClaimsState>>);

#[derive(Default)]
struct ClaimsState {
    controllers: u64,
    /// The claims by the kind and the key of the object, and the type of the condition. The condition has the
    /// explanation of the first claim, which is the oldest.
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
    /// Adds a controller of a kind.
    pub(super) fn add_claimant<K: 'static>(&self) -> Claimant {
        let mut state = lock(&self.0);
        state.controllers += 1;
        Claimant { claims: self.clone(), kind: TypeId::of::<K>(), controller: state.controllers }
    }
}

impl Claimant {
    /// Claims a condition of the object with this uid for this controller. If another controller has claimed it before,
    /// returns the explanation of that one.
    pub fn hold_claim(
        &self,
        key: &str,
        uid: Option<&str>,
        condition: &'static str,
        explanation: Explanation,
    ) -> Option<Explanation> {
        let mut state = lock(&self.claims.0);
        let all = state.all.entry((self.kind, key.into(), condition)).or_default();
        all.retain(|claim| claim.uid.as_deref() == uid);
        match all.iter_mut().find(|claim| claim.controller == self.controller) {
            Some(claim) => claim.explanation = explanation,
            None => all.push(Claim { controller: self.controller, uid: uid.map(Into::into), explanation }),
        }
        all.first().filter(|claim| claim.controller != self.controller).map(|claim| claim.explanation.clone())
    }

    /// Releases the claim of this controller. Returns the explanation of another controller that still claims the
    /// condition.
    pub fn release_claim(&self, key: &str, condition: &'static str) -> Option<Explanation> {
        let mut state = lock(&self.claims.0);
        let claimed = (self.kind, key.into(), condition);
        let all = state.all.get_mut(&claimed)?;
        all.retain(|claim| claim.controller != self.controller);
        let next = all.first().map(|claim| claim.explanation.clone());
        if next.is_none() {
            state.all.remove(&claimed);
        }
        next
    }
}
