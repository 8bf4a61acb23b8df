#!/bin/sh
# Installs operator-rs from a release: downloads the archive for this machine, compares its SHA-256 checksum with the one
# below, and puts the program into ~/.local/bin. Needs no root.
set -eu

# The release workflow fills these in. A copy without them installs nothing.
version=''
releases=''
checksums=''

usage='usage: install.sh [--to DIR]

Installs operator-rs into DIR [default: ~/.local/bin]'

fail() {
  printf 'install.sh: %s\n' "$*" >&2
  exit 1
}

# The name of this machine's archives, as Rust names platforms.
platform() {
  case "$(uname -s)-$(uname -m)" in
    Linux-x86_64 | Linux-amd64) echo x86_64-unknown-linux-musl ;;
    Linux-aarch64 | Linux-arm64) echo aarch64-unknown-linux-musl ;;
    Darwin-x86_64) echo x86_64-apple-darwin ;;
    Darwin-arm64) echo aarch64-apple-darwin ;;
    *) fail "there is no archive for $(uname -s) on $(uname -m); on Windows, unpack the archive by hand; elsewhere, run \`cargo install --path . --locked\` in a clone of the repository" ;;
  esac
}

# How many seconds a server may be silent, and how many blocks of 512 bytes an archive may have.
patience=30
limit=102400

# download URL FILE
download() (
  ulimit -f "$limit"
  if command -v curl >/dev/null; then
    curl --fail --silent --show-error --location --retry 2 --connect-timeout "$patience" \
      --speed-limit 1 --speed-time "$patience" --max-time 900 --output "$2" "$1"
  elif command -v wget >/dev/null; then
    wget -q -T "$patience" -O "$2" "$1"
  else
    fail 'neither curl nor wget is installed'
  fi
)

# checksum FILE
checksum() {
  if command -v sha256sum >/dev/null; then
    sha256sum <"$1"
  elif command -v shasum >/dev/null; then
    shasum -a 256 <"$1"
  else
    fail 'neither sha256sum nor shasum is installed, so the download cannot be checked'
  fi | cut -d ' ' -f 1
}

# Everything is in functions, so that a script that was only downloaded in part does nothing.
main() {
  directory=${HOME:+$HOME/.local/bin}
  while [ $# -gt 0 ]; do
    case $1 in
      --to)
        [ $# -ge 2 ] || fail '`--to` needs a directory'
        directory=$2
        shift 2
        ;;
      --help | -h)
        echo "$usage"
        return
        ;;
      *) fail "unknown argument \`$1\`; $usage" ;;
    esac
  done
  [ -n "$version" ] || fail 'this copy belongs to no release; download install.sh from the page of a release'
  [ -n "$directory" ] || fail 'HOME is not set; name a directory with `--to`'

  # Not relative: tar reads `a:b` as a host and its file.
  case $directory in
    /*) ;;
    *) directory=$PWD/$directory ;;
  esac
  [ ! -d "$directory/operator-rs" ] || fail "$directory/operator-rs is a directory"

  platform=$(platform)
  name=operator-rs-v$version-$platform
  expected=$(printf '%s\n' "$checksums" | awk -v archive="$name.tar.gz" '$2 == archive { print $1 }')
  [ -n "$expected" ] || fail "release $version has no archive for $platform"

  mkdir -p -- "$directory"
  # In the same directory, so that the program is replaced in one step.
  work=$(mktemp -d -- "$directory/.operator-rs.XXXXXX")
  trap 'rm -rf -- "$work"' EXIT
  trap 'exit 1' HUP INT TERM

  archive=$work/archive.tar.gz
  download "$releases/v$version/$name.tar.gz" "$archive" || fail "cannot download $releases/v$version/$name.tar.gz"
  actual=$(checksum "$archive")
  [ "$actual" = "$expected" ] || fail "the checksum of $name.tar.gz is $actual, not $expected; nothing was installed"

  tar -xzf "$archive" -C "$work"
  "$work/$name/operator-rs" version >/dev/null || fail 'the program does not run on this machine; nothing was installed'
  mv -f -- "$work/$name/operator-rs" "$directory/operator-rs"
  echo "installed operator-rs $version as $directory/operator-rs"
  case ":$PATH:" in
    *":$directory:"*) ;;
    *) echo "add $directory to PATH to run it by name" ;;
  esac
}

main "$@"
