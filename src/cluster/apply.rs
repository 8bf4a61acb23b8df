//! Objects onto a server: all are tried before the first is written, and each is told.
//!
//! ```text
//! try all ─ problems? all told, nothing written
//!     └ namespaces and CRDs ─ wait until served ─ try what could not be tried before ─ the rest
//! ```

use std::collections::BTreeSet;

use super::{
    Answer, Became, Cluster, Content, Id, Told, Verb,
    discovery::Resource,
    elsewhere::elsewhere,
    object::is_going,
    owned::{self, ADOPTED},
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

/// One object on its way.
struct Step<'a> {
    object: &'a Value,
    id: Id,
    resource: Option<Resource>,
    manager: &'static str,
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
        let (mut first, mut rest): (Vec<_>, Vec<_>) =
            objects.iter().map(Step::new).partition(|it| it.id.is_crd() || it.id.is_namespace());
        first.sort_by_key(|it| it.id.is_crd());

        let mut problems = self.check(&mut first, &Pending::default(), how, tell)?;
        let mut pending = Pending::default();
        first.iter().filter(|it| it.changes()).for_each(|it| pending.add(it.object));
        problems.extend(self.check(&mut rest, &pending, how, tell)?);
        if !problems.is_empty() {
            return Err(refusal::all("nothing was changed", &problems));
        }
        if how.dry_run {
            first.iter().chain(&rest).for_each(|it| tell(Told::Became(it.expected())));
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
        let path = resource.one(&step.id);
        step.resource = Some(resource);
        let live = self.get(&path)?;
        let live = match live.code {
            200 => Some(live.body),
            404 => None,
            _ => return Ok(Err(refusal::of(&live))),
        };
        if let Some(live) = &live {
            if is_going(live) {
                return Ok(Err(Refusal::new(
                    "it is being deleted",
                    Some(
                        "wait until it is gone; `kubectl get -o yaml` shows which finalizers hold it",
                    ),
                )));
            }
            if let Some(namespace) = elsewhere(live, step.object) {
                return Ok(Err(Refusal::new(
                    format!("it is there for the operator in namespace `{namespace}`"),
                    Some("undeploy that one first, with `--namespace` as it was deployed"),
                )));
            }
        }
        step.manager = owned::manager(live.as_ref());
        let answer = self.patch(&path, step, true, how.force)?;
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
        Ok(Ok(Verdict::Known(match &live {
            None => Verb::Create,
            Some(live) if owned::differs(live, &answer.body, step.manager) => Verb::Update,
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
            let mut became = step.expected();
            if became.verb != Verb::Unchanged {
                // A kind that is served only now was not met before.
                let resource = match &step.resource {
                    Some(it) => Some(it.clone()),
                    None => self.resource(&step.id)?,
                };
                let Some(resource) = resource else { continue };
                let answer = self.patch(&resource.one(&step.id), step, false, how.force)?;
                if !answer.is_success() {
                    let what =
                        format!("{} cannot be applied, and what follows it was not", step.id);
                    return Err(refusal::of(&answer).into_error(&what));
                }
                let warnings = answer.warnings.into_iter();
                warnings.for_each(|it| tell(Told::Warning(format!("{}: {it}", step.id))));
                became.verb = if answer.code == 201 { Verb::Create } else { Verb::Update };
                became.note = step.note();
            }
            tell(Told::Became(became));
        }
        Ok(())
    }

    fn patch(
        &self,
        path: &str,
        step: &Step<'_>,
        dry_run: bool,
        force: bool,
    ) -> anyhow::Result<Answer> {
        let dry_run = if dry_run { "&dryRun=All" } else { "" };
        let manager = step.manager;
        let path =
            format!("{path}?fieldManager={manager}&force={force}&fieldValidation=Strict{dry_run}");
        self.send("PATCH", &path, &Content::Apply(step.object))
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
    fn new(object: &'a Value) -> Self {
        Self {
            object,
            id: Id::of(object),
            resource: None,
            manager: owned::MANAGER,
            verdict: Verdict::Unknown(String::new()),
        }
    }

    fn changes(&self) -> bool {
        !matches!(self.verdict, Verdict::Known(Verb::Unchanged))
    }

    /// What becomes of it, as far as that is known.
    fn expected(&self) -> Became {
        match &self.verdict {
            Verdict::Unknown(why) => Became::because(Verb::Unchecked, &self.id, why),
            Verdict::Known(verb) => Became::because(*verb, &self.id, self.note()),
        }
    }

    fn note(&self) -> String {
        if self.manager == ADOPTED { "it was there before" } else { "" }.to_owned()
    }
}
