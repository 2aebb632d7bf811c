#!/usr/bin/env bash
# Builds the package with the fifth store and runs both of its programs.
#   run.sh                          builds the package, as its author would: it has none of the stores of Polystore
#   run.sh --release-build FOLDER   compiles its sources against a release build of Polystore without dynamic libraries of Swift, and what
#                                   depends on traits without any of them, in a third of the time
set -euo pipefail
build=${2:+$(cd "$2" && pwd)}
cd "$(dirname "$0")"
top=$(cd ../../.. && pwd)
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT

from_package() {
    # Neither the index of an editor nor debug information is needed, and both take time.
    local build=(swift build -j "${JOBS:-2}" --disable-index-store -debug-info-format none --quiet)
    "${build[@]}"
    "${build[@]}" --target PolystoreCompatibility
    programs=$PWD/.build/debug
    others=$top/.build/debug/polystore
}

# The sources of the fifth store are no part of the package, so that they can use only what is public.
from_release_build() {
    local built=$build/release name module headers
    local strict=(-swift-version 6 -warnings-as-errors -enable-upcoming-feature ExistentialAny -enable-upcoming-feature InternalImportsByDefault
        -enable-upcoming-feature MemberImportVisibility)
    local search=() objects=()
    for headers in "$top"/Backends/*/C*; do search+=(-Xcc "-fmodule-map-file=$headers/module.modulemap" -I "$headers"); done
    read -ra headers < <(pkg-config --cflags libpq); search+=("${headers[@]}")
    local package; package=$(grep -m 1 -o '"-module-name","PolystoreCatalog".*"-package-name","[^"]*"' "$built.yaml" | sed 's/.*"\([^"]*\)"$/\1/')
    # What depends on traits, without any of them. Each of these modules sees the ones before.
    mkdir "$folder/without"
    for module in PolystoreSQLite:Backends/SQLite/Store PolystorePostgreSQL:Backends/PostgreSQL/Store PolystoreLMDB:Backends/LMDB/Store \
        PolystoreCatalog:Backends/Catalog PolystoreDefaults:Backends/Defaults PolystoreCompatibility:Sources/PolystoreCompatibility; do
        find "$top/${module#*:}" -name '*.swift' >"$folder/files"
        swiftc -emit-module -wmo "${strict[@]}" -package-name "$package" -module-name "${module%%:*}" -I "$folder/without" -I "$built/Modules" \
            "${search[@]}" -emit-module-path "$folder/without/${module%%:*}.swiftmodule" "@$folder/files"
    done
    swiftc -static-stdlib -wmo -Onone "${strict[@]}" -package-name custom_store -module-name ToyStore -I "$built/Modules" "${search[@]}" -parse-as-library \
        -emit-module -emit-module-path "$folder/ToyStore.swiftmodule" -c Sources/ToyStore/*.swift -o "$folder/ToyStore.o"
    for module in "$built"/{Polystore,Polystore{Foundation,Schema,ModelCode,Query,Storage,Objects,Observation,Transfer,SQL,KeyValue,InMemory,SQLite,PostgreSQL,LMDB,Catalog,Conformance,CLI},ArgumentParser,ArgumentParserToolInfo,Logging}.build; do
        while IFS= read -r -d '' name; do objects+=("$name"); done < <(find "$module" -name '*.o' -print0)
    done
    for name in toy-conformance toy-polystore; do
        swiftc -static-stdlib -Onone "${strict[@]}" -module-name "${name//-/_}" -I "$folder" -I "$built/Modules" "${search[@]}" "Sources/$name/main.swift" \
            "$folder/ToyStore.o" "${objects[@]}" -lsqlite3 -lpq -llmdb -o "$folder/$name"
    done
    programs=$folder
    others=$built/polystore
}

if [ "${1:-}" = --release-build ]; then from_release_build; else from_package; fi
"$programs/toy-conformance" --store toy: >"$folder/conformance.log" || {
    grep -A 4 -E '^(fail|error) ' "$folder/conformance.log" | head -40
    tail -1 "$folder/conformance.log"
    exit 1
}
tail -1 "$folder/conformance.log"
printf '{"entities":[{"name":"Note","attributes":[{"name":"text","type":"string"}]}]}' >"$folder/model.json"
printf 'text\nhello\nworld\n' >"$folder/notes.csv"
"$programs/toy-polystore" load toy: "$folder/notes.csv" --entity Note --model "$folder/model.json"
# A program with another store makes an archive.
if [ -x "$others" ]; then
    "$others" load "sqlite:$folder/notes.db" "$folder/notes.csv" --entity Note --model "$folder/model.json" --quiet
    "$others" dump "sqlite:$folder/notes.db" -o "$folder/notes.archive"
    "$programs/toy-polystore" restore "$folder/notes.archive" toy: --quiet
    echo "restored into toy:"
else
    echo "not restored into toy: build the package first, for a program that makes an archive"
fi
