//! Decides the next step of a rotation from what is stored. The writes are in an order in which the authorities in the
//! configurations of the webhooks always trust the served certificates. All replicas do the same, and each can end
//! after any of the writes.

use super::issue::{self, AUTHORITY_LIFE, DAY, Pair, SERVER_LIFE};
use rustls::pki_types::CertificateDer;
use std::time::{Duration, SystemTime};

/// The time for which an authority stays trusted after the next one is made. All certificates that it has signed have
/// expired by then, on all clocks.
const OLD_AUTHORITY_LIFE: Duration = SERVER_LIFE.saturating_add(DAY);

/// The time for which all configurations have to contain a new authority before it signs: API servers see a change of a
/// configuration a little later.
pub const PROPAGATION_TIME: Duration = Duration::from_secs(20);

/// The contents of the Secret, as PEM.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// `ca.crt`: all trusted authorities.
    pub authorities: String,
    /// `ca.key`: the key of the signing authority.
    pub authority_key: String,
    /// `tls.crt` and `tls.key`: the certificate of the server.
    pub pair: Pair,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Write the Secret, for this reason.
    Store(Contents, &'static str),
    /// Write these authorities into the configurations that have others.
    Publish(String),
    /// Wait until API servers have seen the authorities.
    Wait,
    /// Everything is in order.
    Done,
}

impl Contents {
    /// Returns the certificate to serve, if it is valid.
    pub fn valid_pair(&self, names: &[String], now: SystemTime) -> Option<&Pair> {
        let authorities = issue::parse_certificates(&self.authorities);
        issue::is_trusted(&self.pair, &authorities, names, now).then_some(&self.pair)
    }

    /// Finds the valid authority that belongs to the authority key.
    fn find_signer(
        &self,
        authorities: &[CertificateDer<'static>],
        names: &[String],
        now: SystemTime,
    ) -> Option<Signer> {
        let sample = issue::sign_certificate(&self.authority_key, names, now).ok()?;
        let is_signer = |authority: &&CertificateDer<'static>| {
            issue::is_trusted(&sample, std::slice::from_ref(*authority), names, now)
                && issue::validity_period(authority).is_some_and(|(from, until)| from <= now && now < until)
        };
        let certificate = authorities.iter().find(is_signer)?.clone();
        let (from, until) = issue::validity_period(&certificate)?;
        Some(Signer { certificate, from, until })
    }
}

struct Signer {
    certificate: CertificateDer<'static>,
    from: SystemTime,
    until: SystemTime,
}

/// Returns the next step. `bundles` are the authorities in each configuration, which were read before the Secret, and
/// `unchanged_for` is the time for which they have been the same.
///
/// # Errors
/// If no certificate can be made.
pub fn next_step(
    contents: &Contents,
    bundles: &[String],
    unchanged_for: Duration,
    names: &[String],
    now: SystemTime,
) -> anyhow::Result<Step> {
    let authorities = issue::parse_certificates(&contents.authorities);
    let signer = match contents.find_signer(&authorities, names, now) {
        None if contents.authorities.is_empty() && contents.authority_key.is_empty() => {
            return add_authority(contents, bundles, names, now, "there is none");
        }
        None => {
            let why = "none in `ca.crt` is valid and belongs to the key in `ca.key`";
            return add_authority(contents, bundles, names, now, why);
        }
        Some(signer) if signer.until < now + AUTHORITY_LIFE / 3 => {
            return add_authority(contents, bundles, names, now, "the old one ends");
        }
        Some(signer) => signer,
    };
    let wanted = issue::encode_certificates(&authorities);
    if bundles.iter().any(|bundle| *bundle != wanted) {
        return Ok(Step::Publish(wanted));
    }
    // All configurations trust the signer now.
    let is_good = |at| issue::is_trusted(&contents.pair, std::slice::from_ref(&signer.certificate), names, at);
    let why = match (is_good(now), contents.valid_pair(names, now)) {
        (true, _) if is_good(now + SERVER_LIFE / 3) => None,
        (true, _) => Some("the old one ends"),
        (false, Some(_)) => Some("there is a new authority"),
        (false, None) if contents.pair == Pair::default() => Some("there is none"),
        (false, None) => Some("the old one has ended, is of other names, or does not belong to its key"),
    };
    if !is_good(now) && authorities.len() > 1 && unchanged_for < PROPAGATION_TIME {
        return Ok(Step::Wait);
    }
    if let Some(why) = why {
        let pair = issue::sign_certificate(&contents.authority_key, names, now)?;
        return Ok(Step::Store(Contents { pair, ..contents.clone() }, why));
    }
    if authorities.len() > 1 && signer.from + OLD_AUTHORITY_LIFE < now {
        let authorities = issue::encode_certificates(&[signer.certificate]);
        return Ok(Step::Store(
            Contents { authorities, ..contents.clone() },
            "nothing that the others signed is valid",
        ));
    }
    Ok(Step::Done)
}

/// Returns the step that adds a new authority to the trusted ones. It signs nothing before all configurations have it.
fn add_authority(
    contents: &Contents,
    bundles: &[String],
    names: &[String],
    now: SystemTime,
    why: &'static str,
) -> anyhow::Result<Step> {
    let authority = issue::new_authority(now)?;
    let mut trusted = issue::parse_certificates(&contents.authorities);
    if contents.valid_pair(names, now).is_none() {
        // The Secret does not contain the served certificate, but the configurations contain its authority.
        trusted.extend(bundles.iter().flat_map(|bundle| issue::parse_certificates(bundle)));
    }
    trusted.extend(issue::parse_certificates(&authority.certificate));
    let mut authorities: Vec<CertificateDer<'static>> = vec![];
    for certificate in trusted {
        let has_expired = issue::validity_period(&certificate).is_none_or(|(_, until)| until <= now);
        if !has_expired && !authorities.contains(&certificate) {
            authorities.push(certificate);
        }
    }
    let authorities = issue::encode_certificates(&authorities);
    Ok(Step::Store(Contents { authorities, authority_key: authority.key, ..contents.clone() }, why))
}
