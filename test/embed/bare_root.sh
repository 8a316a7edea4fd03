#!/bin/bash
# test/embed/bare_root.sh PREFIX PROGRAM FOLDER -- runs PROGRAM in a root directory that holds nothing but the installed
# Trilith, the program and the shared libraries both need: no compiler, no header, no shell. Its kernel must still
# compile. Needs the right to chroot; exit code 77 (skipped) without it.
set -euo pipefail
prefix=$1 program=$2 folder=$3
[ "$(id -u)" -eq 0 ] && chroot / /bin/true 2>/dev/null || exit 77

rm -rf "$folder"
mkdir -p "$folder"/{opt,tmp}
cp -r "$prefix" "$folder/opt/trilith"
rm -rf "$folder/opt/trilith/bin" "$folder/opt/trilith/include"
cp "$program" "$folder/opt/program"

# ldd names the loader and every library; those of the prefix are there already.
export LD_LIBRARY_PATH=$prefix/lib
for file in "$program" "$prefix"/lib/*.so; do ldd "$file"; done | grep -oE '(^|[[:space:]])/[^ ]+' | sort -u |
  while read -r library; do
    case $library in "$prefix"/*) continue ;; esac
    mkdir -p "$folder$(dirname "$library")"
    cp -L "$library" "$folder$library"
  done

output=$(env -i TRILITH_CACHE_DIR=/tmp/cache LD_LIBRARY_PATH=/opt/trilith/lib "$(command -v chroot)" "$folder" /opt/program)
[ "$output" = 0.001 ] || { echo "got '$output', expected 0.001"; exit 1; }
# Compiled, not run natively: the cache has an entry.
find "$folder/tmp/cache" -name '*.entry' | grep -q . || { echo "nothing was compiled"; exit 1; }
