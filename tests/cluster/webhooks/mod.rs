//! Webhooks that a real API server calls, by URLs of this machine: an operator whose kind has defaults, rules and
//! a second version.

mod certificates;
mod load;
mod outage;
mod rotation;
mod start;
mod versions;

use std::{fs, path::PathBuf, sync::Arc, time::Duration};

use http::Request;
use kube::{Client, Config, client::Body};
use serde_json::{Value, json};
use tokio::time::sleep;

pub use self::{
    certificates::no_request_fails_while_the_operator_renews_its_own_certificate,
    load::three_thousand_objects_are_converted_in_little_memory,
    outage::an_operator_that_is_gone_stops_writes_and_no_deletion,
    rotation::no_request_fails_while_certificates_and_replicas_are_replaced,
    start::an_operator_starts_that_has_to_convert_what_it_reads,
    versions::objects_are_written_and_read_in_each_version,
};
use crate::{
    ground::Ground,
    lab::Lab,
    operator::Operator,
    security::{certificate, der, probe},
    server::{APPLY, Answer, JSON, Server},
};

pub const STORED: &str = "v1alpha1";
pub const OTHER: &str = "v1beta1";

/// Where the webhooks are called, and what vouches for them.
pub struct Stage {
    pub ground: Ground,
    pub server: Server,
    /// Where the certificate is, as a Secret's volume has it.
    pub certificate: PathBuf,
    /// Where the API server calls the webhooks.
    port: u16,
    /// The objects as the installer has them, with a Service in place of the port.
    services: Vec<Value>,
}

impl Stage {
    /// Nothing calls the validator yet.
    pub async fn unruled(lab: &Lab, name: &'static str, port: u16) -> Self {
        let mut ground = lab.own_webhook_ground(name).await;
        // Its controller has nothing to do, so that what is measured is due to the webhooks.
        ground.watched = Some("elsewhere".into());
        let of_cert_manager =
            |it: &Value| it["apiVersion"].as_str().unwrap().starts_with("cert-manager");
        ground.objects.retain(|it| !of_cert_manager(it));
        ground
            .objects
            .iter_mut()
            .filter(|it| it["kind"] == "CustomResourceDefinition")
            .for_each(keep_unknown);

        let dir = ground.plane.dir.join("serving");
        certificate(&dir, "first");
        let services = ground.objects.clone();
        let server = ground.server.clone();
        let mut stage = Self { ground, server, certificate: dir, port, services };
        stage.ground.objects = stage.local(&stage.authority());
        stage.ground.install_without("ValidatingWebhookConfiguration").await;
        stage.server.namespace("elsewhere").await;
        stage
    }

    /// With all webhooks, and an operator that answers them.
    pub async fn ready(lab: &Lab, name: &'static str) -> (Self, Operator) {
        let stage = Self::unruled(lab, name, free_port()).await;
        let operator = stage.operator("manager", stage.port).await;
        stage.trust(&stage.authority()).await;
        (stage, operator)
    }

    /// What the webhooks' certificate is trusted by, as PEM. It vouches for itself.
    pub fn authority(&self) -> String {
        fs::read_to_string(self.certificate.join("tls.crt")).expect("it is made")
    }

    fn local(&self, authority: &str) -> Vec<Value> {
        let mut res = self.services.clone();
        assert!(::cluster::call_locally(&mut res, self.port, authority));
        res
    }

    /// Has the API server call all webhooks, with these authorities, and waits until it does.
    pub async fn trust(&self, authorities: &str) {
        for object in self.local(authorities) {
            let kind = object["kind"].as_str().unwrap_or_default();
            if kind == "CustomResourceDefinition" || kind.ends_with("WebhookConfiguration") {
                self.server.apply(&object).await;
            }
        }
        // Nothing tells when it has seen the change of one that it calls already.
        sleep(Duration::from_secs(2)).await;
        let refused = self.object(STORED, "refused", json!({ "title": "it", "size": 4 }));
        let path = format!("{}?fieldManager=trial&dryRun=All", at(STORED, "refused"));
        for _ in 0..100 {
            let answer = self.ask("PATCH", &path, APPLY, refused.clone()).await;
            if answer.code == 422 {
                return;
            }
            sleep(Duration::from_millis(100)).await;
        }
        panic!("the validator is not called");
    }

    /// One that serves, with this port for its webhooks.
    pub async fn operator(&self, name: &str, port: u16) -> Operator {
        self.operator_with(name, port, |_| {}).await
    }

