//! Applies objects: a dry run of all comes before the first write, and each is reported.
//!
//! ```text
//! dry run of all ─ problems? report all, write nothing
//!     └ namespaces and CRDs ─ wait until served ─ dry run of what depends on them ─ the rest
//! ```

use std::collections::BTreeSet;

use kube::api::{Patch, PatchParams};

use super::{
    Action, Answer, Cluster, Event, Id, Verb,
    discovery::Resource,
    managers,
    object::{is_going, uid},
    pending::Pending,
    refusal::{self, Refusal},
    wait::State,
};
use diagnostics::Hint as _;
use go_data::yaml::Value;
use model::Deadline;

/// How to apply.
#[derive(Clone, Copy, Debug)]
pub struct ApplyOptions {
    /// Have the server validate all changes, and make none.
    pub dry_run: bool,
    /// Take over fields that other field managers have set.
    pub force: bool,
    /// How long to wait for the server to serve the CRDs.
    pub deadline: Deadline,
}

const EXISTED: &str = "it already existed";

/// One object to apply.
struct Step<'a> {
    object: &'a Value,
    id: Id,
    resource: Option<Resource>,
    /// The field manager that applies it.
    manager: String,
    /// The object on the server. Another object of the same name is not changed.
    live: Option<Value>,
    verdict: Verdict,
}

enum Verdict {
    /// The server cannot check it yet, for this reason.
    Unknown(String),
    Known(Verb),
}

impl Cluster {
    /// Applies objects in order, but namespaces and CRDs first, and the rest once the CRDs are served.
    pub fn apply(
        &self,
        objects: &[Value],
        options: ApplyOptions,
        report: &mut dyn FnMut(Event),
    ) -> anyhow::Result<()> {
        let mut warned = BTreeSet::new();
        let report: &mut dyn FnMut(Event) = &mut |event: Event| match event {
            // The server warns twice: in the dry run, and when the object is written.
            Event::Warning(text) if !warned.insert(text.clone()) => {}
            event => report(event),
        };
        let (mut first, mut rest): (Vec<_>, Vec<_>) = objects
            .iter()
            .map(|it| Step::new(it, &self.owner.creator))
            .partition(|it| it.id.is_crd() || it.id.is_namespace());
        first.sort_by_key(|it| it.id.is_crd());

        let mut problems = self.check(&mut first, &Pending::default(), options, report)?;
        let mut pending = Pending::default();
        first.iter().filter(|it| it.changes()).for_each(|it| pending.add(it.object));
        problems.extend(self.check(&mut rest, &pending, options, report)?);
        if !problems.is_empty() {
            return Err(refusal::all("nothing was changed", &problems));
        }
        if options.dry_run {
            first.iter().chain(&rest).for_each(|it| report(Event::Action(self.expected(it))));
            return Ok(());
        }

        self.write(&first, options, report)?;
        let crds = first.iter().filter(|it| it.id.is_crd());
        let crds: Vec<_> = crds.filter_map(|it| Some((&it.id, it.resource.as_ref()?))).collect();
        self.established(&crds, options.deadline, report)?;
        if rest.iter().any(|it| matches!(it.verdict, Verdict::Unknown(_))) {
            self.served(&rest, options.deadline, report)?;
            let problems = self.check(&mut rest, &Pending::default(), options, report)?;
            if !problems.is_empty() {
                return Err(refusal::all("nothing else was changed", &problems));
            }
        }
        self.write(&rest, options, report)
    }

