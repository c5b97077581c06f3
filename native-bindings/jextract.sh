#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Regenerates native-bindings/src/generated/java from the headers in c-shims/include, with jextract from
# JEXTRACT_HOME or PATH, perl, and a JDK 25 from JAVA_HOME or PATH. Only needed after a change of a header: the
# generated sources are committed.
#
#   native-bindings/jextract.sh [OUTDIR]        or: mvn -Pjextract generate-sources -pl native-bindings
#
# Fails when a symbol that was asked for did not come out (jextract itself ignores unknown names).
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
include=$here/../c-shims/include
out=${1:-$here/src/generated/java}

if [ -n "${JEXTRACT_HOME:-}" ]; then
    jextract=$JEXTRACT_HOME/bin/jextract
else
    jextract=$(command -v jextract || true)
fi
if [ -z "$jextract" ] || [ ! -x "$jextract" ]; then
    echo "jextract.sh: jextract is not here; set JEXTRACT_HOME or put it on PATH" \
        "(source: github.com/openjdk/jextract)." >&2
    exit 2
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# generate PACKAGE HEADER_CLASS FILTER HEADER
generate() {
    local package=$1 class=$2 filter=$3 header=$4
    "$jextract" --output "$work/out" --target-package "$package" --header-class-name "$class" \
        -I "$include" "@$filter" "$include/$header"
    verify "$work/out/${package//.//}" "$class" "$filter"
}

# Every line of the filter must have left its mark in the output.
verify() {
    local dir=$1 class=$2 filter=$3 missing=0 kind name
    while read -r kind name; do
        case $kind in
            --include-function) grep -qE "^    public static .*[ >]$name\(" "$dir/$class.java" ||
                grep -qE "^    public static class $name " "$dir/$class.java" ;;
            --include-constant) grep -qE "^    public static [A-Za-z.]+ $name\(\)" "$dir/$class.java" ;;
            --include-typedef) grep -qE "^    public static final [A-Za-z.]+ $name *=" "$dir/$class"*.java ||
                [ -f "$dir/$name.java" ] ;;
            --include-struct | --include-union) [ -f "$dir/$name.java" ] ;;
            *) false ;;
        esac || { echo "jextract.sh: '$kind $name' of ${filter##*/} did not come out" >&2; missing=1; }
    done < <(sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$filter")
    [ $missing = 0 ]
}

# Our own headers: everything that they declare themselves, nothing that they include, and no include guards.
own_filter() {
    local header
    for header in "$@"; do
        "$jextract" --dump-includes "$work/dump" --output "$work/unused" -I "$include" "$include/$header"
        sed -n "s|^\(--include-[a-z]* [A-Za-z_0-9]*\) *# header: .*/$header\$|\1|p" "$work/dump" |
            grep -vE '^--include-constant GMP(_SHIMS)?_H$'
    done
}

own_filter gmp.h >"$work/gmp.includes"
own_filter gmp_shims.h >"$work/shims.includes"
generate org.gmp4j.ffi.linux linux_h "$here/src/jextract/linux.includes" gmp_linux.h
generate org.gmp4j.ffi.gmp gmp_h "$work/gmp.includes" gmp.h
generate org.gmp4j.ffi.gmp shims_h "$work/shims.includes" gmp_shims.h

# Anonymous types carry the line number of the system header they come from; the FFM calls in the generated code are
# meant ("restricted").
find "$work/out" -name '*.java' -exec sed -i \
    -e 's/\$anon\$[0-9]*:[0-9]*/$anon/g' \
    -e 's/^public class /@SuppressWarnings("restricted")\npublic class /' {} +

# On 64-bit Linux the canonical layouts of C's types are these constants, which need no linker.
find "$work/out" -name '*$shared.java' -exec sed -i -E \
    -e 's/\(ValueLayout\.Of[A-Za-z]+\) ?Linker\.nativeLinker\(\)\.canonicalLayouts\(\)\.get\("long long"\)/ValueLayout.JAVA_LONG/' \
    -e 's/\(ValueLayout\.Of[A-Za-z]+\) ?Linker\.nativeLinker\(\)\.canonicalLayouts\(\)\.get\("char"\)/ValueLayout.JAVA_BYTE/' \
    -e 's/\(ValueLayout\.Of[A-Za-z]+\) ?Linker\.nativeLinker\(\)\.canonicalLayouts\(\)\.get\("bool"\)/ValueLayout.JAVA_BOOLEAN/' \
    -e 's/\(ValueLayout\.Of[A-Za-z]+\) ?Linker\.nativeLinker\(\)\.canonicalLayouts\(\)\.get\("([a-z]+)"\)/ValueLayout.JAVA_\U\1/' \
    -e 's/\(\(AddressLayout\) Linker\.nativeLinker\(\)\.canonicalLayouts\(\)\.get\("void\*"\)\)/ValueLayout.ADDRESS/' {} +

