use super::{issue::DAY, rotation::SEEN, *};
use operator_rs_testing::{CancellationToken, Cluster, Fault};
use serde_json::{Value, json};

/// The next step when API servers have seen what is published.
fn next(contents: &Contents, bundles: &[String], names: &[String], now: SystemTime) -> anyhow::Result<Step> {
    rotation::next(contents, bundles, SEEN, names, now)
}

fn names() -> Vec<String> {
    ["", ".cluster.local"].map(|it| format!("webhook-service.system.svc{it}")).into()
}

fn start() -> SystemTime {
    SystemTime::UNIX_EPOCH + DAY * 20_000
}

/// Random numbers that are the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end).unwrap()
    }
}

/// A replica of the operator: what it has read, and what it serves.
#[derive(Clone, Default)]
struct Replica {
    bundles: Option<Vec<(usize, String)>>,
    step: Option<(usize, Vec<usize>, Step)>,
    serving: Option<Pair>,
}

/// A cluster with replicas that do one thing at a time, in any order.
struct World {
    now: SystemTime,
    /// What is stored, with its version.
    secret: (usize, Contents),
    bundles: Vec<(usize, String)>,
    /// Those that somebody else has written.
    foreign: Vec<bool>,
    replicas: Vec<Replica>,
    writes: usize,
}

impl World {
    fn new() -> Self {
        Self {
            now: start(),
            secret: Default::default(),
            bundles: vec![Default::default(); 3],
            foreign: vec![false; 3],
            replicas: vec![Replica::default(); 3],
            writes: 0,
        }
    }

    /// The next thing that a replica does: read the configurations, read the Secret, or write one of them. What it has
    /// changed is checked.
    fn go_on(&mut self, at: usize, random: &mut Random) {
        let before = (self.writes, self.replicas[at].serving.clone());
        self.act(at, random);
        if before != (self.writes, self.replicas[at].serving.clone()) {
            self.check();
        }
    }

    fn act(&mut self, at: usize, random: &mut Random) {
        let replica = &mut self.replicas[at];
        if let Some((secret, versions, step)) = replica.step.take() {
            match step {
                Step::Store(contents, _) if secret == self.secret.0 => {
                    self.secret = (secret + 1, contents);
                    self.writes += 1;
                }
                Step::Publish(authorities) => {
                    // It may crash after each of them.
                    let one = random.below(3);
                    if versions[one] == self.bundles[one].0 && self.bundles[one].1 != authorities {
                        self.bundles[one] = (versions[one] + 1, authorities);
                        self.foreign[one] = false;
                        self.writes += 1;
                    }
                }
                _ => {}
            }
        } else if let Some(bundles) = replica.bundles.take() {
            let texts: Vec<String> = bundles.iter().map(|it| it.1.clone()).collect();
            let step = next(&self.secret.1, &texts, &names(), self.now).unwrap();
            let serves = self.replicas[at].serving.as_ref().is_some_and(|it| it.is_current(self.now));
            let replica = &mut self.replicas[at];
            if step == Step::Done || !serves {
                let new = self.secret.1.valid_pair(&names(), self.now).cloned();
                replica.serving = new.or(replica.serving.take());
            }
            replica.step = Some((self.secret.0, bundles.iter().map(|it| it.0).collect(), step));
        } else {
            replica.bundles = Some(self.bundles.clone());
        }
    }

    /// Each certificate that is served is accepted by whoever trusts what is in any configuration.
    fn check(&self) {
        for (nth, (_, bundle)) in self.bundles.iter().enumerate().filter(|it| !self.foreign[it.0]) {
            for (replica, it) in self.replicas.iter().enumerate() {
                let Some(pair) = &it.serving else { continue };
                let is_trusted = issue::verifies(pair, &issue::certificates(bundle), &names(), self.now);
                assert!(
                    is_trusted || !pair.is_current(self.now),
                    "replica {replica} is not trusted by configuration {nth}"
                );
            }
        }
    }