    pub async fn operator_with(
        &self,
        name: &str,
        port: u16,
        edit: impl FnOnce(&mut Vec<String>),
    ) -> Operator {
        let mut operator = self.start_operator(name, port, edit).await;
        for _ in 0..300 {
            if probe(&operator, "/readyz").await == 200 {
                return operator;
            }
            assert!(operator.runs(), "{}", operator.log());
            sleep(Duration::from_millis(100)).await;
        }
        panic!("it is not ready\n{}", operator.log());
    }

    /// Starts one with this port for its webhooks, which does not serve them yet.
    async fn start_operator(
        &self,
        name: &str,
        port: u16,
        edit: impl FnOnce(&mut Vec<String>),
    ) -> Operator {
        let token = self.ground.token().await;
        let edit = |words: &mut Vec<String>| {
            words.push(format!("--webhook-port={port}"));
            words.push(format!("--webhook-cert-path={}", self.certificate.display()));
            edit(words);
        };
        Operator::start_with(&self.ground, name, &token, edit).await
    }

    /// Has the validators review also the status, which the operator itself writes.
    fn review_the_status(&mut self) {
        for object in &mut self.services {
            if object["kind"] == "ValidatingWebhookConfiguration" {
                let resources = &mut object["webhooks"][0]["rules"][0]["resources"];
                resources.as_array_mut().expect("it is a list").push(json!("memcacheds/status"));
            }
        }
    }

    /// Returns whether the Service of the webhooks sends requests also to pods that are not ready.
    fn is_published_before_it_is_ready(&self) -> bool {
        let is_service = |object: &&Value| {
            let name = object["metadata"]["name"].as_str().unwrap_or_default();
            object["kind"] == "Service" && name.ends_with("webhook-service")
        };
        let service = self.services.iter().find(is_service).expect("the webhooks have a Service");
        service["spec"]["publishNotReadyAddresses"] == true
    }

    pub fn object(&self, version: &str, name: &str, spec: Value) -> Value {
        json!({
            "apiVersion": format!("cache.example.com/{version}"),
            "kind": "Memcached",
            "metadata": { "name": name, "namespace": "default" },
            "spec": spec,
        })
    }

    /// By server-side apply, as this manager.
    pub async fn apply(&self, manager: &str, version: &str, name: &str, spec: Value) -> Answer {
        let path = format!("{}?fieldManager={manager}", at(version, name));
        self.ask("PATCH", &path, APPLY, self.object(version, name, spec)).await
    }

    pub async fn get(&self, version: &str, name: &str) -> Answer {
        self.ask("GET", &at(version, name), JSON, Value::Null).await
    }

    /// What the operator answers to a review.
    pub async fn webhook(&self, path: &str, review: Value) -> (u16, Value) {
        let url = format!("https://127.0.0.1:{}", self.port).parse();
        let mut config = Config::new(url.expect("it is a URL"));
        config.root_cert = Some(vec![der(&self.authority())]);
        let client = Client::try_from(config).expect("there is a certificate to trust");
        let request = Request::post(path).header("content-type", JSON);
        let request = request.body(Body::from(review.to_string().into_bytes()));
        let answer = client.send(request.expect("it is plain")).await.expect("it answers");
        let code = answer.status().as_u16();
        let bytes = answer.into_body().collect_bytes().await.expect("the answer is whole");
        (code, serde_json::from_slice(&bytes).expect("it is JSON"))
    }

    pub async fn ask(&self, method: &str, path: &str, content: &str, body: Value) -> Answer {
        self.server.ask(method, path, content, body).await.expect("the API server answers")
    }
}

/// As its own program stops it: it goes on serving for 5 seconds, until every node knows that it ends.
pub async fn stop(mut operator: Operator) {
    operator.signal("TERM");
    let end = operator.ended(10).await;
    assert!(end.success(), "{end}\n{}", operator.log());
}

pub fn at(version: &str, name: &str) -> String {
    format!("/apis/cache.example.com/{version}/namespaces/default/memcacheds/{name}")
}

pub fn free_port() -> u16 {
    let [port] = ::cluster::free_ports().expect("there are free ports");
    port
}

/// Lets the stored version have fields that the operator's type has not: in the spec, and in each of its parts.
fn keep_unknown(crd: &mut Value) {
    let versions = crd["spec"]["versions"].as_array_mut().expect("it has versions");
    for version in versions.iter_mut().filter(|it| it["name"] == STORED) {
        for place in ["", "/properties/parts/items"] {
            let place = format!("/schema/openAPIV3Schema/properties/spec{place}");
            let schema = version.pointer_mut(&place).expect("it has such a field");
            schema["x-kubernetes-preserve-unknown-fields"] = json!(true);
        }
    }
}

/// Says what the answer was, where it is not this one.
pub fn require(answer: &Answer, code: u16) {
    assert_eq!(answer.code, code, "{:#}", answer.body);
}

pub type SharedLab = Arc<Lab>;
