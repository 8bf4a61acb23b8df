//! Credentials that a kubeconfig has elsewhere: in the output of a plugin (`exec`) or in a file (`tokenFile`).
//!
//! The client library would run plugins and read files itself, and wait for ever. Here, the caller does so until the
//! deadline.

use std::path::Path;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use kube::{
    Config,
    config::{AuthInfo, ExecConfig, ExecInteractiveMode},
};

use super::kubeconfig_errors::{INVALID_TOKEN, UNREADABLE_EXPIRY};
use anyhow::Context as _;
use go_data::yaml::{self, Dialect, Value, json};
use model::Deadline;

const TOKEN_FILE: &str = "the user's token file";

/// A credential plugin as a program to run.
pub struct Plugin {
    /// A path, or a name to look up in PATH.
    pub command: String,
    pub arguments: Vec<String>,
    /// Variables in addition to those of this process.
    pub variables: Vec<(String, String)>,
    /// True if it may ask the user something at the terminal.
    pub is_interactive: bool,
}

/// Reads a whole file until the deadline; `None` if it does not exist. The text is the file's name in messages.
pub type ReadFile = fn(&str, &Path, Deadline) -> anyhow::Result<Option<Vec<u8>>>;

/// Functions of the program that connects to a cluster: they run programs and read files.
#[derive(Clone, Copy)]
pub struct Host {
    /// Runs a plugin until the deadline, and returns what it prints. An error must not show its output.
    pub run: fn(&Plugin, Deadline) -> anyhow::Result<String>,
    pub read: ReadFile,
    /// True if there is a user at the terminal.
    pub has_terminal: bool,
}

impl Host {
    /// Replaces the plugin or the token file of the user by its credentials. Returns whether there was one.
    pub(super) fn resolve_credentials(
        self,
        config: &mut Config,
        deadline: Deadline,
    ) -> anyhow::Result<bool> {
        let user = &mut config.auth_info;
        if let Some(provider) = &mut user.auth_provider {
            // The client library would run this program, as kubectl did until its version 1.25.
            provider.config.remove("cmd-path");
            return Ok(false);
        }
        // The other credentials count first, as they do for kubectl.
        let has_password = user.username.is_some() && user.password.is_some();
        if has_password || user.token.is_some() || user.token_file.is_some() {
            user.exec = None;
            let Some(file) = user.token_file.take().filter(|_| !has_password) else {
                return Ok(false);
            };
            match self.read_token(&file, deadline) {
                Ok(token) => user.token = Some(token.into()),
                Err(error) if user.token.is_none() => return Err(error),
                Err(_) => {}
            }
            return Ok(true);
        }
        let Some(exec) = user.exec.take() else { return Ok(false) };
        let output = (self.run)(&self.build_plugin(&exec)?, deadline)?;
        let credentials = parse_credentials(&output)?;
        if let (Some(certificate), Some(key)) =
            (credentials.client_certificate_data, credentials.client_key_data)
        {
            user.client_certificate = None;
            user.client_key = None;
            user.client_certificate_data = Some(certificate);
            user.client_key_data = Some(key);
        } else {
            user.token = credentials.token;
        }
        Ok(true)
    }

    /// The token in a file. As for kubectl, it counts before `token`, and spaces around it do not matter.
    fn read_token(self, file: &str, deadline: Deadline) -> anyhow::Result<String> {
        let token = self.read_required(TOKEN_FILE, Path::new(file), deadline)?;
        let token = String::from_utf8(token).ok().context(INVALID_TOKEN)?;
        let token = token.trim();
        anyhow::ensure!(!token.is_empty(), "{TOKEN_FILE} is empty");
        Ok(token.to_owned())
    }

    /// The content of a file that the kubeconfig names.
    pub(super) fn read_required(
        self,
        description: &str,
        path: &Path,
        deadline: Deadline,
    ) -> anyhow::Result<Vec<u8>> {
        let content = (self.read)(description, path, deadline)?;
        content.with_context(|| format!("{description} does not exist"))
    }

    fn build_plugin(self, exec: &ExecConfig) -> anyhow::Result<Plugin> {
        let command = exec.command.clone().context("the user's `exec` has no `command`")?;
        let mode = &exec.interactive_mode;
        let is_interactive = self.has_terminal && *mode != Some(ExecInteractiveMode::Never);
        let mut spec = json!({ "interactive": is_interactive });
        if exec.provide_cluster_info {
            let cluster = serde_json::to_value(&exec.cluster);
            spec["cluster"] = cluster.expect("texts and flags are JSON");
        }
        let info =
            json!({ "apiVersion": exec.api_version, "kind": "ExecCredential", "spec": spec });
        let variables = exec.env.iter().flatten();
        let variables = variables
            .filter_map(|entry| Some((entry.get("name")?.clone(), entry.get("value")?.clone())));
        let mut variables: Vec<(String, String)> = variables.collect();
        variables.push(("KUBERNETES_EXEC_INFO".to_owned(), info.to_string()));
        let arguments = exec.args.clone().unwrap_or_default();
        Ok(Plugin { command, arguments, variables, is_interactive })
    }
}