    /// Somebody damages something, while all replicas rest.
    fn damage(&mut self, random: &mut Random) {
        let (version, contents) = &mut self.secret;
        *version += 1;
        match random.below(7) {
            0 => contents.authority_key.clear(),
            1 => contents.authorities.clear(),
            2 => contents.pair.certificate = "rubbish".into(),
            3 => {
                contents.pair.key =
                    issue::sign(&issue::new_authority(start()).unwrap().key, &names(), start()).unwrap().key
            }
            4 if !self.foreign.contains(&true) => *contents = Contents::default(),
            5 if !contents.authorities.is_empty() => {
                let one = random.below(3);
                let text = [String::new(), issue::new_authority(start()).unwrap().certificate][random.below(2)].clone();
                self.bundles[one] = (self.bundles[one].0 + 1, text);
                self.foreign[one] = true;
            }
            _ => contents.authority_key = issue::new_authority(start()).unwrap().key,
        }
    }

    /// Lets each replica go on alone until there is nothing to do.
    fn settle(&mut self, random: &mut Random) {
        for at in [0, 1, 2, 0, 1, 2] {
            (self.replicas[at].bundles, self.replicas[at].step) = (None, None);
            let done = |it: &Replica| matches!(it.step, Some((_, _, Step::Done)));
            while !done(&self.replicas[at]) {
                self.go_on(at, random);
            }
        }
        let first = self.replicas[0].serving.clone();
        assert!(self.replicas.iter().all(|it| it.serving == first), "all serve the same");
        assert!(self.bundles.iter().all(|it| it.1 == self.secret.1.authorities));
    }
}

/// Three replicas, in any order, which may end at any time; somebody damages what is stored, and time passes.
#[test]
fn what_is_served_is_trusted_after_each_single_write() {
    let mut writes = 0;
    for seed in 1..=16 {
        let (mut random, mut world) = (Random(seed * 7919), World::new());
        for turn in 1..=300 {
            let at = random.below(3);
            world.go_on(at, &mut random);
            match random.below(40) {
                0 => world.now += DAY * u32::try_from(random.below(25)).unwrap(),
                1 => world.replicas[at] = Replica::default(),
                _ if turn % 50 == 0 => {
                    world.replicas.iter_mut().for_each(|it| (it.bundles, it.step) = (None, None));
                    world.damage(&mut random);
                }
                _ => {}
            }
        }
        world.settle(&mut random);
        writes += world.writes;
    }
    assert!(writes > 300, "{writes} are some writes");
}

fn stored(step: Step) -> Contents {
    match step {
        Step::Store(contents, _) => contents,
        other => panic!("nothing is stored: {other:?}"),
    }
}

/// What the Secret holds once everything is in order.
fn settled(now: SystemTime) -> Contents {
    let first = stored(next(&Contents::default(), &[], &names(), now).unwrap());
    assert_eq!(first.pair, Pair::default(), "an authority signs nothing before it is trusted");
    stored(next(&first, std::slice::from_ref(&first.authorities), &names(), now).unwrap())
}

fn why(contents: &Contents, now: SystemTime) -> &'static str {
    match next(contents, std::slice::from_ref(&contents.authorities), &names(), now).unwrap() {
        Step::Store(_, why) => why,
        Step::Publish(_) => "publish",
        Step::Wait => "wait",
        Step::Done => "",
    }
}

#[test]
fn certificates_are_renewed_after_two_thirds_of_their_lives() {
    let contents = settled(start());
    assert_eq!(why(&contents, start() + DAY * 59), "");
    assert_eq!(why(&contents, start() + DAY * 61), "the old one ends");
    let renewed = stored(next(&contents, &[], &names(), start() + DAY * 61).unwrap());
    assert_eq!(renewed.authorities, contents.authorities, "nothing is published for it");
    assert_eq!(why(&renewed, start() + DAY * 61), "");
    let years = start() + DAY * 365 * 7;
    let next_authority = stored(next(&contents, &[], &names(), years).unwrap());
    assert_eq!(next_authority.pair, contents.pair);
    let authorities = issue::certificates(&next_authority.authorities);
    assert_eq!(authorities.len(), 2);
    let until = |at: usize| issue::validity(&authorities[at]).unwrap().1;
    assert_eq!((until(0), until(1)), (start() + DAY * 3650, years + DAY * 3650));
}

