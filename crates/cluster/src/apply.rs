//! Applies objects: a dry run of all comes before the first write, and each is reported.
//!
//! ```text
//! dry run of all ─ refusals? report all, write nothing
//!     └ namespaces and CRDs ─ wait until served ─ dry run of what depends on them ─ the rest
//! ```

use std::collections::BTreeSet;

use kube::api::{Patch, PatchParams};

use super::{
    Action, ApiResponse, Cluster, Id, ProgressEvent, Verb,
    discovery::Resource,
    managers,
    object::{is_being_deleted, uid},
    pending_objects::PendingObjects,
    refusal::{self, Refusal},
    wait::WaitState,
};
use diagnostics::Hint as _;
use go_data::yaml::Value;
use model::Deadline;

/// The options of an apply.
#[derive(Clone, Copy, Debug)]
pub struct ApplyOptions {
    /// Have the server validate all changes, and make none.
    pub dry_run: bool,
    /// Take over fields that other field managers have set.
    pub force: bool,
    /// The time until which the server has to serve the CRDs.
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
        report: &mut dyn FnMut(ProgressEvent),
    ) -> anyhow::Result<()> {
        let mut warned = BTreeSet::new();
        let report: &mut dyn FnMut(ProgressEvent) = &mut |event: ProgressEvent| match event {
            // The server warns twice: in the dry run, and when the object is written.
            ProgressEvent::Warning(text) if !warned.insert(text.clone()) => {}
            event => report(event),
        };
        let (mut first, mut rest): (Vec<_>, Vec<_>) = objects
            .iter()
            .map(|object| Step::new(object, &self.owner.creator))
            .partition(|step| step.id.is_crd() || step.id.is_namespace());
        first.sort_by_key(|step| step.id.is_crd());

        let mut refusals =
            self.dry_run_steps(&mut first, &PendingObjects::default(), options, report)?;
        let mut pending = PendingObjects::default();
        first
            .iter()
            .filter(|step| step.may_change())
            .for_each(|step| pending.add_object(step.object));
        refusals.extend(self.dry_run_steps(&mut rest, &pending, options, report)?);
        if !refusals.is_empty() {
            return Err(refusal::combine_refusals("nothing was changed", &refusals));
        }
        if options.dry_run {
            first
                .iter()
                .chain(&rest)
                .for_each(|step| report(ProgressEvent::Action(self.expected_action(step))));
            return Ok(());
        }

        self.write_steps(&first, options, report)?;
        let crds = first.iter().filter(|step| step.id.is_crd());
        let crds: Vec<_> =
            crds.filter_map(|step| Some((&step.id, step.resource.as_ref()?))).collect();
        self.wait_until_established(&crds, options.deadline, report)?;
        if rest.iter().any(|step| matches!(step.verdict, Verdict::Unknown(_))) {
            self.wait_until_kinds_are_served(&rest, options.deadline, report)?;
            let refusals =
                self.dry_run_steps(&mut rest, &PendingObjects::default(), options, report)?;
            if !refusals.is_empty() {
                return Err(refusal::combine_refusals("nothing else was changed", &refusals));
            }
        }
        self.write_steps(&rest, options, report)
    }

    /// Makes a dry run of what has had none. PendingObjects objects do not exist yet, but will.
    fn dry_run_steps(
        &self,
        steps: &mut [Step<'_>],
        pending: &PendingObjects,
        options: ApplyOptions,
        report: &mut dyn FnMut(ProgressEvent),
    ) -> anyhow::Result<Vec<(String, Refusal)>> {
        let mut pending = pending.clone();
        let mut refusals = Vec::new();
        for step in steps.iter_mut().filter(|step| matches!(step.verdict, Verdict::Unknown(_))) {
            match self.dry_run_step(step, &pending, options, report)? {
                Ok(verdict) => step.verdict = verdict,
                Err(refusal) => refusals.push((step.id.to_string(), refusal)),
            }
            if step.may_change() {
                pending.add_object(step.object);
            }
        }
        Ok(refusals)
    }

    fn dry_run_step(
        &self,
        step: &mut Step<'_>,
        pending: &PendingObjects,
        options: ApplyOptions,
        report: &mut dyn FnMut(ProgressEvent),
    ) -> anyhow::Result<Result<Verdict, Refusal>> {
        if pending.has_crd_of(&step.id) {
            return Ok(Ok(Verdict::Unknown("its CRD does not exist yet".to_owned())));
        }
        let Some(resource) = self.find_resource(&step.id)? else {
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
        let live = match self.read_object(&resource, &step.id)? {
            Ok(live) => live,
            Err(refusal) => return Ok(Err(refusal)),
        };
        step.resource = Some(resource.clone());
        if let Some(live) = &live {
            if is_being_deleted(live) {
                return Ok(Err(Refusal::new(
                    "it is being deleted",
                    Some(
                        "wait until it is gone; `kubectl get -o yaml` shows the finalizers that it waits for",
                    ),
                )));
            }
            let is_created = self.owner.removal_of(live).is_created();
            if let Some(namespace) = self.owner.other_namespace(live).filter(|_| is_created) {
                return Ok(Err(Refusal::new(
                    format!("it already exists for the operator in namespace `{namespace}`"),
                    Some(
                        "undeploy that operator first, with the `--namespace` that it was deployed with",
                    ),
                )));
            }
        }
        step.manager = self.owner.manager_for(live.as_ref()).to_owned();
        step.live = live;
        let live = step.live.as_ref();
        let response = self.send_patch(&resource, step, true, options.force)?;
        if response.code == 404
            && let Some(what) = pending.kind_of_missing(&response.body)
        {
            return Ok(Ok(Verdict::Unknown(format!("its {what} does not exist yet"))));
        }
        if !response.is_success() {
            return Ok(Err(refusal::from_apply_response(&response, &self.owner.apply_hints)));
        }
        response
            .warnings
            .into_iter()
            .for_each(|warning| report(ProgressEvent::Warning(format!("{}: {warning}", step.id))));
        Ok(Ok(Verdict::Known(match live {
            None => Verb::Create,
            Some(live) if managers::has_changed(live, &response.body, &step.manager) => {
                Verb::Update
            }
            Some(_) => Verb::Unchanged,
        })))
    }

    /// Writes every object that is not up to date.
    fn write_steps(
        &self,
        steps: &[Step<'_>],
        options: ApplyOptions,
        report: &mut dyn FnMut(ProgressEvent),
    ) -> anyhow::Result<()> {
        for step in steps {
            let action = match self.expected_action(step) {
                it if it.verb == Verb::Unchanged => it,
                it => self.write_step(step, options, report)?.unwrap_or(it),
            };
            report(ProgressEvent::Action(action));
        }
        Ok(())
    }

    fn write_step(
        &self,
        step: &Step<'_>,
        options: ApplyOptions,
        report: &mut dyn FnMut(ProgressEvent),
    ) -> anyhow::Result<Option<Action>> {
        let id = &step.id;
        // The kind may be served only now.
        let resource = match &step.resource {
            Some(it) => Some(it.clone()),
            None => self.find_resource(id)?,
        };
        let Some(resource) = resource else { return Ok(None) };
        let response = self.send_patch(&resource, step, false, options.force)?;
        if !response.is_success() {
            let what = format!("{id} cannot be applied, and the objects after it were not applied");
            return Err(
                refusal::from_apply_response(&response, &self.owner.apply_hints).into_error(&what)
            );
        }
        let warnings = response.warnings.iter();
        warnings.for_each(|warning| report(ProgressEvent::Warning(format!("{id}: {warning}"))));
        if response.code == 201 {
            return Ok(Some(Action::with_note(Verb::Create, id, self.action_note(step))));
        }
        if step.live.is_none() && self.owner.released_metadata(&response.body).is_some() {
            // Another program has created it since the dry run.
            self.release_fields(&resource, id, response.body)?;
            return Ok(Some(Action::with_note(Verb::Update, id, EXISTED)));
        }
        Ok(Some(Action::with_note(Verb::Update, id, self.action_note(step))))
    }

    fn send_patch(
        &self,
        resource: &Resource,
        step: &Step<'_>,
        dry_run: bool,
        force: bool,
    ) -> anyhow::Result<ApiResponse> {
        let params = PatchParams { dry_run, force, ..PatchParams::apply(&step.manager) };
        let mut object = step.object.clone();
        if let Some(live) = &step.live {
            // The owner was determined for this very object.
            object["metadata"]["uid"] = uid(live).into();
        }
        self.owner.add_label(&mut object, &step.manager);
        let (requests, name) = resource.requests_for(&step.id)?;
        let patch = Patch::Apply(object);
        self.send(&requests.patch(&name, &params.validation_strict(), &patch)?)
    }

    /// The expected action on an object.
    fn expected_action(&self, step: &Step<'_>) -> Action {
        match &step.verdict {
            Verdict::Unknown(why) => Action::with_note(Verb::Unchecked, &step.id, why),
            Verdict::Known(verb) => Action::with_note(*verb, &step.id, self.action_note(step)),
        }
    }

    fn action_note(&self, step: &Step<'_>) -> &'static str {
        if step.manager == self.owner.adopter { EXISTED } else { "" }
    }

    /// Waits until discovery lists the kinds of new CRDs.
    fn wait_until_kinds_are_served(
        &self,
        steps: &[Step<'_>],
        deadline: Deadline,
        report: &mut dyn FnMut(ProgressEvent),
    ) -> anyhow::Result<()> {
        let left = self.wait_until(deadline, report, || {
            for Step { id, resource, .. } in steps {
                if resource.is_none() && self.find_resource(id)?.is_none() {
                    return Ok(WaitState::Not(format!(
                        "kind {} of {} is not served yet",
                        id.kind, id.api_version
                    )));
                }
            }
            Ok(WaitState::Done)
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

    fn may_change(&self) -> bool {
        !matches!(self.verdict, Verdict::Known(Verb::Unchanged))
    }
}
