#!/usr/bin/env python3
"""The resident memory of transfers of ten million rows: to PostgreSQL and to LMDB, from a table of another program and from a store.

usage: memory.py [--rows 10000000] [--limit 128]
The limit, in MiB, is for anonymous memory; pages of mapped files are shown beside it. The folder needs 6 GB for ten million rows, and so does the server.
"""

import argparse
import subprocess
import time

from measure import PROGRAM, check, check_once, memory, prepare, remove, run, sqlite, url


def make_table(path, count):
    """Makes an ordinary table of SQLite, by SQLite alone."""
    sqlite(path, f"""
        PRAGMA journal_mode = off; PRAGMA synchronous = off;
        CREATE TABLE item (id INTEGER PRIMARY KEY, code TEXT NOT NULL, rank INTEGER NOT NULL, price REAL NOT NULL, note TEXT);
        INSERT INTO item WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < {count})
            SELECT i, printf('c%08d', i), abs(random()) % 1000, abs(random() % 100000) / 8.0,
                CASE WHEN i % 3 THEN printf('a note of %d', i) END FROM n;
        CREATE INDEX item_rank ON item (rank);""")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rows", type=int, default=10_000_000)
    arguments.add_argument("--limit", type=int, default=128)
    arguments = arguments.parse_args()
    folder = prepare("memory")
    make_table(folder / "table.db", arguments.rows)
    table, store = f"sqlite:{folder / 'table.db'}?catalog=foreign", url("sqlite", folder, "store")
    postgresql, lmdb = url("postgresql", folder, "target"), url("lmdb", folder, "target")
    too_much = []
    for source, target in [(table, store), (store, postgresql), (store, lmdb), (postgresql, store)]:
        remove(target)
        start = time.monotonic()
        process = subprocess.Popen([PROGRAM, "transfer", source, target, "--quiet"], stderr=subprocess.PIPE, text=True)
        anonymous, mapped = memory(process)
        duration = time.monotonic() - start
        check(process.returncode == 0, process.stderr.read())
        check_once(target, "item", arguments.rows)
        text = f"{source.split(':')[0]} to {target.split(':')[0]}"
        print(f"{text}: {arguments.rows} rows in {duration:.0f} s, with verification; {anonymous:.0f} MiB, mapped files {mapped:.0f} MiB", flush=True)
        if anonymous > arguments.limit:
            too_much.append(text)
    for place in (store, postgresql, lmdb):
        remove(place)
    (folder / "table.db").unlink()
    check(not too_much, f"more than {arguments.limit} MiB: {', '.join(too_much)}")


if __name__ == "__main__":
    main()