#[test]
fn an_old_authority_goes_when_nothing_that_it_signed_is_valid() {
    let mut contents = settled(start());
    contents.authority_key.clear();
    let contents = stored(next(&contents, &[], &names(), start()).unwrap());
    let contents = stored(next(&contents, &[], &names(), start()).unwrap());
    let renewed = stored(next(&contents, &[], &names(), start() + DAY * 61).unwrap());
    assert_eq!(why(&renewed, start() + DAY * 90), "");
    let at = start() + DAY * 92;
    let last = stored(next(&renewed, &[], &names(), at).unwrap());
    assert_eq!(last.pair, renewed.pair);
    assert_eq!(issue::certificates(&last.authorities).len(), 1);
    assert_eq!(why(&last, at), "");
}

#[test]
fn what_is_not_valid_is_made_anew_and_the_reason_is_told() {
    let (good, other) = (settled(start()), settled(start()));
    let ended = "none in `ca.crt` is valid and belongs to the key in `ca.key`";
    let invalid = "the old one has ended, is of other names, or does not belong to its key";
    let with = |edit: &dyn Fn(&mut Contents)| {
        let mut res = good.clone();
        edit(&mut res);
        why(&res, start())
    };
    assert_eq!(with(&|_| {}), "");
    assert_eq!(with(&|it| *it = Contents::default()), "there is none");
    assert_eq!(with(&|it| it.authority_key.clear()), ended);
    assert_eq!(with(&|it| it.authorities.clear()), ended);
    assert_eq!(with(&|it| it.authority_key.clone_from(&other.authority_key)), ended);
    assert_eq!(with(&|it| it.authorities = "rubbish".into()), ended);
    assert_eq!(with(&|it| it.pair = Pair::default()), "there is none");
    assert_eq!(with(&|it| it.pair.key.clone_from(&other.pair.key)), invalid);
    assert_eq!(with(&|it| it.pair = other.pair.clone()), invalid);
    let names = ["a.b.svc".to_owned()];
    assert_eq!(with(&|it| it.pair = issue::sign(&good.authority_key, &names, start()).unwrap()), invalid);
    assert_eq!(
        with(&|it| it.pair = issue::sign(&good.authority_key, &self::names(), start() - DAY * 91).unwrap()),
        invalid
    );
    let ancient = settled(start() - DAY * 4000);
    assert_eq!(why(&ancient, start()), ended);
}

#[test]
fn a_configuration_that_has_other_authorities_gets_ours() {
    let contents = settled(start());
    for other in ["", "rubbish", &settled(start()).authorities] {
        let bundles = [contents.authorities.clone(), other.to_owned()];
        let step = next(&contents, &bundles, &names(), start()).unwrap();
        assert_eq!(step, Step::Publish(contents.authorities.clone()));
    }
}

#[test]
fn the_dates_of_certificates_are_read() {
    let pair = issue::new_authority(start()).unwrap();
    let (from, until) = issue::validity(&issue::certificates(&pair.certificate)[0]).unwrap();
    assert_eq!((from, until), (start() - DAY / 24, start() + issue::AUTHORITY_LIFE));
    let far = SystemTime::UNIX_EPOCH + DAY * 365 * 80;
    let pair = issue::new_authority(far).unwrap();
    let until = issue::validity(&issue::certificates(&pair.certificate)[0]).unwrap().1;
    assert_eq!(until, far + issue::AUTHORITY_LIFE, "years from 2050 on have another form");
    assert_eq!(issue::validity(&b"rubbish".to_vec().into()), None);
}

