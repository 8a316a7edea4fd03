# .ci/prepare.sh -- what samples/run, test/run and .ci/run have in common. Sourced by bash, never run.
#
# Everything here writes to stderr: the standard output belongs to the sample or to ctest.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# packages_of FILE…: the package names in these lists.
packages_of() { sed -e 's/#.*//' -e 's/[[:space:]]//g' -e '/^$/d' "$@"; }

# ensure_packages FILE…: installs what is missing of these lists, as root or through sudo; where neither is
# possible prints the command and exits 2. Costs a few milliseconds when nothing is missing.
ensure_packages() {
  if ! command -v dpkg-query >/dev/null; then
    echo "trilith: no dpkg here: trusting that the equivalents of .ci/packages are installed" >&2
    return
  fi
  local wanted missing=() package
  mapfile -t wanted < <(packages_of "$@")
  local installed
  # dpkg-query exits 1 when it does not know one of the names: that one is then missing from its output.
  installed=$({ dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' "${wanted[@]}" 2>/dev/null || true; } |
    sed -n 's/^ii  *//p' | sort -u)
  for package in "${wanted[@]}"; do
    grep -qxF -- "$package" <<<"$installed" || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return

  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    # Without a terminal sudo cannot ask for a password; it would fail in the middle of its own prompt.
    if command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
      as_root=(sudo)
    else
      explain_packages "${missing[@]}"
    fi
  fi
  echo "trilith: installing ${missing[*]}" >&2
  # A fresh machine has no package lists, an old one has stale ones.
  "${as_root[@]}" apt-get update -q >&2 || explain_packages "${missing[@]}"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -q -y --no-install-recommends "${missing[@]}" >&2 || explain_packages "${missing[@]}"
}

explain_packages() {
  {
    echo "trilith: these Debian packages are missing and could not be installed from here. As root, run:"
    echo
    echo "  apt-get update && apt-get install -y --no-install-recommends $*"
    echo
  } >&2
  exit 2
}

# configure PRESET [cmake options…]: only the first time; afterwards ninja re-runs CMake itself when needed.
configure() {
  local preset=$1
  shift
  if [ ! -f "$root/build/$preset/build.ninja" ] || [ $# -gt 0 ]; then
    (cd "$root" && cmake --preset "$preset" "$@") >&2
  fi
}

# build DIRECTORY TARGET…: progress goes to stderr; without work to do ninja says so in one line.
build() {
  local directory=$1
  shift
  cmake --build "$directory" --target "$@" >&2
}
