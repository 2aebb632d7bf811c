#!/usr/bin/env bash
# Checks the library for other languages: a C program with the address sanitizer, and a Python program, over memory, SQLite and LMDB.
# usage: Tests/CLibrary/run.sh FOLDER, a folder of builds with the products `polystore` and `polystore-c`
set -Eeuo pipefail
cd "$(dirname "$0")/../.."
builds=$(realpath "$1") header=Sources/PolystoreC/include
W=$(mktemp -d); trap 'rm -rf "$W"' EXIT
trap 'echo "CLibrary: failed at line $LINENO: $BASH_COMMAND" >&2' ERR
library=$builds/libpolystore-c.so

# The compiler compares each function with its declaration, and this that none is missing.
grep -oE '\bpolystore_[a-z_]+\(' $header/polystore.h | tr -d '(' | sort -u >"$W/declared"
nm -D --defined-only "$library" | awk '{ print $3 }' | grep -E '^polystore_[a-z_]+$' | sort -u >"$W/defined"
diff "$W/declared" "$W/defined"
[ "$(wc -l <"$W/declared")" -ge 30 ]

cp Tests/CLibrary/pets.json "$W"
city='{"name": "city", "type": "string", "optional": true}'
sed "s/\"attributes\": \[\$/&$city,/" Tests/CLibrary/pets.json >"$W/larger.json"
sed 's/{"name": "age"[^}]*},//' Tests/CLibrary/pets.json >"$W/smaller.json"
"$builds/polystore" model generate --language c "$W/pets.json" -o "$W/pets.h"
CC=${CC:-$(command -v clang || echo cc)}
# The linker that clang takes by default warns of each function of the sanitizer.
linker=(); if "$CC" --version | grep -q clang && command -v ld.lld >/dev/null; then linker=(-fuse-ld=lld); fi
"$CC" "${linker[@]}" -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -I $header -I "$W" \
    Tests/CLibrary/pets.c -o "$W/pets" "$library" -Wl,-rpath,"$builds" -lpthread
grep -q "^version = \"$("$builds/polystore" --version)\"$" Sources/PolystoreC/Python/pyproject.toml
# The header is also one of C++, and of the C of any compiler.
"$CC" -std=c99 -pedantic-errors -Wall -Werror -fsyntax-only -x c $header/polystore.h
"$CC" -std=c++11 -pedantic-errors -Wall -Werror -fsyntax-only -x c++ $header/polystore.h

# The sanitizer reports texts that are not freed, and the programs count their handles.
export ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1
export POLYSTORE_LIBRARY=$library PYTHONPATH=Sources/PolystoreC/Python PYTHONDONTWRITEBYTECODE=1
for stores in "memory: memory:" "sqlite:$W/a.db lmdb:$W/b.lmdb" "lmdb:$W/c.lmdb sqlite:$W/d.db"; do
    set -- $stores
    "$W/pets" "$W" "$1" "$2" "sqlite:$W/missing/x.db"
    rm -rf "$W"/*.db* "$W"/*.lmdb*
    python3 Tests/CLibrary/pets.py "$W/pets.json" "$1" "$2"
    rm -rf "$W"/*.db* "$W"/*.lmdb*
    echo "C and Python over ${1%%:*}"
done

# The examples of the article, which make pets.db in the current folder.
example() { awk -v start="\`\`\`$1" '$0 == start { on = 1; next } /^```$/ { on = 0 } on' Sources/Polystore/Polystore.docc/OtherLanguages.md; }
example c >"$W/example.c"
example python >"$W/example.py"
"$CC" "${linker[@]}" -Wall -Werror -g -fsanitize=address -I $header "$W/example.c" -o "$W/example" "$library" -Wl,-rpath,"$builds"
PYTHONPATH=$PWD/$PYTHONPATH
cd "$W"
[ "$(./example)" = '[{"entity":"Person","key":1,"version":1,"name":"Ann","age":30}]' ]
rm pets.db*
python3 example.py >/dev/null
"$builds/polystore" verify sqlite:pets.db lmdb:pets.lmdb >/dev/null
echo "the examples of the article"