# What has the JVM generate classes, in classes of its own: who asks for an address, a descriptor or a layout does not pay.
find "$work/out" -name '*.java' -exec sed -i \
    -e 's/^        public static final MethodHandle HANDLE = \(Linker.*;\)$/        static class Linked {\n            static final MethodHandle HANDLE = \1\n        }/' \
    -e 's/^\(        return \|        var mh\$ = \)\([A-Za-z_0-9]*\)\.HANDLE;$/\1\2.Linked.HANDLE;/' \
    -e 's/^\( *\)private static final VarHandle \([A-Za-z_0-9]*\)\$ELEM_HANDLE = \(.*;\)$/\1private static class \2$ELEM {\n\1    static final VarHandle HANDLE = \3\n\1}/' \
    -e 's/\$ELEM_HANDLE\./$ELEM.HANDLE./' \
    -e '/^    static final SymbolLookup SYMBOL_LOOKUP = /{N;s/.*/    static class Symbols {\n        static final SymbolLookup LOOKUP = SymbolLookup.loaderLookup()\n                .or(Linker.nativeLinker().defaultLookup());\n    }/}' \
    -e 's/\bSYMBOL_LOOKUP\./Symbols.LOOKUP./' {} +

# The C library's functions are those of the C library, even if another library of the program defines one of the same name.
sed -i -e '/^        static final SymbolLookup LOOKUP = SymbolLookup.loaderLookup()$/{N;s/.*/        static final SymbolLookup LOOKUP = Linker.nativeLinker().defaultLookup();/}' \
    "$work/out/org/gmp4j/ffi/linux/linux_h.java"

# Structs are read and written by org.gmp4j.struct, functions called by org.gmp4j.ffi.Call. So of a struct of ours its layout stays, of a
# function its descriptor and address, and of those that are called by name (by benchmarks and tests) the rest.
for file in $(grep -lE '^    private static final GroupLayout \$LAYOUT' "$work"/out/org/gmp4j/ffi/gmp/*.java); do
    awk '{ print } /^    public static final GroupLayout layout\(\) \{$/ { last = 1 } last && /^    }$/ { print "}"; exit }' "$file" >"$file.new"
    mv "$file.new" "$file"
done
for file in "$work"/out/org/gmp4j/ffi/gmp/shims_h.java "$work"/out/org/gmp4j/ffi/linux/linux_h.java; do
    sed 's/^    private static final [a-z]* [A-Za-z_0-9]* = (.*;$/\n&/' "$file" | awk -v 'called=^(gmp_floor_.*|gmp_abi_version|clock_gettime)$' '
        BEGIN { RS = ""; ORS = "\n\n" }
        function name(pattern,   text) {
            text = $0
            sub(".*\n    public static [A-Za-z]+ ", "", text)
            sub(pattern ".*", "", text)
            return text
        }
        /^    private static class [a-z_0-9A-Z]+ \{/ { inside = $4 }
        { dropped = 0 }
        /\n    public static MethodHandle [a-zA-Z_0-9]+\$handle\(\)/ { dropped = name("[$]handle") !~ called }
        /\n        var mh\$ = / { dropped = name("[(]") !~ called }
        dropped { if (/\n}$/) print "}"; next }
        /^        static class Linked \{/ && inside !~ called { print "    }"; next }
        { print }' >"$file.new"
    mv "$file.new" "$file"
done

# A constant is a constant, which javac copies to each place of use, so that no class is loaded for it.
perl -0pi -e 's/    private static final (\w+) (\w+) = (\([^;\n]*;)\n(    \/\*\*\n(?:     \*[^\n]*\n)*?     \*\/\n)    public static \w+ \2\(\) \{\n        return \2;\n    \}\n/$4    public static final $1 $2 = $3\n/g' \
    "$work/out/org/gmp4j/ffi/gmp/gmp_h.java" "$work/out/org/gmp4j/ffi/linux/linux_h.java"

# The layouts of our structs as text, for a start that loads no class of a layout.
"${JAVA_HOME:+$JAVA_HOME/bin/}javac" -nowarn -d "$work/classes" $(find "$work/out" -name '*.java')
"${JAVA_HOME:+$JAVA_HOME/bin/}java" -cp "$work/classes" "$here/src/jextract/Structs.java" >"$work/Structs.java"
mv "$work/Structs.java" "$work/out/org/gmp4j/ffi/gmp/Structs.java"

if leaks=$(grep -rnE "$include|$work" "$work/out"); then
    echo "jextract.sh: a path of this machine is in the output: $leaks" >&2
    exit 1
fi
rm -rf "$out/org/gmp4j/ffi/linux" "$out/org/gmp4j/ffi/gmp"
mkdir -p "$out"
cp -R "$work/out/." "$out/"
echo "jextract.sh: $(find "$out" -name '*.java' | wc -l) files in $out"
