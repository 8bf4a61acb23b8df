//! Objects onto a server: all are tried before the first is written, and each is told.
//!
//! ```text
//! try all ─ problems? all told, nothing written
//!     └ namespaces and CRDs ─ wait until served ─ try what could not be tried before ─ the rest
//! ```

use std::collections::BTreeSet;

use kube::api::{Patch, PatchParams};

use super::{
    Answer, Became, Cluster, Id, Told, Verb,
    discovery::Resource,
    elsewhere::elsewhere,
    object::{is_going, uid},
    owner,
    pending::Pending,
    refusal::{self, Refusal},
    wait::{Limit, State},
};
use crate::yaml::Value;

/// How to apply.
#[derive(Clone, Copy, Debug)]
pub struct How {
    /// Ask the server what would become of it, and change nothing.
    pub dry_run: bool,
    /// Take over fields that others have set.
    pub force: bool,
    /// Until when to wait for the server to serve the CRDs.
    pub limit: Limit,
}

const BEFORE: &str = "it was there before";

/// One object on its way.
struct Step<'a> {
    object: &'a Value,
    id: Id,
    resource: Option<Resource>,
    /// As whom it is applied.
    manager: String,
    /// What of it is there: another object of its name is not meant.
    live: Option<Value>,
    verdict: Verdict,
}

enum Verdict {
    /// Why it could not be tried yet.
    Unknown(String),
    Known(Verb),
}

impl Cluster {
    /// Applies objects in their order, but namespaces and CRDs first; the rest when the CRDs are served.
    pub fn apply(
        &self,
        objects: &[Value],
        how: How,
        tell: &mut dyn FnMut(Told),
    ) -> anyhow::Result<()> {
        let mut warned = BTreeSet::new();
        let tell: &mut dyn FnMut(Told) = &mut |told: Told| match told {
            // What is tried and then done is warned of twice.
            Told::Warning(text) if !warned.insert(text.clone()) => {}
            told => tell(told),
        };
        let (mut first, mut rest): (Vec<_>, Vec<_>) = objects
            .iter()
            .map(|it| Step::new(it, &self.owner.made))
            .partition(|it| it.id.is_crd() || it.id.is_namespace());
        first.sort_by_key(|it| it.id.is_crd());

        let mut problems = self.check(&mut first, &Pending::default(), how, tell)?;
        let mut pending = Pending::default();
        first.iter().filter(|it| it.changes()).for_each(|it| pending.add(it.object));
        problems.extend(self.check(&mut rest, &pending, how, tell)?);
        if !problems.is_empty() {
            return Err(refusal::all("nothing was changed", &problems));
        }
        if how.dry_run {
            first.iter().chain(&rest).for_each(|it| tell(Told::Became(self.expected(it))));
            return Ok(());
        }

        self.write(&first, how, tell)?;
        let crds = first.iter().filter(|it| it.id.is_crd());
        let crds: Vec<_> = crds.filter_map(|it| Some((&it.id, it.resource.as_ref()?))).collect();
        self.established(&crds, how.limit, tell)?;
        if rest.iter().any(|it| matches!(it.verdict, Verdict::Unknown(_))) {
            self.served(&rest, how.limit, tell)?;
            let problems = self.check(&mut rest, &Pending::default(), how, tell)?;
            if !problems.is_empty() {
                return Err(refusal::all("nothing else was changed", &problems));
            }
        }
        self.write(&rest, how, tell)
    }

