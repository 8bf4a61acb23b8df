//! The parts of an operator: controllers and webhooks.

#[cfg(any(feature = "admission", feature = "conversion"))]
use crate::webhooks::Webhook;
use crate::{
    Manager,
    scope::{NamespaceScope, WatchNamespaces},
};
use futures::future::{BoxFuture, FutureExt, TryFutureExt};

/// A part of an operator: a controller or a webhook.
pub struct Component(Part);

enum Part {
    Controller(Run),
    #[cfg(any(feature = "admission", feature = "conversion"))]
    Webhook(Webhook),
}

/// Starts a controller, once or once for each namespace.
type Run = Box<dyn Fn(&Manager, &WatchNamespaces) -> Vec<Running> + Send + Sync>;
/// A controller that runs.
type Running = BoxFuture<'static, Result<(), BoxError>>;
/// An error of any type.
type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A controller of a namespaced kind, which runs once for each watched namespace.
pub fn controller_per_namespace<F, Fut, E>(run: F) -> Component
where
    F: Fn(Manager) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), E>> + Send + 'static,
    E: Into<BoxError> + 'static,
{
    Component(Part::Controller(Box::new(move |manager, scope| {
        let within = |namespace| run(Manager { namespace, ..manager.clone() }).map_err(Into::into).boxed();
        scope.namespaces().into_iter().map(within).collect()
    })))
}

/// A controller of a cluster-scoped kind, which runs once. Its dependents can be in any namespace.
pub fn cluster_controller<F, Fut, E>(run: F) -> Component
where
    F: Fn(Manager) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), E>> + Send + 'static,
    E: Into<BoxError> + 'static,
{
    Component(Part::Controller(Box::new(move |manager, _| {
        vec![run(Manager { namespace: NamespaceScope::All, ..manager.clone() }).map_err(Into::into).boxed()]
    })))
}

impl Component {
    /// Starts the controller, once or once for each namespace, as [`run_manager`](crate::run_manager) does, so that a test
    /// can run it without the process around it. For a webhook, the result is empty.
    pub fn controllers(&self, manager: &Manager, scope: &WatchNamespaces) -> Vec<Running> {
        match &self.0 {
            Part::Controller(start) => start(manager, scope),
            #[cfg(any(feature = "admission", feature = "conversion"))]
            Part::Webhook(_) => vec![],
        }
    }

    /// Whether this is a controller, not a webhook.
    pub fn is_controller(&self) -> bool {
        matches!(self.0, Part::Controller(_))
    }
}

/// Serves the webhooks among the components until the operator stops, so that a test can serve them without the process
/// around it. The flags have the values of environment variables such as `WEBHOOK_PORT`. It returns at once if there are no
/// webhooks, or if the crate is built without them.
///
/// # Errors
///
/// [`Error::Configuration`](crate::Error::Configuration) if a variable is invalid, or the webhooks cannot be served.
#[cfg(feature = "flags")]
pub async fn serve_webhooks(components: Vec<Component>, manager: &Manager) -> Result<(), crate::Error> {
    #[cfg(any(feature = "admission", feature = "conversion"))]
    {
        use crate::Error;
        #[derive(clap::Parser)]
        struct Variables {
            #[command(flatten)]
            flags: crate::Flags,
        }
        let Variables { flags } =
            clap::Parser::try_parse_from([""]).map_err(|error| Error::Configuration(error.to_string()))?;
        let failed = |error: anyhow::Error| Error::Configuration(crate::explain(error.as_ref()));
        let webhooks = || components.iter().filter_map(Component::webhook);
        let own = crate::webhooks::keep_certificate(&flags, webhooks(), manager);
        if let Some(server) = crate::webhooks::serve(&flags, webhooks(), manager, own).await.map_err(failed)? {
            manager.stop.cancelled().await;
            server.end(true).await;
        }
    }
    #[cfg(not(any(feature = "admission", feature = "conversion")))]
    let _ = (components, manager);
    Ok(())
}

#[cfg(any(feature = "admission", feature = "conversion"))]
impl Component {
    pub(crate) fn webhook(&self) -> Option<&Webhook> {
        match &self.0 {
            Part::Webhook(webhook) => Some(webhook),
            Part::Controller(_) => None,
        }
    }
}

#[cfg(any(feature = "admission", feature = "conversion"))]
impl From<Webhook> for Component {
    fn from(webhook: Webhook) -> Self {
        Self(Part::Webhook(webhook))
    }
}
