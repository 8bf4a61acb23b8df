//! The memory that the manifest gives: what strangers send does not fill it, nor does what is watched.

use std::{sync::Arc, time::Duration};

use http::{HeaderValue, Request, header::AUTHORIZATION};
use kube::{Client, Config, client::Body};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::{
    ground::Ground,
    lab::Lab,
    operator::Operator,
    security::{reader, scrape},
    wishes::config_map,
};

/// In MiB.
fn limit(ground: &Ground) -> f64 {
    let container = &ground.object("Deployment")["spec"]["template"]["spec"]["containers"][0];
    let limit = container["resources"]["limits"]["memory"].as_str().expect("it has a limit");
    limit.trim_end_matches("Mi").parse().expect("it is in MiB")
}

pub async fn twenty_thousand_random_tokens_fill_no_memory(lab: Arc<Lab>) {
    const TOKENS: usize = 20_000;
    let ground = lab.ground("tokens").await;
    let mut operator = Operator::start(&ground, "manager").await;
    operator.until_said("leading", 30).await;
    let good = reader(&ground).await;
    assert_eq!(scrape(&operator, None, Some(&good)).await.0, 200);
    let before = operator.memory().1;
    let start = Instant::now();
    let mut config =
        Config::new(format!("https://{}", operator.metrics).parse().expect("it is a URL"));
    (config.accept_invalid_certs, config.default_retry) = (true, false);
    let client = Client::try_from(config).expect("there is nothing to read");
    let send = |first: usize| {
        let client = client.clone();
        async move {
            let mut codes = std::collections::BTreeMap::<u16, usize>::new();
            for number in (first..TOKENS).step_by(40) {
                // Up to what is refused unread.
                let token = format!("{number:x}").repeat(1 + number % 1700);
                let value = HeaderValue::from_str(&format!("Bearer {token}")).expect("it is plain");
                let request =
                    Request::get("/metrics").header(AUTHORIZATION, value).body(Body::empty());
                let answer = client.send(request.expect("it is plain")).await;
                *codes.entry(answer.map_or(0, |it| it.status().as_u16())).or_default() += 1;
            }
            codes
        }
    };
    let mut all = std::collections::BTreeMap::<u16, usize>::new();
    let flood: Vec<_> = (0..40).map(|first| tokio::spawn(send(first))).collect();
    let mut served = 0;
    while !flood.iter().all(|it| it.is_finished()) {
        assert_eq!(
            scrape(&operator, None, Some(&good)).await.0,
            200,
            "who is known is served meanwhile"
        );
        served += 1;
        sleep(Duration::from_millis(200)).await;
    }
    for it in flood {
        it.await
            .expect("it ends")
            .into_iter()
            .for_each(|(code, count)| *all.entry(code).or_default() += count);
    }
    let (after, peak) = operator.memory();
    println!(
        "{TOKENS} tokens in {} s: {all:?}; memory from {before} to {after} MiB, {peak} at most; {served} good answers",
        start.elapsed().as_secs()
    );
    assert!(all.keys().all(|it| [0, 401, 429, 431].contains(it)), "{all:?}");
    assert!(peak < limit(&ground), "{peak} MiB");
    // One that was not known comes to its turn soon.
    let token = reader(&ground).await;
    sleep(Duration::from_secs(2)).await;
    assert_eq!(scrape(&operator, None, Some(&token)).await.0, 200);
    let reviews =
        ground.calls().iter().filter(|it| it["objectRef"]["resource"] == "tokenreviews").count();
    println!("{reviews} reviews");
    assert!(operator.runs());
    operator.stop().await;
}

/// How far something has come. A busy machine makes it slow, which is no fault; that it stands still is one.
struct Progress {
    done: usize,
    since: Instant,
}

impl Default for Progress {
    fn default() -> Self {
        Self { done: 0, since: Instant::now() }
    }
}

impl Progress {
    /// Whether more is done than a while ago.
    fn goes_on(&mut self, done: usize) -> bool {
        if done != self.done {
            *self = Self { done, since: Instant::now() };
        }
        self.since.elapsed() < Duration::from_secs(60)
    }
}

/// Starts an operator that has a minute to renew the Lease, as the documentation advises for a machine that is busy: other
/// suites run beside this one, and the trial is about memory.
async fn start_patient(ground: &Ground, name: &str) -> Operator {
    let token = ground.token().await;
    let operator = Operator::start_with(ground, name, &token, |words| {
        let times =
            ["--leader-election-lease-duration=90s", "--leader-election-renew-deadline=60s"];
        words.extend(times.map(str::to_owned));
    });
    let operator = operator.await;
    operator.until_said("leading", 60).await;
    operator
}

pub async fn three_hundred_large_config_maps_fill_no_memory(lab: Arc<Lab>) {
    const MAPS: usize = 300;
    let ground = lab.own_wishful_ground("large", false).await;
    ground.install().await;
    let mut operator = start_patient(&ground, "manager").await;
    let idle = operator.memory().0;
    let mut map = config_map("it", Value::Null);
    map["fill"] = json!(500_000);
    for number in 0..MAPS {
        map["metadata"]["name"] = json!(format!("map-{number}"));
        ground.ask(&format!("m{number}"), std::slice::from_ref(&map), json!({})).await;
    }
    let all = "/apis/cache.example.com/v1alpha1/namespaces/default/memcacheds";
    let mut progress = Progress::default();
    loop {
        let mut done = ground.server.list(all).await;
        done.retain(|it| it["status"]["selector"].as_str().is_some_and(|it| !it.is_empty()));
        if done.len() == MAPS {
            break;
        }
        assert!(progress.goes_on(done.len()), "{} of {MAPS}\n{}", done.len(), operator.log());
        assert!(operator.runs(), "{}", operator.log());
        sleep(Duration::from_millis(500)).await;
    }
    let (now, peak) = operator.memory();
    println!("{MAPS} ConfigMaps of 500 kB: from {idle} to {now} MiB, {peak} at most");
    assert!(peak < limit(&ground), "{peak} MiB");
    operator.stop().await;

    let since = ground.calls().len();
    let operator = start_patient(&ground, "again").await;
    let mut progress = Progress::default();
    let token = reader(&ground).await;
    loop {
        let (_, text) = scrape(&operator, None, Some(&token)).await;
        let done =
            "controller_runtime_reconcile_total{controller=\"memcached\",result=\"success\"} ";
        let done = text.lines().find_map(|it| it.strip_prefix(done)?.parse::<usize>().ok());
        if done.is_some_and(|it| it >= MAPS) {
            break;
        }
        let done = done.unwrap_or_default();
        assert!(progress.goes_on(done), "{done} of {MAPS}\n{}", operator.log());
        sleep(Duration::from_secs(1)).await;
    }
    let (now, peak) = operator.memory();
    println!("after a restart: {now} MiB, {peak} at most");
    assert!(peak < limit(&ground), "{peak} MiB");
    assert_eq!(ground.writes(since), [""; 0]);
    operator.stop().await;
}
