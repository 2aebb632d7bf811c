#!/usr/bin/env bash
# Builds the package with the fifth store and runs both of its programs.
set -euo pipefail
cd "$(dirname "$0")"
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
# Neither the index of an editor nor debug information is needed, and the compiler reads each module once.
build() {
    swift build -j "${JOBS:-2}" --disable-index-store -debug-info-format none -Xswiftc -whole-module-optimization -Xswiftc -num-threads -Xswiftc "${JOBS:-2}" \
        --quiet "$@" >"$folder/build.log" 2>&1 || { grep -A 6 'error:' "$folder/build.log" | head -60; exit 1; }
}
build
build --target PolystoreCompatibility
.build/debug/toy-conformance --store toy: >"$folder/conformance.log" || {
    grep -A 4 -E '^(fail|error) ' "$folder/conformance.log" | head -40
    tail -1 "$folder/conformance.log"
    exit 1
}
tail -1 "$folder/conformance.log"
printf '{"entities":[{"name":"Note","attributes":[{"name":"text","type":"string"}]}]}' >"$folder/model.json"
printf 'text\nhello\nworld\n' >"$folder/notes.csv"
.build/debug/toy-polystore load toy: "$folder/notes.csv" --entity Note --model "$folder/model.json"
# This program has no other store to copy from, so a program with one makes an archive.
others=../../.build/debug/polystore
if [ -x "$others" ]; then
    "$others" load "sqlite:$folder/notes.db" "$folder/notes.csv" --entity Note --model "$folder/model.json" --quiet
    "$others" dump "sqlite:$folder/notes.db" -o "$folder/notes.archive"
    .build/debug/toy-polystore restore "$folder/notes.archive" toy: --quiet
    echo "restored into toy:"
else
    echo "not restored into toy: build the package first, for a program that makes an archive"
fi
