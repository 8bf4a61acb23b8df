//! The faults that a test injects into the server, and the rules that tell which requests they hit.

use super::{refusal::Refusal, request::Request, resource_name};
use kube::Resource;
use std::{
    collections::BTreeSet,
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

/// A failure of the server; [`Cluster::inject`](super::Cluster::inject) injects it.
///
/// The faults of requests hit every request, unless a method such as [`on_write`](Self::on_write) limits them. The
/// faults of watches, from [`DelayEvents`](Self::DelayEvents) on, hit all watches.
///
/// ```
/// use k8s_openapi::api::core::v1::{ConfigMap, Secret};
/// use operator_rs_testing::{Cluster, Fault};
///
/// let cluster = Cluster::default()
///     .with_fault(Fault::Refuse { code: 409 }.on_write(2))
///     .with_fault(Fault::Forbid.on_list_and_watch_of::<Secret>())
///     .with_fault(Fault::LoseRequest.when(|request| request.is_for::<ConfigMap>() && request.name == "a"));
/// cluster.inject(Fault::HoldEvents);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Fault {
    /// The request has no effect. The response has this HTTP status code, with the reason and message that a real
    /// server gives with it.
    Refuse {
        /// An HTTP status code from 400 to 599.
        code: u16,
    },
    /// The request has no effect. The response is this error, for a message or details of your own.
    RefuseWith(Refusal),
    /// The request has no effect. The response is 403 Forbidden, as from a real server if a role lacks the permission.
    Forbid,
    /// The request never reaches the server: it has no effect, and the client waits for a response forever.
    LoseRequest,
    /// The request is carried out, and the client waits for a response forever.
    LoseResponse,
    /// The request is carried out, but the response has this HTTP status code, such as the 504 of a proxy.
    ReplaceResponse {
        /// An HTTP status code from 400 to 599.
        code: u16,
    },
    /// The request is carried out, but the response is this error.
    ReplaceResponseWith(Refusal),
    /// Each watch event is delivered this long after its change.
    DelayEvents {
        /// The time between a change and its event.
        delay: Duration,
    },
    /// No watch event is delivered until [`Cluster::release_events`](super::Cluster::release_events).
    HoldEvents,
    /// Each watch event is delivered twice.
    RepeatEvents,
    /// All watch events are lost. A watch that has lost events ends with 410 Gone, when none was lost for this time or
    /// when this fault is removed.
    LoseEvents {
        /// The time from the last lost event to the end of the watch.
        gone_after: Duration,
    },
    /// All watches that are open now end, without an error.
    EndWatches,
    /// The history of all changes so far is forgotten, as after a compaction of etcd: a watch from an older resource
    /// version gets 410 Gone, and so does the next page of a list.
    ForgetHistory,
}

impl Fault {
    /// Limits the fault to one write. Writes of all kinds are counted, from 1; those that are refused count too.
    ///
    /// # Panics
    /// If the number is 0.
    pub fn on_write(self, number: usize) -> FaultRule {
        assert!(number > 0, "`on_write(0)`: writes are counted from 1, use `on_write(1)` for the first one");
        self.when(move |request| request.write_number == Some(number))
    }

    /// Limits the fault to writes: creations, updates, patches, applies and deletions.
    pub fn on_writes(self) -> FaultRule {
        self.when(Request::is_write)
    }

    /// Limits the fault to writes of a kind, in any of its versions.
    pub fn on_writes_of<K: Resource<DynamicType = ()>>(self) -> FaultRule {
        let resource = resource_name::<K>();
        self.when(move |request| request.is_write() && request.resource == resource)
    }

    /// Limits the fault to the first write of each sort, such as `PATCH deployments.apps`.
    pub fn on_first_write_of_each_sort(self) -> FaultRule {
        let seen = Mutex::new(BTreeSet::new());
        self.when(move |request| {
            let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            request.is_write() && seen.insert(request.summary())
        })
    }

    /// Limits the fault to requests for a kind, in any of its versions.
    pub fn on_requests_for<K: Resource<DynamicType = ()>>(self) -> FaultRule {
        let resource = resource_name::<K>();
        self.when(move |request| request.resource == resource)
    }

