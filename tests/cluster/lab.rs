//! What trials share: the operators, built once, and one control plane on which each has namespaces, an account and
//! roles of its own. Who stops the API server, or changes the CRD, has a control plane of its own.

use std::{sync::Arc, time::Instant};

use tokio::sync::OnceCell;

use crate::{control_plane::ControlPlane, ground::Ground, project::Project};

pub struct Lab {
    untouched: Arc<Project>,
    unruly: Arc<Project>,
    wishful: Arc<Project>,
    website: Arc<Project>,
    webhooks: Arc<Project>,
    shared: OnceCell<Arc<ControlPlane>>,
}

impl Lab {
    /// Builds the operators, one after the other: each build takes all there is.
    pub fn new() -> Self {
        let start = Instant::now();
        let untouched = Project::untouched().into();
        let (unruly, wishful) = (Project::unruly().into(), Project::wishful().into());
        let (website, webhooks) = (Project::website().into(), Project::webhooks().into());
        println!("five operators built in {} s", start.elapsed().as_secs());
        Self { untouched, unruly, wishful, website, webhooks, shared: OnceCell::new() }
    }

    /// A part of the shared control plane, where the untouched operator is installed.
    pub async fn ground(&self, name: &'static str) -> Ground {
        self.shared_ground(name, &self.untouched).await
    }

    /// A part of the shared control plane with the operator that does what annotations say.
    pub async fn unruly_ground(&self, name: &'static str) -> Ground {
        self.shared_ground(name, &self.unruly).await
    }

    /// A part of the shared control plane with the operator that owns what annotations list.
    pub async fn wishful_ground(&self, name: &'static str) -> Ground {
        self.shared_ground(name, &self.wishful).await
    }

    /// A part of the shared control plane with the Website operator.
    pub async fn website_ground(&self, name: &'static str) -> Ground {
        self.shared_ground(name, &self.website).await
    }

    /// The operator that owns what annotations list, on a control plane of its own.
    pub async fn own_wishful_ground(&self, name: &'static str, nodes: bool) -> Ground {
        Ground::new(Arc::new(ControlPlane::start(name, nodes).await), self.wishful.clone())
    }

    /// The operator with webhooks, on a control plane of its own.
    pub async fn own_webhook_ground(&self, name: &'static str) -> Ground {
        Ground::new(Arc::new(ControlPlane::start(name, false).await), self.webhooks.clone())
    }

    /// A control plane of its own, on which nothing is installed yet.
    pub async fn own_ground(&self, name: &'static str, nodes: bool) -> Ground {
        Ground::new(Arc::new(ControlPlane::start(name, nodes).await), self.untouched.clone())
    }

    async fn shared_ground(&self, name: &'static str, project: &Arc<Project>) -> Ground {
        let start = || async { Arc::new(ControlPlane::start("shared", true).await) };
        let shared = self.shared.get_or_init(start).await.clone();
        let ground = Ground::part(shared, project.clone(), name);
        ground.install().await;
        ground
    }
}
