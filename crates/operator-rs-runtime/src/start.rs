//! The parts of an operator: controllers and webhooks.

#[cfg(any(feature = "admission", feature = "conversion"))]
use crate::webhooks::Webhook;
use crate::{
    Operator,
    scope::{Namespace, WatchScope},
};
use futures::future::{BoxFuture, FutureExt};

/// A part of an operator: a controller or a webhook.
pub struct Start(Part);

enum Part {
    Controller(Run),
    #[cfg(any(feature = "admission", feature = "conversion"))]
    Webhook(Webhook),
}

/// Starts a controller, once or once for each namespace.
type Run = Box<dyn Fn(&Operator, &WatchScope) -> Vec<Running> + Send + Sync>;
/// A controller that runs.
type Running = BoxFuture<'static, anyhow::Result<()>>;

/// A controller of a namespaced kind, which runs once for each watched namespace.
pub fn per_namespace<F, Fut>(run: F) -> Start
where
    F: Fn(Operator) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = anyhow::Result<()>> + Send + 'static,
{
    Start(Part::Controller(Box::new(move |operator, scope| {
        let within = |namespace| run(Operator { namespace, ..operator.clone() }).boxed();
        scope.namespaces().into_iter().map(within).collect()
    })))
}

/// A controller of a cluster-scoped kind, which runs once. Its children can be in any namespace.
pub fn cluster_wide<F, Fut>(run: F) -> Start
where
    F: Fn(Operator) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = anyhow::Result<()>> + Send + 'static,
{
    Start(Part::Controller(Box::new(move |operator, _| {
        vec![run(Operator { namespace: Namespace::All, ..operator.clone() }).boxed()]
    })))
}

impl Start {
    /// Starts the controller, once or once for each namespace, as [`start`](crate::start) does: a test can run it
    /// without the process around it. A webhook starts none.
    pub fn controllers(&self, operator: &Operator, scope: &WatchScope) -> Vec<Running> {
        match &self.0 {
            Part::Controller(start) => start(operator, scope),
            #[cfg(any(feature = "admission", feature = "conversion"))]
            Part::Webhook(_) => vec![],
        }
    }

    /// Whether it is a controller, and no webhook.
    pub fn is_controller(&self) -> bool {
        matches!(self.0, Part::Controller(_))
    }
}

/// Serves the webhooks among the parts until the operator stops, with the flags that environment variables set, such as
/// WEBHOOK_PORT: a test can do so without the process around it. It ends at once if there are none, or if the crate is built
/// without webhooks.
///
/// # Errors
/// If a variable is invalid, or the webhooks cannot be served.
pub async fn serve_webhooks(parts: Vec<Start>, operator: &Operator) -> anyhow::Result<()> {
    #[cfg(any(feature = "admission", feature = "conversion"))]
    {
        #[derive(clap::Parser)]
        struct Variables {
            #[command(flatten)]
            flags: crate::Flags,
        }
        let Variables { flags } = clap::Parser::try_parse_from([""])?;
        let webhooks = || parts.iter().filter_map(Start::webhook);
        let own = crate::webhooks::keep_certificate(&flags, webhooks(), operator);
        if let Some(server) = crate::webhooks::serve(&flags, webhooks(), operator, own).await? {
            operator.stop.cancelled().await;
            server.end(true).await;
        }
    }
    #[cfg(not(any(feature = "admission", feature = "conversion")))]
    let _ = (parts, operator);
    Ok(())
}

#[cfg(any(feature = "admission", feature = "conversion"))]
impl Start {
    pub(crate) fn webhook(&self) -> Option<&Webhook> {
        match &self.0 {
            Part::Webhook(it) => Some(it),
            Part::Controller(_) => None,
        }
    }
}

#[cfg(any(feature = "admission", feature = "conversion"))]
impl From<Webhook> for Start {
    fn from(webhook: Webhook) -> Self {
        Self(Part::Webhook(webhook))
    }
}