    /// Limits the fault to lists and watches of a kind, in any of its versions.
    pub fn on_list_and_watch_of<K: Resource<DynamicType = ()>>(self) -> FaultRule {
        let resource = resource_name::<K>();
        self.when(move |request| ["list", "watch"].contains(&request.verb) && request.resource == resource)
    }

    /// Limits the fault to the requests of which this is true.
    pub fn when(self, is_hit: impl Fn(&Request) -> bool + Send + Sync + 'static) -> FaultRule {
        self.check_code();
        let variant = format!("{self:?}");
        assert!(!self.is_of_watches(), "`{variant}` hits watches, not requests: inject it without `on_…` or `when`");
        FaultRule::for_requests(move |request| is_hit(request).then(|| self.clone()))
    }

    pub(super) fn is_of_watches(&self) -> bool {
        match self {
            Self::Refuse { .. } | Self::RefuseWith(_) | Self::Forbid | Self::LoseRequest => false,
            Self::LoseResponse | Self::ReplaceResponse { .. } | Self::ReplaceResponseWith(_) => false,
            Self::DelayEvents { .. } | Self::HoldEvents | Self::RepeatEvents => true,
            Self::LoseEvents { .. } | Self::EndWatches | Self::ForgetHistory => true,
        }
    }

    /// Panics if the fault has an HTTP status code that is none of an error.
    pub(super) fn check_code(&self) {
        let code = match self {
            Self::Refuse { code } | Self::ReplaceResponse { code } => *code,
            Self::RefuseWith(refusal) | Self::ReplaceResponseWith(refusal) => refusal.code,
            _ => return,
        };
        assert!((400..600).contains(&code), "`{self:?}`: {code} is not an HTTP error, use a code from 400 to 599");
    }

    /// The error that the client gets in place of its response.
    pub(super) fn error_for(&self, request: &Request) -> Option<Refusal> {
        match self {
            Self::Refuse { code } | Self::ReplaceResponse { code } => Some(Refusal::with_code(*code)),
            Self::RefuseWith(refusal) | Self::ReplaceResponseWith(refusal) => Some(refusal.clone()),
            Self::Forbid => Some(Refusal::forbidden(request)),
            _ => None,
        }
    }
}

/// A function that decides about each request.
pub type Decide = Arc<dyn Fn(&Request) -> Option<Fault> + Send + Sync>;

/// The rules for requests, in the order in which they were injected.
#[derive(Clone, Default)]
pub struct RequestRules(pub Vec<Decide>);

impl fmt::Debug for RequestRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} rules", self.0.len())
    }
}

/// A fault and the requests that it hits, made by the methods of [`Fault`], or a function that decides about each
/// request.
///
/// ```
/// use operator_rs_testing::{Cluster, Fault, FaultRule};
///
/// let rule = FaultRule::for_writes(|request| match request.resource.as_str() {
///     "configmaps" => Some(Fault::Refuse { code: 422 }),
///     "secrets" => Some(Fault::LoseResponse),
///     _ => None,
/// });
/// let cluster = Cluster::default().with_fault(rule);
/// ```
#[derive(Clone)]
pub struct FaultRule {
    pub(super) target: FaultTarget,
}

/// The target of a rule.
#[derive(Clone)]
pub(super) enum FaultTarget {
    Requests(Decide),
    Watches(Fault),
}

impl FaultRule {
    /// Decides about every request before it is carried out; `None` lets it pass.
    pub fn for_requests(decide: impl Fn(&Request) -> Option<Fault> + Send + Sync + 'static) -> Self {
        Self { target: FaultTarget::Requests(Arc::new(decide)) }
    }

    /// Decides about every write before it is carried out; `None` lets it pass.
    pub fn for_writes(decide: impl Fn(&Request) -> Option<Fault> + Send + Sync + 'static) -> Self {
        Self::for_requests(move |request| if request.is_write() { decide(request) } else { None })
    }
}

/// A fault of requests hits every one.
impl From<Fault> for FaultRule {
    fn from(fault: Fault) -> Self {
        if fault.is_of_watches() { Self { target: FaultTarget::Watches(fault) } } else { fault.when(|_| true) }
    }
}

impl fmt::Debug for FaultRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.target {
            FaultTarget::Requests(_) => f.write_str("FaultRule for requests"),
            FaultTarget::Watches(fault) => write!(f, "FaultRule for watches: {fault:?}"),
        }
    }
}