    /// Makes a dry run of what has had none. Pending objects do not exist yet, but will.
    fn check(
        &self,
        steps: &mut [Step<'_>],
        pending: &Pending,
        options: ApplyOptions,
        report: &mut dyn FnMut(Event),
    ) -> anyhow::Result<Vec<(String, Refusal)>> {
        let mut pending = pending.clone();
        let mut problems = Vec::new();
        for step in steps.iter_mut().filter(|it| matches!(it.verdict, Verdict::Unknown(_))) {
            match self.attempt(step, &pending, options, report)? {
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
        options: ApplyOptions,
        report: &mut dyn FnMut(Event),
    ) -> anyhow::Result<Result<Verdict, Refusal>> {
        if pending.has_crd_of(&step.id) {
            return Ok(Ok(Verdict::Unknown("its CRD does not exist yet".to_owned())));
        }
        let Some(resource) = self.resource(&step.id)? else {
            return Ok(Err(Refusal::new(
                format!(
                    "the server does not serve kind {} of {}",
                    step.id.kind, step.id.api_version
                ),
                Some(match step.id.api_version.split('/').next() {
                    Some("cert-manager.io") => {
                        "install cert-manager first, see https://cert-manager.io/docs/installation; webhooks need none with `operator-rs create webhook --certificates self`"
                    }
                    _ => {
                        "install the CRD or API that provides the kind, or remove the object from config/"
                    }
                }),
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
                        "wait until it is gone; `kubectl get -o yaml` shows the finalizers that it waits for",
                    ),
                )));
            }
            let is_created = self.owner.judge(live).is_created();
            if let Some(namespace) = self.owner.elsewhere(live).filter(|_| is_created) {
                return Ok(Err(Refusal::new(
                    format!("it already exists for the operator in namespace `{namespace}`"),
                    Some(
                        "undeploy that operator first, with the `--namespace` that it was deployed with",
                    ),
                )));
            }
        }
        step.manager = self.owner.manager(live.as_ref()).to_owned();
        step.live = live;
        let live = step.live.as_ref();
        let answer = self.patch(&resource, step, true, options.force)?;
        if answer.code == 404
            && let Some(what) = pending.named_by(&answer.body)
        {
            return Ok(Ok(Verdict::Unknown(format!("its {what} does not exist yet"))));
        }
        if !answer.is_success() {
            return Ok(Err(refusal::of_apply(&answer, &self.owner.ways_out)));
        }
        answer
            .warnings
            .into_iter()
            .for_each(|it| report(Event::Warning(format!("{}: {it}", step.id))));
        Ok(Ok(Verdict::Known(match live {
            None => Verb::Create,
            Some(live) if managers::differs(live, &answer.body, &step.manager) => Verb::Update,
            Some(_) => Verb::Unchanged,
        })))
    }

    /// Writes every object that is not up to date.
    fn write(
        &self,
        steps: &[Step<'_>],
        options: ApplyOptions,
        report: &mut dyn FnMut(Event),
    ) -> anyhow::Result<()> {
        for step in steps {
            let action = match self.expected(step) {
                it if it.verb == Verb::Unchanged => it,
                it => self.write_one(step, options, report)?.unwrap_or(it),
            };
            report(Event::Action(action));
        }
        Ok(())
    }

    fn write_one(
        &self,
        step: &Step<'_>,
        options: ApplyOptions,
        report: &mut dyn FnMut(Event),
    ) -> anyhow::Result<Option<Action>> {
        let id = &step.id;
        // The kind may be served only now.
        let resource = match &step.resource {
            Some(it) => Some(it.clone()),
            None => self.resource(id)?,
        };
        let Some(resource) = resource else { return Ok(None) };
        let answer = self.patch(&resource, step, false, options.force)?;
        if !answer.is_success() {
            let what = format!("{id} cannot be applied, and the objects after it were not applied");
            return Err(refusal::of_apply(&answer, &self.owner.ways_out).into_error(&what));
        }
        let warnings = answer.warnings.iter();
        warnings.for_each(|it| report(Event::Warning(format!("{id}: {it}"))));
        if answer.code == 201 {
            return Ok(Some(Action::because(Verb::Create, id, self.note(step))));
        }
        if step.live.is_none() && self.owner.released_metadata(&answer.body).is_some() {
            // Another program has created it since the dry run.
            self.release_fields(&resource, id, answer.body)?;
            return Ok(Some(Action::because(Verb::Update, id, EXISTED)));
        }
        Ok(Some(Action::because(Verb::Update, id, self.note(step))))
    }

    fn patch(
        &self,
        resource: &Resource,
        step: &Step<'_>,
        dry_run: bool,
        force: bool,
    ) -> anyhow::Result<Answer> {
        let params = PatchParams { dry_run, force, ..PatchParams::apply(&step.manager) };
        let mut object = step.object.clone();
        if let Some(live) = &step.live {
            // The owner was determined for this very object.
            object["metadata"]["uid"] = uid(live).into();
        }
        self.owner.mark(&mut object, &step.manager);
        let (requests, name) = resource.one(&step.id)?;
        let patch = Patch::Apply(object);
        self.send(&requests.patch(&name, &params.validation_strict(), &patch)?)
    }

    /// The expected action on an object.
    fn expected(&self, step: &Step<'_>) -> Action {
        match &step.verdict {
            Verdict::Unknown(why) => Action::because(Verb::Unchecked, &step.id, why),
            Verdict::Known(verb) => Action::because(*verb, &step.id, self.note(step)),
        }
    }

    fn note(&self, step: &Step<'_>) -> &'static str {
        if step.manager == self.owner.adopter { EXISTED } else { "" }
    }

    /// Waits until discovery lists the kinds of new CRDs.
    fn served(
        &self,
        steps: &[Step<'_>],
        deadline: Deadline,
        report: &mut dyn FnMut(Event),
    ) -> anyhow::Result<()> {
        let left = self.until(deadline, report, || {
            for Step { id, resource, .. } in steps {
                if resource.is_none() && self.resource(id)?.is_none() {
                    return Ok(State::Not(format!(
                        "kind {} of {} is not served yet",
                        id.kind, id.api_version
                    )));
                }
            }
            Ok(State::Done)
        })?;
        match left {
            None => Ok(()),
            Some(reason) => {
                Err(anyhow::format_err!("timed out: {reason}")).hint("wait longer with `--timeout`")
            }
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