#[test]
fn a_new_authority_signs_when_api_servers_have_seen_it() {
    let mut contents = settled(start());
    contents.authority_key.clear();
    let contents = stored(next(&contents, &[], &names(), start()).unwrap());
    let step =
        |seen| rotation::next(&contents, std::slice::from_ref(&contents.authorities), seen, &names(), start()).unwrap();
    assert_eq!(step(SEEN / 2), Step::Wait);
    let signed = stored(step(SEEN));
    assert_ne!(signed.pair, contents.pair);
    let renewed = start() + DAY * 61;
    let step = rotation::next(&signed, std::slice::from_ref(&signed.authorities), Duration::ZERO, &names(), renewed);
    assert!(matches!(step, Ok(Step::Store(_, "the old one ends"))), "it is trusted already");
}

const SECRET: &str = "webhook-server-cert";
const MUTATING: &str = "mutatingwebhookconfigurations.admissionregistration.k8s.io";
const VALIDATING: &str = "validatingwebhookconfigurations.admissionregistration.k8s.io";
const CRDS: &str = "customresourcedefinitions.apiextensions.k8s.io";

/// With an empty Secret, and three objects that name the Service; one of them also names another one.
fn cluster() -> Cluster {
    let service = json!({ "name": "webhook-service", "namespace": "default", "path": "/a" });
    let own = json!({ "name": "a.b.c", "clientConfig": { "service": service } });
    let other = json!({ "name": "d.e.f", "clientConfig": { "service": { "name": "other", "namespace": "default" } } });
    let configuration = |webhooks| json!({ "metadata": { "name": "own" }, "webhooks": webhooks });
    let crd = json!({
        "metadata": { "name": "memcacheds.cache.example.com" },
        "spec": { "conversion": { "strategy": "Webhook", "webhook": { "clientConfig": { "service": service } } } },
    });
    Cluster::default()
        .with_json("secrets", &[json!({ "metadata": { "name": SECRET, "namespace": "default" } })])
        .with_json(MUTATING, &[configuration(json!([own, other]))])
        .with_json(VALIDATING, &[configuration(json!([other, own]))])
        .with_json(CRDS, &[crd])
}

fn keeper(client: Client) -> Keeper {
    Keeper {
        secrets: Api::default_namespaced(client.clone()),
        client,
        secret: SECRET.into(),
        service: Service { name: "webhook-service".into(), namespace: "default".into() },
        names: names(),
        configurations: [
            "admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/own",
            "admissionregistration.k8s.io/v1/validatingwebhookconfigurations/own",
            "admissionregistration.k8s.io/v1/validatingwebhookconfigurations/absent",
            "apiextensions.k8s.io/v1/customresourcedefinitions/memcacheds.cache.example.com",
        ]
        .map(|it| format!("/apis/{it}"))
        .into(),
        manager: "operator",
        current: Arc::default(),
        served: None,
        published: (vec![], Instant::now()),
    }
}

/// Until everything is in order, without the pauses.
async fn finish(keeper: &mut Keeper) {
    for _ in 0..2 {
        while let Err(error) = keeper.settle().await {
            assert!(is_conflict(&error), "{error:#}");
        }
        tokio::time::advance(SEEN).await;
    }
}

fn contents(cluster: &Cluster) -> Contents {
    Contents::of(&serde_json::from_value(cluster.get_json("secrets", "default", SECRET).unwrap()).unwrap())
}

/// What is in the three configurations. That of others is not touched.
fn bundles(cluster: &Cluster) -> [String; 3] {
    let get = |resource, name| cluster.get_json(resource, "", name).unwrap();
    let (mutating, validating) = (get(MUTATING, "own"), get(VALIDATING, "own"));
    for other in [&mutating["webhooks"][1], &validating["webhooks"][0]] {
        assert!(other["clientConfig"]["caBundle"].is_null(), "{other}");
    }
    let crd = get(CRDS, "memcacheds.cache.example.com");
    let clients = [
        &mutating["webhooks"][0]["clientConfig"],
        &validating["webhooks"][1]["clientConfig"],
        &crd["spec"]["conversion"]["webhook"]["clientConfig"],
    ];
    clients.map(|it| {
        let bundle: Option<ByteString> = serde_json::from_value(it["caBundle"].clone()).unwrap();
        String::from_utf8(bundle.unwrap_or_default().0).unwrap()
    })
}

