//! What webhooks cost: the memory of who answers them, and the time of who waits.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::{OTHER, STORED, SharedLab, Stage, at, free_port, require, stop};
use crate::{
    operator::Operator,
    security::{reader, scrape},
    server::{JSON, Server},
};

const MANY: usize = 3000;

/// What the pod of an operator may have, in MiB.
const LIMIT: f64 = 64.0;

pub async fn three_thousand_objects_are_converted_in_little_memory(lab: SharedLab) {
    let (stage, operator) = Stage::ready(&lab, "webhook-load").await;
    let alone = |it: &mut Vec<String>| it.retain(|it| it != "--leader-elect");
    let with = stage.operator_with("with", free_port(), alone).await;
    let without = stage
        .operator_with("without", free_port(), |it| {
            alone(it);
            it.push("--enable-webhooks=false".into());
        })
        .await;
    sleep(Duration::from_secs(5)).await;
    let (more, less) = (with.memory().0, without.memory().0);
    println!("idle: {more} MiB with webhooks, {less} MiB without");
    assert!(more - less < 2.0, "webhooks that nobody calls need {more} instead of {less} MiB");
    stop(with).await;
    without.stop().await;

    let reader = reader(&stage.ground).await;
    let (before, _) = operator.memory();
    report("creates with admission", each(&stage.server, MANY, create).await);
    let (after, most) = operator.memory();
    println!("creates: {before} MiB before, {after} after, {most} at most");
    let calls = conversions(&operator, &reader).await;
    report(
        "reads that convert",
        each(&stage.server, 2000, |server, it| read(server, OTHER, it)).await,
    );
    let calls = conversions(&operator, &reader).await - calls;
    assert!(calls >= 2000, "each of them is converted: {calls}");
    report(
        "reads that do not",
        each(&stage.server, 2000, |server, it| read(server, STORED, it)).await,
    );

    let whole = async |what: &str, at_once: usize| {
        let (start, calls) = (Instant::now(), conversions(&operator, &reader).await);
        if at_once == 1 {
            // A CRD that has changed is served anew: the API server reads all objects again, in each version.
            stage.trust(&stage.authority().repeat(2)).await;
            let all = at(OTHER, "");
            // Clients are told to ask again while it does.
            while stage.ask("GET", all.trim_end_matches('/'), JSON, Value::Null).await.code == 429 {
                sleep(Duration::from_millis(100)).await;
            }
        }
        let lists = (0..at_once).map(|_| tokio::spawn(all_are_converted(stage.server.clone())));
        for it in lists.collect::<Vec<_>>() {
            it.await.expect("the list is whole");
        }
        let took = start.elapsed().as_secs_f64();
        let calls = conversions(&operator, &reader).await - calls;
        let (after, most) = operator.memory();
        println!("{what} in {took:.1} s, by {calls} calls: {after} MiB after, {most} at most");
        assert!(most < LIMIT, "{most} MiB are more than its pod may have");
        calls
    };
    let calls = whole("a list of all, and the CRD is new", 1).await;
    assert!(calls > 0, "they are converted");
    whole("four more lists of all", 4).await;

    a_review_of_all_fits(&stage, &operator).await;

    // Pages, as clients ask for them.
    let path = format!("{}?limit=500", at(OTHER, "").trim_end_matches('/'));
    let answer = stage.ask("GET", &path, JSON, Value::Null).await;
    require(&answer, 200);
    assert_eq!(answer.body["items"].as_array().map(Vec::len), Some(500));
    assert_eq!(operator.said(" ERROR "), [""; 0]);
    stop(operator).await;
}