    /// Tries what has not been tried yet. What is pending is not there yet, but will be.
    fn check(
        &self,
        steps: &mut [Step<'_>],
        pending: &Pending,
        how: How,
        tell: &mut dyn FnMut(Told),
    ) -> anyhow::Result<Vec<(String, Refusal)>> {
        let mut pending = pending.clone();
        let mut problems = Vec::new();
        for step in steps.iter_mut().filter(|it| matches!(it.verdict, Verdict::Unknown(_))) {
            match self.attempt(step, &pending, how, tell)? {
                Ok(verdict) => step.verdict = verdict,
                Err(refusal) => problems.push((step.id.to_string(), refusal)),
            }
            if step.changes() {
                pending.add(step.object);
            }
        }
        Ok(problems)
    }

    fn attempt(
        &self,
        step: &mut Step<'_>,
        pending: &Pending,
        how: How,
        tell: &mut dyn FnMut(Told),
    ) -> anyhow::Result<Result<Verdict, Refusal>> {
        if pending.has_crd_of(&step.id) {
            return Ok(Ok(Verdict::Unknown("its CRD is not there yet".to_owned())));
        }
        let Some(resource) = self.resource(&step.id)? else {
            return Ok(Err(Refusal::new(
                format!("the server has no kind {} of {}", step.id.kind, step.id.api_version),
                Some("install what brings the kind, or take the object out of config/"),
            )));
        };
        if resource.namespaced && step.id.namespace.is_empty() {
            step.id.namespace.clone_from(&self.namespace);
        }
        let live = match self.one(&resource, &step.id)? {
            Ok(live) => live,
            Err(refusal) => return Ok(Err(refusal)),
        };
        step.resource = Some(resource.clone());
        if let Some(live) = &live {
            if is_going(live) {
                return Ok(Err(Refusal::new(
                    "it is being deleted",
                    Some(
                        "wait until it is gone; `kubectl get -o yaml` shows which finalizers hold it",
                    ),
                )));
            }
            if let Some(namespace) = elsewhere(live, &self.owner.judge(live), step.object) {
                return Ok(Err(Refusal::new(
                    format!("it is there for the operator in namespace `{namespace}`"),
                    Some("undeploy that one first, with `--namespace` as it was deployed"),
                )));
            }
        }
        step.manager = self.owner.manager(live.as_ref()).to_owned();
        step.live = live;
        let live = step.live.as_ref();
        // Once it is taken over, what earlier versions applied is as if it had been applied by this one.
        let manager = live.and_then(|it| self.owner.earlier(it)).unwrap_or(&step.manager);
        let answer = self.patch(&resource, step, manager, true, how.force)?;
        if answer.code == 404
            && let Some(what) = pending.named_by(&answer.body)
        {
            return Ok(Ok(Verdict::Unknown(format!("its {what} is not there yet"))));
        }
        if !answer.is_success() {
            return Ok(Err(refusal::of(&answer)));
        }
        answer
            .warnings
            .into_iter()
            .for_each(|it| tell(Told::Warning(format!("{}: {it}", step.id))));
        Ok(Ok(Verdict::Known(match live {
            None => Verb::Create,
            Some(live) if self.owner.taken_over(live).is_some() => Verb::Update,
            Some(live) if owner::differs(live, &answer.body, manager) => Verb::Update,
            Some(_) => Verb::Unchanged,
        })))
    }

    /// Writes what is not as it should be.
    fn write(
        &self,
        steps: &[Step<'_>],
        how: How,
        tell: &mut dyn FnMut(Told),
    ) -> anyhow::Result<()> {
        for step in steps {
            let became = match self.expected(step) {
                it if it.verb == Verb::Unchanged => it,
                it => self.write_one(step, how, tell)?.unwrap_or(it),
            };
            tell(Told::Became(became));
        }
        Ok(())
    }

    fn write_one(
        &self,
        step: &Step<'_>,
        how: How,
        tell: &mut dyn FnMut(Told),
    ) -> anyhow::Result<Option<Became>> {
        let id = &step.id;
        // A kind that is served only now was not met before.
        let resource = match &step.resource {
            Some(it) => Some(it.clone()),
            None => self.resource(id)?,
        };
        let Some(resource) = resource else { return Ok(None) };
        if let Some(live) = &step.live {
            self.rewrite_fields(&resource, id, live.clone(), |it| self.owner.taken_over(it))?;
        }
        let answer = self.patch(&resource, step, &step.manager, false, how.force)?;
        if !answer.is_success() {
            let what = format!("{id} cannot be applied, and what follows it was not");
            return Err(refusal::of(&answer).into_error(&what));
        }
        let warnings = answer.warnings.iter();
        warnings.for_each(|it| tell(Told::Warning(format!("{id}: {it}"))));
        if answer.code == 201 {
            return Ok(Some(Became::because(Verb::Create, id, self.note(step))));
        }
        if step.live.is_none() && self.owner.let_go(&answer.body).is_some() {
            // It was not there when it was tried, and somebody else was faster.
            self.rewrite_fields(&resource, id, answer.body, |it| self.owner.let_go(it))?;
            return Ok(Some(Became::because(Verb::Update, id, BEFORE)));
        }
        Ok(Some(Became::because(Verb::Update, id, self.note(step))))
    }

    fn patch(
        &self,
        resource: &Resource,
        step: &Step<'_>,
        manager: &str,
        dry_run: bool,
        force: bool,
    ) -> anyhow::Result<Answer> {
        let params = PatchParams { dry_run, force, ..PatchParams::apply(manager) };
        let mut object = step.object.clone();
        if let Some(live) = &step.live {
            // Whose it is was judged of this very object.
            object["metadata"]["uid"] = uid(live).into();
        }
        let (requests, name) = resource.one(&step.id)?;
        let patch = Patch::Apply(object);
        self.send(&requests.patch(&name, &params.validation_strict(), &patch)?)
    }

    /// What becomes of an object, as far as that is known.
    fn expected(&self, step: &Step<'_>) -> Became {
        match &step.verdict {
            Verdict::Unknown(why) => Became::because(Verb::Unchecked, &step.id, why),
            Verdict::Known(verb) => Became::because(*verb, &step.id, self.note(step)),
        }
    }

    fn note(&self, step: &Step<'_>) -> &'static str {
        if step.manager == self.owner.adopted { BEFORE } else { "" }
    }

    /// Waits until kinds that have come with CRDs are told of by the server, too.
    fn served(
        &self,
        steps: &[Step<'_>],
        limit: Limit,
        tell: &mut dyn FnMut(Told),
    ) -> anyhow::Result<()> {
        let left = self.until(limit, tell, || {
            for Step { id, resource, .. } in steps {
                if resource.is_none() && self.resource(id)?.is_none() {
                    return Ok(State::Not(format!(
                        "kind {} of {}: it is not served yet",
                        id.kind, id.api_version
                    )));
                }
            }
            Ok(State::Done)
        })?;
        match left {
            None => Ok(()),
            Some(reason) => Err(anyhow::format_err!("the time is over: {reason}")),
        }
    }
}

impl<'a> Step<'a> {
    fn new(object: &'a Value, manager: &str) -> Self {
        Self {
            object,
            id: Id::of(object),
            resource: None,
            manager: manager.to_owned(),
            live: None,
            verdict: Verdict::Unknown(String::new()),
        }
    }

    fn changes(&self) -> bool {
        !matches!(self.verdict, Verdict::Known(Verb::Unchanged))
    }
}
