//! The files that a kubeconfig names, read in place of the client library, which would wait for a pipe for ever.

use std::path::{MAIN_SEPARATOR, Path};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::Uri;
use kube::config::{AuthInfo, Kubeconfig};

use super::target::Target;

/// The text of a kubeconfig, which Windows may have written in UTF-16.
pub fn decode_text(content: &[u8]) -> Option<String> {
    let utf16 = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let (units, rest) = bytes.as_chunks::<2>();
        let units: Vec<u16> = units.iter().map(|&bytes| unit(bytes)).collect();
        String::from_utf16(&units).ok().filter(|_| rest.is_empty())
    };
    match content {
        [0xFF, 0xFE, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xFE, 0xFF, rest @ ..] => utf16(rest, u16::from_be_bytes),
        [0xEF, 0xBB, 0xBF, rest @ ..] => String::from_utf8(rest.to_vec()).ok(),
        _ => String::from_utf8(content.to_vec()).ok(),
    }
}

/// Resolves the paths in a kubeconfig from its directory, as kubectl does.
pub fn resolve_paths(kubeconfig: &mut Kubeconfig, path: &Path) {
    let Some(folder) = path.parent() else { return };
    let clusters = kubeconfig.clusters.iter_mut().filter_map(|named| named.cluster.as_mut());
    let authorities = clusters.filter_map(|cluster| cluster.certificate_authority.as_mut());
    let users = kubeconfig.auth_infos.iter_mut().filter_map(|named| named.auth_info.as_mut());
    let of_users = users.flat_map(|user| {
        // The name of a program is looked up in PATH, unless it is a path.
        let program = user.exec.as_mut().and_then(|exec| exec.command.as_mut());
        let program = program.filter(|name| name.contains(MAIN_SEPARATOR));
        let files = [&mut user.client_certificate, &mut user.client_key, &mut user.token_file];
        files.into_iter().flatten().chain(program)
    });
    for path in authorities.chain(of_users).filter(|path| !path.is_empty()) {
        if let Some(resolved) = folder.join(&*path).to_str() {
            *path = resolved.to_owned();
        }
    }
}

/// Reads the certificates and the key for a context. As with kubectl, the user of a server without TLS has no
/// credentials: they could be read on the way.
pub fn load_credentials(
    kubeconfig: &mut Kubeconfig,
    context: &str,
    target: &Target,
) -> anyhow::Result<()> {
    let context = kubeconfig.contexts.iter().find(|named| named.name == context);
    let Some(context) = context.and_then(|named| named.context.as_ref()) else { return Ok(()) };
    let cluster = kubeconfig.clusters.iter_mut().find(|named| named.name == context.cluster);
    let Some(cluster) = cluster.and_then(|named| named.cluster.as_mut()) else { return Ok(()) };
    let user =
        kubeconfig.auth_infos.iter_mut().find(|named| Some(&named.name) == context.user.as_ref());
    let mut no_user = AuthInfo::default();
    let user = user.and_then(|named| named.auth_info.as_mut()).unwrap_or(&mut no_user);

    let server = cluster.server.as_deref().and_then(|server| server.parse::<Uri>().ok());
    if server.is_some_and(|server| server.scheme_str() != Some("https")) {
        (cluster.certificate_authority, cluster.certificate_authority_data) = (None, None);
        *user = AuthInfo {
            impersonate: user.impersonate.take(),
            impersonate_uid: user.impersonate_uid.take(),
            impersonate_groups: user.impersonate_groups.take(),
            impersonate_user_extra: user.impersonate_user_extra.take(),
            ..AuthInfo::default()
        };
        return Ok(());
    }
    // kubectl, too, prefers the data to the file.
    let read = |description: &str, path: Option<String>, has_data: bool| {
        let path = path.filter(|path| !has_data && !path.is_empty());
        let read = |path| target.host.read_required(description, Path::new(&path), target.deadline);
        anyhow::Ok(path.map(read).transpose()?.map(|content| STANDARD.encode(content)))
    };
    let (file, data) =
        (cluster.certificate_authority.take(), &mut cluster.certificate_authority_data);
    let read_data = read("the cluster's certificate authority", file, data.is_some())?;
    *data = data.take().or(read_data);
    let (file, data) = (user.client_certificate.take(), &mut user.client_certificate_data);
    let read_data = read("the user's client certificate", file, data.is_some())?;
    *data = data.take().or(read_data);
    let (file, data) = (user.client_key.take(), &mut user.client_key_data);
    let read_data = read("the user's client key", file, data.is_some())?;
    *data = data.take().or(read_data.map(Into::into));
    Ok(())
}