/// An API server may also send a list as one review.
async fn a_review_of_all_fits(stage: &Stage, operator: &Operator) {
    let listed = stage.ask("GET", at(STORED, "").trim_end_matches('/'), JSON, Value::Null).await;
    let review = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "ConversionReview",
        "request": {
            "uid": "whole",
            "desiredAPIVersion": format!("cache.example.com/{OTHER}"),
            "objects": whole_objects(listed.body),
        },
    });
    let size = review.to_string().len();
    let start = Instant::now();
    let (code, answer) = stage.webhook("/convert", review).await;
    let took = start.elapsed().as_secs_f64();
    assert_eq!(code, 200, "{answer}");
    let converted = answer["response"]["convertedObjects"].as_array().expect("it is a list");
    assert_eq!(converted.len(), MANY);
    assert_eq!(converted[MANY - 1]["spec"]["remark"], note(MANY - 1));
    let (after, most) = operator.memory();
    println!("a review of {size} bytes in {took:.2} s: {after} MiB after, {most} at most");
    assert!(most < LIMIT, "{most} MiB are more than its pod may have");
}

/// The items of a list, each with what a list leaves out.
fn whole_objects(mut list: Value) -> Vec<Value> {
    let items = list["items"].as_array_mut().expect("it is a list");
    for it in items.iter_mut() {
        it["apiVersion"] = json!(format!("cache.example.com/{STORED}"));
        it["kind"] = json!("Memcached");
    }
    std::mem::take(items)
}

/// How many calls for a conversion it has answered.
async fn conversions(operator: &Operator, reader: &str) -> usize {
    let (code, text) = scrape(operator, None, Some(reader)).await;
    assert_eq!(code, 200, "{text}");
    let series = r#"controller_runtime_webhook_requests_total{webhook="/convert",code="200"} "#;
    let count = text.lines().find_map(|it| it.strip_prefix(series));
    count.expect("the metrics have it").parse().expect("it is a number")
}

/// 1.5 kB of text, in which no two are the same.
fn note(number: usize) -> String {
    (0..250).map(|it| format!("{:06}", (number * 7919 + it * 104_729) % 1_000_000)).collect()
}

async fn create(server: Server, number: usize) {
    let name = format!("m-{number:04}");
    let object = json!({
        "apiVersion": format!("cache.example.com/{STORED}"),
        "kind": "Memcached",
        "metadata": { "name": name },
        "spec": { "title": name, "note": note(number) },
    });
    let answer = server.create(at(STORED, "").trim_end_matches('/'), object).await;
    assert_eq!(answer.body["spec"]["tier"], "small", "the webhook was called");
}

async fn read(server: Server, version: &str, number: usize) {
    let it = server.get(&at(version, &format!("m-{number:04}"))).await.expect("it is read");
    let field = if version == OTHER { "remark" } else { "note" };
    assert_eq!(it["spec"][field], note(number));
}

async fn all_are_converted(server: Server) {
    let all = server.list(at(OTHER, "").trim_end_matches('/')).await;
    assert_eq!(all.len(), MANY);
    for (number, it) in all.iter().enumerate() {
        assert_eq!(it["metadata"]["name"], format!("m-{number:04}"));
        assert_eq!(it["spec"]["remark"], note(number));
    }
}

/// How long each of many calls takes, two at a time.
async fn each<F: Future<Output = ()> + Send>(
    server: &Server,
    many: usize,
    call: impl Fn(Server, usize) -> F + Copy + Send + 'static,
) -> Vec<Duration> {
    let half = |from: usize| {
        let server = server.clone();
        tokio::spawn(async move {
            let mut res = Vec::new();
            for number in (from..many).step_by(2) {
                let start = Instant::now();
                call(server.clone(), number).await;
                res.push(start.elapsed());
            }
            res
        })
    };
    let (even, odd) = (half(0), half(1));
    let mut res = even.await.expect("all are answered");
    res.extend(odd.await.expect("all are answered"));
    res
}

fn report(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let part = |of: usize| times[times.len() * of / 100].as_secs_f64() * 1000.0;
    println!("{} {what}: p50 {:.1} ms, p99 {:.1} ms", times.len(), part(50), part(99));
}
