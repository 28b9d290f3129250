# Sourced by the other tools: installs missing Debian packages, configures and builds. Needs bash, and apt on Debian 12.

say() { printf '%s\n' "stagecraft: $*" >&2; }
fail() { say "$*"; exit 1; }

repo_root() { cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd; }

# What the command line and the simulator need; what the executor needs beside LibTorch; what the tests need on top.
packages_build=(g++ cmake ninja-build libsimgrid-dev nlohmann-json3-dev libcli11-dev libfmt-dev libvalijson-dev
  libyaml-cpp-dev libtoml11-dev libpugixml-dev)
packages_exec=(libopenmpi-dev openmpi-bin)
packages_test=(catch2 ccache librsvg2-bin)
# What the GUI, its tests without a display and its benchmark need.
packages_gui=(qt6-base-dev qt6-svg-dev fonts-dejavu-core xvfb xauth libsimdjson-dev)

# install_packages NAME...: installs those that dpkg does not know as installed; says which.
install_packages() {
  local missing=() name
  for name in "$@"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null)" = installed ] || missing+=("$name")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  command -v apt-get >/dev/null || fail "missing: ${missing[*]} (install these; only Debian's apt-get is driven from here)"
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || fail "missing: ${missing[*]} (run as root, or install sudo)"
    as_root=(sudo)
  fi
  say "installing Debian packages: ${missing[*]}"
  "${as_root[@]}" apt-get update -qq >&2 || fail "apt-get update failed"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2 ||
    fail "apt-get install failed for: ${missing[*]}"
}

# build_preset NAME [TARGET...] [-- CMAKE_OPTION...]: configures once, then builds what changed in one run of
# ninja. Silent when there is nothing to do.
build_preset() {
  local preset=$1 root log targets=()
  shift
  while [ $# -gt 0 ] && [ "$1" != -- ]; do targets+=("$1"); shift; done
  [ $# -eq 0 ] || shift
  root=$(repo_root)
  log=$root/build/$preset.log
  mkdir -p "$root/build"
  if [ ! -f "$root/build/$preset/build.ninja" ]; then
    say "configuring preset '$preset'"
    local launcher=()
    command -v ccache >/dev/null && launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
    (cd "$root" && cmake --preset "$preset" "${launcher[@]}" "$@") >"$log" 2>&1 || { cat "$log" >&2; fail "configuring failed"; }
  fi
  (cd "$root" && ninja -C "build/$preset" "${targets[@]}" 2>&1) | follow_build "$preset" >"$log" ||
    { tail -n 60 "$log" >&2; fail "building failed"; }
}

# follow_build PRESET: copies ninja's lines to stdout; says so on stderr once there is something to build, with ninja's
# count of steps on a terminal.
follow_build() {
  local preset=$1 line announced=
  while IFS= read -r line; do
    printf '%s\n' "$line"
    case $line in
      "ninja: "* | *"Re-checking globbed directories"*) continue ;;
    esac
    [ -n "$announced" ] || say "building preset '$preset' (log: build/$preset.log)"
    announced=yes
    [[ ! -t 2 || $line != \[*\]* ]] || printf '\r%s ' "${line%%]*}]" >&2
  done
  [[ -z $announced || ! -t 2 ]] || printf '\n' >&2
}
