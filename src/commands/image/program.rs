//! A compiled program, as far as an image depends on it. Pure: bytes in, values out.

use object::{
    LittleEndian,
    elf::{FileHeader64, PT_INTERP},
    read::elf::{FileHeader as _, ProgramHeader as _},
};

use super::target::ImageTarget;
use diagnostics::Hint as _;

/// Refuses a program that does not run on the platform, or not without files that the image lacks.
pub fn ensure_runnable(
    program: &[u8],
    target: ImageTarget,
    is_from_scratch: bool,
) -> anyhow::Result<()> {
    let Some(elf) = Elf::parse(program) else {
        anyhow::bail!("the compiled program is not a 64-bit ELF file, which Linux requires");
    };
    if elf.machine != target.elf_machine() {
        anyhow::bail!("the compiled program is not for {target}");
    }
    if elf.is_dynamic && is_from_scratch {
        return Err(anyhow::format_err!(
            "the compiled program is linked dynamically, and an empty image has no libraries"
        ))
        .hint(
            "remove `-C target-feature=-crt-static` from the rustflags, or choose an image with a C library: `--base IMAGE`",
        );
    }
    Ok(())
}

struct Elf {
    machine: u16,
    is_dynamic: bool,
}

impl Elf {
    /// Reads the headers of a little-endian 64-bit ELF file.
    fn parse(bytes: &[u8]) -> Option<Self> {
        let header = FileHeader64::<LittleEndian>::parse(bytes).ok()?;
        let endian = header.endian().ok()?;
        let segments = header.program_headers(endian, bytes).ok()?;
        let is_dynamic = segments.iter().any(|segment| segment.p_type(endian) == PT_INTERP);
        Some(Self { machine: header.e_machine(endian), is_dynamic })
    }
}

#[test]
fn programs_that_cannot_run_in_the_image_are_refused() {
    let elf = |machine: u8, kind: u8| {
        let mut res = vec![0; 64 + 56];
        res[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
        (res[18], res[32], res[54], res[56], res[64]) = (machine, 64, 56, 1, kind);
        res
    };
    let check = |bytes: &[u8], scratch: bool| {
        ensure_runnable(bytes, ImageTarget::Amd64, scratch)
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default()
    };
    assert_eq!(check(&elf(62, 1), true), "");
    assert_eq!(check(&elf(62, 3), false), "");
    assert!(check(&elf(62, 3), true).contains("is linked dynamically"));
    assert!(check(&elf(183, 1), true).contains("not for linux/amd64"));
    assert!(check(b"MZ", true).contains("not a 64-bit ELF file"));
    assert!(check(&elf(62, 1)[..70], true).contains("not a 64-bit ELF file"));
    let mut far = elf(62, 1);
    far[32..40].fill(0xff);
    assert!(check(&far, true).contains("not a 64-bit ELF file"));
}
