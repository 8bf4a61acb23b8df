//! The arguments of each program of a control plane.

use super::control_plane::{AUDIT_LOG, CERTIFICATE, KEY, KUBECONFIG};

pub fn etcd(client: u16, peer: u16) -> Vec<String> {
    let (client, peer) = (format!("http://127.0.0.1:{client}"), format!("http://127.0.0.1:{peer}"));
    words(&[
        "--data-dir=etcd",
        // The data is deleted after the tests, so it need not survive a power failure.
        "--unsafe-no-fsync",
        &format!("--listen-client-urls={client}"),
        &format!("--advertise-client-urls={client}"),
        &format!("--listen-peer-urls={peer}"),
        &format!("--initial-advertise-peer-urls={peer}"),
        &format!("--initial-cluster=default={peer}"),
    ])
}

pub fn apiserver(store: u16, port: u16) -> Vec<String> {
    words(&[
        &format!("--etcd-servers=http://127.0.0.1:{store}"),
        "--cert-dir=certs",
        "--bind-address=127.0.0.1",
        &format!("--secure-port={port}"),
        "--service-cluster-ip-range=10.0.0.0/24",
        "--service-account-issuer=https://kubernetes.default.svc",
        &format!("--service-account-key-file={KEY}"),
        &format!("--service-account-signing-key-file={KEY}"),
        "--authorization-mode=RBAC",
        "--token-auth-file=tokens.csv",
        // As on OpenShift: setting `blockOwnerDeletion` needs a permission.
        "--enable-admission-plugins=OwnerReferencesPermissionEnforcement",
        "--audit-policy-file=audit.yaml",
        &format!("--audit-log-path={AUDIT_LOG}"),
    ])
}

pub fn controller_manager() -> Vec<String> {
    words(&[
        &format!("--kubeconfig={KUBECONFIG}"),
        &format!("--service-account-private-key-file={KEY}"),
        &format!("--root-ca-file={CERTIFICATE}"),
        "--leader-elect=false",
        "--secure-port=0",
        // The default of 20 requests a second would slow tests down.
        "--kube-api-qps=2000",
        "--kube-api-burst=4000",
    ])
}

fn words(list: &[&str]) -> Vec<String> {
    list.iter().map(ToString::to_string).collect()
}
