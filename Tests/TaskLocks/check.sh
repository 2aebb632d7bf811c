#!/usr/bin/env bash
# Finds functions of tasks into which a lock was inlined, in release binaries: decision 0038, "No lock is inlined where a task waits".
# A Mutex reads the number of its thread from a thread-local variable; in the pieces of an asynchronous function none may be read.
set -euo pipefail
[ $# -gt 0 ] || { echo "usage: check.sh BINARY..." >&2; exit 2; }
for binary in "$@"; do
    # At %fs:0x28 is no variable, but the value by which a function finds that its frame was overwritten; all threads have the same.
    # The pieces after a wait end in TY0_, TQ1_ and so on; the first has a function pointer that ends in Tu.
    found=$({ nm "$binary" | awk '$3 ~ /Tu$/ { print "first", substr($3, 1, length($3) - 2) }'; objdump -d --no-show-raw-insn "$binary"; } | awk '
        $1 == "first" { first[$2] = 1; next }
        /^[0-9a-f]+ <.*>:$/ { name = substr($2, 2, length($2) - 3); pieces += isPiece = name ~ /T[YQ][0-9]+_$/ || name in first; next }
        isPiece && name ~ /olystore/ && /%fs:|tpidr/ && !/%fs:0x28/ { found[name] = 1 }
        END { for (name in found) print name; if (pieces < 10) print "(no asynchronous functions)" }')
    if [ -n "$found" ]; then
        echo "$binary: a lock is inlined where a task waits; mark what takes it @inline(never):" >&2
        swift demangle --simplified <<<"$found" | sort -u >&2
        exit 1
    fi
done
