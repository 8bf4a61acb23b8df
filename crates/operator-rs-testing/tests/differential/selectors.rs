//! The field selectors that are known for each resource.

use serde_json::Value;
use std::{thread::sleep, time::Duration};

use crate::{
    Lab,
    random::{JSON, Step},
    side::Session,
};

/// Every kind that has selectors of its own, some that have none, and the two kinds of the CRDs.
const RESOURCES: [&str; 21] = [
    "/api/v1/configmaps",
    "/api/v1/events",
    "/api/v1/namespaces",
    "/api/v1/nodes",
    "/api/v1/persistentvolumeclaims",
    "/api/v1/persistentvolumes",
    "/api/v1/pods",
    "/api/v1/replicationcontrollers",
    "/api/v1/secrets",
    "/api/v1/serviceaccounts",
    "/api/v1/services",
    "/apis/apps/v1/deployments",
    "/apis/apps/v1/replicasets",
    "/apis/apps/v1/statefulsets",
    "/apis/batch/v1/cronjobs",
    "/apis/batch/v1/jobs",
    "/apis/certificates.k8s.io/v1/certificatesigningrequests",
    "/apis/events.k8s.io/v1/events",
    "/apis/resource.k8s.io/v1/resourceslices",
    "/apis/test.dev/v1/gadgets",
    "/apis/test.dev/v1/widgets",
];

/// Every selector of any of them, and some that are none.
const FIELDS: &str = "data involvedObject.apiVersion involvedObject.fieldPath involvedObject.kind involvedObject.name \
    involvedObject.namespace involvedObject.resourceVersion involvedObject.uid metadata.labels metadata.name \
    metadata.namespace metadata.uid name reason regarding.apiVersion regarding.fieldPath regarding.kind regarding.name \
    regarding.namespace regarding.resourceVersion regarding.uid reportingComponent reportingController source \
    spec.clusterIP spec.driver spec.host spec.hostNetwork spec.name spec.nodeName spec.podName spec.restartPolicy \
    spec.schedulerName spec.serviceAccountName spec.signerName spec.size spec.type spec.unschedulable status.nominatedNodeName \
    status.phase status.podIP status.podIPs status.replicas status.succeeded status.successful type";

/// The selectors that only one of the two servers knows.
pub fn differences(lab: &Lab) -> Vec<String> {
    let (mut memory, mut real) = (Session::start(&lab.memory, "selectors"), Session::start(&lab.real, "selectors"));
    let mut out = Vec::new();
    for resource in RESOURCES {
        for field in FIELDS.split_whitespace() {
            let path = format!("{resource}?fieldSelector={field}%3Dnone&limit=1");
            let step = Step { method: "GET", path, content: JSON, body: Value::Null };
            let (ours, mut theirs) = (memory.ask(&step).0, real.ask(&step).0);
            while theirs == 429 {
                // The cache of a kind whose CRD is new is still being filled.
                sleep(Duration::from_millis(100));
                theirs = real.ask(&step).0;
            }
            if ours != theirs {
                out.push(format!("{}: in memory {ours}, really {theirs}", step.path));
            }
        }
    }
    out
}
