#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds libgmp4j.so from c-shims/src into OUTDIR/linux-<arch>/, for this machine and, when a cross compiler
# is installed, for aarch64 too. A library that is newer than its sources is not built again.
#
#   c-shims/build.sh OUTDIR [CC]
#
# CC: builds with this compiler only, for the machine for which it compiles.
# GMP_NATIVE_JAR in the environment: compiles nothing, and takes the libraries from this jar of gmp4j-native-bindings, as where there is no
# compiler for Linux.
set -euo pipefail

if [ $# -lt 1 ] || [ $# -gt 2 ]; then
    echo "usage: c-shims/build.sh OUTDIR [CC]" >&2
    exit 2
fi
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
out=$1

build() {
    local cc=$1 machine so f stale=
    machine=$("$cc" -dumpmachine)
    case $machine in
        *linux*) ;;
        *) echo "build.sh: $cc compiles for $machine; gmp4j needs Linux." >&2; exit 2 ;;
    esac
    case ${machine%%-*} in
        x86_64 | amd64) machine=x86_64 ;;
        aarch64 | arm64) machine=aarch64 ;;
        *) echo "build.sh: $cc compiles for $machine; gmp4j supports x86_64 and aarch64." >&2; exit 2 ;;
    esac
    so=$out/linux-$machine/libgmp4j.so
    for f in "$here"/src/*.[ch] "$here"/include/*.h "$here/build.sh"; do
        [ "$so" -nt "$f" ] || stale=yes
    done
    [ -n "$stale" ] || return 0
    mkdir -p "$(dirname "$so")"
    # The library is written to a temporary file and then moved, so that an interrupted build leaves no incomplete one.
    "$cc" -O2 -std=c11 -fPIC -shared -Wall -Wextra -Werror -fvisibility=hidden \
        -ffile-prefix-map="$here"=c-shims -Wl,--no-undefined -Wl,-z,relro,-z,now,-z,nodelete -Wl,-soname,libgmp4j.so \
        -I "$here/include" -o "$so.tmp" "$here"/src/*.c -ldl -pthread
    mv -f "$so.tmp" "$so"
    echo "built $so"
}

# Takes the libraries from a jar, whose paths are those below OUTDIR.
take() {
    local jar=$1 machine some= to=$out.jar
    [ -f "$jar" ] || { echo "build.sh: GMP_NATIVE_JAR is $jar, and there is no such file." >&2; exit 2; }
    jar=$(cd "$(dirname "$jar")" && pwd)/$(basename "$jar")
    rm -rf "$to" && mkdir -p "$to" "$out"
    (cd "$to" && "${JAVA_HOME:+$JAVA_HOME/bin/}jar" -xf "$jar" native) || { echo "build.sh: cannot read $jar." >&2; exit 2; }
    rm -f "$out/linux-x86_64/libgmp4j.so" "$out/linux-aarch64/libgmp4j.so" # Those of an earlier build are not of this jar.
    for machine in x86_64 aarch64; do
        if [ -f "$to/native/linux-$machine/libgmp4j.so" ]; then
            mkdir -p "$out/linux-$machine"
            mv -f "$to/native/linux-$machine/libgmp4j.so" "$out/linux-$machine/"
            some=yes
        fi
    done
    rm -rf "$to"
    [ -n "$some" ] || { echo "build.sh: $jar has no library of gmp4j; use a jar of gmp4j-native-bindings." >&2; exit 2; }
    echo "took the libraries of $jar"
}

if [ -n "${GMP_NATIVE_JAR:-}" ] && [ $# -eq 1 ]; then
    take "$GMP_NATIVE_JAR"
    exit 0
fi

if [ $# -eq 2 ]; then
    if ! command -v "$2" >/dev/null; then
        echo "build.sh: there is no C compiler '$2'; install it or leave the argument out." >&2
        exit 2
    fi
    build "$2"
    exit 0
fi

host=
for cc in ${CC:+"$CC"} cc gcc clang; do
    if command -v "$cc" >/dev/null; then
        host=$cc
        break
    fi
done
if [ -z "$host" ]; then
    echo "build.sh: there is no C compiler on this machine; install one (Debian, Ubuntu:" \
        "apt-get install gcc libc6-dev)." >&2
    exit 2
fi
build "$host"
if [ "$(uname -m)" != aarch64 ] && command -v aarch64-linux-gnu-gcc >/dev/null; then
    build aarch64-linux-gnu-gcc
fi
