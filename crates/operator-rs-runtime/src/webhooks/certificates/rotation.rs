//! What to do next, from what is stored: one write at a time, in an order in which whatever is served is trusted by
//! whatever is in the configurations of the webhooks. Each replica does the same, and can end after any of the writes.

use super::issue::{self, AUTHORITY_LIFE, DAY, LIFE, Pair};
use rustls::pki_types::CertificateDer;
use std::time::{Duration, SystemTime};

/// An authority stays trusted this long after the next one is made: what it has signed has ended by then, on all clocks.
const OLD: Duration = LIFE.saturating_add(DAY);

/// A new authority signs when all configurations have had it for this long: API servers see a change of one a little later.
pub const SEEN: Duration = Duration::from_secs(20);

/// What the Secret holds, as PEM.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// `ca.crt`: all authorities that are trusted.
    pub authorities: String,
    /// `ca.key`: the key of the one that signs.
    pub authority_key: String,
    /// `tls.crt` and `tls.key`.
    pub pair: Pair,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Write the Secret, for this reason.
    Store(Contents, &'static str),
    /// Write these authorities into the configurations that have others.
    Publish(String),
    /// Nothing, until API servers have seen the authorities.
    Wait,
    /// Everything is in order.
    Done,
}

impl Contents {
    /// The certificate to serve, if it is valid.
    pub fn valid_pair(&self, names: &[String], now: SystemTime) -> Option<&Pair> {
        issue::verifies(&self.pair, &issue::certificates(&self.authorities), names, now).then_some(&self.pair)
    }

    /// The authority that signs, if it is one of ours and valid.
    fn signer(&self, authorities: &[CertificateDer<'static>], names: &[String], now: SystemTime) -> Option<Signer> {
        let sample = issue::sign(&self.authority_key, names, now).ok()?;
        let is_signer = |it: &&CertificateDer<'static>| {
            issue::verifies(&sample, std::slice::from_ref(*it), names, now)
                && issue::validity(it).is_some_and(|(from, until)| from <= now && now < until)
        };
        let certificate = authorities.iter().find(is_signer)?.clone();
        let (from, until) = issue::validity(&certificate)?;
        Some(Signer { certificate, from, until })
    }
}

struct Signer {
    certificate: CertificateDer<'static>,
    from: SystemTime,
    until: SystemTime,
}

/// The next step. `bundles` are the authorities in each configuration, which have been read before the Secret, and `seen`
/// is for how long they have been the same.
///
/// # Errors
/// If no certificate can be made.
pub fn next(
    contents: &Contents,
    bundles: &[String],
    seen: Duration,
    names: &[String],
    now: SystemTime,
) -> anyhow::Result<Step> {
    let authorities = issue::certificates(&contents.authorities);
    let signer = match contents.signer(&authorities, names, now) {
        None if contents.authorities.is_empty() && contents.authority_key.is_empty() => {
            return new_authority(contents, bundles, names, now, "there is none");
        }
        None => {
            let why = "none in `ca.crt` is valid and belongs to the key in `ca.key`";
            return new_authority(contents, bundles, names, now, why);
        }
        Some(it) if it.until < now + AUTHORITY_LIFE / 3 => {
            return new_authority(contents, bundles, names, now, "the old one ends");
        }
        Some(it) => it,
    };
    let wanted = issue::encode(&authorities);
    if bundles.iter().any(|it| *it != wanted) {
        return Ok(Step::Publish(wanted));
    }
    // All trust the signer now.
    let is_good = |at| issue::verifies(&contents.pair, std::slice::from_ref(&signer.certificate), names, at);
    let why = match (is_good(now), contents.valid_pair(names, now)) {
        (true, _) if is_good(now + LIFE / 3) => None,
        (true, _) => Some("the old one ends"),
        (false, Some(_)) => Some("there is a new authority"),
        (false, None) if contents.pair == Pair::default() => Some("there is none"),
        (false, None) => Some("the old one has ended, is of other names, or does not belong to its key"),
    };
    if !is_good(now) && 1 < authorities.len() && seen < SEEN {
        return Ok(Step::Wait);
    }
    if let Some(why) = why {
        let pair = issue::sign(&contents.authority_key, names, now)?;
        return Ok(Step::Store(Contents { pair, ..contents.clone() }, why));
    }
    if 1 < authorities.len() && signer.from + OLD < now {
        let authorities = issue::encode(&[signer.certificate]);
        return Ok(Step::Store(
            Contents { authorities, ..contents.clone() },
            "nothing that the others signed is valid",
        ));
    }
    Ok(Step::Done)
}

/// A new authority beside those that are trusted. It signs nothing before all configurations have it.
fn new_authority(
    contents: &Contents,
    bundles: &[String],
    names: &[String],
    now: SystemTime,
    why: &'static str,
) -> anyhow::Result<Step> {
    let authority = issue::new_authority(now)?;
    let mut trusted = issue::certificates(&contents.authorities);
    if contents.valid_pair(names, now).is_none() {
        // The Secret does not tell what is served: whatever it is, the configurations have its authority.
        trusted.extend(bundles.iter().flat_map(|it| issue::certificates(it)));
    }
    trusted.extend(issue::certificates(&authority.certificate));
    let mut authorities: Vec<CertificateDer<'static>> = vec![];
    for it in trusted {
        let has_ended = issue::validity(&it).is_none_or(|it| it.1 <= now);
        if !has_ended && !authorities.contains(&it) {
            authorities.push(it);
        }
    }
    let authorities = issue::encode(&authorities);
    Ok(Step::Store(Contents { authorities, authority_key: authority.key, ..contents.clone() }, why))
}