/// The credentials that a plugin has printed.
fn parse_credentials(output: &str) -> anyhow::Result<AuthInfo> {
    let printed = yaml::parse_documents(output, Dialect::Kubernetes).ok();
    let printed =
        printed.and_then(|documents| documents.into_iter().next()).filter(Value::is_object);
    let printed =
        printed.context("the output of the user's credential plugin is not an ExecCredential")?;
    let status = printed["status"].as_object();
    let status = status.context("the output of the user's credential plugin has no `status`")?;
    let text = |name: &str| status.get(name).and_then(Value::as_str);
    let is_time = |time: &str| time.parse::<jiff::Timestamp>().is_ok();
    if text("expirationTimestamp").is_some_and(|time| !is_time(time)) {
        anyhow::bail!(UNREADABLE_EXPIRY);
    }
    // In a kubeconfig, certificates are in base64.
    let encoded = |name: &str| text(name).map(|value| STANDARD.encode(value));
    let user = json!({
        "token": text("token"),
        "client-certificate-data": encoded("clientCertificateData"),
        "client-key-data": encoded("clientKeyData"),
    });
    serde_json::from_value(user)
        .ok()
        .context("the output of the user's credential plugin is not an ExecCredential")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(user: Value, output: &'static str) -> Result<Value, String> {
        let mut config = Config::new("http://127.0.0.1".parse().unwrap());
        config.auth_info = serde_json::from_value(user).unwrap();
        // The output comes back by way of the arguments.
        config.auth_info.exec.iter_mut().for_each(|it| it.args = Some(vec![output.to_owned()]));
        let run: fn(&Plugin, Deadline) -> anyhow::Result<String> =
            |plugin, _| Ok(plugin.arguments.concat());
        let host = Host { run, read: |_, _, _| Ok(None), has_terminal: true };
        let deadline = Deadline::after(std::time::Duration::from_secs(60));
        host.resolve_credentials(&mut config, deadline).map_err(|it| it.to_string())?;
        let AuthInfo { exec, client_certificate_data, .. } = config.auth_info.clone();
        assert!(exec.is_none(), "the client library would run it");
        Ok(json!([config.auth_info.token.is_some(), client_certificate_data]))
    }

    #[test]
    fn a_plugin_gives_a_token_or_a_certificate_unless_there_are_other_credentials() {
        let exec = || json!({"exec": {"command": "a"}});
        let token = r#"{"status": {"token": "x", "expirationTimestamp": "2030-01-01T00:00:00Z"}}"#;
        assert_eq!(resolved(exec(), token), Ok(json!([true, null])));
        assert_eq!(resolved(exec(), "status:\n  token: x\n"), Ok(json!([true, null])));
        let both =
            r#"{"status": {"token": "x", "clientCertificateData": "a", "clientKeyData": "b"}}"#;
        assert_eq!(resolved(exec(), both), Ok(json!([false, "YQ=="])));
        let with_token = json!({"token": "x", "exec": {"command": "a"}});
        assert_eq!(resolved(with_token, "{"), Ok(json!([true, null])));
        for (output, expected) in [
            ("{", "is not an ExecCredential"),
            ("", "is not an ExecCredential"),
            ("x", "is not an ExecCredential"),
            ("{}", "has no `status`"),
            (r#"{"status": {"token": "x", "expirationTimestamp": "soon"}}"#, "is malformed"),
        ] {
            let error = resolved(exec(), output).unwrap_err();
            assert!(error.ends_with(expected), "{error}");
        }
        let error = resolved(json!({"exec": {}}), "").unwrap_err();
        assert_eq!(error, "the user's `exec` has no `command`");
    }

    #[test]
    fn a_plugin_is_told_whether_it_may_ask_and_which_cluster_it_is_for() {
        let plugin = |exec: Value, has_terminal: bool| {
            let run: fn(&Plugin, Deadline) -> anyhow::Result<String> = |_, _| Ok(String::new());
            Host { run, read: |_, _, _| Ok(None), has_terminal }
                .build_plugin(&serde_json::from_value(exec).unwrap())
                .unwrap()
        };
        let exec =
            json!({"apiVersion": "v1", "command": "a", "env": [{"name": "A", "value": "b"}]});
        let found = plugin(exec, true);
        let info = r#"{"apiVersion":"v1","kind":"ExecCredential","spec":{"interactive":true}}"#;
        let variables = [("A", "b"), ("KUBERNETES_EXEC_INFO", info)];
        assert_eq!(found.variables, variables.map(|(name, value)| (name.into(), value.into())));
        assert!(found.is_interactive);
        assert!(!plugin(json!({"command": "a"}), false).is_interactive);
        assert!(!plugin(json!({"command": "a", "interactiveMode": "Never"}), true).is_interactive);
    }
}
