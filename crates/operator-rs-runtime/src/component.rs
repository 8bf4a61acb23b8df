//! The parts of an operator: controllers and webhooks.

#[cfg(any(feature = "admission", feature = "conversion"))]
use crate::webhooks::Webhook;
use crate::{
    Manager,
    scope::{NamespaceScope, WatchNamespaces},
};
use futures::future::{BoxFuture, FutureExt, TryFutureExt};

/// A part of an operator: a controller or a webhook.
pub struct Component(ComponentKind);

enum ComponentKind {
    Controller(StartController),
    #[cfg(any(feature = "admission", feature = "conversion"))]
    Webhook(Webhook),
}

/// Starts a controller, once or once for each namespace.
type StartController = Box<dyn Fn(&Manager, &WatchNamespaces) -> Vec<Running> + Send + Sync>;
/// A running controller.
type Running = BoxFuture<'static, Result<(), BoxError>>;
/// An error of any type.
type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Returns a controller of a namespaced kind, which runs once for each watched namespace.
pub fn controller_per_namespace<F, Fut, E>(run: F) -> Component
where
    F: Fn(Manager) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), E>> + Send + 'static,
    E: Into<BoxError> + 'static,
{
    Component(ComponentKind::Controller(Box::new(move |manager, scope| {
        let run_in = |namespace| run(Manager { namespace, ..manager.clone() }).map_err(Into::into).boxed();
        scope.namespaces().into_iter().map(run_in).collect()
    })))
}

/// Returns a controller of a cluster-scoped kind, which runs once. Its dependents can be in any namespace.
pub fn cluster_controller<F, Fut, E>(run: F) -> Component
where
    F: Fn(Manager) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), E>> + Send + 'static,
    E: Into<BoxError> + 'static,
{
    Component(ComponentKind::Controller(Box::new(move |manager, _| {
        vec![run(Manager { namespace: NamespaceScope::All, ..manager.clone() }).map_err(Into::into).boxed()]
    })))
}

impl Component {
    /// Starts the controller, once or once for each namespace, as [`run_manager`](crate::run_manager) does, so that a
    /// test can run it without the process around it. For a webhook, the result is empty.
    pub fn controllers(&self, manager: &Manager, scope: &WatchNamespaces) -> Vec<Running> {
        match &self.0 {
            ComponentKind::Controller(start) => start(manager, scope),
            #[cfg(any(feature = "admission", feature = "conversion"))]
            ComponentKind::Webhook(_) => vec![],
        }
    }

    /// Returns true for a controller, false for a webhook.
    pub fn is_controller(&self) -> bool {
        matches!(self.0, ComponentKind::Controller(_))
    }
}

/// Serves the webhooks among the components until the operator stops, so that a test can serve them without the process
/// around it. The flags have the values of environment variables such as `WEBHOOK_PORT`. It returns at once if there
/// are no webhooks, or if the crate is built without them.
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
        let to_error = |error: anyhow::Error| Error::Configuration(crate::explain(error.as_ref()));
        let webhooks = || components.iter().filter_map(Component::as_webhook);
        let certificate = crate::webhook_server::keep_certificate(&flags, webhooks(), manager);
        let server =
            crate::webhook_server::start_server(&flags, webhooks(), manager, certificate).await.map_err(to_error)?;
        if let Some(server) = server {
            manager.stop.cancelled().await;
            server.shut_down(true).await;
        }
    }
    #[cfg(not(any(feature = "admission", feature = "conversion")))]
    let _ = (components, manager);
    Ok(())
}

#[cfg(any(feature = "admission", feature = "conversion"))]
impl Component {
    pub(crate) fn as_webhook(&self) -> Option<&Webhook> {
        match &self.0 {
            ComponentKind::Webhook(webhook) => Some(webhook),
            ComponentKind::Controller(_) => None,
        }
    }
}

#[cfg(any(feature = "admission", feature = "conversion"))]
impl From<Webhook> for Component {
    fn from(webhook: Webhook) -> Self {
        Self(ComponentKind::Webhook(webhook))
    }
}
