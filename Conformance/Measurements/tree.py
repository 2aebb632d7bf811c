#!/usr/bin/env python3
"""A tree of nodes in random order is loaded with every parent; loaded a second time with `on`, nothing changes.

usage: tree.py [--nodes 100000] [--seed 1]
"""

import argparse
import json
import random
import subprocess

from measure import KINDS, PROGRAM, check, prepare, remove, run, url

MODEL = {
    "version": "1",
    "entities": [
        {"name": "Node", "attributes": [{"name": "code", "type": "string"}, {"name": "weight", "type": "int64"}],
         "relationships": [
             {"name": "parent", "to": "Node", "kind": "toOne", "inverse": "children"},
             {"name": "children", "to": "Node", "kind": "toMany", "inverse": "parent"}],
         "unique": [["code"]]}
    ],
}


def make_files(folder, count, rng):
    """Writes a random tree whose rows are in random order; returns the code of the parent of each node."""
    parents = {f"n{n}": f"n{rng.randrange(n)}" if n else "" for n in range(count)}
    rows = list(parents.items())
    rng.shuffle(rows)
    (folder / "model.json").write_text(json.dumps(MODEL))
    (folder / "tree.csv").write_text("code,weight,up\n" + "".join(f"{code},{len(up)},{up}\n" for code, up in rows))
    file = {"file": "tree.csv", "entity": "Node", "relationships": {"parent": {"code": "up"}}}
    (folder / "first.json").write_text(json.dumps({"files": [file]}))
    (folder / "again.json").write_text(json.dumps({"files": [file | {"on": ["code"]}]}))
    return parents


def archive(store, *options):
    """The lines of an archive: rows with keys and versions, pairs, and the history."""
    return subprocess.run([PROGRAM, "dump", store, *options], capture_output=True, check=True).stdout


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--nodes", type=int, default=100_000)
    arguments.add_argument("--seed", type=int, default=1)
    arguments = arguments.parse_args()
    folder = prepare("tree")
    parents = make_files(folder, arguments.nodes, random.Random(arguments.seed))
    for kind in KINDS:
        store = url(kind, folder, "tree")
        remove(store)
        print(run("load", store, "--model", folder / "model.json", "--mapping", folder / "first.json", "--quiet").strip())
        rows = run("query", store, "Node", "--select", "code, parent.code AS up").splitlines()
        found = {row["code"]: row.get("up") or "" for row in map(json.loads, rows)}
        wrong = sum(found.get(code) != up for code, up in parents.items())
        check(wrong == 0 and len(rows) == len(parents), f"{kind}: {wrong} of {len(parents)} parents are wrong, {len(rows)} rows")
        before = archive(store)
        again = run("load", store, "--mapping", folder / "again.json", "--quiet").strip()
        check(archive(store) == before, f"{kind}: the second load has changed something")
        run("check", store)
        print(f"{kind}: {len(parents)} nodes, 0 wrong parents; the second load changed nothing in {len(before)} bytes of archive ({again})", flush=True)
        remove(store)


if __name__ == "__main__":
    main()
