//! Chooses the linker and the C compiler for a program. Pure: facts about the machine in, variables out.
//!
//! Rust brings what a static program needs of musl, and usually a linker for every platform, `rust-lld`. It brings no C
//! compiler, and crates such as ring have C code.

use super::target::ImageTarget;
use diagnostics::Hint as _;

/// The machine that compiles.
pub struct Machine<'a> {
    /// Rust's name for it.
    pub host: &'a str,
    /// Returns whether a program is on PATH.
    pub has: &'a dyn Fn(&str) -> bool,
    /// True if the Rust toolchain includes a linker.
    pub has_linker: bool,
}

/// The user's configuration of cargo.
#[derive(Clone, Copy, Default)]
pub struct Configured {
    pub linker: bool,
    pub compiler: bool,
    pub flags: bool,
}

/// The subcommand and the variables that cargo is called with.
#[derive(Debug, PartialEq)]
pub struct Toolchain {
    pub subcommand: &'static str,
    pub variables: Vec<(String, String)>,
}

/// Chooses for a platform. `with_c` names packages that have C code.
pub fn choose(
    target: ImageTarget,
    machine: &Machine<'_>,
    configured: Configured,
    with_c: &[String],
) -> anyhow::Result<Toolchain> {
    let cpu = target.cpu();
    let mut toolchain = Toolchain { subcommand: "build", variables: Vec::new() };
    let is_native = machine.host.starts_with(&format!("{cpu}-")) && machine.host.contains("linux");
    let compilers = candidate_compilers(target, machine, is_native);
    let found = compilers.iter().find(|compiler| (machine.has)(compiler)).cloned();
    let needs_compiler =
        !with_c.is_empty() && !configured.compiler && machine.host != target.triple();
    let needs_linker = !is_native && !configured.linker;
    let linker = if machine.has_linker { Some("rust-lld".to_owned()) } else { found.clone() };
    let lacks = needs_compiler && found.is_none() || needs_linker && linker.is_none();
    if lacks && (machine.has)("cargo-zigbuild") {
        toolchain.subcommand = "zigbuild";
        return Ok(toolchain);
    }
    if needs_compiler && found.is_none() {
        return Err(anyhow::format_err!(
            "there is no C compiler for {target}, and C code is in: {}",
            with_c.join(", ")
        ))
        .hint(install_hint(target, is_native));
    }
    if needs_compiler && let Some(compiler) = found {
        // The C library of GNU has checked variants of functions that musl does not have.
        if is_for_gnu(&compiler) && !configured.flags {
            toolchain
                .variables
                .push((target.variable_name("CFLAGS_", ""), "-U_FORTIFY_SOURCE".to_owned()));
        }
        toolchain.variables.push((target.variable_name("CC_", ""), compiler));
    }
    if needs_linker {
        let Some(linker) = linker else {
            return Err(anyhow::format_err!("there is no linker for {target}"))
                .hint(install_hint(target, is_native));
        };
        toolchain.variables.push((target.variable_name("CARGO_TARGET_", "_LINKER"), linker));
    }
    Ok(toolchain)
}

/// The C compilers that can be used, the best first.
fn candidate_compilers(target: ImageTarget, machine: &Machine<'_>, is_native: bool) -> Vec<String> {
    let cpu = target.cpu();
    let mut compilers = vec![format!("{cpu}-linux-musl-gcc")];
    if is_native {
        compilers.extend(["musl-gcc", "cc"].map(str::to_owned));
    } else if machine.host.contains("linux") {
        compilers.push(format!("{cpu}-linux-gnu-gcc"));
    }
    compilers
}

fn is_for_gnu(compiler: &str) -> bool {
    compiler == "cc" || compiler.contains("-gnu-")
}

