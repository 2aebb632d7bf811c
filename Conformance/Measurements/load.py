#!/usr/bin/env python3
"""polystore load of a CSV file into SQLite beside sqlite3 .import into the same columns with the same indexes, interleaved.

usage: load.py [--rows 500000] [--rounds 5]
"""

import argparse
import json
import random

from measure import PROGRAM, Times, check, check_once, prepare, ratio, remove, sqlite, url

COLUMNS = [
    ("code", "TEXT", "string"), ("rank", "INTEGER", "int64"), ("title", "TEXT", "string"), ("price", "REAL", "double"),
    ("amount", "INTEGER", "int64"), ("note", "TEXT", "string")]


def make_file(path, count):
    rng = random.Random(1)
    with open(path, "w") as file:
        file.write(",".join(name for name, _, _ in COLUMNS) + "\n")
        for n in range(count):
            file.write(f"c{n:08},{rng.randrange(1000)},title of {n},{rng.randrange(100000) / 100!r},{n % 7},\"a note, which is quoted, {n}\"\n")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rows", type=int, default=500_000)
    arguments.add_argument("--rounds", type=int, default=5)
    arguments = arguments.parse_args()
    folder = prepare("load")
    make_file(folder / "item.csv", arguments.rows)
    model = {"version": "1", "entities": [
        {"name": "item", "attributes": [{"name": name, "type": kind} for name, _, kind in COLUMNS], "indexes": [["code"], ["rank"]]}]}
    (folder / "model.json").write_text(json.dumps(model))
    columns = ", ".join(f"{name} {kind} NOT NULL" for name, kind, _ in COLUMNS)
    (folder / "import.sql").write_text(
        f"PRAGMA journal_mode = wal;\nPRAGMA synchronous = normal;\nCREATE TABLE item ({columns});\n"
        f".import --csv --skip 1 {folder / 'item.csv'} item\n"
        "CREATE INDEX item_code ON item (code);\nCREATE INDEX item_rank ON item (rank);\n")
    store, other = url("sqlite", folder, "ours"), folder / "theirs.db"
    ours, theirs = Times(), Times()
    for _ in range(arguments.rounds):
        remove(store)
        ours.run([PROGRAM, "load", store, str(folder / "item.csv"), "--model", str(folder / "model.json"), "--entity", "item", "--quiet"])
        remove(f"sqlite:{other}")
        with open(folder / "import.sql") as script:
            theirs.run(["sqlite3", "-init", "/dev/null", str(other)], stdin=script)
    check_once(store, "item", arguments.rows)
    names = ", ".join(name for name, _, _ in COLUMNS)
    difference = sqlite(other, f"ATTACH '{folder / 'ours.db'}' AS o; SELECT count(*) FROM (SELECT {names} FROM main.item EXCEPT SELECT {names} FROM o.item)")
    check(difference == "0", f"{difference} rows differ")
    ratio("polystore load against sqlite3 .import with two indexes", ours, theirs)


if __name__ == "__main__":
    main()
