//! An operator with webhooks and a second version, installed by Helm from its chart: the API server calls it by the Service of
//! the release, also after an upgrade.

use std::{path::Path, process::Command};

use serde_json::Value;

use crate::{
    cert_manager::{self, SYSTEM, clients},
    control_plane::{self, ControlPlane},
    installed::{self, Installed},
    issuer::CertManager,
    project::Project,
    server::Server,
    support,
};

#[tokio::test]
async fn webhooks_of_a_chart_are_called_with_the_certificate_of_cert_manager() {
    trial("cert-manager").await;
}

#[tokio::test]
async fn webhooks_of_a_chart_are_called_with_the_certificate_of_the_operator() {
    trial("self").await;
}

async fn trial(certificates: &'static str) {
    let (Some(address), Some(program)) = (installed::address(), support::tool("helm")) else {
        return;
    };
    if !control_plane::is_there() {
        return;
    }
    let made = move || {
        let dir = Project::with_certificates(certificates);
        support::done(&dir, "generate chart");
        (dir, &cert_manager::project().manager)
    };
    let (dir, manager) = tokio::task::spawn_blocking(made).await.expect("it is built");
    let words = ["--nodes", "--pods-at", &address];
    let plane = ControlPlane::start_with(&format!("chart-{certificates}"), &words).await;
    let (server, kubeconfig) = (plane.server.clone(), plane.dir.join("kubeconfig"));
    let helm = |words: &str| helm(&program, &dir, &kubeconfig, words);
    let flags = format!("webhook-operator chart --namespace {SYSTEM}");
    if certificates == "cert-manager" {
        let mut issuer = CertManager::install(&server, &kubeconfig).await;
        helm(&format!("install {flags} --create-namespace"));
        issuer.fulfil(&server).await;
        let secret = "webhook-operator-webhook-server-cert";
        cert_manager::every_call_trusts_the_certificate_in(secret, &server).await;
    } else {
        helm(&format!("install {flags} --create-namespace"));
    }
    let deployment = format!(
        "/apis/apps/v1/namespaces/{SYSTEM}/deployments/webhook-operator-controller-manager"
    );
    let installed = Installed::start(&server, &kubeconfig, manager, &deployment).await;
    installed::webhooks_are_called(&server, &installed).await;

    // What others have written into the release's objects stays.
    let before = calls(&server).await;
    helm(&format!("upgrade {flags} --set replicas=2"));
    assert_eq!(server.get(&deployment).await.unwrap()["spec"]["replicas"], 2);
    assert_eq!(calls(&server).await, before);
    assert!(before.iter().all(|it| it["caBundle"].is_string()), "{before:#?}");
    assert!(!installed.log().contains(" ERROR "), "{}", installed.log());
    helm(&format!("uninstall webhook-operator --namespace {SYSTEM} --wait"));
    assert_eq!(server.get(&deployment).await, None);
}

/// How the API server calls the operator: to default, to check and to convert.
async fn calls(server: &Server) -> Vec<Value> {
    let mut res = Vec::new();
    for (path, kind) in [
        (
            "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/webhook-operator-mutating-webhook-configuration",
            "MutatingWebhookConfiguration",
        ),
        (
            "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/webhook-operator-validating-webhook-configuration",
            "ValidatingWebhookConfiguration",
        ),
        (
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/memcacheds.cache.example.com",
            "CustomResourceDefinition",
        ),
    ] {
        let mut object = server.get(path).await.expect("Helm has installed it");
        object["kind"] = kind.into();
        res.extend(clients(&mut object).into_iter().map(|it| it.take()));
    }
    assert_eq!(res.len(), 3, "{res:#?}");
    res
}

fn helm(program: &Path, dir: &Path, kubeconfig: &Path, words: &str) {
    let mut command: Command = support::command(program, dir);
    command.args(words.split_whitespace()).env("KUBECONFIG", kubeconfig);
    let output = command.output().expect("Helm starts");
    assert!(output.status.success(), "helm {words}\n{}", support::said(&output));
}