fn install_hint(target: ImageTarget, is_native: bool) -> String {
    let package = match (is_native, target) {
        (true, _) => "musl-tools",
        (false, ImageTarget::Amd64) => "gcc-x86-64-linux-gnu",
        (false, ImageTarget::Arm64) => "gcc-aarch64-linux-gnu",
    };
    format!(
        "run `sudo apt-get install {package}` on Debian or Ubuntu, or anywhere `cargo install --locked cargo-zigbuild` and `pip install ziglang`; \
         or set `{}` and `{}`",
        target.variable_name("CC_", ""),
        target.variable_name("CARGO_TARGET_", "_LINKER"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINUX: &str = "x86_64-unknown-linux-gnu";
    const MAC: &str = "aarch64-apple-darwin";

    fn check(host: &str, target: ImageTarget, programs: &[&str], with_c: bool, expected: &str) {
        let has = |program: &str| programs.contains(&program);
        let machine = Machine { host, has: &has, has_linker: programs.contains(&"rust-lld") };
        let with_c: Vec<String> = with_c.then(|| "ring 0.17.14".to_owned()).into_iter().collect();
        let found = match choose(target, &machine, Configured::default(), &with_c) {
            Ok(toolchain) => {
                let variables = toolchain
                    .variables
                    .iter()
                    .map(|(name, toolchain)| format!(" {name}={toolchain}"));
                toolchain.subcommand.to_owned() + &variables.collect::<String>()
            }
            Err(error) => error.to_string(),
        };
        assert_eq!(found, expected, "{host} {target} {programs:?}");
    }

    #[test]
    fn the_linker_and_the_compiler_are_chosen() {
        use ImageTarget::{Amd64, Arm64};
        let gnu = "CC_aarch64_unknown_linux_musl=aarch64-linux-gnu-gcc CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_LINKER";
        let flags = "build CFLAGS_aarch64_unknown_linux_musl=-U_FORTIFY_SOURCE";
        // On a machine of the same kind, Rust's default linker does it.
        check(LINUX, Amd64, &["cc"], false, "build");
        check(
            LINUX,
            Amd64,
            &["cc", "musl-gcc"],
            true,
            "build CC_x86_64_unknown_linux_musl=musl-gcc",
        );
        check(
            LINUX,
            Amd64,
            &["cc"],
            true,
            "build CFLAGS_x86_64_unknown_linux_musl=-U_FORTIFY_SOURCE CC_x86_64_unknown_linux_musl=cc",
        );
        check("x86_64-unknown-linux-musl", Amd64, &[], true, "build");
        // Another kind.
        let lld = "build CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_LINKER=rust-lld";
        check(LINUX, Arm64, &["cc", "rust-lld"], false, lld);
        let all = ["cc", "rust-lld", "aarch64-linux-gnu-gcc", "cargo-zigbuild"];
        check(LINUX, Arm64, &all, true, &format!("{flags} {gnu}=rust-lld"));
        let without = format!("{flags} {gnu}=aarch64-linux-gnu-gcc");
        check(LINUX, Arm64, &["aarch64-linux-gnu-gcc"], true, &without);
        check(LINUX, Arm64, &["cc", "rust-lld", "cargo-zigbuild"], true, "zigbuild");
        check(MAC, Amd64, &["cc", "rust-lld", "cargo-zigbuild"], true, "zigbuild");
        check(
            MAC,
            Arm64,
            &["rust-lld", "aarch64-linux-musl-gcc"],
            true,
            "build CC_aarch64_unknown_linux_musl=aarch64-linux-musl-gcc CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_LINKER=rust-lld",
        );
        let none = "there is no C compiler for linux/arm64, and C code is in: ring 0.17.14";
        check(LINUX, Arm64, &["cc", "rust-lld"], true, none);
        check(LINUX, Arm64, &["cc"], false, "there is no linker for linux/arm64");
    }

    #[test]
    fn what_the_user_has_configured_stays() {
        let machine = Machine { host: MAC, has: &|_| false, has_linker: false };
        let configured = Configured { linker: true, compiler: true, flags: false };
        let chosen = choose(ImageTarget::Amd64, &machine, configured, &["ring 0.17.14".to_owned()]);
        let expected = Toolchain { subcommand: "build", variables: Vec::new() };
        assert_eq!(chosen.expect("all is configured"), expected);
    }
}