/// What is in the Secret is trusted by all.
fn check_order(cluster: &Cluster) {
    let contents = contents(cluster);
    if contents.pair != Pair::default() {
        for bundle in bundles(cluster) {
            assert!(issue::verifies(&contents.pair, &issue::certificates(&bundle), &names(), SystemTime::now()));
        }
    }
}

fn check_settled(cluster: &Cluster, keepers: &[&Keeper]) {
    check_order(cluster);
    let contents = contents(cluster);
    assert_eq!(bundles(cluster), [(); 3].map(|()| contents.authorities.clone()));
    assert_ne!(contents.pair, Pair::default());
    for keeper in keepers {
        assert_eq!(keeper.served.as_ref(), Some(&contents.pair));
    }
}

#[tokio::test(start_paused = true)]
async fn replicas_that_start_at_once_agree() {
    let cluster = cluster();
    let mut keepers = [(); 3].map(|()| keeper(cluster.client()));
    let [a, b, c] = &mut keepers;
    tokio::join!(finish(a), finish(b), finish(c));
    for it in &mut keepers {
        finish(it).await;
    }
    check_settled(&cluster, &keepers.each_ref());
    let writes = cluster.writes().len();
    for it in &mut keepers {
        finish(it).await;
    }
    assert_eq!(cluster.writes().len(), writes, "there is nothing to do");
}

/// The first replica ends after each of its writes, before it learns that the write has succeeded; another one starts.
#[tokio::test(start_paused = true)]
async fn a_replica_that_ends_after_any_write_leaves_what_the_next_one_finishes() {
    for is_damaged in [false, true] {
        for last in 0.. {
            let cluster = cluster();
            let mut old = keeper(cluster.client());
            if is_damaged {
                finish(&mut old).await;
                let key = json!({ "data": { "ca.key": null } });
                cluster.edit_json("secrets", "default", SECRET, |it| json_patch::merge(it, &key));
            }
            let (before, dead) = (cluster.writes().len(), CancellationToken::new());
            let mut first = keeper(
                cluster
                    .clone()
                    .with_fault(Fault::LoseResponse.on_write(before + last + 1))
                    .client_disconnected_by(&dead),
            );
            let done = tokio::select! {
                () = finish(&mut first) => true,
                () = cluster.wait_for_lost_response() => false,
            };
            check_order(&cluster);
            dead.cancel();
            let mut second = keeper(cluster.client());
            finish(&mut second).await;
            finish(&mut old).await;
            check_settled(&cluster, &[&second, &old]);
            if done {
                // The authority, three configurations, the certificate.
                assert_eq!(last, 5);
                break;
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_somebody_takes_away_is_put_back() {
    let cluster = cluster();
    let mut keeper = keeper(cluster.client());
    finish(&mut keeper).await;
    let first = contents(&cluster);
    for bundle in [Value::Null, json!("cnViYmlzaA==")] {
        cluster.edit_json(VALIDATING, "", "own", |it| it["webhooks"][1]["clientConfig"]["caBundle"] = bundle);
        finish(&mut keeper).await;
        check_settled(&cluster, &[&keeper]);
        assert_eq!(contents(&cluster), first, "the Secret does not change for it");
    }
    cluster.edit_json("secrets", "default", SECRET, |it| it["data"] = Value::Null);
    finish(&mut keeper).await;
    check_settled(&cluster, &[&keeper]);
    let authorities = issue::certificates(&contents(&cluster).authorities);
    assert_eq!(authorities[..1], issue::certificates(&first.authorities), "it is trusted as long as it may be served");
    assert_eq!(authorities.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn without_the_secret_it_says_so_and_goes_on_serving() {
    let cluster = cluster();
    let mut keeper = keeper(cluster.client());
    finish(&mut keeper).await;
    cluster.delete_json("secrets", "default", SECRET);
    let error = keeper.settle().await.unwrap_err();
    let text = explain(error.as_ref());
    assert!(text.starts_with("cannot read the Secret `webhook-server-cert`: "), "{text}");
    assert!(keeper.served.is_some());
}
