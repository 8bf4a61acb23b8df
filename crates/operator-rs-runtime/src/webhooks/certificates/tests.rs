use super::{issue::DAY, rotation::PROPAGATION_TIME, *};
use operator_rs_testing::{CancellationToken, Cluster, Fault};
use serde_json::{Value, json};

/// Returns the next step after API servers have seen the published authorities.
fn next(contents: &Contents, bundles: &[String], names: &[String], now: SystemTime) -> anyhow::Result<Step> {
    rotation::next_step(contents, bundles, PROPAGATION_TIME, names, now)
}

fn names() -> Vec<String> {
    ["", ".cluster.local"].map(|suffix| format!("webhook-service.system.svc{suffix}")).into()
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

/// A replica of the operator, with the objects that it has read and the certificate that it serves.
#[derive(Clone, Default)]
struct Replica {
    bundles: Option<Vec<(usize, String)>>,
    step: Option<(usize, Vec<usize>, Step)>,
    serving: Option<Pair>,
}

/// A cluster with replicas that take one action at a time, in any order.
struct World {
    now: SystemTime,
    /// The contents of the Secret, with its version.
    secret: (usize, Contents),
    bundles: Vec<(usize, String)>,
    /// True for each bundle that another client has written.
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

    /// Takes the next action of a replica: it reads the configurations, reads the Secret, or writes one of them. Each
    /// change is checked.
    fn act_and_check(&mut self, at: usize, random: &mut Random) {
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
                    // The replica may crash after each write.
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
            let texts: Vec<String> = bundles.iter().map(|(_, text)| text.clone()).collect();
            let step = next(&self.secret.1, &texts, &names(), self.now).unwrap();
            let serves = self.replicas[at].serving.as_ref().is_some_and(|pair| pair.is_current(self.now));
            let replica = &mut self.replicas[at];
            if step == Step::Done || !serves {
                let new = self.secret.1.valid_pair(&names(), self.now).cloned();
                replica.serving = new.or(replica.serving.take());
            }
            replica.step = Some((self.secret.0, bundles.iter().map(|(version, _)| *version).collect(), step));
        } else {
            replica.bundles = Some(self.bundles.clone());
        }
    }

    /// Checks that the authorities in every configuration trust every served certificate.
    fn check(&self) {
        for (nth, (_, bundle)) in self.bundles.iter().enumerate().filter(|(nth, _)| !self.foreign[*nth]) {
            for (number, replica) in self.replicas.iter().enumerate() {
                let Some(pair) = &replica.serving else { continue };
                let is_trusted = issue::is_trusted(pair, &issue::parse_certificates(bundle), &names(), self.now);
                assert!(
                    is_trusted || !pair.is_current(self.now),
                    "replica {number} is not trusted by configuration {nth}"
                );
            }
        }
    }

    /// Damages a stored object while no replica acts.
    fn damage(&mut self, random: &mut Random) {
        let (version, contents) = &mut self.secret;
        *version += 1;
        match random.below(7) {
            0 => contents.authority_key.clear(),
            1 => contents.authorities.clear(),
            2 => contents.pair.certificate = "rubbish".into(),
            3 => {
                contents.pair.key =
                    issue::sign_certificate(&issue::new_authority(start()).unwrap().key, &names(), start()).unwrap().key
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

    /// Lets each replica act alone until there is nothing to do.
    fn settle(&mut self, random: &mut Random) {
        for at in [0, 1, 2, 0, 1, 2] {
            (self.replicas[at].bundles, self.replicas[at].step) = (None, None);
            let is_done = |replica: &Replica| matches!(replica.step, Some((_, _, Step::Done)));
            while !is_done(&self.replicas[at]) {
                self.act_and_check(at, random);
            }
        }
        let first = self.replicas[0].serving.clone();
        assert!(self.replicas.iter().all(|replica| replica.serving == first), "all serve the same");
        assert!(self.bundles.iter().all(|(_, bundle)| *bundle == self.secret.1.authorities));
    }
}

/// Three replicas act in any order and may end at any time, while stored objects are damaged and time passes.
#[test]
fn what_is_served_is_trusted_after_each_single_write() {
    let mut writes = 0;
    for seed in 1..=16 {
        let (mut random, mut world) = (Random(seed * 7919), World::new());
        for turn in 1..=300 {
            let at = random.below(3);
            world.act_and_check(at, &mut random);
            match random.below(40) {
                0 => world.now += DAY * u32::try_from(random.below(25)).unwrap(),
                1 => world.replicas[at] = Replica::default(),
                _ if turn % 50 == 0 => {
                    world.replicas.iter_mut().for_each(|replica| (replica.bundles, replica.step) = (None, None));
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

/// Returns the contents of the Secret after the first rotation.
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
    let authorities = issue::parse_certificates(&next_authority.authorities);
    assert_eq!(authorities.len(), 2);
    let until = |at: usize| issue::validity_period(&authorities[at]).unwrap().1;
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
    assert_eq!(issue::parse_certificates(&last.authorities).len(), 1);
    assert_eq!(why(&last, at), "");
}

#[test]
fn what_is_not_valid_is_made_anew_and_the_reason_is_told() {
    let (good, other) = (settled(start()), settled(start()));
    let ended = "none in `ca.crt` is valid and belongs to the key in `ca.key`";
    let invalid = "the old one has ended, is of other names, or does not belong to its key";
    let with = |edit: &dyn Fn(&mut Contents)| {
        let mut edited = good.clone();
        edit(&mut edited);
        why(&edited, start())
    };
    assert_eq!(with(&|_| {}), "");
    assert_eq!(with(&|contents| *contents = Contents::default()), "there is none");
    assert_eq!(with(&|contents| contents.authority_key.clear()), ended);
    assert_eq!(with(&|contents| contents.authorities.clear()), ended);
    assert_eq!(with(&|contents| contents.authority_key.clone_from(&other.authority_key)), ended);
    assert_eq!(with(&|contents| contents.authorities = "rubbish".into()), ended);
    assert_eq!(with(&|contents| contents.pair = Pair::default()), "there is none");
    assert_eq!(with(&|contents| contents.pair.key.clone_from(&other.pair.key)), invalid);
    assert_eq!(with(&|contents| contents.pair = other.pair.clone()), invalid);
    let names = ["a.b.svc".to_owned()];
    let sign = |names: &[String], at| issue::sign_certificate(&good.authority_key, names, at).unwrap();
    assert_eq!(with(&|contents| contents.pair = sign(&names, start())), invalid);
    assert_eq!(with(&|contents| contents.pair = sign(&self::names(), start() - DAY * 91)), invalid);
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
    let (from, until) = issue::validity_period(&issue::parse_certificates(&pair.certificate)[0]).unwrap();
    assert_eq!((from, until), (start() - DAY / 24, start() + issue::AUTHORITY_LIFE));
    let far = SystemTime::UNIX_EPOCH + DAY * 365 * 80;
    let pair = issue::new_authority(far).unwrap();
    let until = issue::validity_period(&issue::parse_certificates(&pair.certificate)[0]).unwrap().1;
    assert_eq!(until, far + issue::AUTHORITY_LIFE, "years from 2050 on have another form");
    assert_eq!(issue::validity_period(&b"rubbish".to_vec().into()), None);
}

#[test]
fn a_new_authority_signs_when_api_servers_have_seen_it() {
    let mut contents = settled(start());
    contents.authority_key.clear();
    let contents = stored(next(&contents, &[], &names(), start()).unwrap());
    let step = |seen| {
        rotation::next_step(&contents, std::slice::from_ref(&contents.authorities), seen, &names(), start()).unwrap()
    };
    assert_eq!(step(PROPAGATION_TIME / 2), Step::Wait);
    let signed = stored(step(PROPAGATION_TIME));
    assert_ne!(signed.pair, contents.pair);
    let renewed = start() + DAY * 61;
    let bundles = std::slice::from_ref(&signed.authorities);
    let step = rotation::next_step(&signed, bundles, Duration::ZERO, &names(), renewed);
    assert!(matches!(step, Ok(Step::Store(_, "the old one ends"))), "it is trusted already");
}

const SECRET: &str = "webhook-server-cert";
const MUTATING: &str = "mutatingwebhookconfigurations.admissionregistration.k8s.io";
const VALIDATING: &str = "validatingwebhookconfigurations.admissionregistration.k8s.io";
const CRDS: &str = "customresourcedefinitions.apiextensions.k8s.io";

/// Returns a cluster with an empty Secret, and three objects that name the Service. Two of them also name another one.
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

fn keeper(client: Client) -> CertificateKeeper {
    CertificateKeeper {
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
        .map(|path| format!("/apis/{path}"))
        .into(),
        manager: "operator",
        certificate: Arc::default(),
        served: None,
        published: (vec![], Instant::now()),
    }
}

/// Takes steps until everything is in order, without the pauses.
async fn finish(keeper: &mut CertificateKeeper) {
    for _ in 0..2 {
        while let Err(error) = keeper.take_steps().await {
            assert!(is_conflict(&error), "{error:#}");
        }
        tokio::time::advance(PROPAGATION_TIME).await;
    }
}

fn contents(cluster: &Cluster) -> Contents {
    Contents::from_secret(&serde_json::from_value(cluster.get_json("secrets", "default", SECRET).unwrap()).unwrap())
}

/// Returns the bundles of the three objects, and checks that the entries of other Services are unchanged.
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
    clients.map(|client| {
        let bundle: Option<ByteString> = serde_json::from_value(client["caBundle"].clone()).unwrap();
        String::from_utf8(bundle.unwrap_or_default().0).unwrap()
    })
}

/// Checks that all configurations trust the certificate in the Secret.
fn check_order(cluster: &Cluster) {
    let contents = contents(cluster);
    if contents.pair != Pair::default() {
        for bundle in bundles(cluster) {
            assert!(issue::is_trusted(
                &contents.pair,
                &issue::parse_certificates(&bundle),
                &names(),
                SystemTime::now()
            ));
        }
    }
}

fn check_settled(cluster: &Cluster, keepers: &[&CertificateKeeper]) {
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
    for keeper in &mut keepers {
        finish(keeper).await;
    }
    check_settled(&cluster, &keepers.each_ref());
    let writes = cluster.writes().len();
    for keeper in &mut keepers {
        finish(keeper).await;
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
                cluster.edit_json("secrets", "default", SECRET, |secret| json_patch::merge(secret, &key));
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
                // The five writes are the authority, three configurations, and the certificate.
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
        let edit = |configuration: &mut Value| configuration["webhooks"][1]["clientConfig"]["caBundle"] = bundle;
        cluster.edit_json(VALIDATING, "", "own", edit);
        finish(&mut keeper).await;
        check_settled(&cluster, &[&keeper]);
        assert_eq!(contents(&cluster), first, "the Secret does not change for it");
    }
    cluster.edit_json("secrets", "default", SECRET, |secret| secret["data"] = Value::Null);
    finish(&mut keeper).await;
    check_settled(&cluster, &[&keeper]);
    let authorities = issue::parse_certificates(&contents(&cluster).authorities);
    assert_eq!(
        authorities[..1],
        issue::parse_certificates(&first.authorities),
        "it is trusted as long as it may be served"
    );
    assert_eq!(authorities.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn without_the_secret_it_says_so_and_goes_on_serving() {
    let cluster = cluster();
    let mut keeper = keeper(cluster.client());
    finish(&mut keeper).await;
    cluster.delete_json("secrets", "default", SECRET);
    let error = keeper.take_steps().await.unwrap_err();
    let text = explain(error.as_ref());
    assert!(text.starts_with("cannot read the Secret `webhook-server-cert`: "), "{text}");
    assert!(keeper.served.is_some());
}
